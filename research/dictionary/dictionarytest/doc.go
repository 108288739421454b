// Package dictionarytest makes columns of values in many scripts, dirty as in real
// databases, and questions about them in the ways in which people write: another
// case, other dashes, codes without their punctuation, typos, abbreviations. Each
// question knows the column that holds its value.
//
// The values are made from syllables by a seed, so that they resemble no known data
// set, and any number of worlds can be made. Choose settings on the habits for which
// [Habit.Held] is false, and read the figures off on the others and on another seed.
package dictionarytest
