// Package testdb gives tests real databases: throw-away PostgreSQL clusters,
// MariaDB servers and SQLite files.
//
// A test binary that needs PostgreSQL shares one cluster, started by the first
// call of [Postgres] and stopped by [Main]; MariaDB is the same with [MariaDB]:
//
//	func TestMain(m *testing.M) { testdb.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		url := testdb.Postgres(t).NewDatabase(t, "CREATE TABLE t (id int)")
//		…
//	}
//
// Each test makes its own database and roles or users, which are dropped when it
// ends. A test that restarts, overloads or reconfigures a server starts one of
// its own with [StartPostgres] or [StartMariaDB].
//
// scripts/suite runs all tests with one PostgreSQL and one MariaDB that they
// share ([RunWithServers]); a test binary that is run by itself starts its own.
//
// The binaries are those of, in this order: the directory in
// KTX_TEST_POSTGRES_BIN, PATH, the newest /usr/lib/postgresql/*/bin; and
// KTX_TEST_MARIADB_BIN, PATH, /usr/sbin, /usr/local/sbin, where a mysqld of MySQL
// is run as such. KTX_TEST_POSTGRES_URL names a superuser's connection to a
// server of the user's own, version 13 or newer; then [Postgres] starts nothing.
// KTX_TEST_MARIADB_URL is the same for a MariaDB or a MySQL, with a user who has
// ALL PRIVILEGES with the right to grant them.
//
// [Tool] finds the programs that tests run beside the databases: psql, sqlite3,
// mariadb, pgbouncer. scripts/test-deps installs them.
//
// A server listens on a free port of 127.0.0.1 and on a Unix socket, wants a
// password on both, and runs as the product's own user or as nobody when the
// tests run as root. It reads no option file but the one that is made for it. It
// ends with the test binary however that ends: a small shell process waits for
// the end of a pipe that the test binary holds, stops the server by its process
// ID and removes the directory.
//
// The package never uses a server that it neither started nor was pointed at,
// and never skips a test because a server is missing from a CI machine. It works
// on Unix systems, and is never part of the shipped binary.
package testdb
