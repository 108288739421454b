// Package bqserver is a server of BigQuery's REST API for tests: a stand-in for the service,
// which can be had on Google's machines only.
//
//	s := bqserver.Start(t, bqserver.Config{})
//	s.On("SELECT 1 AS one", bqserver.Query{Schema: …, Rows: …})
//	open(s.URL())
//
// It has the requests that the API documents for jobs (insert with and without dryRun, get,
// cancel, getQueryResults with pages), datasets, tables and their permissions, and the form
// of their errors. It checks what a client sends: the token, that a statement ran dry with
// the same bytes before it runs, that the language, the limit on bytes, the time limit and
// the labels are there, that an identifier is used once, and that the location of a job
// comes back. It can fail any request in the ways that the documentation lists.
//
// It answers the few queries of executiontest that it knows, and those that a test
// registers with [Server.On]. It never invents an answer: every other statement fails with
// a reason that the service does not have.
//
// A test against this package proves nothing about the service: not what a dry run says of
// a statement, which tables it lists for a view or a wildcard, how it writes a value, when
// it ends a job after jobs.cancel, or what a role may do. What it says is what its author
// read in the documentation.
//
// The package is test support and is never part of the shipped binary.
package bqserver
