// Package dictionary finds the columns that hold a value, such as the column for
// "Ivory Coast", and how the database spells it.
//
//	store := dictionary.NewStore(root)
//	set, err := store.Set(snapshot, readable)          // the values of one connection
//	result := dictionary.Search([]string{"paid"}, set) // pure: equal input, equal result
//
// A scan writes the values of the columns with a [Writer], into a file below
// .ktx/values that is never committed. Where that file is missing or damaged, the
// store takes the few sample values of the scan's artifacts, of ktx or of another
// tool. Both may be incomplete, so a value that is not found may still exist.
//
// The package asks no database and knows no principal. What access rules deny is
// left out when a set is built.
package dictionary
