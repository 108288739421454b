package catalog_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
)

// snapshotOf returns a snapshot with these tables.
func snapshotOf(t *testing.T, driver string, tables ...catalog.Table) *catalog.Snapshot {
	t.Helper()
	p := newProject(t)
	catalogtest.Write(t, p.dir, "w", catalogtest.Scan{Driver: driver, Tables: tables})
	return p.snapshot()
}

func ref(parts ...string) catalog.Table {
	table := catalogtest.Table("x", "id", "Total")
	table.Name = parts[len(parts)-1]
	if n := len(parts); n > 1 {
		table.DB = &parts[n-2]
	}
	if len(parts) > 2 {
		table.Catalog = &parts[0]
	}
	return table
}

func TestResolve(t *testing.T) {
	t.Parallel()
	snapshots := map[string]*catalog.Snapshot{
		"postgres": snapshotOf(t, "postgres", ref("public", "orders"), ref("sales", "orders"), ref("public", "Users"), ref("public", "users"),
			ref("public", "odd.name"), ref("my schema", `q"t`), ref("public", "Größe")),
		"mysql":     snapshotOf(t, "mysql", ref("shop", "orders"), ref("shop", "back`tick")),
		"sqlserver": snapshotOf(t, "sqlserver", ref("dbo", "Orders"), ref("dbo", "odd]name"), ref("Other", "dbo", "Sales")),
		"bigquery":  snapshotOf(t, "bigquery", ref("my-project", "ds", "events"), ref("my-project", "ds2", "events")),
		"sqlite":    snapshotOf(t, "sqlite", ref("orders")),
	}
	for _, c := range []struct{ driver, path, want string }{
		{"postgres", "public.orders", "public.orders"},
		{"postgres", "PUBLIC.Orders", "public.orders"},
		{"postgres", ` "public"."orders" `, "public.orders"},
		{"postgres", `"public.orders"`, "public.orders"},
		{"postgres", "`sales`.`orders`", "sales.orders"},
		{"postgres", "[sales].[orders]", "sales.orders"},
		{"postgres", "mydb.public.orders", "public.orders"},
		{"postgres", "orders", "ambiguous: public.orders sales.orders"},
		{"postgres", "ORDERS", "ambiguous: public.orders sales.orders"},
		{"postgres", "Users", "public.Users"},
		{"postgres", "users", "public.users"},
		{"postgres", "USERS", "ambiguous: public.Users public.users"},
		{"postgres", "public.odd.name", `public."odd.name"`},
		{"postgres", "odd.name", `public."odd.name"`},
		{"postgres", `"odd.name"`, `public."odd.name"`},
		{"postgres", `my schema."q""t"`, `my schema."q""t"`},
		{"postgres", `my schema.q"t`, `my schema."q""t"`},
		{"postgres", "GRÖSSE", "none"},
		{"postgres", "GRÖßE", "public.Größe"},
		{"postgres", "public.orders.total", "public.orders Total"},
		{"postgres", "public.orders.Total", "public.orders Total"},
		{"postgres", "orders.total", "ambiguous: public.orders sales.orders"},
		{"postgres", `{"catalog":null,"db":"sales","name":"orders"}`, "sales.orders"},
		{"postgres", `{"name":"orders"}`, "ambiguous: public.orders sales.orders"},
		{"postgres", "public.order", "none"},
		{"postgres", "", "none"},
		{"postgres", "...", "none"},
		{"postgres", `"`, "none"},
		{"postgres", "a.b.c.d.e.f.g.h.i.j.orders", "none"},
		{"mysql", "`shop`.`orders`", "shop.orders"},
		{"mysql", "`back``tick`", "shop.`back``tick`"},
		{"mysql", "def.shop.orders", "shop.orders"},
		{"sqlserver", "[dbo].[Orders]", "dbo.Orders"},
		{"sqlserver", "orders", "dbo.Orders"},
		{"sqlserver", "[odd]]name]", "dbo.[odd]]name]"},
		{"sqlserver", "Other.dbo.Orders", "none"},
		{"sqlserver", "dbo.Sales", "Other.dbo.Sales"},
		{"bigquery", "`my-project.ds.events`", "my-project.ds.events"},
		{"bigquery", "ds2.events", "my-project.ds2.events"},
		{"bigquery", "events", "ambiguous: my-project.ds.events my-project.ds2.events"},
		{"bigquery", "my-project.ds.events.total", "my-project.ds.events Total"},
		{"sqlite", "main.orders", "orders"},
		{"sqlite", "main.orders.id", "orders id"},
		{"sqlite", "temp.orders", "none"},
	} {
		s := snapshots[c.driver]
		if got := resolved(s, c.path); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.driver, c.path, got, c.want)
		}
	}
}

func resolved(s *catalog.Snapshot, path string) string {
	table, column, err := s.Resolve(path)
	if many, ok := errors.AsType[*catalog.AmbiguousError](err); ok {
		names := []string{"ambiguous:"}
		for _, t := range many.Candidates {
			names = append(names, s.Display(t.Ref()))
		}
		return strings.Join(names, " ")
	}
	if err != nil {
		return "none"
	}
	if column != nil {
		return s.Display(table.Ref()) + " " + column.Name
	}
	return s.Display(table.Ref())
}

