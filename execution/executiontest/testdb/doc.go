// Package testdb gives tests real databases: throw-away PostgreSQL clusters
// and SQLite files.
//
// A test binary that needs PostgreSQL shares one cluster, started by the first
// call of [Postgres] and stopped by [Main]:
//
//	func TestMain(m *testing.M) { testdb.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		url := testdb.Postgres(t).NewDatabase(t, "CREATE TABLE t (id int)")
//		…
//	}
//
// Each test makes its own database and roles, which are dropped when it ends. A
// test that restarts, overloads or reconfigures a server starts a cluster of
// its own with [StartPostgres].
//
// The binaries are those of, in this order: the directory in
// KTX_TEST_POSTGRES_BIN, PATH, the newest /usr/lib/postgresql/*/bin.
// KTX_TEST_POSTGRES_URL names a superuser's connection to a server of the
// user's own, version 13 or newer; then [Postgres] starts nothing.
//
// [Tool] finds the programs that tests run beside the databases: psql, sqlite3,
// pgbouncer. scripts/test-deps installs them.
//
// A cluster listens on a free port of 127.0.0.1 and on a Unix socket, wants a
// password on both, and runs as postgres or nobody when the tests run as root.
// It ends with the test binary however that ends: a small shell process waits
// for the end of a pipe that the test binary holds, stops the server by its
// process ID and removes the directory.
//
// The package never uses a server that it neither started nor was pointed at,
// and never skips a test because PostgreSQL is missing from a CI machine. It
// works on Unix systems, and is never part of the shipped binary.
package testdb
