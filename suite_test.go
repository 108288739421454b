package ktx_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTestsApart: the tests that scripts/suite takes out of the stage race by their names
// are in the packages in which the stage plain runs them, and in no other.
func TestTestsApart(t *testing.T) {
	t.Parallel()
	suite, err := os.ReadFile("scripts/suite")
	if err != nil {
		t.Fatal(err)
	}
	var names, packages []string
	for _, line := range regexp.MustCompile(`(?m)^apart="(?:\$apart\|)?([^"]*)"$`).FindAllStringSubmatch(string(suite), -1) {
		names = append(names, strings.Split(line[1], "|")...)
	}
	if line := regexp.MustCompile(`(?m)^have_apart="([^"]*)"$`).FindStringSubmatch(string(suite)); line != nil {
		packages = strings.Fields(line[1])
	}
	found := map[string]int{}
	tests := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			if err == nil && entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), ".") {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		where := "./" + path.Dir(filepath.ToSlash(name))
		for _, match := range tests.FindAllStringSubmatch(string(text), -1) {
			switch {
			case !slices.Contains(names, match[1]):
			case slices.Contains(packages, where):
				found[match[1]]++
			default:
				t.Errorf("%s is in %s too, where neither the stage race nor the stage plain runs it", match[1], where)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if found[name] == 0 {
			t.Errorf("%s: no such test in %v", name, packages)
		}
	}
	if len(names) == 0 || len(packages) == 0 {
		t.Errorf("names %v, packages %v", names, packages)
	}
}
