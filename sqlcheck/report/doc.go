// Package report prints the results of a check: for people, with a caret under
// the position, and in formats for programs, such as JSON, SARIF and JUnit.
//
//	err := report.Write(os.Stdout, report.FormatSARIF, &report.Check{Files: files})
//
// The package never changes a verdict and never judges a statement.
package report
