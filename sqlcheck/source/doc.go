// Package source finds SQL in files of other languages: the texts that a
// program hands to a database.
//
//	source, err := embedded.Find("store.go", text, embedded.Options{})
//	for _, t := range source.Texts {
//		filled := t.Fill(dialect)
//		guard.Check(filled.SQL) // and filled.Place tells where an offset stands
//	}
//
// A text is put together from literals of the file as far as reading it tells;
// what is filled in at run time is a [Hole]. A hole where a value stands is
// filled with one. A hole anywhere else can be anything, and nothing that is
// said of the text would hold: [Filled.Unproved] has its place.
//
// The package runs no code of what it reads, follows no import outside of the
// folder, and holds no rule about SQL but where a value can stand.
package source
