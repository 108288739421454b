package sqlite_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/sqlguard"
)

func newGuard(tb testing.TB) *sqlguard.Guard {
	tb.Helper()
	return dialecttest.NewGuard(tb, sqlite.Dialect{})
}

// TestVersion compares the parser's version in Version with that of the module, and the
// release of SQLite with that of the engine.
func TestVersion(t *testing.T) {
	module, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", "github.com/sqlc-dev/meyer").Output()
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t)
	stmt, _, err := e.conn.Prepare("SELECT sqlite_version()")
	if err != nil || !stmt.Step() {
		t.Fatal(err)
	}
	release := stmt.ColumnText(0)
	if err := stmt.Close(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("meyer %s (SQLite %s)", strings.TrimSpace(string(module)), release)
	if got := (sqlite.Dialect{}).Version(); got != want {
		t.Errorf("Version is %q, built with %q", got, want)
	}
	if got := (sqlite.Dialect{}).Name(); got != "sqlite" {
		t.Errorf("Name is %q", got)
	}
}

func TestSessionIsSorted(t *testing.T) {
	settings := sqlite.Dialect{}.Session()
	if !slices.IsSortedFunc(settings, func(a, b sqlguard.Setting) int { return strings.Compare(a.Name, b.Name) }) || len(settings) == 0 {
		t.Errorf("%v", settings)
	}
}

// TestFindings checks the messages and spans of refusals. « and » mark the spans.
func TestFindings(t *testing.T) {
	g := newGuard(t)
	for _, c := range []struct{ marked, code, message, object, path string }{
		{"«DELETE FROM t WHERE a = 'secret'» ;", "write_statement", "DELETE removes rows", "t", ""},
		{"  «INSERT INTO main.orders VALUES (1)»", "write_statement", "INSERT writes rows", "orders", ""},
		{"EXPLAIN «DROP TABLE t»", "ddl_statement", "DROP TABLE changes the schema", "t", ""},
		{"«ATTACH 'secret' AS x»", "session_change", "ATTACH opens or creates another database file for the session", "", ""},
		{"SELECT 1 + «\"load_extension\"»('secret')", "function_file_access", "function load_extension: loads code from a file", "load_extension", ""},
		{"SELECT «NoSuch»(1)", "function_not_allowed", "function nosuch: not on the list of functions known to be pure", "nosuch", ""},
		{"SELECT «zeroblob»(99999999)", "function_not_allowed", "function zeroblob: it makes a value of more than 16 MiB", "zeroblob", ""},
		{"SELECT * FROM «generate_series»(1, 99999999)", "function_not_allowed", "table function generate_series: it makes more than 10000000 rows", "generate_series", ""},
		{"WITH x AS (SELECT * FROM t WHERE a = «?1») SELECT * FROM x", "parameter_not_allowed", "?1 is a parameter, and nothing is bound to it", "", "with.x"},
		{"WITH x AS (WITH y AS (SELECT «:p») SELECT 1) SELECT 2", "parameter_not_allowed", ":p is a parameter, and nothing is bound to it", "", "with.x.with.y"},
		{"SELECT «RAISE(ABORT, 'x')»", "function_not_allowed", "RAISE belongs to triggers", "", ""},
		{"SELECT * FROM t JOIN «main.sqlite_sequence» AS s", "relation_not_allowed", "relation main.sqlite_sequence: of SQLite's own relations only sqlite_schema, its other names and listed table functions may be read", "main.sqlite_sequence", ""},
		{"SELECT * FROM «[aux].\"t\"»", "external_relation", "relation aux.t: only the schemas main and temp belong to this connection", "aux.t", ""},
		{"SELECT * FROM «fsdir»('/')", "function_file_access", "relation fsdir: lists and reads files", "fsdir", ""},
		{"SELECT * FROM «docs»('x')", "relation_not_allowed", "relation docs: it is called with arguments and is not on the list of table functions; search a full-text table with MATCH", "docs", ""},
		{"SELECT * FROM «pragma_query_only»", "pragma_not_allowed", "relation pragma_query_only: not on the list of PRAGMAs that may be read", "pragma_query_only", ""},
		{"«PRAGMA User_Version = 5»;", "pragma_not_allowed", "PRAGMA user_version may be read without a value only", "user_version", ""},
		{"«PRAGMA journal_mode»", "pragma_not_allowed", "PRAGMA journal_mode is not on the list of PRAGMAs that may be read", "journal_mode", ""},
		{"PRAGMA table_info(«'sqlite_stat1'»)", "relation_not_allowed", "relation sqlite_stat1: of SQLite's own relations only sqlite_schema, its other names and listed table functions may be read", "sqlite_stat1", ""},
		{"EXPLAIN «PRAGMA table_info(t)»", "pragma_not_allowed", "EXPLAIN explains queries only; some PRAGMAs act even under EXPLAIN", "", ""},
		{"SELECT a «'secret»", "parse_error", "a string that starts here never ends", "", ""},
		{"SELECT a b «'»secret' FROM t", "parse_error", "near '…': syntax error", "", ""},
		{"SELECT 1 FROM t WHERE a «7»7712x", "parse_error", "near '…': syntax error", "", ""},
		{"SELECT a«::int» FROM t", "parse_error", "x::type is PostgreSQL", "", ""},
		{"«SHOW» TABLES", "parse_error", "SHOW is not SQLite", "", ""},
		{"SELECT a FROM t WHERE a «ILIKE» 'x'", "parse_error", "ILIKE is PostgreSQL", "", ""},
		{"SELECT 1 WHERE a > «INTERVAL '1 day'»", "parse_error", "SQLite has no INTERVAL", "", ""},
		{"SELECT * FROM t LEFT «B»OGUS JOIN u", "parse_error", "the parser skipped this part of the statement", "", ""},
	} {
		sql := strings.NewReplacer("«", "", "»", "").Replace(c.marked)
		want := sqlguard.Span{Start: strings.Index(c.marked, "«"), End: strings.Index(c.marked, "»") - len("«")}
		v := g.Check(sql)
		if len(v.Findings) == 0 {
			t.Errorf("%s is allowed", sql)
			continue
		}
		type finding struct {
			code, message, object, path string
			span                        sqlguard.Span
		}
		f := v.Findings[0]
		got := finding{string(f.Code), f.Message, f.Object, f.Path, f.Span}
		if diff := cmp.Diff(finding{c.code, c.message, c.object, c.path, want}, got, cmp.AllowUnexported(finding{})); diff != "" {
			t.Errorf("%s, - want, + got:\n%s", sql, diff)
		}
		if strings.Contains(fmt.Sprint(v.Findings), "secret") || strings.Contains(v.Normalized, "secret") {
			t.Errorf("%s: the verdict repeats a literal: %+v %s", sql, v.Findings, v.Normalized)
		}
	}
}

