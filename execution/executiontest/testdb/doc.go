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
// The package looks for the programs of PostgreSQL in KTX_TEST_POSTGRES_BIN, in
// PATH and in the newest /usr/lib/postgresql/*/bin, in this order. It looks for
// those of MariaDB in KTX_TEST_MARIADB_BIN, PATH, /usr/sbin and /usr/local/sbin.
// A mysqld of MySQL in one of these is run as MySQL.
//
// KTX_TEST_POSTGRES_URL names a superuser's connection to a server of the user's
// own, version 13 or newer; then [Postgres] starts nothing. KTX_TEST_MARIADB_URL
// is the same for a MariaDB or a MySQL, with a user who has ALL PRIVILEGES and
// the right to grant them.
//
// [Tool] finds the programs that tests run beside the databases: psql, sqlite3,
// mariadb, pgbouncer. scripts/test-deps installs them.
//
// A server listens on a free port of 127.0.0.1 and on a Unix socket, and requires
// a password on both. When the tests run as root, it runs as the product's own
// user or as nobody. It reads only the option file that the package makes for
// it. It ends with the test binary, even if that is killed: a small shell process
// waits for the end of a pipe that the test binary holds, stops the server by its
// process ID and removes the directory.
//
// The package never uses a server that it did not start and that the environment
// does not name. It never skips a test because a CI machine has no server. It
// works on Unix systems, and is never part of the shipped binary.
package testdb
