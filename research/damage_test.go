package research_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// wordSwapped is a damage that leaves all lengths, so that nothing but a checksum tells
// of it. Every file gets it.
const wordSwapped = "a word is another one"

// damages are ways to change a file, each given its content and that of another file.
var damages = map[string]func(r *rand.Rand, text, other []byte) []byte{
	"a bit is flipped": func(r *rand.Rand, text, _ []byte) []byte {
		out := slices.Clone(text)
		if len(out) > 0 {
			out[r.IntN(len(out))] ^= 1 << r.IntN(8)
		}
		return out
	},
	"bytes are noise": func(r *rand.Rand, text, _ []byte) []byte {
		out := slices.Clone(text)
		for range 8 {
			if len(out) > 0 {
				out[r.IntN(len(out))] = byte(r.IntN(256))
			}
		}
		return out
	},
	"the end is missing": func(r *rand.Rand, text, _ []byte) []byte { return slices.Clone(text[:r.IntN(len(text)+1)]) },
	"a part is twice": func(r *rand.Rand, text, _ []byte) []byte {
		from := r.IntN(len(text) + 1)
		to := from + r.IntN(len(text)-from+1)
		return slices.Concat(text[:to], text[from:to], text[to:])
	},
	"a part is missing": func(r *rand.Rand, text, _ []byte) []byte {
		from := r.IntN(len(text) + 1)
		return slices.Concat(text[:from], text[from+r.IntN(len(text)-from+1):])
	},
	wordSwapped: func(_ *rand.Rand, text, _ []byte) []byte {
		return bytes.ReplaceAll(text, []byte("status"), []byte("staust"))
	},
	"it is empty":                    func(*rand.Rand, []byte, []byte) []byte { return nil },
	"it has zeros":                   func(_ *rand.Rand, text, _ []byte) []byte { return make([]byte, len(text)) },
	"it has the bytes of another":    func(_ *rand.Rand, _, other []byte) []byte { return slices.Clone(other) },
	"it is not there":                nil,
	"it is a folder":                 nil,
	"another value stands in JSON":   func(r *rand.Rand, text, _ []byte) []byte { return anotherValue(r, text) },
	"its texts are not UTF-8":        func(_ *rand.Rand, text, _ []byte) []byte { return bytes.ReplaceAll(text, []byte("a"), []byte("\xff")) },
	"its brackets go a million deep": func(*rand.Rand, []byte, []byte) []byte { return bytes.Repeat([]byte(`{"a":[`), 1_000_000) },
}

// jsonValue is a short value in a JSON text.
var jsonValue = regexp.MustCompile(`:\s*("[^"\\]*"|-?\d+|true|false|null|\[\]|\{\})`)

// anotherValue replaces a value of a JSON text by one of another type.
func anotherValue(r *rand.Rand, text []byte) []byte {
	all := jsonValue.FindAllSubmatchIndex(text, -1)
	if len(all) == 0 {
		return nil
	}
	values := []string{"null", "-1", "1e400", "99999999999999999999", `""`, `"../../../x"`, "[]", "{}", "[null]", `{"name":7}`, "true", `"\u0000"`, `"\ud800"`}
	at := all[r.IntN(len(all))]
	return slices.Concat(text[:at[2]], []byte(values[r.IntN(len(values))]), text[at[3]:])
}

