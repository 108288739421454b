// Package source finds the SQL in files of other languages: the strings that a
// program passes to a database.
//
//	found, err := source.Find("store.go", content, source.Options{})
//	for _, t := range found.Texts {
//		filled := t.Fill(dialect)
//		v := guard.Check(filled.SQL) // filled.Place maps its spans to the file
//	}
//
// A [Text] is put together from literals in the file, as far as they can be
// read without running the program. A value that is known only at run time is a
// [Hole]. If SQL expects a value there, Fill puts one into the hole. A hole
// anywhere else can be any SQL, so no verdict on the text is certain:
// [Filled.Unproved] has its position.
//
// The value of a name is followed through its function: assignments, branches,
// loops, buffers, lists that are joined, and functions of the file. A text that
// can be several texts is found once for each. Constants of other files come
// from a [Library].
//
// The package never runs code that it reads, and reads another file only through
// [Files]. Its only rule about SQL is where a value can stand.
package source
