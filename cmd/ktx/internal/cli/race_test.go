//go:build race

package cli_test

// memoryFactor is how many times the memory that it watches the race detector
// takes, at most about ten times (go.dev/doc/articles/race_detector).
const memoryFactor = 10
