package postgres_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

// judgedCase is a statement, the code of its verdict, and a part of its message.
type judgedCase struct {
	sql  string
	code sqlguard.Code // "" when it passes
	says string
}

func runJudged(t *testing.T, change func(*sqlguard.Policy), cases []judgedCase) {
	t.Helper()
	runCases(t, objectGuard(t, shop(), change), cases)
}

func runCases(t *testing.T, g *sqlguard.Guard, cases []judgedCase) {
	t.Helper()
	for _, c := range cases {
		v := g.Check(c.sql)
		if v.Code != c.code {
			t.Errorf("%s\n\tgot %q %v, want %q", c.sql, v.Code, v.Findings, c.code)
			continue
		}
		var said strings.Builder
		for _, f := range v.Findings {
			said.WriteString(f.Message + "\n" + f.Hint + "\n")
			if f.Span.End == 0 {
				t.Errorf("%s: a finding without a span: %+v", c.sql, f)
			}
		}
		if !strings.Contains(said.String(), c.says) {
			t.Errorf("%s\n\tsays %q, want %q", c.sql, said.String(), c.says)
		}
	}
}

func TestFunctionsWithObjects(t *testing.T) {
	const no = sqlguard.CodeFunctionNotAllowed
	t.Run("allowed by name", func(t *testing.T) {
		runJudged(t, all, []judgedCase{
			{"SELECT pure('a')", "", ""},
			{"SELECT public.pure(name) FROM customers", "", ""},
			{"SELECT named('a'), atomic(1), returns(1), chained('a'), reads_table(1), recursive(3)", "", ""},
			{"SELECT chained_badly('a')", no, "public.effect(text): it is declared VOLATILE"},
			{"SELECT sleeps(1)", no, "function pg_sleep: makes the session wait"},
			{"SELECT writes(1)", no, "INSERT changes data"},
			{"SELECT broken(1)", no, "its definition cannot be parsed"},
			{"SELECT volatile(1)", no, "VOLATILE"},
			{"SELECT undeclared(1)", no, "VOLATILE"},
			{"SELECT definer(1)", no, "SECURITY DEFINER"},
			{"SELECT setting(1)", no, "settings"},
			{"SELECT effect('a')", no, "VOLATILE"},
			{"SELECT is_email('a')", no, "VOLATILE"},
			{"SELECT win(1) OVER ()", no, "of kind window"},
			{"SELECT shifted(1), shifted(1, 2), defaulted(1, 2)", "", ""},
			{"SELECT shifted_badly(1, 2)", no, "public.effect"},
			{"SELECT shifted_unknown(1)", no, "default values"},
			{"SELECT many('a'), many('a', 'b', 'c'), many(VARIADIC '{a}')", "", ""},
			{"SELECT total(id) FROM orders", "", ""},
			{"SELECT total(id) FILTER (WHERE id > 1) OVER () FROM orders", "", ""},
			{"SELECT total_badly(id) FROM orders", no, "runs public.effect"},
			{"SELECT days(1, 2)", "", ""},
			{"SELECT span(1, 2)", no, "canonical"},
			{"SELECT procedure(1)", sqlguard.CodeUnresolvedObject, "no such function"},
		})
	})
	t.Run("not allowed", func(t *testing.T) {
		runJudged(t, nil, []judgedCase{
			{"SELECT lower('a'), count(*), now(), current_user, coalesce(1, 2), extract(year FROM now())", "", ""},
			{"SELECT pure('a')", no, "resolves to public.pure(text)"},
			{"SELECT upper('a')", no, "may resolve to public.upper(int4)"},
			{"SELECT upper('a')", no, "write pg_catalog.upper(…)"},
			{"SELECT pg_catalog.upper('a')", "", ""},
			{"SELECT upper('a', 'b')", "", ""}, // no overload takes two: the server refuses it
			{"SELECT pure('a', 'b')", sqlguard.CodeUnresolvedObject, "another number of arguments"},
			{"SELECT nothing('a')", sqlguard.CodeUnresolvedObject, "no such function"},
			{"SELECT elsewhere(1)", sqlguard.CodeUnresolvedObject, "no such function"},
			{"SELECT other.elsewhere(1)", no, "other.elsewhere(int4)"},
			{"SELECT intruder(1)", no, "pg_catalog.intruder(int4)"},
			{"SELECT pg_catalog.intruder(1)", no, "pg_catalog.intruder(int4)"},
			{"SELECT pg_sleep(1)", sqlguard.CodeFunctionSleep, ""},
			{"SELECT shop.public.pure('a')", sqlguard.CodeUnresolvedObject, ""},
			{"SELECT days(1, 2)", "", ""},
			{"SELECT crosstab('a')", sqlguard.CodeDynamicSQL, ""},
			{"SELECT dayses(), dayses('[1,2]'::days), dayses(days(1, 2), days(3, 4))", "", ""},
			{"SELECT days()", no, "public.days()"}, // it is not a constructor that the server made
			{"SELECT days(1)", no, "public.days(int4)"},
		})
	})
	t.Run("extensions", func(t *testing.T) {
		runJudged(t, nil, []judgedCase{
			{"SELECT gis.st_area(NULL)", "", ""},
			{"SELECT gis.st_transform(NULL, 4326)", "", ""},
			{"SELECT gis.st_transform(NULL, '+proj=x')", sqlguard.CodeFunctionFileAccess, ""},
			{"SELECT gis.st_gdaldrivers()", sqlguard.CodeFunctionFileAccess, ""},
			{"SELECT gis.st_brandnew(NULL)", no, "of the extension postgis"},
			{"SELECT st_area('a')", no, "public.st_area(text)"},
			{"SELECT similarity('a', 'b')", no, "public.similarity"},
			{"SELECT word_similarity('a', 'b')", sqlguard.CodeUnresolvedObject, "pg_trgm"},
			{"SELECT replace('a', 'b', 'c')", "", ""},
			{"SELECT public.replace('a', 'b', 'c')", "", ""},
			{"SELECT sneaky('a')", no, "of the extension unreviewed"},
		})
	})
	t.Run("denied", func(t *testing.T) {
		runJudged(t, func(p *sqlguard.Policy) { all(p); p.Functions.Deny = []string{"public.pure"} }, []judgedCase{
			{"SELECT pure('a')", no, "denied"},
			{"SELECT chained('a')", no, "denied"},
		})
	})
}

