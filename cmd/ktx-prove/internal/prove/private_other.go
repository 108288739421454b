//go:build !linux

package prove

import "io"

// private does nothing: temporary folders of a process's own are Linux's.
func private([]string, io.Writer, io.Writer) (code int, done bool, err error) { return 0, false, nil }
