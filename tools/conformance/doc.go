// Package conformance has what ktx serves over MCP tried by programs that others
// wrote: the conformance suite of the protocol, its inspector, and clients.
//
//	make conformance
//
// It is tests alone. scripts/conformance installs the programs, of the versions
// of package-lock.json, and runs them; without it the tests are skipped. What
// the suite is expected to find wanting in the shipped server stands in
// expected-*.yml, which a test holds to what the shipped server cannot have: the
// tools, prompts and resources of the suite's own fixture.
package conformance
