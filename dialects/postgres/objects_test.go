package postgres_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// named reads "schema.name"; without a schema it is the server's own.
func named(text string) sqlguard.CatalogName {
	schema, name, ok := strings.Cut(text, ".")
	if !ok {
		schema, name = "pg_catalog", text
	}
	return sqlguard.CatalogName{Schema: schema, Name: name}
}

func allNamed(texts string) []sqlguard.CatalogName {
	var out []sqlguard.CatalogName
	for text := range strings.FieldsSeq(texts) {
		out = append(out, named(text))
	}
	return out
}

// sqlFunction is a function in SQL that is stable.
func sqlFunction(name, arguments, body string) sqlguard.CatalogFunction {
	return sqlguard.CatalogFunction{
		CatalogName: named(name), Kind: sqlguard.FunctionPlain, Arguments: allNamed(arguments), Results: allNamed("text"),
		Volatility: sqlguard.VolatilityStable, Language: "sql", Body: body,
	}
}

// opaque is a function without known facts.
func opaque(name, arguments string) sqlguard.CatalogFunction {
	f := sqlFunction(name, arguments, "")
	f.Language, f.Volatility = "plpgsql", sqlguard.VolatilityVolatile
	return f
}

func changed(f sqlguard.CatalogFunction, change func(*sqlguard.CatalogFunction)) sqlguard.CatalogFunction {
	change(&f)
	return f
}

func member(f sqlguard.CatalogFunction, extension string) sqlguard.CatalogFunction {
	f.Extension, f.Language = extension, "c"
	return f
}

func operator(name, left, right, function string) sqlguard.CatalogOperator {
	op := sqlguard.CatalogOperator{CatalogName: named(name), Right: named(right), Function: named(function)}
	if left != "" {
		op.Left = named(left)
	}
	return op
}

// relation has columns written as "name:type"; a column without a type has the type text.
func relation(name string, kind sqlguard.RelationKind, columns string) sqlguard.CatalogRelation {
	r := sqlguard.CatalogRelation{CatalogName: named(name), Kind: kind}
	for column := range strings.FieldsSeq(columns) {
		column, t, ok := strings.Cut(column, ":")
		if !ok {
			t = "text"
		}
		r.Columns = append(r.Columns, sqlguard.CatalogColumn{Name: column, Type: named(t)})
	}
	return r
}

func table(name, columns string) sqlguard.CatalogRelation {
	return relation(name, sqlguard.RelationTable, columns)
}

func view(name, columns, definition string) sqlguard.CatalogRelation {
	r := relation(name, sqlguard.RelationView, columns)
	r.Definition = definition
	return r
}

func materialized(name, columns, definition string) sqlguard.CatalogRelation {
	r := view(name, columns, definition)
	r.Kind = sqlguard.RelationMaterialized
	return r
}

func domain(name, base string, checks ...string) sqlguard.CatalogType {
	return sqlguard.CatalogType{CatalogName: named(name), Kind: sqlguard.TypeDomain, Base: named(base), Checks: checks}
}

