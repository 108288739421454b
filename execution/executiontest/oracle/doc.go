// Package oracle has the tests that compare values with those of the databases'
// own command line clients.
//
// The tests generate a table for every built-in type, with values at the edges of
// the type and random ones. They read it twice: through the whole product, from
// research.Service to the JSON of an answer, and through psql, mariadb or sqlite3
// with the same settings. Every cell must have the same bytes. The tests log how
// many of all cells are equal. A JSON number must be one that every JSON reader
// reads exactly.
//
// The types are those that the server lists, so that a type without values fails
// the test by its name.
//
// No test here uses a SQL Server. Its values come from a stand-in (package
// tdsserver). They are compared with what the T-SQL reference says about their
// text, and with the text that random values were made from. That proves that
// the product returns what the protocol carried. It does not prove that SQL
// Server sends it so.
//
// Random values come from a seed, which the tests log. KTX_ORACLE_SEED repeats
// a run, KTX_TEST_FULL asks for four times as many random rows of each type, and
// KTX_ORACLE_ROWS sets their number.
//
// The package has no code but its tests, and is never part of the shipped
// binary.
package oracle
