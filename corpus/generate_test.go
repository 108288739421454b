package corpus_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/corpus"
)

var update = flag.Bool("update", false, "write cases.json, INDEX.md, SHA256SUMS, files.zip and the counts in README.md from the class files")

// TestGenerated checks that cases.json and INDEX.md agree with the class files,
// and that SHA256SUMS has the hashes of all files.
func TestGenerated(t *testing.T) { //nolint:paralleltest // with -update it writes what other tests read
	cases := sourceCases(t)
	var want bytes.Buffer
	if err := corpus.WriteJSON(&want, newestVersion(t), cases); err != nil {
		t.Fatal(err)
	}
	compareFile(t, "cases.json", want.Bytes())
	compareFile(t, "INDEX.md", index(cases))
	compareFile(t, "SHA256SUMS", checksums(t))
}

// checksums returns the list of files of the corpus with their hashes, as
// sha256sum writes it.
func checksums(t *testing.T) []byte {
	t.Helper()
	patterns := []string{"fixtures/*.sql", "cases.json", "schema.json", "INTERPRETING.md"}
	var names []string
	for _, d := range corpus.Dialects() {
		found, err := filepath.Glob(d.Name + "/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		names = append(names, found...)
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(slices.Values(names)) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), filepath.ToSlash(name))
	}
	return b.Bytes()
}

// TestReadmeCounts checks that the table in README.md has the right counts.
func TestReadmeCounts(t *testing.T) { //nolint:paralleltest // with -update it writes what the next test packs
	const begin, end = "<!-- counts: begin -->\n", "<!-- counts: end -->\n"
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(readme), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("README.md has no place for the counts")
	}
	compareFile(t, "README.md", []byte(head+begin+countTable(sourceCases(t))+end+tail))
}

