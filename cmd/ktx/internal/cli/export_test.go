package cli

// SetVersion makes this program the one of a release, as the linker does.
func SetVersion(v string) { version = v }

// SetFreeSpace makes every disk have this many bytes free: a test must not fail
// because the disk that it runs on is nearly full. It returns the system's own answer.
func SetFreeSpace(bytes uint64) (system func(path string) (uint64, bool)) {
	system = freeSpace
	freeSpace = func(string) (uint64, bool) { return bytes, true }
	return system
}
