// Package edit changes settings files of other programs, in JSON (with
// comments and trailing commas, where the file has them) and in TOML, without
// touching a byte that it did not add.
//
// Language.Set says which change adds a value, formatted the way the file is,
// Splice.Apply makes it, and Language.Remove undoes it: to the byte where the
// text still stands, whatever was edited elsewhere since. What cannot be edited
// without loss is refused, with its line and column. Every change is read back
// before it is returned, and refused if it changed any other value.
//
// It never opens a file, and a Splice holds nothing of the file but blanks,
// unless it replaces a value that stood at the path.
package edit
