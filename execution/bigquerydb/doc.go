// Package bigquerydb runs approved statements on BigQuery through its REST API.
//
// [Open] checks a configuration and returns a [DB], an [execution.Backend]. It sends
// nothing until the first statement needs it:
//
//	db, err := bigquerydb.Open(ctx, bigquerydb.Config{URL: execution.NewSecret(url), Session: dialect.Session()}, guard.ID())
//	res, err := db.Query(ctx, approved, execution.Limits{Rows: 1000})
//
// # One statement
//
// BigQuery has no read-only session and no transaction that could be rolled back. The
// package therefore asks the service about each statement before it runs, with a dry run
// of the same bytes:
//
//   - The service must read the statement as SELECT, and not as a script, as DML or DDL.
//   - Each table that the service says the statement reads must be one that the guard saw,
//     or one that a view reads that the guard saw. The guard may see more tables than the
//     service: it counts a name as a table when it could be one.
//   - The bytes that the statement would read must be within [execution.Limits]. They are
//     also sent as the most that may be billed.
//
// Then the statement runs as a job with an identifier that the package made, so that a
// request that is sent again does not run it twice. The job has a time limit of its own, and
// a label. Its rows are read in pages.
//
// # Values
//
// A value is the text that the API has for it, with three exceptions. BYTES are hexadecimal
// digits, as in every engine. A TIMESTAMP is written as CAST(x AS STRING) writes it in UTC,
// because the API has microseconds since 1970. An ARRAY or STRUCT is JSON with the names of
// its fields, without the objects that the API has around each value.
//
// # Ending
//
// At the limit, or when the caller leaves, the package sends jobs.cancel and waits until
// the service says that the job is over. When it does not say so, the error says that the
// end is not confirmed, and the job keeps its place in the pool until it is over.
//
// # Credentials
//
// Package login gets the tokens. They are sent to the address of the API only. Neither a
// token nor a part of a key is in an error.
//
// The package never judges SQL and never rewrites it.
package bigquerydb
