package cli

// SetVersion makes this program the one of a release, as the linker does.
func SetVersion(v string) { version = v }
