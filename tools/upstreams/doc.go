// Package upstreams tests ktx in front of MCP servers that others have published: they are
// searched and called through ktx, two of them get the corpus as SQL before a real
// PostgreSQL, and ktx logs in at one.
//
// The package has tests only. scripts/npm-tools installs the servers, in the versions of
// package-lock.json. make test does that where Node is, and make conformance always.
// Without the servers, the tests are skipped.
package upstreams
