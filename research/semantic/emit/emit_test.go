package emit_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/plan"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var all = []emit.Dialect{emit.Postgres, emit.MySQL, emit.SQLite, emit.SQLServer, emit.ClickHouse, emit.DuckDB, emit.BigQuery}

// TestGolden compares the text of each plan on each engine with its file, and has the
// guard read it.
func TestGolden(t *testing.T) {
	m := shop(t)
	for _, d := range all {
		t.Run(string(d), func(t *testing.T) {
			dir := filepath.Join("testdata", string(d))
			if *update {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, a := range plans {
				t.Run(a.name, func(t *testing.T) {
					p := a.plan(t, m)
					sql, refused := emit.Emit(p, d)
					text := sql.Text + "\n"
					if refused != nil {
						text = "refused: " + refused.Error() + "\n"
					} else {
						judge(t, d, p, sql.Text)
					}
					path := filepath.Join(dir, a.name+".sql")
					if *update {
						if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
							t.Fatal(err)
						}
						return
					}
					want, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					if diff := gocmp.Diff(string(want), text); diff != "" {
						t.Errorf("%s (-want +got):\n%s", path, diff)
					}
				})
			}
		})
	}
}

// judge has the guard read a text. It must find one SELECT of the plan's tables.
func judge(tb testing.TB, d emit.Dialect, p *plan.Plan, text string) {
	tb.Helper()
	if d == emit.MySQL {
		if v := guard(tb, "mariadb").Check(text); !v.Allowed {
			tb.Fatalf("the guard of MariaDB refuses the text: %v\n%s", v.Findings, text)
		}
	}
	v := guard(tb, d).Check(text)
	if !v.Allowed || v.Statements != 1 || v.Verb != sqlguard.VerbSelect {
		tb.Fatalf("the guard refuses the text or finds no SELECT: %v\n%s", v.Findings, text)
	}
	var got []string
	for _, r := range v.Relations {
		if r.Access != sqlguard.AccessRead {
			tb.Errorf("%s %s", r.Access, r.Name)
		}
		got = append(got, r.Name)
	}
	slices.Sort(got)
	got = slices.Compact(got)
	if diff := gocmp.Diff(tables(d, p), got); diff != "" {
		tb.Errorf("tables (-of the plan +of the text):\n%s\n%s", diff, text)
	}
}

func guard(tb testing.TB, d emit.Dialect) *sqlguard.Guard {
	tb.Helper()
	dialect, ok := dialects.Lookup(string(d))
	if !ok {
		tb.Fatalf("no dialect %s", d)
	}
	g, err := sqlguard.New(dialect, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// tables are the tables of a plan's sources. big_orders reads orders.
func tables(d emit.Dialect, p *plan.Plan) []string {
	var out []string
	add := func(node int) {
		s := p.Model.Sources[p.Model.Nodes[node].Source]
		if s.SQL != "" {
			out = append(out, "orders")
			return
		}
		part := s.Table[len(s.Table)-1]
		if d == emit.Postgres && !part.Quoted {
			part.Name = strings.ToLower(part.Name)
		}
		out = append(out, part.Name)
	}
	for _, l := range p.Legs {
		if len(p.Dimensions) == 0 && len(l.Atoms) == 0 {
			continue
		}
		add(l.Base)
		for _, j := range l.Joins {
			add(p.Model.Edges[j.Edge].To)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
