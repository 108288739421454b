// Package interchange reads semantic models of other tools and writes them as sources of
// the semantic layer.
//
// [FromDBT] reads what dbt parse writes, [FromOSI] a file of the Open Semantic
// Interchange format. Each returns the files to write and a list of what was left out,
// with the reason. An item is carried over only if it means the same here: its
// expressions must be of the language of package expr, and the model of the connection
// must load with it. What differs in a way that a person should know is a note.
//
// The package opens no file and asks no database. Its input is not trusted: size, depth
// and counts are bounded.
package interchange
