//go:build !race

package cli_test

// memoryFactor: see race_test.go.
const memoryFactor = 1