// TestAllFindings checks that a verdict has every finding, in order.
func TestAllFindings(t *testing.T) {
	v := newGuard(t).Check("WITH x AS (SELECT readfile('a'), ?) SELECT eval('b') FROM x, aux.t, sqlite_stat1 WHERE f(1); DROP TABLE t")
	var got []string
	for _, f := range v.Findings {
		got = append(got, string(f.Code)+" "+f.Object)
	}
	want := []string{
		"function_file_access readfile", "parameter_not_allowed ", "dynamic_sql eval", "external_relation aux.t",
		"relation_not_allowed sqlite_stat1", "function_not_allowed f", "multiple_statements ", "ddl_statement t",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

// TestFacts checks the facts that Analyze states about a statement.
func TestFacts(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{
			"WITH c(n) AS (SELECT id FROM \"Users\" u) SELECT n AS x, t.a, \"b\", count(*), lower(z) low FROM c JOIN main.t AS t2 ON c.n = t2.a",
			"select; relations Users(u) main.t(t2); calls count lower; columns x a b low; refs id n t.a b z c.n t2.a",
		},
		{"VALUES (1, 2)", "values; columns column1 column2"},
		{"EXPLAIN QUERY PLAN SELECT 1", "explain"},
		{"PRAGMA main.table_info('a''b')", "pragma; relations main.a'b"},
		{"PRAGMA index_info(sqlite_autoindex_t_1)", "pragma"},
		{"SELECT * FROM t NATURAL JOIN u JOIN w USING (id)", "select; relations t u w; refs * * id"},
		{"SELECT t.* FROM t WHERE a IN u AND 1 IN json_each('[]')", "select; relations t u json_each; refs t.* a u.* json_each.*"},
		{"SELECT a REGEXP 'x', b MATCH 'y', c LIKE 'z', d GLOB 'e', f -> 'g'", "select; calls regexp match; refs a b c d f"},
		{"SELECT CAST(a AS INT), CAST(b AS int), CAST(c AS VARCHAR(10)) FROM t", "select; relations t; types int varchar; refs a b c"},
		{"SELECT sum(a) FILTER (WHERE b) OVER (PARTITION BY c ORDER BY d) FROM t", "select; relations t; calls sum; refs a b c d"},
		{"SELECT main.t.a, 'u'.'b', \"c\".d FROM t", "select; relations t; columns a b d; refs main.t.a u.b c.d"},
		{"SELECT * FROM pragma_table_info('t', 'main')", "select; relations main.t pragma_table_info; refs *"},
		{"SELECT 1 FROM json_each(t.doc) AS j, generate_series(1, 2)", "select; relations json_each(j) generate_series; refs t.doc"},
		{"INSERT INTO main.t SELECT a FROM u RETURNING f(b)", "insert; relations !main.t u; calls f; refs a b"},
		{"UPDATE t SET a = g(b) FROM u WHERE c", "update; relations !t u; calls g; refs b c"},
		{"WITH x AS (SELECT 1) DELETE FROM t WHERE a IN x", "delete; relations !t; refs a x.*"},
		{"CREATE TABLE n AS SELECT * FROM t", "create_table; relations !n t; refs *"},
		{"DROP INDEX i", "drop_index"},
	} {
		statements, err := sqlite.Dialect{}.Analyze(c.sql)
		if err != nil || len(statements) != 1 {
			t.Errorf("%s: %d statements, %v", c.sql, len(statements), err)
			continue
		}
		if got := facts(&statements[0]); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// facts writes a statement's facts in one line.
func facts(st *sqlguard.Statement) string {
	out := []string{string(st.Verb)}
	add := func(title string, items []string) {
		if len(items) > 0 {
			out = append(out, title+" "+strings.Join(items, " "))
		}
	}
	qualified := func(parts ...string) string {
		return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ".")
	}
	var relations, called, types, refs []string
	for _, r := range st.Relations {
		name := qualified(r.Schema, r.Name)
		if r.Alias != "" {
			name += "(" + r.Alias + ")"
		}
		if r.Access == sqlguard.AccessWrite {
			name = "!" + name
		}
		relations = append(relations, name)
	}
	for _, c := range st.Calls {
		called = append(called, c.Name)
	}
	for _, k := range st.Types {
		types = append(types, k.Name)
	}
	for _, c := range st.ColumnRefs {
		name := c.Name
		if c.Star {
			name = "*"
		}
		refs = append(refs, qualified(append(slices.Clone(c.Qualifier), name)...))
	}
	add("relations", relations)
	add("calls", called)
	add("types", types)
	add("columns", st.Columns)
	add("refs", refs)
	return strings.Join(out, "; ")
}

// TestPolicies checks that a connection's rules apply to every way to name a table or a
// column.
func TestPolicies(t *testing.T) {
	p := sqlguard.DefaultPolicy()
	p.SearchPath = []string{"main"}
	p.Tables.Deny = []string{"main.salaries"}
	p.Columns = []sqlguard.ColumnRule{{Match: "main.users.email"}}
	p.Functions = sqlguard.Names{Allow: []string{"main.score", "main.load_extension"}, Deny: []string{"main.upper"}}
	g, err := sqlguard.New(sqlite.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]sqlguard.Code{
		"SELECT name FROM users":                                 "",
		"SELECT count(*) FROM users":                             "",
		"SELECT id FROM main.users AS u":                         "",
		"SELECT name FROM users WHERE id IN (1, 2)":              "",
		"SELECT score(1)":                                        "",
		"SELECT load_extension('x')":                             sqlguard.CodeFunctionFileAccess,
		"SELECT upper('x')":                                      sqlguard.CodeFunctionNotAllowed,
		"SELECT \"UPPER\"('x')":                                  sqlguard.CodeFunctionNotAllowed,
		"SELECT * FROM Salaries":                                 sqlguard.CodeRelationNotAllowed,
		"SELECT * FROM main.[SALARIES]":                          sqlguard.CodeRelationNotAllowed,
		"SELECT 1 IN 'salaries'":                                 sqlguard.CodeRelationNotAllowed,
		"WITH c AS (SELECT * FROM salaries) SELECT 1":            sqlguard.CodeRelationNotAllowed,
		"PRAGMA table_info(salaries)":                            sqlguard.CodeRelationNotAllowed,
		"SELECT * FROM pragma_table_info('salaries')":            sqlguard.CodeRelationNotAllowed,
		"SELECT * FROM pragma_table_xinfo('SALARIES', 'main')":   sqlguard.CodeRelationNotAllowed,
		"SELECT email FROM users":                                sqlguard.CodeColumnNotAllowed,
		"SELECT \"EMAIL\" FROM users":                            sqlguard.CodeColumnNotAllowed,
		"SELECT [users].`email` FROM users":                      sqlguard.CodeColumnNotAllowed,
		"SELECT main.users.email FROM users":                     sqlguard.CodeColumnNotAllowed,
		"SELECT * FROM users":                                    sqlguard.CodeColumnNotAllowed,
		"SELECT u.* FROM users u":                                sqlguard.CodeColumnNotAllowed,
		"SELECT x.email FROM (users) AS x":                       sqlguard.CodeColumnNotAllowed,
		"SELECT 1 IN users":                                      sqlguard.CodeColumnNotAllowed,
		"SELECT name FROM users ORDER BY email":                  sqlguard.CodeColumnNotAllowed,
		"SELECT name FROM users GROUP BY 1 HAVING max(email)":    sqlguard.CodeColumnNotAllowed,
		"SELECT name FROM users, json_each(email)":               sqlguard.CodeColumnNotAllowed,
		"SELECT sum(id) OVER (ORDER BY email) FROM users":        sqlguard.CodeColumnNotAllowed,
		"SELECT a.id FROM users a JOIN users b USING (email)":    sqlguard.CodeColumnNotAllowed,
		"SELECT a.id FROM users a NATURAL JOIN users b":          sqlguard.CodeColumnNotAllowed,
		"SELECT name FROM users WHERE users MATCH 'x'":           sqlguard.CodeColumnNotAllowed,
		"WITH c(x) AS (SELECT email FROM users) SELECT x FROM c": sqlguard.CodeColumnNotAllowed,
	} {
		if v := g.Check(sql); v.Code != want {
			t.Errorf("%s\n got %q %+v\nwant %q", sql, v.Code, v.Findings, want)
		}
	}
}
