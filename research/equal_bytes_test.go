package research_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// manyTables writes three connections with many similar tables, so that scores and
// names are equal in many places, and pages that name them.
func manyTables(t *testing.T, dir string) []execution.Connection {
	t.Helper()
	things := []string{"order", "customer", "invoice", "payment", "shipment", "refund", "product", "store"}
	parts := []string{"id", "total", "status", "amount", "city", "created_at", "net_amount", "note"}
	random := rand.New(rand.NewPCG(1, 2)) // the same data in every run
	var conns []execution.Connection
	for _, id := range []string{"east", "north", "west"} {
		conns = append(conns, artifactOnly(id, sqlguard.Policy{}))
		scan := catalogtest.Scan{Relationships: &catalog.Relationships{}, Profile: &catalog.Profile{ProfileSampleRows: 100, Columns: map[string]catalog.ProfileColumn{}}}
		columns := map[string][]string{}
		for i := range 260 {
			name := fmt.Sprintf("s%d.%s_%s_%d", i%5, things[i%len(things)], parts[(i/8)%len(parts)], i/64)
			table := catalogtest.Table(name)
			for _, p := range parts {
				if random.IntN(3) > 0 {
					table.Columns = append(table.Columns, catalogtest.Table("x", p+" text -- The "+p+" of a "+things[random.IntN(len(things))]).Columns...)
				}
			}
			table.Columns = append(table.Columns, catalog.Column{Name: "state", DimensionType: catalog.DimensionString, SampleValues: []string{"paid", "open", things[i%len(things)]}})
			table.Descriptions = map[string]string{"ai": "Each " + things[i%len(things)], "dbt": "Rows of " + name, "zz": "more", "aa": "other"}
			if i%2 == 0 { // none of the sources that come first
				delete(table.Descriptions, "ai")
				delete(table.Descriptions, "dbt")
			}
			columns[name+".state"] = []string{"paid", "open", "late " + things[i%len(things)]}
			ref := table.Ref()
			scan.Profile.Columns[name+".state"] = catalog.ProfileColumn{Table: ref, Column: "state", RowCount: 50, DistinctCount: 3}
			scan.Tables = append(scan.Tables, table)
			if i > 0 {
				before := scan.Tables[i-1].Ref()
				scan.Relationships.Accepted = append(scan.Relationships.Accepted, catalog.Relationship{
					From: catalog.EndPoint{Table: ref, Columns: []string{"state"}}, To: catalog.EndPoint{Table: before, Columns: []string{"state"}}, Source: "inferred",
				})
			}
		}
		catalogtest.Write(t, dir, id, scan)
		writeValues(t, dir, id, columns)
	}
	for _, id := range []string{"east", "north"} { // the semantic layer, with many equal names
		for i := range 90 {
			thing := things[i%len(things)]
			name := fmt.Sprintf("%s_%d", thing, i/len(things))
			put(t, fmt.Sprintf("name: %[1]s\ntable: s1.%[1]s\ndescriptions: {zz: other, ai: Each %[2]s, dbt: Paid %[2]s}\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: status, type: string}, {name: amount, type: number}, {name: other, type: number}]\njoins: [{to: %[3]s_0, alias: first_%[3]s, on: other = first_%[3]s.id, relationship: many_to_one}]\nmeasures: [{name: total, expr: sum(amount)}, {name: paid, expr: count(*), filter: status = 'paid'}]\nsegments: [{name: late, expr: amount > 1}]\n", name, thing, things[(i+1)%len(things)]), dir, "semantic-layer", id, name+".yaml")
		}
		put(t, "name: broken\ntable: s1.broken\nmeasure: []\ngrains: [x]\n", dir, "semantic-layer", id, "broken.yaml")
	}
	for i, thing := range things {
		put(t, fmt.Sprintf("---\nsummary: What a %[1]s is.\ntags: [%[1]s, money]\n---\n# %[1]s\nA %[1]s counts when it is paid: see `s%[2]d.%[1]s_id_0.state` and [[page%[3]d]].\n", thing, i%5, i/2), dir, "wiki", "global", fmt.Sprintf("page%d.md", i))
	}
	return conns
}

