package postgres_test

import (
	"slices"
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

func runs(name, arguments string) []sqlguard.CatalogRoutine {
	return []sqlguard.CatalogRoutine{{CatalogName: named(name), Arguments: allNamed(arguments)}}
}

// shopOf is the shop with tables that have the part p: ruled has it, heir inherits from
// ruled, slice is its partition, and a function's body reads one.
func shopOf(kind sqlguard.RelationKind, p sqlguard.CatalogPart) *sqlguard.Objects {
	o := shop()
	ruled := table("public.ruled", "id:int4 name:text")
	ruled.Kind, ruled.Children, ruled.Parts = kind, allNamed("public.heir"), []sqlguard.CatalogPart{p}
	o.Relations = append(o.Relations, ruled, table("public.heir", "id:int4 name:text"), view("public.over_ruled", "id:int4", "SELECT id FROM ruled"))
	o.Functions = append(o.Functions, sqlFunction("public.counts", "", "SELECT count(*)::text FROM public.ruled"))
	return o
}

func TestPartsOfRelations(t *testing.T) {
	const no = sqlguard.CodeFunctionNotAllowed
	part := func(p sqlguard.CatalogPart) sqlguard.CatalogPart { p.Name = "the index i"; return p }
	for _, c := range []struct {
		name  string
		part  sqlguard.CatalogPart
		cases []judgedCase
	}{
		{"a function that is not proved", part(sqlguard.CatalogPart{Runs: runs("public.effect", "text")}), []judgedCase{
			{"SELECT id FROM ruled", no, "the index i of public.ruled: it runs public.effect(text): it is declared VOLATILE"},
			{"SELECT 1 FROM over_ruled", no, "the view public.over_ruled reads"},
			{"SELECT public.counts()", no, "relation public.ruled: a read of it runs code that the statement does not name"},
			{"SELECT id FROM heir", "", ""},
			{"SELECT id FROM orders", "", ""},
		}},
		{"one that is proved, and on no list", part(sqlguard.CatalogPart{Runs: runs("other.pure", "text")}), []judgedCase{
			{"SELECT id FROM ruled", no, "it is not in the catalogue"},
		}},
		{"SQL", part(sqlguard.CatalogPart{Runs: slices.Concat(runs("public.pure", "text"), runs("public.definer", "int4"), runs("public.volatile", "int4"))}), []judgedCase{
			{"SELECT id FROM ruled", "", ""},
		}},
		{"SQL with settings", part(sqlguard.CatalogPart{Runs: runs("public.setting", "int4")}), []judgedCase{{"SELECT id FROM ruled", no, "settings"}}},
		{"SQL that writes", part(sqlguard.CatalogPart{Runs: runs("public.writes", "int4")}), []judgedCase{{"SELECT id FROM ruled", no, "INSERT"}}},
		{"another overload", part(sqlguard.CatalogPart{Runs: runs("public.pure", "int4")}), []judgedCase{{"SELECT id FROM ruled", no, "it is not in the catalogue"}}},
		{"nothing known", part(sqlguard.CatalogPart{Runs: []sqlguard.CatalogRoutine{{}}}), []judgedCase{{"SELECT id FROM ruled", no, "and nothing is known about it"}}},
		{"an extension", part(sqlguard.CatalogPart{Runs: runs("gis.st_area", "gis.geometry")}), []judgedCase{{"SELECT id FROM ruled", "", ""}}},
		{"a type", part(sqlguard.CatalogPart{Makes: allNamed("public.span")}), []judgedCase{{"SELECT id FROM ruled", no, "canonical"}}},
		{"a harmless type", part(sqlguard.CatalogPart{Makes: allNamed("public.mood public._days")}), []judgedCase{{"SELECT id FROM ruled", "", ""}}},
		{"an expression", part(sqlguard.CatalogPart{Expression: "(pure(name) = lower(name)) AND id > current_setting('app.tenant')::int"}), []judgedCase{{"SELECT id FROM ruled", "", ""}}},
		{"an expression that runs", part(sqlguard.CatalogPart{Expression: "effect(name) = 'a'"}), []judgedCase{{"SELECT id FROM ruled", no, "the index i of public.ruled: function effect: it resolves to public.effect(text)"}}},
		{"an expression that sleeps", part(sqlguard.CatalogPart{Expression: "pg_sleep(1) IS NULL"}), []judgedCase{{"SELECT id FROM ruled", no, "makes the session wait"}}},
		{"an expression that reads", part(sqlguard.CatalogPart{Expression: "id IN (SELECT id FROM customers WHERE ssn = '1') AND EXISTS (SELECT 1 FROM pg_roles)"}), []judgedCase{{"SELECT id FROM ruled", "", ""}}},
		{"an expression that reads another server", part(sqlguard.CatalogPart{Expression: "EXISTS (SELECT 1 FROM remote)"}), []judgedCase{{"SELECT id FROM ruled", no, "foreign table"}}},
		{"an expression that reads itself", part(sqlguard.CatalogPart{Expression: "EXISTS (SELECT 1 FROM ruled r WHERE r.id = 1)"}), []judgedCase{{"SELECT id FROM ruled", "", ""}}},
		{"an expression that cannot be read", part(sqlguard.CatalogPart{Expression: "SELEC FROM"}), []judgedCase{{"SELECT id FROM ruled", no, "cannot be parsed"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := objectGuard(t, shopOf(sqlguard.RelationTable, c.part), func(p *sqlguard.Policy) {
				p.Functions.Allow = []string{"public.counts"}
				p.Columns = []sqlguard.ColumnRule{{Match: "public.customers.ssn"}}
			})
			runCases(t, g, c.cases)
		})
	}
}

func TestPartsOfRelatives(t *testing.T) {
	const no = sqlguard.CodeFunctionNotAllowed
	trap := sqlguard.CatalogPart{Name: "the index i", Runs: runs("public.effect", "text")}
	partitioned := shopOf(sqlguard.RelationPartitioned, trap)
	runCases(t, objectGuard(t, partitioned, nil), []judgedCase{{"SELECT id FROM heir", no, "the index i of public.ruled"}})

	child := shopOf(sqlguard.RelationTable, sqlguard.CatalogPart{})
	at := slices.IndexFunc(child.Relations, func(r sqlguard.CatalogRelation) bool { return r.Name == "heir" })
	child.Relations[at].Parts = []sqlguard.CatalogPart{trap}
	runCases(t, objectGuard(t, child, nil), []judgedCase{{"SELECT id FROM ruled", no, "the index i of public.heir"}, {"SELECT id FROM heir", no, ""}})
	child.Relations[at].Parts[0].Own = true
	runCases(t, objectGuard(t, child, nil), []judgedCase{{"SELECT id FROM ruled", "", ""}, {"SELECT id FROM heir", no, ""}})

	runCases(t, objectGuard(t, partitioned, func(p *sqlguard.Policy) { p.Functions.Deny = []string{"public.effect"} }), []judgedCase{{"SELECT id FROM ruled", no, "denied"}})
}

func TestOrdersOfTypes(t *testing.T) {
	const no = sqlguard.CodeFunctionNotAllowed
	o := shop()
	o.Orders = []sqlguard.CatalogOrder{{Type: named("public.mood"), Runs: runs("public.effect", "text")}}
	runCases(t, objectGuard(t, o, all), []judgedCase{
		{"SELECT status FROM orders ORDER BY status", no, "values of public.mood are compared with public.effect(text)"},
		{"SELECT DISTINCT o FROM orders o", no, "public.mood"},
		{"SELECT max(ARRAY['a'::mood])", no, "public.mood"},
		{"SELECT id FROM orders ORDER BY id", "", ""},
		{"SELECT name FROM customers ORDER BY name", "", ""},
	})
	o.Orders[0].Runs = runs("public.pure", "text")
	runCases(t, objectGuard(t, o, nil), []judgedCase{{"SELECT status FROM orders ORDER BY status", "", ""}})
	// A function that compares values of a type of the server's own may run anywhere.
	o.Orders[0] = sqlguard.CatalogOrder{Type: named("json"), Runs: runs("public.effect", "text")}
	runCases(t, objectGuard(t, o, nil), []judgedCase{{"SELECT DISTINCT id FROM orders", no, "values of pg_catalog.json"}})
}