func TestColumnNotationWithObjects(t *testing.T) {
	const no = sqlguard.CodeFunctionNotAllowed
	runJudged(t, nil, []judgedCase{
		{"SELECT c.pg_sleep, c.name, (c).pg_sleep, (c).name FROM customers c", "", ""},
		{"SELECT customers.name FROM customers", "", ""},
		{"SELECT public.customers.name FROM public.customers", "", ""},
		{"SELECT c.trouble FROM customers c", no, "may resolve to public.trouble(customers)"},
		{"SELECT (c).trouble FROM customers c", no, "public.trouble(customers)"},
		{"SELECT (c.id).trouble FROM customers c", no, "public.trouble(customers)"},
		{"SELECT c.hidden FROM customers c", no, "public.hidden"},
		{"SELECT o.pg_sleep FROM orders o", sqlguard.CodeFunctionSleep, ""},
		{"SELECT o.name FROM orders o", "", ""}, // no row of customers is in scope
		{"SELECT o.name FROM orders o, customers", no, "public.name(customers)"},
		{"SELECT (o).name, (o.id).trouble FROM orders o, customers", no, "public.trouble(customers)"},
		{"SELECT c.trouble FROM customers AS c (trouble)", "", ""},
		{"SELECT c.name FROM customers AS c (a, b)", no, "public.name"},
		{"SELECT s.name FROM (SELECT name FROM customers) s", "", ""},
		{"SELECT s.name FROM (SELECT * FROM customers) s", "", ""},
		{"SELECT s.name FROM (SELECT * FROM orders) s", no, ""},
		{"SELECT s.name FROM (SELECT c.* FROM customers c) s", no, ""}, // not looked into
		{"WITH s AS (SELECT name FROM customers) SELECT s.name FROM s", "", ""},
		{"WITH s (name) AS (SELECT 1) SELECT s.name, x.name FROM s AS x, s", "", ""},
		{"WITH s AS (SELECT id FROM customers) SELECT s.name FROM s", no, ""},
		{"SELECT (SELECT c.name FROM orders c) FROM customers c", no, ""},
		{"SELECT x.trouble FROM generate_series(1, 2) AS x", no, "public.trouble"},
		{"SELECT c.short, c.mood FROM customers c", "", ""},
		{"SELECT name(o.id), (o.id).name FROM orders o", "", ""},
		{"SELECT name(id) FROM orders o", "", ""},
		{"SELECT name(o) FROM orders o", no, "public.name"}, // the guard does not tell a row from a value here
		{"SELECT name(id) FROM orders id", no, "public.name"},
		{"SELECT name(s.x) FROM (SELECT ROW(1, 'a') AS x) s", no, "public.name"},
		{"SELECT name(x) FROM orders, (SELECT ROW(1, 'a') AS x) s", no, "public.name"},
		{"SELECT name(s) FROM orders, (SELECT 1) s", no, "public.name"},
		{"SELECT c.email FROM customers c", sqlguard.CodeTypeNotAllowed, "public.is_email"},
	})
}

