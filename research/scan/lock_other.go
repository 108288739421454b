//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package scan

import "os"

// lock does nothing on systems without flock(2). There, two scans of one connection at
// the same time disturb each other.
func lock(*os.File) error { return nil }
