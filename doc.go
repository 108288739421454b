// Package ktx holds the tests over the module as a whole: the import table
// (arch_test.go) and the seal around approved SQL (seal_test.go). The program is
// cmd/ktx; ARCHITECTURE.md says what lies where. It has no code of its own, and
// nothing imports it.
package ktx
