package usage_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/usage"
	"github.com/ktxhq/ktx/sqlguard"
)

// shop is a scan of four tables, two of which have the same name.
func shop() []*catalog.Table {
	table := func(db, name string, columns ...string) *catalog.Table {
		t := &catalog.Table{DB: &db, Name: name}
		for _, c := range columns {
			t.Columns = append(t.Columns, catalog.Column{Name: c})
		}
		return t
	}
	return []*catalog.Table{
		table("sales", "orders", "id", "customer_id", "total", "placed_at"),
		table("sales", "customers", "id", "name", "country"),
		table("hr", "People", "id", "Name"),
		table("crm", "people", "id", "email"),
	}
}

func dialect(t *testing.T, name string) sqlguard.Dialect {
	t.Helper()
	d, ok := dialects.Lookup(name)
	if !ok {
		t.Fatalf("no dialect %s", name)
	}
	return d
}

// normalized returns the normal form of a statement, as the audit log has it.
func normalized(t *testing.T, d sqlguard.Dialect, sql string) string {
	t.Helper()
	g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	v := g.Check(sql)
	if !v.Allowed {
		t.Fatalf("refused: %+v", v.Findings)
	}
	return v.Normalized
}

func summary(f *usage.File) []string {
	out := []string{}
	for _, t := range f.Tables {
		out = append(out, fmt.Sprintf("%s.%s %d", t.Table.DB, t.Table.Name, t.Statements))
	}
	for _, c := range f.Columns {
		out = append(out, fmt.Sprintf("%s.%s.%s %d", c.Table.DB, c.Table.Name, c.Column, c.Statements))
	}
	for _, j := range f.Joins {
		out = append(out, fmt.Sprintf("%s.%s = %s.%s %d", j.From.Table.Name, j.From.Column, j.To.Table.Name, j.To.Column, j.Statements))
	}
	return out
}

func TestWhatStatementsRead(t *testing.T) {
	join := []string{
		"sales.customers 1", "sales.orders 1", "sales.customers.country 1", "sales.customers.id 1", "sales.orders.customer_id 1", "sales.orders.total 1",
		"customers.id = orders.customer_id 1",
	}
	for _, test := range []struct {
		name, dialect, sql string
		want               []string
	}{
		{"a join", "postgres", `SELECT c.country, sum(o.total) FROM sales.orders AS o JOIN sales.customers c ON c.id = o.customer_id GROUP BY 1`, join},
		{"a join", "mysql", "SELECT c.country, sum(o.total) FROM sales.orders AS o JOIN sales.customers c ON c.id = o.customer_id GROUP BY 1 LIMIT 10 OFFSET 5", join},
		{"a join", "sqlserver", `SELECT TOP 5 c.country, sum(o.total) FROM sales.orders AS o JOIN sales.customers c ON c.id = o.customer_id GROUP BY c.country`, join},
		{"a join", "sqlite", `SELECT c.country, sum(o.total) FROM orders AS o JOIN customers c ON c.id = o.customer_id GROUP BY 1`, join},
		{
			"names without qualifiers", "postgres", `SELECT country FROM orders, customers WHERE customer_id = customers.id AND total > 5`,
			[]string{
				"sales.customers 1", "sales.orders 1", "sales.customers.country 1", "sales.customers.id 1", "sales.orders.customer_id 1", "sales.orders.total 1",
				"customers.id = orders.customer_id 1",
			},
		},
		{
			"names in the case of their definition", "postgres", `SELECT "Name" FROM hr."People" WHERE "Name" = 'x'`,
			[]string{"hr.People 1", "hr.People.Name 1"},
		},
		{"a name that two schemas have", "postgres", `SELECT id FROM people`, []string{}},
		{"a function of a column is no join", "postgres", `SELECT 1 FROM sales.orders o, sales.customers c WHERE lower(c.name) = o.id::text`, []string{
			"sales.customers 1", "sales.orders 1", "sales.customers.name 1", "sales.orders.id 1",
		}},
		{"an alias with two meanings", "postgres", `SELECT (SELECT max(x.total) FROM sales.orders x), x.name FROM sales.customers x`, []string{"sales.customers 1", "sales.orders 1"}},
		{"literals of types", "postgres", `SELECT id FROM sales.orders WHERE placed_at >= DATE '2026-01-01' AND placed_at < now() - interval '1 day' AND total BETWEEN 1 AND 2.5 LIMIT 3`, []string{
			"sales.orders 1", "sales.orders.id 1", "sales.orders.placed_at 1", "sales.orders.total 1",
		}},
	} {
		t.Run(test.dialect+"/"+test.name, func(t *testing.T) {
			d := dialect(t, test.dialect)
			for _, sql := range []string{test.sql, normalized(t, d, test.sql)} {
				b := usage.NewBuilder("warehouse", d, shop())
				if !b.Add(sql, time.Unix(0, 0)) {
					t.Fatalf("not read: %s", sql)
				}
				if diff := cmp.Diff(test.want, summary(b.File(time.Unix(0, 0)))); diff != "" {
					t.Errorf("%s\n(-want +got):\n%s", sql, diff)
				}
			}
		})
	}
}

