// Package report writes a run over the corpus as one HTML page: scores, a
// matrix of classes and dialects, the changes since an earlier run, and a page
// for each case.
//
//	err := report.Write(w, report.Report{Cases: cases, Results: results, Guard: guard.Describe()})
//
// The page works without JavaScript. Its filters are CSS rules over the state
// of the lists, and the address of a case (#case-…) shows that case as a page
// of its own. The cases stand inside of noscript, so a browser with scripts makes
// no elements of them. Its script shows a page of the list at a time, adds a search,
// and keeps filters, search and page in the fragment of the address.
//
// The texts of cases, run files and guards are not trusted. Package markup
// escapes them. Characters that are invisible or change the direction of text
// are shown as their numbers. Only http and https addresses become links. A
// Content-Security-Policy forbids every script and style except the page's own,
// and every request.
//
// The package never judges and never runs a statement.
package report
