//go:build unix

package sqlcheck

import "golang.org/x/sys/unix"

// identityOf returns what the system says about a file or folder, to which a
// link leads. Nobody but the system sets Changed, so a file that is written
// gets another identity even if its time of change is set back.
func identityOf(path string) identity {
	var s unix.Stat_t
	if unix.Stat(path, &s) != nil {
		return identity{}
	}
	return identity{Device: uint64(s.Dev), File: s.Ino, Size: s.Size, Modified: s.Mtim.Nano(), Changed: s.Ctim.Nano()} //nolint:unconvert // the types differ between systems
}
