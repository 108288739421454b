//go:build !linux

package stdio

import "io"

// unread knows nothing of these systems' pipes.
func unread(io.Writer) (n int, known bool) { return 0, false }
