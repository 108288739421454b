//go:build race

package cli_test

// memoryFactor is how much more memory a process needs under the race detector, which
// is up to ten times (go.dev/doc/articles/race_detector).
const memoryFactor = 10
