// Package corpus holds SQL statements that a read-only guard must refuse or
// must allow, each with its reason and its sources.
//
//	for _, c := range corpus.Cases() {
//		fmt.Println(c.ID, c.Expect, c.SQL)
//	}
//
// INTERPRETING.md says what each field of a [Case] means and how a guard is
// scored. The source of the cases is one YAML file for each class and dialect,
// such as postgres/select-into.yaml. cases.json is generated from these files
// and embedded with them in files.zip, so a program that imports the package needs
// no YAML parser.
// [ReadJSONLines] reads cases of other origin, and [Lint] finds mistakes in
// cases.
//
// The package imports the standard library only. It never judges, runs or
// rewrites a statement.
package corpus
