package manifest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/manifest"
)

var update = flag.Bool("update", false, "write the golden files")

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// tables are a shop whose tables have names that collide, and names that need quotes.
func tables() []*catalog.Table {
	return []*catalog.Table{
		{
			DB: new("public"), Name: "orders", Comment: new("What people buy"), Descriptions: map[string]string{"user": "Orders: one row each"},
			Columns: []catalog.Column{
				{Name: "no", NativeType: "integer", PrimaryKey: true},
				{Name: "region", NativeType: "integer", PrimaryKey: true},
				{Name: "Customer Id", NativeType: "bigint", Nullable: true, Comment: new("Who: the buyer")},
			},
		},
		{DB: new("public"), Name: "customers", Columns: []catalog.Column{{Name: "id", NativeType: "bigint", PrimaryKey: true}}},
		{DB: new("archive"), Name: "Orders", Columns: []catalog.Column{{Name: "no", NativeType: "integer"}}},
		{DB: new("Über.Lager"), Name: `Teil "x".y`, Columns: []catalog.Column{}},
	}
}

func accepted() []catalog.Relationship {
	end := func(db, name string, columns ...string) catalog.EndPoint {
		return catalog.EndPoint{Table: catalog.Ref{DB: db, Name: name}, Columns: columns}
	}
	return []catalog.Relationship{
		{From: end("public", "orders", "Customer Id"), To: end("public", "customers", "id"), Relationship: "many_to_one", Source: "formal"},
		{From: end("archive", "Orders", "no"), To: end("public", "orders", "no"), Relationship: "many_to_one", Source: "inferred"},
		{From: end("public", "orders", "no"), To: end("public", "gone", "id"), Relationship: "many_to_one", Source: "inferred"},
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	shards, err := manifest.Build(tables(), accepted(), quote)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range shards {
		b.WriteString("-- " + s.Name + " --\n" + string(s.Content))
	}
	golden := filepath.Join("testdata", "manifest.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("run the test with -update and read the diff:\n%s", d)
	}
}

// TestShards: a schema with many tables has several files, which together have every
// table once.
func TestShards(t *testing.T) {
	t.Parallel()
	var many []*catalog.Table
	for i := range 1201 {
		many = append(many, &catalog.Table{DB: new("public"), Name: fmt.Sprintf("t%d", i)})
	}
	shards, err := manifest.Build(many, nil, quote)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	count := 0
	for _, s := range shards {
		names = append(names, s.Name)
		count += strings.Count(string(s.Content), "    table: ")
	}
	if fmt.Sprint(names) != "[public.yaml public.2.yaml public.3.yaml]" || count != 1201 {
		t.Errorf("%v have %d tables", names, count)
	}
}

// TestEveryTableOnce: tables of any names have sources of different names, in files
// that a YAML parser reads back.
func TestEveryTableOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seen := map[catalog.Ref]bool{}
		var list []*catalog.Table
		name := rapid.OneOf(rapid.SampledFrom([]string{"a", "A", "a__b", "b", "public", "a.b", "on", "no", "1", "ß"}), rapid.StringN(1, 5, 40))
		for range rapid.IntRange(0, 12).Draw(t, "tables") {
			table := &catalog.Table{DB: new(name.Draw(t, "schema")), Name: name.Draw(t, "name")}
			if !seen[table.Ref()] {
				seen[table.Ref()] = true
				list = append(list, table)
			}
		}
		shards, err := manifest.Build(list, nil, quote)
		if err != nil {
			t.Fatal(err)
		}
		sources := map[string]bool{}
		for _, s := range shards {
			var file struct {
				Tables map[string]struct{ Table string }
			}
			if err := yaml.Unmarshal(s.Content, &file); err != nil {
				t.Fatalf("%s: %v", s.Content, err)
			}
			for name := range file.Tables {
				if folded := strings.ToLower(name); sources[folded] {
					t.Errorf("two tables have the name %q", name)
				} else {
					sources[folded] = true
				}
			}
		}
		if len(sources) != len(list) {
			t.Errorf("%d tables have %d sources", len(list), len(sources))
		}
	})
}

// TestWrite: files of ktx come and go, and files of people stay.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	replace := func(name string, content []byte) error {
		written++
		return root.WriteFile(name, content, 0o600)
	}
	write := func(shards ...manifest.Shard) error { return manifest.Write(root, "shop", shards, replace) }
	shard := func(name, content string) manifest.Shard {
		return manifest.Shard{Name: name, Content: []byte(manifest.Header + content)}
	}
	if err := write(shard("a.yaml", "1"), shard("b.yaml", "2")); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "semantic-layer", "shop", "_schema")
	if err := os.WriteFile(filepath.Join(folder, "mine.yaml"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	written = 0
	if err := write(shard("a.yaml", "1")); err != nil || written != 0 {
		t.Errorf("a file without a change was written: %d, %v", written, err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 || entries[0].Name() != "a.yaml" || entries[1].Name() != "mine.yaml" {
		t.Errorf("the folder has %v: %v", entries, err)
	}
	if err := write(shard("mine.yaml", "1")); err == nil || !strings.Contains(err.Error(), "was not written by ktx scan") {
		t.Errorf("a file of people was replaced: %v", err)
	}
}