// age makes all files of a project older than what may still change, so that a later
// start may trust their times.
func age(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEqualBytes: equal artifacts give equal bytes, on any number of processors, at the
// first call and at a later one, without the cache on disk and with it, and in a copy of
// the project. The test runs alone, because it sets the number of processors of the
// process.
func TestEqualBytes(t *testing.T) {
	dir := t.TempDir()
	conns := manyTables(t, dir)
	age(t, dir)
	var calls []call
	for _, q := range []string{"order", "paid orders", "net amount of refunds by city", "the status of a customer", "s1.customer_total_0", "state", "order_id_0", "late payment", "amuont", "what is money", "each store"} {
		calls = append(calls,
			call{"discover_data", fmt.Sprintf(`{"query":%q,"limit":50}`, q)}, call{"discover_data", fmt.Sprintf(`{"query":%q,"connectionId":"north","kinds":["column","table"]}`, q)},
			call{"discover_data", fmt.Sprintf(`{"query":%q,"limit":50,"kinds":["sl_source","sl_measure","sl_dimension"]}`, q)},
			call{"sl_query", fmt.Sprintf(`{"connectionId":"east","measures":[%q],"dimensions":[%q]}`, q, q)},
			call{"wiki_search", fmt.Sprintf(`{"query":%q}`, q)}, call{"dictionary_search", fmt.Sprintf(`{"values":[%q,"paid","late","ordre"]}`, q)},
			call{"entity_details", fmt.Sprintf(`{"connectionId":"west","entities":[{"table":%q},{"table":"s1.customer_total_0","columns":["stat"]},{"table":"s0.order_id_0"}]}`, q)},
		)
	}
	for _, name := range []string{"order_0", "refund_3", "store_10", "broken", "ordr_0"} {
		calls = append(calls,
			call{"sl_read_source", fmt.Sprintf(`{"connectionId":"north","sourceName":%q}`, name)},
			call{"sl_query", fmt.Sprintf(`{"connectionId":"north","measures":["%[1]s.total","store_1.paid"],"dimensions":["%[1]s.status"]}`, name)},
			call{"sl_query", fmt.Sprintf(`{"connectionId":"north","measures":["%s.totl"]}`, name)},
		)
	}
	start := func(dir string) *caller { return callerOf(t, serviceOver(t, dir, conns...), analyst("ana")) }
	processors := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(processors)
	want := start(dir).answers(calls)
	if all := strings.Join(want, ""); strings.Count(all, `"kind":`) < 200 || strings.Count(all, `"kind":"sl_`) < 50 || !strings.Contains(all, `"yaml":`) || strings.Count(all, `"matchedValue"`) < 50 {
		t.Fatal("the calls find too little for a comparison")
	}
	cache := filepath.Join(dir, ".ktx", "catalog", "north.bin")
	if _, err := os.Stat(cache); err != nil {
		t.Fatalf("the first start leaves no cache: %v", err)
	}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(n)
		if err := os.RemoveAll(filepath.Dir(cache)); err != nil {
			t.Fatal(err)
		}
		cold := start(dir)
		sameAnswers(t, fmt.Sprintf("%d processors, cold", n), calls, want, cold.answers(calls))
		sameAnswers(t, fmt.Sprintf("%d processors, the second time", n), calls, want, cold.answers(calls))
		if _, err := os.Stat(cache); err != nil {
			t.Fatal(err)
		}
		sameAnswers(t, fmt.Sprintf("%d processors, with the cache", n), calls, want, start(dir).answers(calls))
	}
	sameAnswers(t, "in a copy", calls, want, start(copied).answers(calls))
}
