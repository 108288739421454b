// Package corpus is the evidence: SQL statements that a read-only guard must
// refuse or must let pass, each with its reason and its sources.
//
// [Cases] returns them all; INTERPRETING.md says what each field promises and
// how a guard is scored against it. The source is one YAML file for each class
// and dialect (postgres/select-into.yaml); cases.json is generated from those
// files and embedded, so that importing this package costs no parser.
// [ReadJSONLines] reads statements of other people, [Lint] finds mistakes in
// cases.
//
// The package imports the standard library only. It never judges, runs or
// rewrites a statement.
package corpus