func TestOperatorsWithObjects(t *testing.T) {
	const no = sqlguard.CodeOperatorNotAllowed
	t.Run("not allowed", func(t *testing.T) {
		runJudged(t, nil, []judgedCase{
			{"SELECT 1 + 2 * 3, 'a' || 'b', 'a' ~ 'b' FROM customers WHERE id > 1", "", ""},
			{"SELECT 1 = 2, status FROM orders", no, "may resolve to public.= (mood, mood), which runs public.proved_eq"},
			{"SELECT 1 = 2, id IN (1, 2), id = 'a' FROM customers", "", ""}, // no value of the type mood is in scope
			{"SELECT 'a' = 'b'", no, "public.="},
			{"SELECT status = 'new' FROM orders", no, "OPERATOR(pg_catalog.=)"},
			{"SELECT 1 OPERATOR(pg_catalog.=) 2", "", ""},
			{"SELECT 1 OPERATOR(other.=) 2", no, "other.="},
			{"SELECT 1 IN (1, 2), status FROM orders", no, "public.="},
			{"SELECT status IN (SELECT 1), status FROM orders", no, "public.="},
			{"SELECT 1 = ANY (SELECT 1), status FROM orders", no, "public.="},
			{"SELECT 1 = ANY (ARRAY[1]), status FROM orders", no, "public.="},
			{"SELECT (1, 2) = (3, 4), status FROM orders", no, "public.="},
			{"SELECT NULLIF(1, 2), status FROM orders", no, "public.="},
			{"SELECT 1 IS DISTINCT FROM 2, status FROM orders", no, "public.="},
			{"SELECT CASE 1 WHEN 2 THEN 3 END, status FROM orders", no, "public.="},
			{"SELECT CASE WHEN true THEN 3 END", "", ""},
			{"SELECT status FROM customers JOIN orders USING (id)", no, "public.="},
			{"SELECT o FROM customers NATURAL JOIN orders o", no, "public.="},
			{"SELECT 1 BETWEEN 0 AND 2 FROM customers WHERE customers IS NULL", no, "public.<"},
			{"SELECT 1 NOT BETWEEN SYMMETRIC 0 AND 2 FROM customers WHERE customers IS NULL", no, "public.<"},
			{"SELECT id FROM customers ORDER BY id USING <", "", ""},
			{"SELECT c FROM customers c ORDER BY c USING <", no, "public.<"},
			{"SELECT id FROM customers ORDER BY id USING OPERATOR(pg_catalog.<)", "", ""},
			{"SELECT DISTINCT id, count(*) FROM customers GROUP BY id ORDER BY id", "", ""},
			{"SELECT 'a' <> 'b'", "", ""},
			{"SELECT 'a' === 'b'", no, "public.same"},
			{"SELECT @#@ 'b'", "", ""},
			{"SELECT 'a' @#@ 'b'", sqlguard.CodeUnresolvedObject, "no such operator"},
			{"SELECT 'a' ==== 'b'", sqlguard.CodeUnresolvedObject, "no such operator"},
			{"SELECT NULL OPERATOR(gis.&&) NULL, NULL && NULL", "", ""},
		})
	})
	t.Run("allowed by name", func(t *testing.T) {
		runJudged(t, all, []judgedCase{
			{"SELECT 1 = 2, status FROM orders", "", ""},
			{"SELECT 1 < 2", "", ""},
			{"SELECT c < ROW(1) FROM customers c", no, "public.bad_less"},
			{"SELECT 'a' < 'b'", no, "public.bad_less"},
			// NOT (a === b) may run the negator.
			{"SELECT 'a' === 'b'", no, "public.differ"},
			{"SELECT 'a' OPERATOR(other.=) 'b'", no, "public.differ"},
		})
	})
}

