// Package migration says what a statement of a schema migration does to a
// database that is in use: which locks it holds while it reads or rewrites a
// table, what it breaks in programs that still run, and what to write instead.
//
//	r := migration.NewReader(dialect, migration.Options{})
//	for _, statement := range statements {
//		findings := r.Statement(statement, tokens)
//	}
//
// A Reader reads the statements of one file in their order, because a table that
// the file itself created is empty and a setting holds for what follows. It has
// rules for PostgreSQL, MySQL with MariaDB, and SQL Server. A form of DDL that it
// does not know is a finding, never silence.
//
// It is the profile "migration" of a check of files. It has nothing to do with
// what may run through the gateway, which is for sqlguard alone.
package migration
