// Package catalog knows the tables of a connection: it reads the artifacts that a
// scan left in the project, of ktx or of another tool.
//
//	store := catalog.NewStore(root, time.Now)
//	snapshot, err := store.Snapshot(ctx, "warehouse", readable)
//	table, column, err := snapshot.Resolve("public.orders")
//
// A [Snapshot] never changes and holds nothing that the access rules of the
// connection deny. Every call of [Store.Snapshot] compares the files with those
// that the present snapshot was made from, and reads only what changed.
//
// Artifacts are untrusted input. A file that is too large, or is not what it should
// be, is skipped with a warning. The package reads nothing outside the project's
// folder, and writes nothing but a cache below .ktx.
package catalog
