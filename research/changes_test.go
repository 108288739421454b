package research_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/sqlguard"
)

// A change is one step in the life of a project. It becomes visible at one moment.
type change struct {
	name  string
	apply func(t *testing.T, dir string, ask *caller)
}

// life is a sequence of changes to a project with the connection w.
func life() []change {
	const project = "w"
	values := func(t *testing.T, dir, sync string, texts ...string) {
		t.Helper()
		w, err := dictionary.NewWriter(catalogtest.Open(t, dir), project, sync)
		if err != nil {
			t.Fatal(err)
		}
		var list []dictionary.Value
		for _, text := range texts {
			list = append(list, dictionary.Value{Text: text, Count: 1})
		}
		if err := w.Column(catalog.Ref{DB: "main", Name: "orders"}, "status", list, int64(len(list)), true); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	scan := func(n int) change {
		return change{fmt.Sprintf("scan %d", n), func(t *testing.T, dir string, _ *caller) {
			t.Helper()
			sync := fmt.Sprintf("s%d", n)
			orders := catalogtest.Table("main.orders", "id INTEGER key", fmt.Sprintf("customer TEXT -- The buyer, by scan %d", n), "status TEXT", fmt.Sprintf("total_%d NUMERIC", n))
			orders.Columns[2].SampleValues = []string{"paid", "sample " + sync}
			orders.ForeignKeys = []catalog.ForeignKey{catalogtest.Key("customer", fmt.Sprintf("main.customers_%d", n), "id", "")}
			values(t, dir, sync, "paid", "value of "+sync)
			catalogtest.Write(t, dir, project, catalogtest.Scan{
				SyncID: sync, CreatedAt: fmt.Sprintf("2026-01-02T03:04:%02dZ", n), Driver: "sqlite",
				Tables: []catalog.Table{orders, catalogtest.Table(fmt.Sprintf("main.customers_%d", n), "id INTEGER key", "name TEXT"), catalogtest.Table("main.refunds", "id INTEGER key")},
			})
		}}
	}
	page := func(name, key, text string) change {
		return change{name, func(t *testing.T, dir string, _ *caller) {
			t.Helper()
			put(t, text, dir, "wiki", "global", key+".md")
		}}
	}
	file := func(name, path, text string) change {
		return change{name, func(t *testing.T, dir string, _ *caller) {
			t.Helper()
			catalogtest.PutText(t, filepath.Join(catalogtest.Folder(dir, project), path), text)
		}}
	}
	remove := func(name string, path ...string) change {
		return change{name, func(t *testing.T, dir string, _ *caller) {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(append([]string{dir}, path...)...)); err != nil {
				t.Fatal(err)
			}
		}}
	}
	remember := func(name, text string) change {
		return change{name, func(t *testing.T, _ string, ask *caller) {
			t.Helper()
			ask.must("memory_ingest", fmt.Sprintf(`{"content":%q,"connectionId":"w"}`, text))
		}}
	}
	return []change{
		scan(1),
		page("a new page", "late", "---\nsummary: When an order is late.\n---\n# Late\nLate means `orders.status` after 9 days.\n"),
		scan(2),
		page("a page is changed", "late", "---\nsummary: When orders are late, mended.\n---\n# Late\nLate means `orders.status` after 10 days.\n"),
		file("a table file is broken", "s2/tables/00001.json", `{"name":"customers_2","columns":[`),
		remember("memory", "# Refund\nA refund is a late order that is paid back, see refunds."),
		file("a table file is mended", "s2/tables/00001.json", `{"db":"main","name":"customers_2","kind":"table","columns":[{"name":"id","nativeType":"INTEGER"},{"name":"mended","nativeType":"TEXT"}]}`),
		file("a table file is added", "s2/tables/x.json", `{"db":"main","name":"orders_late","kind":"view","columns":[{"name":"status","nativeType":"TEXT"}]}`),
		{"values are written again", func(t *testing.T, dir string, _ *caller) {
			t.Helper()
			values(t, dir, "s2", "paid", "late", "value written again")
		}},
		remember("memory again", "# Refund\nA refund has no fee."),
		file("relationships", "s2/enrichment/relationships.json", `{"accepted":[{"from":{"table":{"db":"main","name":"refunds"},"columns":["id"]},"to":{"table":{"db":"main","name":"orders"},"columns":["id"]},"source":"inferred"}]}`),
		file("a profile", "s2/enrichment/relationship-profile.json", `{"profiledAt":"now","columns":{"main.customers_2.mended":{"sampleValues":["paid by profile"]}}}`),
		remove("the report of the latest scan is deleted", "raw-sources", "w", "live-database", "s2", "scan-report.json"),
		remove("the rest of it is deleted", "raw-sources", "w", "live-database", "s2"),
		remove("a page is deleted", "wiki", "global", "late.md"),
		scan(3),
		remove("the values are deleted", ".ktx", "values", "w", "s3", "values"),
		remove("all scans are deleted", "raw-sources", "w", "live-database", "s3", "scan-report.json"),
		remove("the last scan is deleted", "raw-sources", "w", "live-database", "s1", "scan-report.json"),
		scan(4),
	}
}

