// Package executiontest is the contract suite of the execution backends. It also
// measures what a backend's read-only session stops without the guard.
//
// A backend's test says which engine it is and how to open it. The rest is here:
//
//	func TestBackend(t *testing.T) {
//		target := executiontest.SQLite(open)
//		target.Update = *update // go test -update
//		executiontest.RunBackend(t, target)
//	}
//
// The suite has a dialect that permits every statement ([Permissive]), so that
// only the session protects the database from an attack. The suite compares what
// the session stops and what it lets through with docs/evidence/second-control.md, and
// writes that report with -update. An attack that leaves a trace fails the suite,
// unless the attack says why no session can stop it.
//
// Tests wait for states with [Eventually], and hold no call to a time unless
// KTX_TEST_CANCELLATIONS is set. With KTX_TEST_FULL they try every case ([Full]).
//
// The package is test support. It is never part of the shipped binary, and it
// judges no SQL.
package executiontest
