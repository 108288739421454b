package testdb

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Tool returns the path of a program that a test runs beside the databases,
// such as psql, mariadb, sqlite3 or pgbouncer. It looks in the directory of
// [Binaries], in PATH, and in the directories where Debian installs programs
// that are not in every user's PATH. A test without its tool fails; it is never
// skipped.
func Tool(tb testing.TB, name string) string {
	tb.Helper()
	path, err := findTool(name)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func findTool(name string) (string, error) {
	var places []string
	if bin, err := Binaries(); err == nil {
		places = append(places, filepath.Join(bin, name))
	}
	places = append(places, name)
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin"} {
		places = append(places, filepath.Join(dir, name))
	}
	installed, err := filepath.Glob(filepath.Join("/usr/lib/postgresql/*/bin", name))
	if err != nil {
		return "", fmt.Errorf("look for %s: %w", name, err)
	}
	for _, place := range append(places, installed...) {
		if path, err := exec.LookPath(place); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the program %s is needed: it is neither beside the server programs nor in /usr/sbin nor in PATH=%s (make test-deps installs it on a Debian-like system)", name, os.Getenv("PATH"))
}
