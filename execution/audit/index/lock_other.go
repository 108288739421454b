//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package index

import "os"

// lock does nothing on systems without flock(2). The others that ktx supports do not let a
// file be deleted that another process has open.
func lock(*os.File) error { return nil }
