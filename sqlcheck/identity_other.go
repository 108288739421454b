//go:build !unix

package sqlcheck

// identityOf knows no file: every file is read.
func identityOf(string) identity { return identity{} }
