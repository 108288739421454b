// Command pgcatalog turns the catalogues of real PostgreSQL servers and a
// hand-written review into the tables of package postgres.
//
// It has two sub-commands:
//
//	pgcatalog harvest -url URL   reads one server and merges what it sees into facts/
//	pgcatalog generate           writes the tables of dialects/postgres from facts/ and the review
//
// To add a major version: point harvest at a throw-away server of that version
// as its superuser and read the diff of facts/; judge what is new in the
// review_*.go files and raise reviewedThrough; run generate and read the diff of
// dialects/postgres, data/verdicts.md first. Names that the review must mention
// and does not make generate fail, with the names in the error. The tests call
// every allowed function on the server that they are given.
//
// harvest creates and drops one scratch database on the server; it never runs
// a function that it lists. The program is not part of the shipped binary.
package main