// TestPacked checks that files.zip has the files of the corpus as they are.
func TestPacked(t *testing.T) { //nolint:paralleltest // it packs what the tests above have written
	names := []string{"cases.json", "schema.json", "README.md", "INTERPRETING.md", "HISTORY.md", "DATASHEET.md", "LICENSE", "SHA256SUMS"}
	patterns := []string{"fixtures/*"}
	for _, d := range corpus.Dialects() {
		patterns = append(patterns, d.Name+"/*.yaml")
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			names = append(names, filepath.ToSlash(name))
		}
	}
	slices.Sort(names)
	if *update {
		if err := os.WriteFile("files.zip", pack(t, names), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	var got []string
	err := fs.WalkDir(corpus.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			got = append(got, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Fatalf("files.zip; run go test ./corpus -update (-files +packed):\n%s", diff)
	}
	for _, name := range names {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if packed, err := fs.ReadFile(corpus.Files(), name); err != nil || !bytes.Equal(packed, want) {
			t.Errorf("%s is not the same in files.zip (%v); run go test ./corpus -update", name, err)
		}
	}
}

// pack returns an archive of files without times, so that equal files give equal bytes.
func pack(t *testing.T, names []string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compareFile(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from the class files; run go test ./corpus -update (-file +generated):\n%s", name, cmp.Diff(strings.Split(string(got), "\n"), strings.Split(string(want), "\n")))
	}
}

// countTable counts the cases by class, dialect and demand.
func countTable(cases []corpus.Case) string {
	type key struct {
		dialect, class string
		expect         corpus.Expect
	}
	counts := map[key]int{}
	var names []string
	for _, c := range cases {
		counts[key{c.Dialect, c.Class, c.Expect}]++
		counts[key{c.Dialect, "", c.Expect}]++
		if !slices.Contains(names, c.Dialect) {
			names = append(names, c.Dialect)
		}
	}
	var b strings.Builder
	b.WriteString("| class | in IDs | about |")
	for _, n := range names {
		fmt.Fprintf(&b, " %s |", n)
	}
	b.WriteString("\n|---|---|---|" + strings.Repeat("---|", len(names)) + "\n")
	row := func(class string) (cells string, total int) {
		for _, n := range names {
			r, p, a := counts[key{n, class, corpus.Reject}], counts[key{n, class, corpus.Policy}], counts[key{n, class, corpus.Allow}]
			cells += fmt.Sprintf(" %d / %d / %d |", r, p, a)
			total += r + p + a
		}
		return cells, total
	}
	for _, c := range corpus.Classes() {
		if cells, total := row(c.Name); total > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s |%s\n", c.Name, c.Code, c.Title, cells)
		}
	}
	cells, _ := row("")
	fmt.Fprintf(&b, "| **all** | | |%s\n", cells)
	return b.String()
}

// sourceCases reads the class files, ordered by dialect, class and ID.
func sourceCases(t *testing.T) []corpus.Case {
	t.Helper()
	var all []corpus.Case
	for _, d := range corpus.Dialects() {
		for _, c := range corpus.Classes() {
			name := d.Name + "/" + c.Name + ".yaml"
			doc, err := os.ReadFile(name)
			if os.IsNotExist(err) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			cases, err := corpus.DecodeFile(name, yamlToJSON(t, name, doc))
			if err != nil {
				t.Fatal(err)
			}
			slices.SortStableFunc(cases, func(a, b corpus.Case) int { return strings.Compare(a.ID, b.ID) })
			all = append(all, cases...)
		}
	}
	return all
}

// TestClassFiles checks that every class file conforms to schema.json, and that
// every YAML file is in a folder that is read.
func TestClassFiles(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob("*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		doc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(yamlToJSON(t, name, doc)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		dialect, class := strings.TrimSuffix(name, filepath.Base(name)), strings.TrimSuffix(filepath.Base(name), ".yaml")
		if !slices.ContainsFunc(corpus.Dialects(), func(d corpus.Dialect) bool { return d.Name+"/" == dialect }) ||
			!slices.ContainsFunc(corpus.Classes(), func(c corpus.Class) bool { return c.Name == class }) {
			t.Errorf("%s: no such dialect or class", name)
		}
	}
	if len(found) == 0 {
		t.Error("no class files")
	}
}

// TestSchemaNames checks that schema.json lists the classes, dialects, effects
// and engines of the package.
func TestSchemaNames(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties struct {
			Class   struct{ Enum []string }
			Dialect struct{ Enum []string }
		}
		Defs struct {
			Case struct {
				Properties struct {
					Title  struct{ MaxLength int }
					Engine struct {
						Properties struct{ Name struct{ Enum []string } }
					}
					Effect struct {
						Properties struct{ Kind struct{ Enum []string } }
					}
				}
			}
		} `json:"$defs"`
	}
	doc, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(doc, &schema); err != nil {
		t.Fatal(err)
	}
	var classes, dialects []string
	for _, c := range corpus.Classes() {
		classes = append(classes, c.Name)
	}
	for _, d := range corpus.Dialects() {
		dialects = append(dialects, d.Name)
	}
	if diff := cmp.Diff(classes, schema.Properties.Class.Enum); diff != "" {
		t.Errorf("classes (-package +schema):\n%s", diff)
	}
	if diff := cmp.Diff(dialects, schema.Properties.Dialect.Enum); diff != "" {
		t.Errorf("dialects (-package +schema):\n%s", diff)
	}
	fields := schema.Defs.Case.Properties
	if diff := cmp.Diff(corpus.Effects(), fields.Effect.Properties.Kind.Enum); diff != "" {
		t.Errorf("effects (-package +schema):\n%s", diff)
	}
	if diff := cmp.Diff(corpus.Engines(), fields.Engine.Properties.Name.Enum); diff != "" {
		t.Errorf("engines (-package +schema):\n%s", diff)
	}
	if fields.Title.MaxLength != 120 {
		t.Errorf("a title may have %d characters", fields.Title.MaxLength)
	}
}

// newestVersion reads the version from the first heading of HISTORY.md.
func newestVersion(t *testing.T) string {
	t.Helper()
	history, err := os.ReadFile("HISTORY.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^## ([0-9]+\.[0-9]+\.[0-9]+)\b`).FindSubmatch(history)
	if heading == nil {
		t.Fatal("HISTORY.md has no version heading")
	}
	return string(heading[1])
}

// yamlToJSON converts a YAML document. Dates stay strings.
func yamlToJSON(t *testing.T, name string, doc []byte) []byte {
	t.Helper()
	var node yaml.Node
	if err := yaml.Unmarshal(doc, &node); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	plainDates(&node)
	var value any
	if err := node.Decode(&value); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

func plainDates(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, child := range n.Content {
		plainDates(child)
	}
}
