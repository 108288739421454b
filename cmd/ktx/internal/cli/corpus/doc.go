// Package corpus is the commands of ktx corpus: list the cases, put them to a
// guard, compare runs, and find mistakes in files of cases.
//
// Runs are in corpus/run, the HTML page in corpus/report, and files of cases in
// corpus/casefile.
package corpus
