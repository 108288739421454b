// Package faults breaks what the gateway depends on, one thing at a time, and
// holds what must still be true.
//
// A scenario is a row of data and the code beside it: what is done, how a call
// may end besides its right answer, what else must hold. It runs the real
// gateway with its real backends and its log on disk, or the command itself in
// a process of its own, against a real server. What holds for every scenario is
// checked for every scenario, see hold_test.go.
//
//	go test ./execution/executiontest/faults        the quick half
//	make faults                                     all, and docs/evidence/reliability.md
//
// A tool that a scenario needs and that is missing fails the test where CI is
// set or the full suite was asked for.
//
// The package holds tests only, and nothing in it depends on how fast the
// machine is: times are bounds on hanging.
package faults
