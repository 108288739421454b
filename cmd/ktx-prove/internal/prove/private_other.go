//go:build !linux

package prove

import "io"

// private does nothing: only Linux has temporary folders for a process.
func private([]string, io.Writer, io.Writer) (code int, done bool, err error) { return 0, false, nil }