func TestTypesWithObjects(t *testing.T) {
	const no = sqlguard.CodeTypeNotAllowed
	t.Run("not allowed", func(t *testing.T) {
		runJudged(t, nil, []judgedCase{
			{"SELECT 'a'::mood, 'a'::public.mood[], mood 'a', 'a'::_mood", "", ""},
			{"SELECT 'a'::short, short('a'), '(1)'::point3, '[1,2]'::days", "", ""},
			{"SELECT 'a'::email", no, "function public.is_email"},
			{"SELECT 'a'::email[]", no, "is_email"},
			{"SELECT 'a'::public._email", no, "is_email"},
			{"SELECT email('a')", no, "is_email"},
			{"SELECT 'a'::work_email", no, "is_email"},
			{"SELECT '{a}'::emails", no, "is_email"},
			{"SELECT '(a)'::person", no, "is_email"},
			{"SELECT '(1,a)'::contacts", no, "is_email"},
			{"SELECT '(1,a)'::orders", "", ""},
			{"SELECT '[1,2]'::span", no, "canonical"},
			{"SELECT 'a'::machine", no, "input function"},
			{"SELECT 'a'::gis.geometry", "", ""},
			{"SELECT 'a'::gis.newtype", no, "input function"},
			{"SELECT 'a'::geometry", sqlguard.CodeUnresolvedObject, "no such type"},
			{"SELECT 'a'::citext", "", ""},
			{"SELECT 'a'::nothing", sqlguard.CodeUnresolvedObject, "no such type"},
			{"SELECT 'a'::checked", no, "public.is_short"},
			{"SELECT * FROM json_to_record('{}') AS x (a email)", no, "is_email"},
			// Statements in which a literal may become a value of the type.
			{"SELECT mail, memo FROM contacts WHERE mail = 'x' AND memo = 'y'", "", ""},
			{"SELECT * FROM contacts", "", ""}, // the array is among the columns, and no literal is beside it
			{"SELECT id, alt, alt[1], cardinality(alt), array_length(alt, 1) FROM contacts WHERE id = 1 ORDER BY alt", "", ""},
			{"SELECT * FROM contacts NATURAL JOIN (SELECT 1 AS id) x", "", ""},
			{"SELECT * FROM contacts NATURAL JOIN (SELECT NULL AS alt) x", no, "is_email"},
			{"SELECT * FROM contacts JOIN contacts c USING (alt)", no, "is_email"},
			{"SELECT * FROM contacts AS c (a, b, d)", no, "is_email"},
			{"TABLE contacts UNION TABLE contacts", no, "is_email"},
			{"VALUES ((SELECT alt FROM contacts)), ('{x}')", no, "is_email"},
			{"SELECT x.alt FROM (SELECT * FROM contacts) x", no, "is_email"}, // not looked into
			{"SELECT alt || 'x' FROM contacts", no, "is_email"},
			{"SELECT cardinality(alt || 'x') FROM contacts", no, "is_email"},
			{"SELECT array_append(alt, 'x') FROM contacts", no, "is_email"},
			{"SELECT array_length(alt, '1') FROM contacts", no, "is_email"},
			{"SELECT *, alt = '{x}' FROM contacts", no, "is_email"},
			{"SELECT alt FROM contacts ORDER BY alt = '{x}'", no, "is_email"},
			{"SELECT max(alt) FROM contacts", no, "is_email"},
			{"SELECT (c.alt)[1:2] FROM contacts c", "", ""},
			{"EXPLAIN SELECT alt = '{x}' FROM contacts", no, "is_email"},
			{"SELECT id FROM contacts WHERE alt = '{x}'", no, "is_email"},
			{"SELECT ARRAY[mail] = '{x}' FROM contacts", no, "is_email"},
			{"SELECT array_agg(mail) FROM contacts", no, "is_email"},
			{"SELECT json_populate_record(c, '{}') FROM contacts c", no, "is_email"},
			{"SELECT array_agg(id) FROM contacts", "", ""},
			{"SELECT s = '[1,2]' FROM spans", no, "canonical"},
		})
		// The cast from span to int4 is implicit: it may run wherever spans are.
		runJudged(t, nil, []judgedCase{
			{"SELECT d FROM spans", "", ""},
			{"SELECT s FROM spans", no, "the cast from public.span to pg_catalog.int4 runs public.to_bool"},
			{"SELECT status::text FROM orders", "", ""},
			{"SELECT status::bool FROM orders", no, "the cast from public.mood to pg_catalog.bool"},
			{"SELECT amount::bool FROM sales.invoices", "", ""},
			{"SELECT s.to_json FROM (SELECT d FROM spans) s", no, "the cast from public.days to pg_catalog.json"},
			{"SELECT to_json(d) FROM spans", no, "the cast from public.days to pg_catalog.json"},
			{"SELECT pg_input_is_valid('a', 'geometry'), pg_input_is_valid('a', 'int4')", sqlguard.CodeFunctionNotAllowed, "geometry"},
			{"SELECT pg_input_is_valid('a', 'email')", sqlguard.CodeFunctionNotAllowed, "is_email"},
		})
	})
	t.Run("allowed by name", func(t *testing.T) {
		runJudged(t, all, []judgedCase{
			{"SELECT 'a'::checked", "", ""},
			{"SELECT 'a'::email", no, "VOLATILE"},
		})
	})
	t.Run("refuse", func(t *testing.T) {
		runJudged(t, func(p *sqlguard.Policy) { p.AllowUnresolvedTypes = false }, []judgedCase{
			{"SELECT 'a'::mood", "", ""},
			{"SELECT 'a'::nothing", no, "no such type"},
		})
	})
}

