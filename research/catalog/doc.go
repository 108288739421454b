// Package catalog knows the tables of a connection: it reads the artifacts that a
// scan left in the project, of ktx or of another tool.
package catalog