func TestNearest(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, "postgres", ref("public", "orders"), ref("public", "order_items"), ref("public", "customers"), ref("hr", "employees"), ref("public", "customer_orders"), ref("public", "zebra"))
	for _, c := range []struct {
		path string
		want []string
	}{
		{"oders", []string{"orders"}},
		{"sales.orders", []string{"orders"}},
		{"public.custmers", []string{"customers"}},
		{"customerOrders", []string{"customer_orders", "customers", "orders"}},
		{"item", []string{"order_items"}},
		{"xyzzyq", nil},
	} {
		_, _, err := s.Resolve(c.path)
		missing, ok := errors.AsType[*catalog.NotFoundError](err)
		if !ok {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		var got []string
		for _, n := range missing.Nearest {
			got = append(got, n.Name)
		}
		for i, want := range c.want {
			if i >= len(got) || got[i] != want {
				t.Errorf("%s: %q, want %q first", c.path, got, c.want)
				break
			}
		}
		if c.want == nil && got != nil {
			t.Errorf("%s: %q", c.path, got)
		}
	}
	table := s.Table(catalog.Ref{DB: "public", Name: "orders"})
	for name, want := range map[string]string{"total": "Total", "TOTAL": "Total", `"Total"`: "Total", "orders.total": "Total", "public.orders.id": "id", "ID": "id", "hr.orders.id": "", "totl": "", "": ""} {
		c, err := s.ResolveColumn(table, name)
		if c != nil && c.Name != want {
			t.Errorf("%q: %q, want %q", name, c.Name, want)
		} else if c == nil && (want != "" || err == nil) {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err := s.ResolveColumn(table, "totl")
	if e, ok := errors.AsType[*catalog.ColumnError](err); !ok || !slices.Equal(e.Nearest, []string{"Total"}) {
		t.Errorf("totl: %+v", err)
	}
}

// names generates names with everything that a path can be misread by.
var names = rapid.StringOfN(rapid.SampledFrom([]rune("abAB.\"`[]'{ :_ıſK\x00\n")), 1, 4, -1)

// TestDisplayRoundTrips wants the same table and column for every name that a
// snapshot shows, whatever other tables there are.
func TestDisplayRoundTrips(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		driver := rapid.SampledFrom([]string{"postgres", "mysql", "sqlserver", "sqlite", "bigquery", "unheard"}).Draw(r, "driver")
		part := rapid.OneOf(rapid.Just(""), names)
		var tables []catalog.Table
		for range rapid.IntRange(1, 6).Draw(r, "tables") {
			table := catalogtest.Table("x")
			table.Name = names.Draw(r, "name")
			if db := part.Draw(r, "db"); db != "" {
				table.DB = &db
			}
			if c := part.Draw(r, "catalog"); c != "" {
				table.Catalog = &c
			}
			for range rapid.IntRange(1, 3).Draw(r, "columns") {
				table.Columns = append(table.Columns, catalog.Column{Name: names.Draw(r, "column")})
			}
			tables = append(tables, table)
		}
		catalogtest.Write(t, p.dir, "w", catalogtest.Scan{SyncID: "s", CreatedAt: "2026-01-01T00:00:00Z", Driver: driver, Tables: tables})
		for i := len(tables); i < 6; i++ {
			catalogtest.PutText(t, catalogtest.Folder(p.dir, "w")+"/s/tables/0000"+string(rune('0'+i))+".json", "none")
		}
		s, err := p.store.Snapshot(t.Context(), "w", catalogtest.All{})
		if err != nil {
			r.Fatal(err)
		}
		for _, table := range s.Tables() {
			shown := s.Display(table.Ref())
			if got, column, err := s.Resolve(shown); got != table || column != nil {
				r.Fatalf("%s: %q is %v %v %v", driver, shown, got, column, err)
			}
			text, err := json.Marshal(table.Ref())
			if err != nil {
				r.Fatal(err)
			}
			if got, _, err := s.Resolve(string(text)); got != table {
				r.Fatalf("%s: %s is %v %v", driver, text, got, err)
			}
			for i := range table.Columns {
				shown := s.DisplayColumn(table.Ref(), table.Columns[i].Name)
				if got, column, err := s.Resolve(shown); got != table || column == nil || column.Name != table.Columns[i].Name {
					r.Fatalf("%s: %q is %v %v %v", driver, shown, got, column, err)
				}
			}
		}
	})
}

// FuzzResolve wants an answer or an error for every path, the same each time.
func FuzzResolve(f *testing.F) {
	p := &project{dir: f.TempDir()}
	catalogtest.Write(f, p.dir, "w", catalogtest.Scan{Driver: "sqlserver", Tables: []catalog.Table{ref("dbo", "Orders"), ref("other", "dbo", "a.b"), ref("dbo", "]")}})
	s, err := catalog.NewStore(catalogtest.Open(f, p.dir), time.Now).Snapshot(f.Context(), "w", catalogtest.All{})
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range []string{"dbo.Orders", "[dbo].[Orders]", "[a.b]", "a.b", "[]]]", `{"name":"Orders"}`, "{", "dbo.Orders.Total", "....", `"`, "[", "\x00", strings.Repeat("a.", 100)} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		table, _, err := s.Resolve(path)
		again, _, errAgain := s.Resolve(path)
		if table != again || (err == nil) != (errAgain == nil) || (table == nil) == (err == nil) {
			t.Errorf("%q: %v %v, then %v %v", path, table, err, again, errAgain)
		}
		if missing, ok := errors.AsType[*catalog.NotFoundError](err); ok && len(missing.Nearest) > catalog.MaxCandidates {
			t.Errorf("%q: %d candidates", path, len(missing.Nearest))
		}
		_, _ = s.ResolveColumn(s.Tables()[0], path)
	})
}
