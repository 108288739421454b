//go:build !linux && !darwin

package cli

// freeSpace does not know the space on this system.
var freeSpace = func(string) (bytes uint64, ok bool) { return 0, false }
