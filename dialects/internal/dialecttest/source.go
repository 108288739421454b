package dialecttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Source returns the content of a package's files without its tests, as one string. The
// package is an import path, or "." for the package under test.
func Source(t *testing.T, pkg string) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", pkg).Output() //nolint:gosec // a package that the test names
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Go files in %s: %v", dir, err)
	}
	var b strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file) //nolint:gosec // a source file of that package
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}

// Names returns the matches of a pattern's first group in a source, sorted and without
// duplicates.
func Names(pattern *regexp.Regexp, source string) []string {
	var out []string
	for _, m := range pattern.FindAllStringSubmatch(source, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}
