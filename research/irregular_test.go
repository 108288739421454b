//go:build unix

package research_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestPipesAndLinksInPlaceOfFiles puts a pipe, and a link that leads out of the project,
// in place of each file. Nobody writes into the pipes, so a call that opens one does not
// end. Every call is answered, none with a fault of ours or with what the link leads to.
func TestPipesAndLinksInPlaceOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("name: orders\ntable: zq7_outside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	catalogtest.Write(t, dir, "w", catalogtest.Scan{Tables: []catalog.Table{catalogtest.Table("public.orders", "id integer key", "status text")}})
	writeValues(t, dir, "w", map[string][]string{"public.orders.status": {"paid"}})
	put(t, "Late means after nine days.\n", dir, "wiki", "global", "late.md")
	put(t, "name: orders\ntable: public.orders\ngrain: [id]\ncolumns: [{name: id, type: number}]\nmeasures: [{name: n, expr: count(*)}]\n", dir, "semantic-layer", "w", "orders.yaml")
	put(t, "tables:\n  customers:\n    table: public.customers\n    columns: [{name: id, type: number, pk: true}]\n", dir, "semantic-layer", "w", "_schema", "public.yaml")
	calls := []call{
		{"discover_data", `{"query":"orders paid late"}`},
		{"entity_details", `{"connectionId":"w","entities":["public.orders"]}`},
		{"dictionary_search", `{"values":["paid"]}`},
		{"wiki_search", `{"query":"late"}`},
		{"wiki_read", `{"key":"late"}`},
		{"sl_read_source", `{"connectionId":"w","sourceName":"orders"}`},
		{"sl_read_source", `{"connectionId":"w","sourceName":"customers"}`},
		{"memory_ingest", `{"content":"# Paid\nPaid means the money is here.","connectionId":"w"}`},
		{"wiki_read", `{"key":"paid"}`},
	}
	start := func() *caller {
		return callerOf(t, serviceOver(t, dir, artifactOnly("w", sqlguard.Policy{})), analyst("ana"))
	}
	start().answers(calls)
	for _, path := range filesUnder(t, dir, ".ktx", "raw-sources", "semantic-layer", "wiki") {
		if strings.HasSuffix(path, "/memory/lock") {
			continue // nothing is remembered without it, and that is an error
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for what, put := range map[string]func() error{
			"a pipe": func() error { return syscall.Mkfifo(path, 0o600) },
			"a link": func() error { return os.Symlink(outside, path) },
		} {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := put(); err != nil {
				t.Fatal(err)
			}
			for i, answer := range start().answers(calls) {
				if strings.Contains(answer, "internal_error") || strings.Contains(answer, "zq7_outside") {
					t.Errorf("%s in place of %s: %s %s: %s", what, path, calls[i].tool, calls[i].arguments, answer)
				}
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