// TestEveryToolSeesChanges changes a project in every way while callers call every tool
// all the time. Each answer is that of a new process before or after the change that
// was under way, none is an error that those do not have, and the first call after a
// change sees it.
func TestEveryToolSeesChanges(t *testing.T) {
	t.Parallel()
	shop := sqliteConnection(t, "w")
	conns := []execution.Connection{shop, artifactOnly("new", sqlguard.Policy{})}
	calls := []call{
		{"connection_list", `{}`},
		{"discover_data", `{"query":"late orders of customers"}`},
		{"discover_data", `{"query":"refunds paid","connectionId":"w","kinds":["table","column"]}`},
		{"entity_details", `{"connectionId":"w","entities":["orders","customers_2",{"table":"refunds","columns":["x"]}]}`},
		{"dictionary_search", `{"values":["paid","value","sample"]}`},
		{"wiki_search", `{"query":"late refund"}`},
		{"wiki_read", `{"key":"late"}`},
		{"wiki_read", `{"key":"refund"}`},
		{"sql_execution", `{"connectionId":"w","sql":"SELECT totel FROM orders"}`},
		{"sql_execution", `{"connectionId":"w","sql":"SELECT count(*) FROM orders_lat"}`},
	}
	status := []call{
		{"memory_ingest_status", `{"runId":"20260506T070809Z-run1"}`}, {"memory_ingest_status", `{"runId":"20260506T070809Z-run2"}`},
	}
	changes := life()
	model := t.TempDir()
	writer := callerOf(t, serviceOver(t, model, conns...), analyst("ana"))
	want := [][]string{callerOf(t, serviceOver(t, model, conns...), analyst("ana")).answers(slices.Concat(calls, status))}
	for n, c := range changes {
		c.apply(t, model, writer)
		answers := callerOf(t, serviceOver(t, model, conns...), analyst("ana")).answers(slices.Concat(calls, status))
		if unchanged := strings.Join(answers, "") == strings.Join(want[n], ""); unchanged != (c.name == "the rest of it is deleted") {
			t.Fatalf("%s: the answers differ = %t, so nothing tells of the change", c.name, !unchanged)
		}
		want = append(want, answers)
	}

	dir := t.TempDir()
	live := serviceOver(t, dir, conns...)
	ask := callerOf(t, live, analyst("ana"))
	var begun, done atomic.Int64 // changes
	var stop atomic.Bool
	const callers = 8
	var finished [callers]atomic.Int64 // calls
	var readers sync.WaitGroup
	for r := range callers {
		reader := callerOf(t, live, analyst("ana"))
		readers.Go(func() {
			for i := r; !stop.Load(); i++ {
				n := i % len(calls)
				least := int(done.Load())
				got := reader.answer(calls[n].tool, calls[n].arguments)
				most := int(begun.Load())
				fits := false
				for k := least; k <= most; k++ {
					fits = fits || got == want[k][n]
				}
				if !fits {
					t.Errorf("%s %s: the answer is of no state from %d to %d:\n%s\n\nbefore:\n%s\n\nafter:\n%s", calls[n].tool, calls[n].arguments, least, most, got, want[least][n], want[most][n])
				}
				finished[r].Add(1)
			}
		})
	}
	for n, c := range changes {
		// A call may last longer than a change, but not longer than two.
		for r := range callers {
			for at := finished[r].Load(); finished[r].Load() < at+2 && !t.Failed(); {
				runtime.Gosched()
			}
		}
		begun.Add(1)
		c.apply(t, dir, ask)
		done.Add(1)
		sameAnswers(t, "the first calls after the change: "+c.name, slices.Concat(calls, status), want[n+1], ask.answers(slices.Concat(calls, status)))
		if t.Failed() {
			break
		}
	}
	stop.Store(true)
	readers.Wait()
}
