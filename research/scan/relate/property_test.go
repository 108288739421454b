package relate_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate"
)

var (
	nameParts = rapid.SampledFrom([]string{"customer", "Kunden", "order", "orders", "item", "id", "ID", "no", "key", "_", "fk", "parent", "by", "to", "manager", "顧客", "番号", "код", "клиент", "1", "2", " ", ".", "s", "ا", "ab", ""})
	anyName   = rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
		name := ""
		for _, p := range rapid.SliceOfN(nameParts, 1, 4).Draw(t, "parts") {
			name += p
		}
		return name
	}))
	anyKind = rapid.SampledFrom([]string{"integer", "text", "uuid", "date", "numeric(10,2)", "", "json", "bigint"})
)

func anyTables(t *rapid.T) []*catalog.Table {
	var list []*catalog.Table
	for range rapid.IntRange(0, 6).Draw(t, "tables") {
		schema := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "schema")
		table := &catalog.Table{DB: &schema, Name: anyName.Draw(t, "table"), Kind: catalog.KindTable}
		for range rapid.IntRange(0, 6).Draw(t, "columns") {
			table.Columns = append(table.Columns, catalog.Column{Name: anyName.Draw(t, "column"), NativeType: anyKind.Draw(t, "type"), PrimaryKey: rapid.Bool().Draw(t, "key")})
		}
		list = append(list, table)
	}
	return list
}

// TestEveryEndExists checks for any names: ends are columns of the input, both sides
// are equally wide, a column has at most one accepted target, and no table refers to a
// column by itself.
func TestEveryEndExists(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := anyTables(rt)
		var p relate.Prober
		if rapid.Bool().Draw(rt, "data") {
			unique := rapid.Bool().Draw(rt, "unique")
			distinct := rapid.Int64Range(-1, 50).Draw(rt, "distinct")
			p = &counts{other: relate.Overlap{Rows: 60, Distinct: distinct, Found: rapid.Int64Range(-1, 60).Draw(rt, "found"), TargetRows: rapid.Int64Range(0, 9).Draw(rt, "rows"), TargetUnique: &unique}}
		}
		got, err := relate.Find(t.Context(), relate.Input{Tables: list, MaxProbes: rapid.IntRange(0, 5).Draw(rt, "probes")}, p)
		if err != nil {
			rt.Fatal(err)
		}
		exists := func(e catalog.EndPoint) bool {
			return slices.ContainsFunc(list, func(table *catalog.Table) bool {
				return table.Ref() == e.Table && !slices.ContainsFunc(e.Columns, func(name string) bool {
					return !slices.ContainsFunc(table.Columns, func(c catalog.Column) bool { return c.Name == name })
				})
			})
		}
		for _, part := range [][]catalog.Relationship{got.Accepted, got.Review, got.Rejected, got.Skipped} {
			for _, r := range part {
				if !exists(r.From) || !exists(r.To) || len(r.From.Columns) != len(r.To.Columns) || len(r.From.Columns) == 0 || len(r.Evidence) == 0 {
					rt.Fatalf("wrong ends: %s", encode(t, r))
				}
				if end(r.From) == end(r.To) {
					rt.Fatalf("it refers to itself: %s", encode(t, r))
				}
			}
		}
		for i := 1; i < len(got.Accepted); i++ {
			if a, b := got.Accepted[i-1].From, got.Accepted[i].From; a.Table == b.Table && slices.Equal(a.Columns, b.Columns) {
				// Columns of one name in one table cannot be told apart.
				if !twice(list, a) {
					rt.Fatalf("two targets: %s", encode(t, got.Accepted))
				}
			}
		}
	})
}

// twice reports whether the table of an end point has one name twice.
func twice(list []*catalog.Table, e catalog.EndPoint) bool {
	for _, table := range list {
		names := map[string]bool{}
		for i := range table.Columns {
			if table.Ref() == e.Table && names[table.Columns[i].Name] {
				return true
			}
			names[table.Columns[i].Name] = true
		}
	}
	return false
}

// FuzzNames checks that no name is too strange.
func FuzzNames(f *testing.F) {
	f.Add("customers", "id", "orders", "customer_id")
	f.Add("顧客", "顧客番号", "注文", "届け先顧客番号")
	f.Add("\x00", "\xff\xfe", "A̶", "ǅidǅ")
	f.Add("t_", "_", "1", "1_1_id")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		list := []*catalog.Table{
			{Name: a, Columns: []catalog.Column{{Name: b, PrimaryKey: true}}},
			{Name: c, Columns: []catalog.Column{{Name: b}, {Name: d}}},
		}
		in := relate.Input{Tables: list}
		if one, two := encode(t, find(t, in, nil)), encode(t, find(t, in, nil)); one != two {
			t.Errorf("two answers:\n%s\n%s", one, two)
		}
	})
}
