//go:build !cgo

package dialects_test

// tortured are the dialects whose parser differs from that of the build with cgo.
const tortured = "postgres"
