// Package mutate writes the same statement in other ways: it makes mutants of
// the corpus's cases, of which a guard must say what it says of the case.
//
//	for _, m := range mutate.All(corpus.Cases()) { ... }
//
// A mutant's ID is that of its case, a tilde and the kind of change:
// KTX-PG-FN-0042~case. It has the case's demand, since it does the same on every
// engine of its dialect: letters of names that fold, comments where a space may
// stand, names in quotes, schemas where the name was found anyway, one SELECT
// more around a SELECT, EXPLAIN. Nothing within literals, quoted names or
// comments is ever changed, and where a text cannot be read with certainty, or a
// change could give it another meaning, there is no mutant.
//
// The same case always has the same mutants. Like corpus, the package imports
// the standard library only; it reads words and quotes, not SQL, and judges
// nothing.
package mutate
