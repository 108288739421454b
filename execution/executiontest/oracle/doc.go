// Package oracle holds the tests that compare values with the command lines of
// the databases themselves.
//
// A generated table of every built-in type, with values at the edges of each
// and random ones, is read twice: through the whole of the product, from
// research.Service to the JSON of an answer, and through psql, mariadb or sqlite3
// with the same settings. Every cell must be the same bytes; the tests log the
// figure, equal cells of all cells. What is a JSON number must be one that
// every reader reads exactly.
//
// The types are those that the server itself lists, so that a type without
// values fails the test by its name.
//
// SQL Server cannot be had here. Its values come from a stand-in (package
// tdsserver) and are compared with what the T-SQL reference says of their text,
// page by page, and with the text that random values were made from. That shows
// that what arrives is what the wire had; it does not show that SQL Server
// sends it so.
//
// Random values come from a seed, which the tests log. KTX_ORACLE_SEED repeats
// a run, KTX_TEST_FULL asks for four times as many random rows of each type, and
// KTX_ORACLE_ROWS sets their number.
//
// The package has no code but its tests, and is never part of the shipped
// binary.
package oracle
