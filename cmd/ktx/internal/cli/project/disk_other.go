//go:build !linux && !darwin

package project

// freeSpace does not know the space on this system.
func freeSpace(string) (bytes uint64, ok bool) { return 0, false }
