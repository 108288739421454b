//go:build !linux

package stdio

import "io"

// polled returns in, see polled_linux.go.
func polled(in io.Reader) io.Reader { return in }
