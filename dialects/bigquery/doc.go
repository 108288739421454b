// Package bigquery reads GoogleSQL, the SQL of BigQuery, for package sqlguard.
//
// [Dialect] parses a text with zetajones, a port of the parser of GoogleSQL, and states
// the kind of each statement and what it uses:
//
//	g, err := sqlguard.New(bigquery.Dialect{}, sqlguard.DefaultPolicy(), nil)
//
// The parser is not the service's own. The package therefore splits the text a second time
// with its own lexer, and refuses a text unless the walk over the tree met every name and
// literal of it (complete.go). A backend must also ask the service, before it runs a
// statement, for its kind and the tables that it reads.
//
// The tables list what is known: nodes.go the parser's node types, functions.go functions,
// relations.go views of INFORMATION_SCHEMA. A name or node that is not listed is refused.
//
// Names of relations are project.dataset.table, in Relation as Database, Schema and Name.
// One pair of backquotes may hold all of them. A path in FROM can also mean an array of a
// row. It counts as that alone only if its first name surely is an alias to the left of it
// (scope.go); otherwise it counts as a relation, and as a column too.
package bigquery
