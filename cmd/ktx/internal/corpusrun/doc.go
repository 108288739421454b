// Package corpusrun puts the corpus, or cases of others, to a guard and scores
// the answers as corpus/INTERPRETING.md says: four figures for each dialect
// and class, never one number. It judges nothing itself.
package corpusrun
