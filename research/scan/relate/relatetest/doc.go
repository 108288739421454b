// Package relatetest measures the relationship finder: it makes databases with
// undeclared keys under many naming habits, with rows, and compares what
// relate.Find returns with what the databases were made from.
package relatetest
