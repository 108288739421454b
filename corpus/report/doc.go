// Package report writes a run over the corpus as one HTML page that holds
// everything: scores, a matrix of classes and dialects, what changed since an
// earlier run, and a page for each case.
//
// [Write] writes a [Report]. The page reads without JavaScript: filters are CSS
// over the state of two lists, and a case is shown as a page of its own when the
// address names it (#case-…). A script adds a search and the number of cases
// that are shown.
//
// Everything that comes from cases, run files and guards is text of strangers.
// It passes html/template; characters that do not show, or that turn the
// direction of text, are written as their numbers; only http and https
// addresses become links; and the page forbids itself, by a
// Content-Security-Policy, every script and style but its own and every request.
//
// The package judges nothing and runs nothing.
package report
