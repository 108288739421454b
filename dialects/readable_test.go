package dialects_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestReadable tests that names which are shown without a statement follow the
// same rules as names in a statement.
func TestReadable(t *testing.T) {
	name := rapid.SampledFrom([]string{"app", "App", "main", "hr", "users", "Users", "usages", "orders", "straße", "STRASSE"})
	for _, d := range dialects.All() {
		t.Run(d.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				table := rapid.Custom(func(t *rapid.T) string {
					return name.Draw(t, "schema") + "." + rapid.OneOf(name, rapid.SampledFrom([]string{"*", "us*", "U*"})).Draw(t, "table")
				})
				p := sqlguard.DefaultPolicy()
				p.Schemas = sqlguard.Names{Allow: rapid.SliceOfN(name, 0, 2).Draw(t, "allowed schemas"), Deny: rapid.SliceOfN(name, 0, 1).Draw(t, "denied schemas")}
				p.Tables = sqlguard.Names{Allow: rapid.SliceOfN(table, 0, 2).Draw(t, "allowed tables"), Deny: rapid.SliceOfN(table, 0, 2).Draw(t, "denied tables")}
				schema, relation, column := name.Draw(t, "schema"), name.Draw(t, "relation"), name.Draw(t, "column")
				if d.Name() == "sqlite" {
					schema = "main" // every other schema is another file
				}
				if rapid.Bool().Draw(t, "a column rule") {
					// For any other relation, the guard suspects a view over this one.
					p.Columns = []sqlguard.ColumnRule{{Match: schema + "." + relation + "." + name.Draw(t, "denied column")}}
				}
				quote := func(s string) string {
					switch d.Name() {
					case "mysql", "bigquery":
						return "`" + s + "`"
					case "sqlserver":
						return "[" + s + "]"
					default:
						return `"` + s + `"`
					}
				}
				p.Databases = []string{schema}
				guard, err := sqlguard.New(d, p, nil)
				if err != nil {
					t.Fatal(err)
				}
				readable := sqlguard.NewReadable(d, p)
				for what, got := range map[string]bool{
					"1":                         readable.Relation(schema, relation),
					"x." + quote(column) + " y": readable.Column(schema, relation, column),
				} {
					sql := fmt.Sprintf("SELECT %s FROM %s.%s x", what, quote(schema), quote(relation))
					if v := guard.Check(sql); v.Allowed != got {
						t.Errorf("%s\nthe guard allows it: %v %s; readable: %v", sql, v.Allowed, v.Code, got)
					}
				}
			})
		})
	}
}

func TestNothingIsReadableByDefault(t *testing.T) {
	var r sqlguard.Readable
	if r.Relation("", "t") || r.Column("", "t", "c") || !r.DeniesColumns() || r.ID() != "" {
		t.Error("the zero value permits something")
	}
	if open := sqlguard.NewReadable(nil, sqlguard.Policy{}); !open.Relation("", "t") || !open.Column("s", "t", "c") || open.DeniesColumns() {
		t.Error("a policy without rules denies something")
	}
	rules := sqlguard.Policy{Columns: []sqlguard.ColumnRule{{Match: "s.t.c"}}, Tables: sqlguard.Names{Deny: []string{"s.x"}}}
	if r := sqlguard.NewReadable(nil, rules); r.Relation("", "t") || r.Column("S", "T", "C") || !r.Column("s", "t", "d") {
		t.Error("a rule of a connection without a reader does not hold")
	}
}
