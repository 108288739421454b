// Package faults breaks one thing at a time that the gateway depends on, and
// checks what must still be true.
//
// A scenario is a row of data with its code: what is done, with which codes a
// call may end instead of its right answer, and what else must hold. It runs the
// real gateway with its real backends and its log on disk, or the command in a
// process of its own, against a real server. hold_test.go has the conditions that
// are checked after every scenario.
//
//	go test ./execution/executiontest/faults        the quick half
//	make faults                                     all, and docs/evidence/reliability.md
//
// A tool that a scenario needs and that is missing fails the test where CI is
// set or the full suite was asked for.
//
// The package has only tests. They do not depend on the speed of the machine:
// their time limits only end a test that hangs.
package faults
