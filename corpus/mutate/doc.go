// Package mutate rewrites the cases of the corpus in other spellings. A guard
// must give the same answer to such a mutant as to its case.
//
//	for _, m := range mutate.All(corpus.Cases()) { ... }
//
// The ID of a mutant is the ID of its case, a tilde and the kind of change,
// such as KTX-PG-FN-0042~case. A mutant has the demand of its case, because on
// every engine of the dialect it does the same. The changes are: letter case
// where it has no meaning, comments where a space may be, quoted names, schema
// names, a SELECT around a SELECT, and EXPLAIN. Text inside literals, quoted
// names and comments is never changed. There is no mutant if the package cannot
// read the text with certainty, or if a change could give it another meaning.
//
// The same case always has the same mutants. Like corpus, the package imports
// the standard library only. It reads words and quotes, does not parse SQL, and
// never judges a statement.
package mutate
