// Command pgcatalog turns the catalogues of real PostgreSQL servers and a
// hand-written review into the tables of package postgres.
//
// It has two sub-commands:
//
//	pgcatalog harvest -url URL   reads one server and merges what it sees into facts/
//	pgcatalog generate           writes the tables of dialects/postgres from facts/ and the review
//
// To add a major version, point harvest at a throw-away server of that version
// as its superuser, read the diff of facts/, run generate, and read the diff of
// dialects/postgres. Names that the review must mention and does not make
// generate fail, with the names in the error.
//
// harvest creates and drops one scratch database on the server; it never runs
// a function that it lists. The program is not part of the shipped binary.
package main
