// Package prove runs statements of the corpus on throw-away database servers
// and records what they did.
//
//	code := prove.Main([]string{"--dialect", "sqlite"}, os.Stdout, os.Stderr)
//
// Each statement runs four times: as an administrator and as a role that may
// only read, each alone and inside a read-only transaction. The package
// compares the [State] of the server before and after. It restores a server
// that a statement changed before it runs the next one.
//
// [GuardMain] puts statements to an MCP server instead. It gives the MCP server
// a database of its own, and uses the same probes to judge what happened.
//
// The package never connects to a server that it did not start, and checks this
// for every connection. It accepts no address of a server. [Main] only runs
// cases of the corpus. [GuardMain] runs whatever it is asked to run.
package prove