// shop is the catalogue of the tests below.
func shop() *sqlguard.Objects {
	parent := table("public.events", "id:int4 at:timestamptz")
	parent.Children = allNamed("public.events_old public.events_remote")
	stored := materialized("public.stored", "n:int8", "SELECT count(*) AS n FROM public.remote")
	negated := operator("public.===", "text", "text", "public.same")
	negated.Negator = named("public.!==")
	cast := func(source, target, function string, context sqlguard.CastContext) sqlguard.CatalogCast {
		return sqlguard.CatalogCast{Source: named(source), Target: named(target), Function: named(function), Context: context}
	}
	return &sqlguard.Objects{
		Functions: []sqlguard.CatalogFunction{
			sqlFunction("public.pure", "text", "SELECT md5($1)"),
			sqlFunction("public.named", "text", "SELECT lower(named.x) || x"),
			sqlFunction("public.atomic", "int4", "BEGIN ATOMIC\n SELECT $1 + 1;\n SELECT atomic.n;\nEND"),
			sqlFunction("public.returns", "int4", "RETURN (($1) + 1)"),
			sqlFunction("public.chained", "text", "SELECT public.pure($1)"),
			sqlFunction("public.chained_badly", "text", "SELECT public.effect($1)"),
			sqlFunction("public.reads_table", "int4", "SELECT name FROM customers WHERE id = $1"),
			sqlFunction("public.reads_secret", "int4", "SELECT ssn FROM customers WHERE id = $1"),
			sqlFunction("public.recursive", "int4", "SELECT CASE WHEN $1 > 0 THEN recursive($1 - 1) END"),
			sqlFunction("public.sleeps", "int4", "SELECT pg_sleep($1)"),
			sqlFunction("public.writes", "int4", "INSERT INTO customers VALUES ($1)"),
			sqlFunction("public.broken", "int4", "SELEC"),
			sqlFunction("public.defaulted", "int4 int4", "SELECT $1 + $2"),
			changed(sqlFunction("public.shifted", "int4 int4", "SELECT $1 + $2"), func(f *sqlguard.CatalogFunction) { f.Defaults, f.DefaultValues = 1, "1" }),
			changed(sqlFunction("public.shifted_badly", "int4 int4", "SELECT $1 + $2"), func(f *sqlguard.CatalogFunction) { f.Defaults, f.DefaultValues = 1, "public.effect(1)" }),
			changed(sqlFunction("public.shifted_unknown", "int4 int4", "SELECT $1 + $2"), func(f *sqlguard.CatalogFunction) { f.Defaults = 1 }),
			changed(sqlFunction("public.volatile", "int4", "SELECT 1"), func(f *sqlguard.CatalogFunction) { f.Volatility = sqlguard.VolatilityVolatile }),
			changed(sqlFunction("public.undeclared", "int4", "SELECT 1"), func(f *sqlguard.CatalogFunction) { f.Volatility = "" }),
			changed(sqlFunction("public.definer", "int4", "SELECT 1"), func(f *sqlguard.CatalogFunction) { f.SecurityDefiner = true }),
			changed(sqlFunction("public.setting", "int4", "SELECT 1"), func(f *sqlguard.CatalogFunction) { f.Settings = []string{"search_path=evil"} }),
			changed(sqlFunction("public.procedure", "int4", "SELECT 1"), func(f *sqlguard.CatalogFunction) { f.Kind = sqlguard.FunctionProcedure }),
			changed(sqlFunction("public.win", "int4", "SELECT 1"), func(f *sqlguard.CatalogFunction) { f.Kind = sqlguard.FunctionWindow }),
			changed(sqlFunction("public.many", "_text", "SELECT $1[1]"), func(f *sqlguard.CatalogFunction) { f.Variadic = true }),
			changed(sqlFunction("public.total", "int4", ""), func(f *sqlguard.CatalogFunction) {
				f.Kind, f.Language, f.Volatility, f.Runs = sqlguard.FunctionAggregate, "internal", sqlguard.VolatilityImmutable, allNamed("int4pl")
			}),
			changed(sqlFunction("public.total_badly", "int4", ""), func(f *sqlguard.CatalogFunction) {
				f.Kind, f.Language, f.Volatility, f.Runs = sqlguard.FunctionAggregate, "internal", sqlguard.VolatilityImmutable, allNamed("int4pl public.effect")
			}),
			opaque("public.effect", "text"),
			opaque("public.c_function", "text"),
			opaque("public.upper", "int4"),
			sqlFunction("public.secret_of", "public.customers", "SELECT ($1).ssn"),
			opaque("public.trouble", "public.customers"),
			opaque("public.name", "public.customers"),
			opaque("public.hidden", "record"),
			opaque("other.elsewhere", "int4"),
			opaque("pg_catalog.intruder", "int4"),
			sqlFunction("public.same", "text text", "SELECT $1 = $2"),
			changed(sqlFunction("public.proved_eq", "public.mood public.mood", "SELECT $1::text = $2::text"), func(f *sqlguard.CatalogFunction) { f.Results = allNamed("bool") }),
			opaque("public.differ", "text text"),
			opaque("public.bad_less", "public.customers public.customers"),
			opaque("public.to_bool", "public.mood"),
			opaque("public.is_email", "text"),
			sqlFunction("public.is_short", "text", "SELECT length($1) < 9"),
			opaque("public.canonical", "public.span"),
			changed(sqlFunction("public.days", "int4 int4", ""), func(f *sqlguard.CatalogFunction) { f.Language = "internal" }),
			changed(sqlFunction("public.span", "int4 int4", ""), func(f *sqlguard.CatalogFunction) { f.Language = "internal" }),
			changed(sqlFunction("public.days", "", ""), func(f *sqlguard.CatalogFunction) { f.Language = "internal" }),
			changed(sqlFunction("public.days", "int4", ""), func(f *sqlguard.CatalogFunction) { f.Language = "internal" }),
			changed(sqlFunction("public.dayses", "", ""), func(f *sqlguard.CatalogFunction) { f.Language = "internal" }),
			changed(sqlFunction("public.dayses", "public._days", ""), func(f *sqlguard.CatalogFunction) { f.Language, f.Variadic = "internal", true }),
			member(opaque("gis.st_area", "gis.geometry"), "postgis"),
			member(opaque("gis.st_transform", "gis.geometry int4"), "postgis"),
			member(opaque("gis.st_gdaldrivers", ""), "postgis"),
			member(opaque("gis.st_brandnew", "gis.geometry"), "postgis"),
			opaque("public.st_area", "text"),
			changed(member(opaque("gis.geometry_overlaps", "gis.geometry gis.geometry"), "postgis"), func(f *sqlguard.CatalogFunction) { f.Results = allNamed("bool") }),
			opaque("public.similarity", "text text"),
			member(opaque("public.replace", "public.citext text text"), "citext"),
			member(opaque("public.sneaky", "text"), "unreviewed"),
		},
		Operators: []sqlguard.CatalogOperator{
			negated,
			operator("public.!==", "text", "text", "public.differ"),
			operator("public.=", "public.mood", "public.mood", "public.proved_eq"),
			operator("public.<", "public.customers", "public.customers", "public.bad_less"),
			operator("public.@#@", "", "text", "pg_catalog.upper"),
			operator("other.=", "text", "text", "public.differ"),
			func() sqlguard.CatalogOperator {
				op := operator("gis.&&", "gis.geometry", "gis.geometry", "gis.geometry_overlaps")
				op.Extension = "postgis"
				return op
			}(),
		},
		Casts: []sqlguard.CatalogCast{
			cast("public.mood", "bool", "public.to_bool", sqlguard.CastExplicit),
			cast("public.span", "int4", "public.to_bool", sqlguard.CastImplicit),
			cast("public.days", "json", "public.to_bool", sqlguard.CastExplicit),
		},
		Types: []sqlguard.CatalogType{
			{CatalogName: named("public.mood"), Kind: sqlguard.TypeEnum},
			domain("public.short", "text", "CHECK ((length(VALUE) < 9))", "(VALUE <> ''::text)"),
			domain("public.email", "text", "public.is_email(VALUE)"),
			domain("public.checked", "text", "public.is_short(VALUE)"),
			domain("public.work_email", "public.email"),
			domain("public.emails", "public._email"),
			{CatalogName: named("public.person"), Kind: sqlguard.TypeComposite, Columns: []sqlguard.CatalogColumn{{Name: "mail", Type: named("public.email")}}},
			{CatalogName: named("public.point3"), Kind: sqlguard.TypeComposite, Columns: []sqlguard.CatalogColumn{{Name: "x", Type: named("float8")}}},
			{CatalogName: named("public.days"), Kind: sqlguard.TypeRange, Base: named("int4")},
			{CatalogName: named("public.dayses"), Kind: sqlguard.TypeRange, Base: named("public.days")},
			{CatalogName: named("public.span"), Kind: sqlguard.TypeRange, Base: named("int4"), Runs: allNamed("public.canonical")},
			{CatalogName: named("public.machine"), Kind: sqlguard.TypeBase},
			{CatalogName: named("gis.geometry"), Kind: sqlguard.TypeBase, Extension: "postgis"},
			{CatalogName: named("gis.newtype"), Kind: sqlguard.TypeBase, Extension: "postgis"},
			{CatalogName: named("public.citext"), Kind: sqlguard.TypeBase, Extension: "citext"},
		},
		Relations: []sqlguard.CatalogRelation{
			table("public.customers", "id:int4 name ssn pg_sleep"),
			table("public.orders", "id:int4 customer_id:int4 status:public.mood total:numeric"),
			table("public.contacts", "id:int4 mail:public.email alt:public._email memo:public.short"),
			table("public.spans", "s:public.span d:public.days"),
			table("sales.invoices", "id:int4 amount:numeric"),
			table("sales.orders", "id:int4"),
			relation("public.remote", sqlguard.RelationForeign, "id:int4"),
			parent,
			table("public.events_old", "id:int4 at:timestamptz"),
			func() sqlguard.CatalogRelation {
				r := table("public.only_parent", "id:int4")
				r.Children = allNamed("public.only_old")
				return r
			}(),
			func() sqlguard.CatalogRelation {
				r := table("public.only_old", "id:int4")
				r.Children = allNamed("public.events_old")
				return r
			}(),
			materialized("public.totals", "effect", "SELECT effect('a'::text) AS effect"),
			materialized("public.sums", "n", "SELECT sum(orders.id) AS n, pure('a'::text) AS pure FROM orders"),
			materialized("public.read_names", "n", "SELECT reads_table(1) AS n"),
			relation("public.events_remote", sqlguard.RelationForeign, "id:int4 at:timestamptz"),
			relation("public.numbers", sqlguard.RelationSequence, "last_value:int8"),
			stored,
			view("public.names", "id:int4 name", " SELECT customers.id,\n    customers.name\n   FROM customers;"),
			view("public.secrets", "id:int4 ssn", "SELECT customers.id, customers.ssn FROM customers"),
			view("public.deep", "ssn", "SELECT secrets.ssn FROM secrets"),
			view("public.remote_view", "id:int4", "SELECT remote.id FROM remote"),
			view("public.remote_deep", "id:int4", "SELECT remote_view.id FROM remote_view"),
			view("public.busy", "x", "SELECT effect('x'::text) AS x"),
			view("public.roles", "rolname", "SELECT pg_authid.rolname FROM pg_authid"),
			view("public.counted", "n:int8", "SELECT stored.n FROM stored"),
			view("public.lost", "n:int8", ""),
			view("public.circle", "n:int8", "SELECT circle.n FROM circle"),
		},
	}
}

// all allows every function of the schema public by name.
func all(p *sqlguard.Policy) { p.Functions.Allow = []string{"public.*"} }

func objectGuard(tb testing.TB, o *sqlguard.Objects, change func(*sqlguard.Policy)) *sqlguard.Guard {
	tb.Helper()
	policy := sqlguard.DefaultPolicy()
	if change != nil {
		change(&policy)
	}
	g, err := sqlguard.New(postgres.Dialect{}, policy, &sqlguard.Catalog{
		Major: 15, SearchPath: []string{"public"}, Database: "shop", Objects: o,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return g
}
