// Package executiontest is the contract that every execution backend passes,
// and the measure of what its read-only session stops on its own.
//
// A backend's test names its engine and how it is opened; the rest is here:
//
//	func TestBackend(t *testing.T) {
//		target := executiontest.SQLite(open)
//		target.Update = *update // go test -update
//		executiontest.RunBackend(t, target)
//	}
//
// The suite brings a dialect that permits every text ([Permissive]), so that
// nothing but the session stands between an attack and the database. What the
// session stops and what it lets through is written to docs/evidence/second-control.md
// and compared with it. An attack that leaves a trace fails the suite, unless
// the attack says why no session can stop it.
//
// The package is test support. It is never part of the shipped binary, and it
// judges no SQL.
package executiontest
