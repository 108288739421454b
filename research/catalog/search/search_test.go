package search_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/search"
	"github.com/ktxhq/ktx/research/rank"
)

func table(db, name string, columns ...string) *catalog.Table {
	t := &catalog.Table{DB: &db, Name: name, Kind: catalog.KindTable}
	for _, c := range columns {
		t.Columns = append(t.Columns, catalog.Column{Name: c, NativeType: "text"})
	}
	return t
}

// indexes are two connections. The second has a family of tables.
func indexes(a *rank.Analyzer) []*search.Index {
	shop := []*catalog.Table{
		table("sales", "customers", "id", "full_name", "city", "country"),
		table("sales", "order_items", "order_id", "product_id", "qty"),
		table("sales", "orders", "id", "customer_id", "ordered_at", "total"),
		table("sales", "products", "id", "title", "unit_price"),
	}
	var logs []*catalog.Table
	for year := 2019; year <= 2026; year++ {
		logs = append(logs, table("web", fmt.Sprintf("visits_%d", year), "visitor", "page", "seen_at"))
	}
	logs = append(logs, table("web", "visitors", "id", "browser"))
	return []*search.Index{
		search.Build(a, search.Input{Connection: search.Connection{ID: "shop"}, Tables: shop}),
		search.Build(a, search.Input{Connection: search.Connection{ID: "logs"}, Tables: logs}),
	}
}

func names(hits []search.Hit) []string {
	out := []string{}
	for _, h := range hits {
		name := h.Table.Name
		if h.Column >= 0 {
			name += "." + h.Table.Columns[h.Column].Name
		}
		out = append(out, name)
	}
	return out
}

func TestSearch(t *testing.T) {
	a := rank.NewAnalyzer(nil)
	all := indexes(a)
	for _, test := range []struct {
		name, query string
		options     search.Options
		first       []string // the first hits
	}{
		{"a stem", "customer", search.Options{Tables: true, Limit: 5}, []string{"customers"}},
		{"words of one identifier", "order item", search.Options{Tables: true, Limit: 5}, []string{"order_items"}},
		{"a name is first", "sales.order_items", search.Options{Tables: true, Columns: true, Limit: 5}, []string{"order_items"}},
		{"the name of a column", "orders.ordered_at", search.Options{Tables: true, Columns: true, Limit: 5}, []string{"orders.ordered_at"}},
		{"an abbreviation", "quantity", search.Options{Columns: true, Limit: 5}, []string{"order_items.qty"}},
		{"the latest of a family", "visits", search.Options{Tables: true, Limit: 1}, []string{"visits_2026"}},
		{"the year that the question names", "visits in 2021", search.Options{Tables: true, Limit: 1}, []string{"visits_2021"}},
		{"nothing", "zzz", search.Options{Tables: true, Columns: true, Limit: 5}, []string{}},
		{"no word", "", search.Options{Tables: true, Columns: true, Limit: 5}, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			hits := search.Search(a.Query(test.query), test.options, all...)
			got := names(hits)
			if diff := cmp.Diff(test.first, got[:min(len(got), max(1, len(test.first)))]); diff != "" {
				t.Errorf("%v (-want +got):\n%s", got, diff)
			}
			again := search.Search(a.Query(test.query), test.options, indexes(rank.NewAnalyzer(nil))...)
			if diff := cmp.Diff(got, names(again)); diff != "" {
				t.Errorf("equal questions have different answers:\n%s", diff)
			}
		})
	}
}

// TestTableBeforeItsColumns: a question that says nothing of a column but the name of
// its table finds the table first.
func TestTableBeforeItsColumns(t *testing.T) {
	a := rank.NewAnalyzer(nil)
	in := search.Input{Connection: search.Connection{ID: "c"}}
	for i := range 40 { // so many that the word tells little of tables, and more of columns
		in.Tables = append(in.Tables, table("logs", fmt.Sprintf("events_%d", 2000+i), "id", "kind"))
	}
	for i := range 20 {
		var columns []string
		for k := range 40 {
			columns = append(columns, fmt.Sprintf("c%c%d", rune('a'+i), k))
		}
		in.Tables = append(in.Tables, table("logs", fmt.Sprintf("other%c", rune('a'+i)), columns...))
	}
	x := search.Build(a, in)
	hits := search.Search(a.Query("events"), search.Options{Tables: true, Columns: true, Limit: 15}, x)
	seen := map[*catalog.Table]bool{}
	for _, h := range hits {
		if h.Column >= 0 && !seen[h.Table] {
			t.Errorf("%s.%s comes before its table", h.Table.Name, h.Table.Columns[h.Column].Name)
		}
		seen[h.Table] = true
	}
	if len(hits) < 15 {
		t.Errorf("%d hits", len(hits))
	}
	for i := range hits {
		for _, other := range hits[:i] {
			if other.Table == hits[i].Table && other.Column == hits[i].Column {
				t.Errorf("%s is there twice", other.Table.Name)
			}
		}
	}
}
