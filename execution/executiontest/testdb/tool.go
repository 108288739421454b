package testdb

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Tool returns the path of a program that a test runs beside the databases,
// such as psql, sqlite3 or pgbouncer. It is looked for in the directory of
// [Binaries], in PATH, and in the directories where Debian keeps what is not
// for every user's PATH. A test without its tool fails; it is never skipped.
func Tool(tb testing.TB, name string) string {
	tb.Helper()
	path, err := findTool(name)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func findTool(name string) (string, error) {
	if bin, err := Binaries(); err == nil {
		if path, err := exec.LookPath(filepath.Join(bin, name)); err == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the program %s is needed, and is neither beside the server programs nor in PATH=%s (make test-deps installs it on a Debian-like system)", name, os.Getenv("PATH"))
}