// TestNoLiteral also tests that the artifact reads back as it was written.
func TestNoLiteral(t *testing.T) {
	d := dialect(t, "postgres")
	b := usage.NewBuilder("warehouse", d, shop())
	for i := range 7 {
		b.Add(`SELECT o.id FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.id WHERE c.name = 'Sensitive GmbH'`, time.Date(2026, 3, i+1, 0, 0, 0, 0, time.UTC))
	}
	b.Add(`nonsense from nobody`, time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC))
	f := b.File(time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC))
	if f.Statements != 8 || f.Unread != 1 || f.From != "2026-03-01T00:00:00Z" || f.To != "2026-03-09T00:00:00Z" || f.Tables[0].LastUsed != "2026-03-07T00:00:00Z" {
		t.Errorf("%+v", f)
	}
	text, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "Sensitive") {
		t.Errorf("a literal is in the artifact:\n%s", text)
	}
	root := project(t, text)
	got, err := usage.Read(root, "warehouse")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestCollect(t *testing.T) {
	d := dialect(t, "sqlite")
	sql := "select id from orders where total > ?"
	statement := func(connection, principal, verdict, status string) audit.Statement {
		s := audit.Statement{Decision: audit.Event{
			Type: audit.QueryDecision, Principal: principal, Connection: audit.Connection{ID: connection}, Time: time.Unix(0, 0),
			SQL: audit.SQL{Normalized: sql}, Decision: audit.Decision{Verdict: verdict},
		}}
		if status != "" {
			s.Outcome = audit.Event{Type: audit.QueryFinished, Result: audit.Result{Status: status}}
		}
		return s
	}
	b := usage.NewBuilder("warehouse", d, shop())
	damaged := usage.Collect(func(yield func(audit.Statement, error) bool) {
		_ = yield(statement("warehouse", "analyst", audit.VerdictAllow, audit.StatusOK), nil) &&
			yield(statement("elsewhere", "analyst", audit.VerdictAllow, audit.StatusOK), nil) &&
			yield(statement("warehouse", usage.ScanPrincipal, audit.VerdictAllow, audit.StatusOK), nil) &&
			yield(statement("warehouse", "analyst", audit.VerdictReject, ""), nil) &&
			yield(statement("warehouse", "analyst", audit.VerdictAllow, audit.StatusError), nil) &&
			yield(audit.Statement{}, errors.New("line 4: no event")) &&
			yield(statement("warehouse", "local", audit.VerdictAllow, audit.StatusOK), nil)
	}, map[string]*usage.Builder{"warehouse": b})
	if f := b.File(time.Unix(0, 0)); f.Statements != 2 || f.Tables[0].Statements != 2 || damaged != 1 {
		t.Errorf("%+v, damaged %d", f, damaged)
	}
	if text, err := b.File(time.Unix(0, 0)).Encode(); err != nil || strings.Contains(string(text), "analyst") {
		t.Errorf("%s, %v", text, err)
	}
}

func project(t *testing.T, text []byte) *os.Root {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.FromSlash(usage.Path("warehouse")))
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestBadArtifacts(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":            `{`,
		"other connection":   `{"connectionId":"other"}`,
		"no time":            `{"connectionId":"warehouse","tables":[{"table":{"name":"t"},"statements":1,"lastUsed":"<script>"}]}`,
		"negative count":     `{"connectionId":"warehouse","columns":[{"table":{"name":"t"},"column":"c","statements":-1,"lastUsed":"2026-01-01T00:00:00Z"}]}`,
		"negative join":      `{"connectionId":"warehouse","joins":[{"statements":-2}]}`,
		"a number as a name": `{"connectionId":"warehouse","tables":[{"table":{"name":1}}]}`,
	} {
		if f, err := usage.Read(project(t, []byte(text)), "warehouse"); err == nil {
			t.Errorf("%s: read as %+v", name, f)
		}
	}
	if _, err := usage.Read(project(t, nil), "elsewhere"); !usage.Missing(err) {
		t.Errorf("no artifact: %v", err)
	}
}

func FuzzAdd(f *testing.F) {
	f.Add("select o.id from sales.orders as o join sales.customers as c on c.id = o.customer_id where c.name = ?")
	f.Add("select ? ? ? from")
	f.Fuzz(func(t *testing.T, sql string) {
		for _, d := range dialects.All() {
			b := usage.NewBuilder("warehouse", d, shop())
			b.Add(sql, time.Unix(0, 0))
			if _, err := json.Marshal(b.File(time.Unix(0, 0))); err != nil {
				t.Error(err)
			}
		}
	})
}
