// Package chserver is a server of ClickHouse's HTTP interface for tests: a stand-in for
// ClickHouse where none can be had.
//
//	s := chserver.Start(t, chserver.Config{})
//	s.On("SELECT 1", func(r *chserver.Reply) { … })
//	open(s.URL())
//
// It checks what a client sends: the method, the login, that an identifier is used once,
// that settings are known and not fixed by the profile. It knows readonly as servers do:
// a request cannot lower it, and readonly=1 refuses what is not a read. KILL QUERY ends a
// running query, as does a client that leaves. Errors come before the first row with a
// status, and after it as text behind the rows, in the way of old servers or of new ones.
//
// It answers the few queries of executiontest that it knows, and those that a test
// registers with [Server.On]. It never invents an answer: every other statement fails with
// a code that no ClickHouse uses.
//
// A test against this package proves nothing about the engine: not how it writes a value,
// not that readonly=1 refuses a write, and not when it looks for a KILL. make test-engines
// runs the same suite against the engine itself, in package chengine.
//
// The package is test support and is never part of the shipped binary.
package chserver
