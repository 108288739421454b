// Package chengine runs ClickHouse itself for tests: the library of chDB, in a process of
// its own.
//
//	e := chengine.Start(t, chengine.Config{})
//	e.Exec(t, "CREATE TABLE items (id Int32) ENGINE = Memory")
//	door := e.Serve(t, chengine.Door{})
//	open(door.URL("default"))
//
// The library computes, stores, checks rights and settings, and ends queries, as a server
// does. It has no HTTP interface, so [Engine.Serve] stands in for that: it takes a request
// as the interface does, opens a session, sends the parameters as one SET, and passes the
// engine's rows on as they come. What a test sees of statements, values, settings, errors
// and KILL is the engine's own. Headers, logins, the form in which an error is written
// behind rows, and that a query ends when its client leaves are the stand-in's.
//
// make test-engines fetches the library and builds the program. Without them the tests
// are skipped.
//
// The package is test support and is never part of the shipped binary.
package chengine
