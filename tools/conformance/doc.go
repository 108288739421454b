// Package conformance tests the MCP server of ktx with programs that others
// wrote: the conformance suite of the protocol, its inspector, and MCP clients.
//
//	make conformance
//
// The package has tests only. scripts/conformance installs the programs, in the
// versions of package-lock.json, and runs the tests. Without the programs, the
// tests are skipped. The files expected-*.yml list the checks of the suite that
// the shipped server is expected to fail. A test ensures that they only list
// checks that need the tools, prompts and resources of the suite's own fixture.
package conformance