// filesUnder returns the files in folders of a project.
func filesUnder(t *testing.T, dir string, folders ...string) []string {
	t.Helper()
	var files []string
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(dir, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestDamagedFiles damages one file after the other in many ways. No call of a tool
// fails, a damaged cache changes nothing, the other connection is not touched, and when
// the file is whole again, the answers are what they were.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conns := []execution.Connection{artifactOnly("w", sqlguard.Policy{}), artifactOnly("other", sqlguard.Policy{})}
	orders := catalogtest.Table("public.orders", "id integer key -- The number", "customer_id integer", "status text null -- Late or paid")
	orders.Columns[2].SampleValues, orders.Columns[2].EnumValues, orders.Columns[0].Generated = []string{"paid"}, []string{"paid", "late"}, "identity"
	orders.ForeignKeys = []catalog.ForeignKey{catalogtest.Key("customer_id", "public.customers", "id", "fk")}
	orders.Descriptions = map[string]string{"ai": "Orders of customers"}
	customers := catalogtest.Table("public.customers", "id integer key", "name text")
	scan := catalogtest.Scan{
		Tables: []catalog.Table{orders, customers}, Relationships: &catalog.Relationships{Accepted: []catalog.Relationship{{
			From: catalog.EndPoint{Table: orders.Ref(), Columns: []string{"status"}}, To: catalog.EndPoint{Table: customers.Ref(), Columns: []string{"name"}}, Source: "inferred",
		}}},
		Profile: &catalog.Profile{ProfiledAt: "p", ProfileSampleRows: 9, Columns: map[string]catalog.ProfileColumn{
			"public.customers.name": {Table: customers.Ref(), Column: "name", RowCount: 5, DistinctCount: 2, SampleValues: []string{"Ann", "Bob"}},
		}},
	}
	for i := range 200 { // as many as have a cache
		scan.Tables = append(scan.Tables, catalogtest.Table(fmt.Sprintf("public.t%03d", i), "id integer"))
	}
	catalogtest.Write(t, dir, "w", scan)
	scan.Tables = scan.Tables[:2]
	catalogtest.Write(t, dir, "other", scan)
	old := scan
	old.SyncID, old.CreatedAt, old.Tables = "2025-01-02-030405-r0", "2025-01-02T03:04:05Z", scan.Tables[:1]
	catalogtest.Write(t, dir, "w", old)
	for _, id := range []string{"w", "other"} {
		writeValues(t, dir, id, map[string][]string{"public.orders.status": {"paid", "late", "Köln"}, "public.customers.name": {"Ann", "Bob"}})
	}
	put(t, "---\nsummary: When an order is late.\ntags: [orders]\n---\n# Late\nLate means `orders.status` after 9 days, see [[paid]].\n", dir, "wiki", "global", "late.md")
	var logs lockedBuffer
	start := func() *caller {
		return callerOf(t, research.New(gatewayTo(t, conns...), slog.New(slog.NewTextHandler(&logs, nil)), fixedStores(t, dir)), analyst("ana"))
	}
	calls := []call{
		{"connection_list", `{}`},
		{"discover_data", `{"query":"late orders of customers"}`},
		{"discover_data", `{"query":"paid","connectionId":"w"}`},
		{"discover_data", `{"query":"public.orders.status","kinds":["column"]}`},
		{"entity_details", `{"connectionId":"w","entities":["public.orders",{"table":"customers","columns":["nam"]},{"table":"t001"}]}`},
		{"dictionary_search", `{"values":["paid","koln","an"]}`},
		{"dictionary_search", `{"values":["bob"],"connectionId":"w"}`},
		{"wiki_search", `{"query":"late orders"}`},
	}
	elsewhere := []call{
		{"entity_details", `{"connectionId":"other","entities":["orders","customers"]}`},
		{"dictionary_search", `{"values":["paid"],"connectionId":"other"}`},
		{"discover_data", `{"query":"orders of customers","connectionId":"other","kinds":["table","column"]}`},
	}
	warm := start()
	remember := fmt.Sprintf(`{"content":%q,"connectionId":"w"}`, "# Paid\nPaid means the money is here, see `orders`.")
	warm.must("memory_ingest", remember)
	calls = append(calls, call{"wiki_read", `{"key":"paid"}`}, call{"wiki_read", `{"key":"late"}`})
	whole, beside := warm.answers(calls), warm.answers(elsewhere)
	targets := append(filesUnder(t, dir, ".ktx"), filesUnder(t, dir, "raw-sources/w")...)
	targets = slices.DeleteFunc(targets, func(path string) bool { // one of the many tables will do
		return strings.Contains(path, "/tables/") && filepath.Base(path) > "00002.json" || strings.Contains(path, "/values/other/")
	})
	if all := strings.Join(targets, " "); !strings.Contains(all, "catalog/w.bin") || !strings.Contains(all, "values/w/") || !strings.Contains(all, "memory") || !strings.Contains(all, "relationships.json") {
		t.Fatalf("files: %s", all)
	}
	random := rand.New(rand.NewPCG(3, 4)) // the same damage in every run
	kinds := slices.Sorted(func(yield func(string) bool) {
		for k := range damages {
			if !yield(k) {
				return
			}
		}
	})
	others := filesUnder(t, dir, ".ktx", "raw-sources/w/live-database", "wiki")
	for _, path := range targets {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil { // a run that was pruned
			continue
		}
		for n, kind := range kinds {
			if n%3 != random.IntN(3) && kind != wordSwapped { // some of them for each file
				continue
			}
			if kind == "it is a folder" && strings.Contains(path, "/memory/") {
				continue // what must be written cannot be, and that is an error
			}
			what := name + ": " + kind
			if err := os.Remove(path); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			switch {
			case kind == "it is a folder":
				err = os.Mkdir(path, 0o700)
			case damages[kind] != nil:
				var other []byte
				if other, err = os.ReadFile(others[random.IntN(len(others))]); err == nil || os.IsNotExist(err) {
					err = os.WriteFile(path, damages[kind](random, text, other), 0o600)
				}
			}
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if strings.HasPrefix(name, ".ktx/catalog/") || strings.HasPrefix(name, ".ktx/memory/") {
				cold := start()
				sameAnswers(t, what, calls, whole, cold.answers(calls))
				if got := cold.answer("memory_ingest", remember); !strings.HasPrefix(got, "error false: ") {
					t.Errorf("%s: memory_ingest: %s", what, got)
				}
			} else {
				for i, answer := range warm.answers(calls) {
					if !strings.HasPrefix(answer, "error false: ") {
						t.Errorf("%s: %s: %s", what, calls[i].tool, answer)
					}
				}
				sameAnswers(t, what, elsewhere, beside, warm.answers(elsewhere))
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			catalogtest.PutText(t, path, string(text))
		}
		sameAnswers(t, name+" is whole again", calls, whole, warm.answers(calls))
	}
	if _, after, panicked := strings.Cut(logs.String(), "a tool panicked"); panicked {
		t.Errorf("a tool panicked: %s", after)
	}
}
