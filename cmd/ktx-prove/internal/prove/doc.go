// Package prove runs statements of the corpus on throw-away servers and records
// what they did.
//
//	code := prove.Main([]string{"--dialect", "sqlite"}, os.Stdout, os.Stderr)
//
// A statement runs four times: as an administrator and as a role that may only
// read, each alone and inside a read-only transaction. [State] is what the
// server holds; it is compared before and after, and a server that a statement
// changed is put back to what it was before the next one runs.
//
// [GuardMain] puts texts to an MCP server instead, which is given a database of
// this package's own, and judges by the same probes what became of them.
//
// The package talks to no server but those that it has started, and checks that
// of every connection. It takes no address of a server. [Main] never runs a text
// that is not a case of the corpus; [GuardMain] runs what it is asked.
package prove
