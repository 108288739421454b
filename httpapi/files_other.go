//go:build !linux && !darwin

package httpapi

import "math"

// openFiles does not know a limit on this system.
func openFiles() int { return math.MaxInt32 }
