// Package semantic answers requests for measures by dimensions over the models of a
// project's connections.
//
// [Store] reads the model of each connection from semantic-layer/<connection>/ and keeps
// it until a file changes. [Snapshot.Compile] turns a request into SQL of the
// connection's engine. Nothing here runs SQL: the caller sends the text through the
// gateway, like every other statement.
//
// The folders below hold the stages: expr reads expressions, model reads and checks the
// files, plan decides what is aggregated over which joins, emit writes SQL.
package semantic