func TestRelationsWithObjects(t *testing.T) {
	const unresolved, no = sqlguard.CodeUnresolvedObject, sqlguard.CodeRelationNotAllowed
	t.Run("no rules", func(t *testing.T) {
		runJudged(t, nil, []judgedCase{
			{"SELECT * FROM customers, sales.invoices, shop.public.orders, numbers", "", ""},
			{"SELECT * FROM custmers", unresolved, "did you mean customers?"},
			{"SELECT * FROM invoices", unresolved, "did you mean sales.invoices?"},
			{"SELECT * FROM sales.invoice", unresolved, "did you mean sales.invoices?"},
			{"SELECT * FROM zzz", unresolved, "no such table"},
			{"WITH zzz AS (SELECT 1) SELECT * FROM zzz", "", ""},
			{"SELECT * FROM remote", sqlguard.CodeExternalRelation, "foreign table"},
			{"SELECT * FROM events", sqlguard.CodeExternalRelation, "it reads public.events_remote"},
			{"SELECT * FROM events_old", "", ""},
			{"SELECT * FROM names, stored, counted", "", ""},
			{"SELECT * FROM remote_view", sqlguard.CodeExternalRelation, "the view public.remote_view reads: relation remote"},
			{"SELECT * FROM remote_deep", sqlguard.CodeExternalRelation, "the view public.remote_view reads: relation remote"},
			{"SELECT * FROM busy", sqlguard.CodeFunctionNotAllowed, "the view public.busy reads: function effect"},
			{"SELECT * FROM roles", sqlguard.CodeCredentialRelation, "pg_authid"},
			{"SELECT * FROM lost", no, "its definition is not known"},
			{"SELECT * FROM circle", "", ""}, // the server has no such view
			{"SELECT * FROM pg_class, information_schema.columns", "", ""},
			{"SELECT * FROM pg_temp.t", no, ""},
			{"SELECT * FROM customers TABLESAMPLE system (1)", "", ""},
			{"SELECT * FROM customers TABLESAMPLE tsm_system_rows (1)", unresolved, ""},
		})
	})
	t.Run("denied table", func(t *testing.T) {
		runJudged(t, func(p *sqlguard.Policy) {
			p.Tables.Deny = []string{"public.customers", "public.events_old", "public.remote"}
		}, []judgedCase{
			{"SELECT * FROM customers", no, "denied"},
			{"SELECT * FROM orders", "", ""},
			{"SELECT * FROM names", no, "the view public.names reads: relation customers"},
			{"SELECT * FROM deep", no, "the view public.secrets reads"},
			{"SELECT * FROM events", no, "it shares rows with public.events_old"},
			{"SELECT * FROM only_old", no, "it shares rows with public.events_old"},
			{"SELECT * FROM totals", no, "a function in plpgsql may have read"},
			{"SELECT * FROM sums", "", ""},
			{"SELECT * FROM read_names", no, "customers"},
			{"SELECT * FROM stored", no, "the materialized view public.stored was made from: relation public.remote"},
			{"SELECT * FROM counted", no, "denied"},
		})
	})
	t.Run("allowed table", func(t *testing.T) {
		runJudged(t, func(p *sqlguard.Policy) { p.Tables.Allow = []string{"public.names", "sales.*"} }, []judgedCase{
			{"SELECT * FROM names", "", ""},
			{"SELECT * FROM customers", no, "denied"},
			{"SELECT * FROM secrets", no, "denied"},
			{"SELECT * FROM sales.orders", "", ""},
			{"SELECT * FROM orders", no, "denied"},
		})
	})
	t.Run("denied column", func(t *testing.T) {
		const column = sqlguard.CodeColumnNotAllowed
		runJudged(t, func(p *sqlguard.Policy) {
			all(p)
			p.Columns = []sqlguard.ColumnRule{{Match: "public.customers.ssn"}}
		}, []judgedCase{
			{"SELECT id, name FROM customers", "", ""},
			{"SELECT c.id, o.id FROM customers c JOIN orders o ON o.customer_id IS NOT NULL", "", ""},
			{"SELECT o.* FROM customers c, orders o", "", ""},
			{"SELECT ssn FROM customers", column, ""},
			{"SELECT * FROM customers", column, ""},
			{"SELECT c.* FROM customers c, orders", column, ""},
			{"SELECT c FROM customers c", column, ""},
			{"SELECT * FROM orders", "", ""},
			{"SELECT c.id FROM customers c NATURAL JOIN sales.orders", "", ""},
			{"SELECT c.id FROM customers c NATURAL JOIN secrets", column, ""},
			{"SELECT c.id FROM customers c JOIN secrets USING (ssn)", column, ""},
			{"SELECT c.id FROM customers c NATURAL JOIN (VALUES ('x')) v (ssn)", column, ""},
			{"SELECT * FROM names", "", ""},
			{"SELECT id FROM secrets", column, "the view public.secrets reads"},
			{"SELECT * FROM deep", column, "the view public.secrets reads"},
			{"SELECT reads_table(1)", "", ""},
			{"SELECT reads_secret(1)", sqlguard.CodeFunctionNotAllowed, "public.customers.ssn is denied"},
			{"SELECT secret_of(c) FROM customers c", column, ""},
			{"SELECT c.secret_of FROM customers c", column, ""},
			{"SELECT (c).secret_of FROM customers c", column, ""},
			{"SELECT (c).name, (c).id + 1 FROM customers c WHERE (c).id = 1", "", ""},
			{"SELECT (c).ssn FROM customers c", column, ""},
			{"SELECT (c).id FROM customers c, (SELECT 1 AS c) d", column, ""},
			{"SELECT (c).name, (c) FROM customers c", column, ""},
			{"SELECT s.secret_of FROM (SELECT 'x' AS secret_of FROM customers) s", "", ""},
		})
	})
}
