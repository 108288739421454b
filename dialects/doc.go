// Package dialects lists the SQL languages that ktx reads.
//
// Each has its own package below this one, which implements [sqlguard.Dialect].
// [All] returns the list, and [Lookup] finds a dialect by its name. ADDING.md says
// what a new dialect must provide.
//
// The package has no rules and no parser. Dialects do not register themselves: the
// list is written in the source.
package dialects
