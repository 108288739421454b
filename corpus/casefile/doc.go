// Package casefile reads, checks and extends files of cases: the corpus's own
// class files in YAML, and JSON Lines of others.
//
//	file := casefile.Parse("ddl.yaml", text)             // what cannot be read is a problem of the file
//	problems := casefile.Lint([]*casefile.File{file}, codes)
//	text, err := casefile.Append("ddl.yaml", text, refused, twin)
//
// It never opens a file, and never judges a statement.
package casefile
