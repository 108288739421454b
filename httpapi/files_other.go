//go:build !linux && !darwin

package httpapi

import "math"

// openFiles returns no limit, because this system has none that is known.
func openFiles() int { return math.MaxInt32 }
