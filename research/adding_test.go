package research_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// addedRow is the row of everything_test in the registry.
const addedRow = `		{name: "everything_test", handler: typed((*Service).handleEverything), listed: hasGateway},
`

// TestAToolIsThreeEdits adds a tool to an overlay of this package: one Go file,
// one schema file, and one line in the registry. With these edits and no other,
// the package and its tests compile, a client sees the tool and calls it, and
// every other test of the package passes. The test of the golden file is left
// out, because that file lists the shipped tools, and so are the longest tests,
// which ask tools by their names and are no different with one more.
func TestAToolIsThreeEdits(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	registry, err := os.ReadFile("registry.go")
	if err != nil {
		t.Fatal(err)
	}
	edits := map[string][]byte{
		"everything.go":                readAdding(t, "everything.go"),
		"schemas/everything_test.json": readAdding(t, "everything_test.json"),
		"registry.go":                  addRow(t, registry),
	}
	added, changed, lines := countEdits(t, edits)
	if !slices.Equal(added, []string{"everything.go", "schemas/everything_test.json"}) || !slices.Equal(changed, []string{"registry.go"}) || lines != 1 {
		t.Fatalf("adds %v, and changes %v in %d lines; want one Go file, one schema, and one line in the registry", added, changed, lines)
	}
	edits["adding_client_test.go"] = readAdding(t, "client_test.go")

	overlay := struct{ Replace map[string]string }{map[string]string{}}
	temp := t.TempDir()
	for name, text := range edits {
		path := filepath.Join(temp, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(dir, filepath.FromSlash(name))] = path
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-v", "-overlay", file, "-skip", "^(TestAToolIsThreeEdits|TestToolsArray|TestEqualBytes|TestEveryReferenceRoundTrips|TestDamagedFiles|TestSLInjectionOfTheCorpus)$", ".").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestAddedTool ")) {
		t.Errorf("%v: with the three edits, the tests say\n%s", err, out)
	}
}

func readAdding(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "adding", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// addRow returns the registry with the row of everything_test after its last
// row.
func addRow(t *testing.T, registry []byte) []byte {
	t.Helper()
	lines := strings.SplitAfter(string(registry), "\n")
	for i := len(lines) - 1; i > 0; i-- {
		if strings.HasPrefix(lines[i], "\t\t{name: ") {
			return []byte(strings.Join(slices.Insert(lines, i+1, addedRow), ""))
		}
	}
	t.Fatal("the registry has no row")
	return nil
}

// countEdits compares the edited files with those of this package. It returns
// the new files, the changed files, and the number of lines that were added to
// or removed from the changed files.
func countEdits(t *testing.T, edits map[string][]byte) (added, changed []string, lines int) {
	t.Helper()
	for name, text := range edits {
		before, err := os.ReadFile(filepath.FromSlash(name))
		if os.IsNotExist(err) {
			added = append(added, name)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		changed = append(changed, name)
		count := map[string]int{}
		for line := range strings.Lines(string(text)) {
			count[line]++
		}
		for line := range strings.Lines(string(before)) {
			count[line]--
		}
		for _, n := range count {
			lines += max(n, -n)
		}
	}
	slices.Sort(added)
	slices.Sort(changed)
	return added, changed, lines
}
