//go:build !linux

package catalog

import "time"

// lookAt is look for a file of the folder.
func (f *folder) lookAt(name string, limit int64, now time.Time) (seen, problem) {
	return look(f.root, name, limit, now)
}
