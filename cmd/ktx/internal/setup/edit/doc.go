// Package edit changes settings files of other programs, without touching a
// byte that it did not add. The files are JSON, with comments and trailing
// commas if the file has them, TOML, or YAML.
//
//	change, err := edit.JSON.Set(text, []string{"mcpServers", "ktx"}, value)
//	text = change.Apply(text)
//	text, err = edit.JSON.Remove(text, []string{"mcpServers", "ktx"}, change)
//
// [Language.Set] returns the change that adds a value in the format of the
// file, and [Splice.Apply] makes the change. [Language.Remove] undoes it, byte
// for byte if the added text is unchanged, even if other parts of the file were
// edited since. If a text cannot be edited without loss, the error has its line
// and column. The package parses every result before it returns it, and fails
// if any other value changed.
//
// The package never opens a file. A Splice contains nothing of the file except
// blanks, unless it replaces a value.
package edit
