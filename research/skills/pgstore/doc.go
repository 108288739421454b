// Package pgstore keeps the state of skills in PostgreSQL with pgvector, so that a team
// shares uses, ratings and vectors. Several catalogues may share a database: each has a
// tenant.
//
// It sends constant statements only, to tables of its own. It never opens a connection of
// a user's project.
package pgstore
