//go:build !cgo

package dialects_test

// tortured lists the dialects that TestNoTextEndsTheProcess tries in this build:
// those whose parser differs from that of the build with cgo.
const tortured = "postgres"
