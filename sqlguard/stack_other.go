//go:build !unix

package sqlguard

// stackBytes returns 0: the limit of a thread's stack cannot be read here.
func stackBytes() uint64 { return 0 }
