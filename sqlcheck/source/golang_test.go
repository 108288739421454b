package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck/source"
)

// filled reads a file. It returns the SQL of each text as it is judged, and in
// brackets the parts of the file that are unproved.
func filled(t *testing.T, name, code, dialect string, sinks ...string) []string {
	t.Helper()
	d, ok := dialects.Lookup(dialect)
	if !ok {
		t.Fatalf("no dialect %s", dialect)
	}
	found, err := source.Find(name, code, source.Options{Sinks: sinks})
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	var out []string
	for _, text := range found.Texts {
		f := text.Fill(d)
		line := f.SQL
		for _, span := range f.Unproved {
			line += fmt.Sprintf(" [%s]", code[span.Start:span.End])
		}
		out = append(out, line)
	}
	return out
}

func TestGo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		body string
		want []string
	}{
		{`db.Query("SELECT 1")`, []string{"SELECT 1"}},
		{"db.Query(`SELECT\n 1`)", []string{"SELECT\n 1"}},
		{`db.QueryContext(ctx, "SELECT "+"1")`, []string{"SELECT 1"}},
		{`db.QueryContext(ctx, ("SELECT ")+cols+" FROM t")`, []string{"SELECT id, name FROM t"}},
		{`db.Exec("DELETE FROM t WHERE id = $1", id)`, []string{"DELETE FROM t WHERE id = 1"}},
		{`db.Exec("UPDATE t SET a = $1 WHERE b IN ($2, $3)", a, b, c)`, []string{"UPDATE t SET a = 1 WHERE b IN (1, 1)"}},
		{`pool.Query(ctx, "SELECT a FROM t LIMIT $1", n)`, []string{"SELECT a FROM t LIMIT 1"}},
		{`db.Query("SELECT * FROM t WHERE id = " + id)`, []string{"SELECT * FROM t WHERE id = 1"}},
		{`db.Query("SELECT * FROM " + table)`, []string{"SELECT * FROM x [table]"}},
		{`db.Query("SELECT * FROM t_" + suffix + " WHERE a = 1")`, []string{"SELECT * FROM t_x WHERE a = 1 [suffix]"}},
		{`db.Query("SELECT * FROM " + schema + ".t")`, []string{"SELECT * FROM x.t [schema]"}},
		{`db.Query("SELECT \"" + column + "\" FROM t")`, []string{`SELECT "x" FROM t [column]`}},
		{`db.Query("SELECT a FROM t ORDER BY " + column)`, []string{"SELECT a FROM t ORDER BY x [column]"}},
		{`db.Query("SELECT a FROM t WHERE " + condition)`, []string{"SELECT a FROM t WHERE x [condition]"}},
		{`db.Query("SELECT a FROM t WHERE a = 1 AND " + condition)`, []string{"SELECT a FROM t WHERE a = 1 AND x [condition]"}},
		{`db.Query("SELECT a FROM t WHERE a BETWEEN " + x + " AND " + y)`, []string{"SELECT a FROM t WHERE a BETWEEN 1 AND 1"}},
		{`db.Query("SELECT a FROM t WHERE a = '" + name + "'")`, []string{"SELECT a FROM t WHERE a = 'x'"}},
		{`db.Query("SELECT a FROM t " + where)`, []string{"SELECT a FROM t x [where]"}},
		{`db.Query("SELECT a FROM t -- " + comment)`, []string{"SELECT a FROM t -- x [comment]"}},
		{`db.Query("SELECT lower(" + x + "), b FROM t")`, []string{"SELECT lower(1), b FROM t"}},
		{`db.Query("SELECT a, " + x + " FROM t")`, []string{"SELECT a, x FROM t [x]"}},
		{`db.Query("INSERT INTO t (" + cols2 + ") VALUES (" + values + ")")`, []string{"INSERT INTO t (x) VALUES (1) [cols2]"}},
		{`db.Query("SELECT a FROM t WHERE a IN (" + list + ")")`, []string{"SELECT a FROM t WHERE a IN (1)"}},
		{`db.Query("SELECT a::" + typ + " FROM t")`, []string{"SELECT a::x FROM t [typ]"}},
		{`db.Query(fmt.Sprintf("SELECT a FROM t WHERE b = %d AND c = '%s'", b, c))`, []string{"SELECT a FROM t WHERE b = 1 AND c = 'x'"}},
		{`db.Query(fmt.Sprintf("SELECT a FROM %s LIMIT %d", table, n))`, []string{"SELECT a FROM x LIMIT 1 [%s]"}},
		{`db.Query(fmt.Sprintf("SELECT %s FROM t", cols))`, []string{"SELECT id, name FROM t"}},
		{`db.Query(fmt.Sprintf("SELECT a FROM t WHERE a LIKE '%%x' ORDER BY %d", n))`, []string{"SELECT a FROM t WHERE a LIKE '%x' ORDER BY 1"}},
		{`db.Query(fmt.Sprintf("SELECT a FROM t WHERE b = %[2]d", b, c))`, []string{"SELECT a FROM t WHERE b = 1"}},
		{`db.Query("SELECT '\u00e9\n\x41\101'")`, []string{"SELECT 'é\nAA'"}},
		{`db.Query(query)`, []string{"x [query]"}},
		{`db.Query(fmt.Sprintf("SELECT a FROM t WHERE a = $%d AND b = ANY($%d)", n, n+1), args...)`, []string{"SELECT a FROM t WHERE a = 1 AND b = ANY(1)"}},
		{`db.Query(fmt.Sprintf("SELECT $%s$ FROM t", a))`, []string{"SELECT $x$ FROM t [%s]"}},
		{`db.Exec("INSERT INTO t (a) VALUES " + rows)`, []string{"INSERT INTO t (a) VALUES (1) [rows]"}},
		{`db.Exec("GRANT r TO " + user)`, []string{"GRANT r TO x [user]"}},
		{`db.Exec("SET LOCAL lock_timeout TO " + n)`, []string{"SET LOCAL lock_timeout TO 1"}},
		{`s.insertStmt.ExecContext(ctx, "global")`, nil},
		{`stmt.Exec(id, name)`, nil},
		{`stmt.Query("DROP TABLE t")`, []string{"DROP TABLE t"}},
		{`db.EXPECT().ExecContext(any, "INSERT INTO migrations", any)`, nil},
		{`http.Get("https://example.com")`, nil},
		{`m.Get("key", "select")`, nil},
		{`db.Get(&row, "SELECT a FROM t WHERE b = ?", b)`, []string{"SELECT a FROM t WHERE b = 1"}},
		{`cmd.Exec("ls")`, nil},
		{`run("SELECT 2")`, []string{"SELECT 2"}},
		{`db.Query("SELECT a ? 'b' FROM t WHERE c = ?", c)`, []string{"SELECT a ? 'b' FROM t WHERE c = 1"}},
		{`db.QueryContext(ctx, query, 1)`, []string{"x [query]"}},
		{`db.QueryContext()`, nil},
		{`db.ExecContext(ctx, verb+" FROM t")`, []string{"x FROM t [verb]"}},
		{`db.ExecContext(ctx, "no statement at all")`, []string{"no statement at all"}},
		{`pool.Query(r.Context(), q, "abc")`, []string{"x [q]"}},
		{`tx.Exec(ctx, q, "SELECT 1")`, []string{"x [q]"}},
		{`batch.Queue("SELECT 1")`, []string{"SELECT 1"}},
		{`db.Exec(c, "SELECT 1", x)`, []string{"SELECT 1"}},
		{`cmd.Exec("ls " + x)`, []string{"ls x [x]"}},
		{`m.Get("key", x+" of y")`, nil},
		{`db.Select(&rows, fields+" FROM t")`, []string{"x FROM t [fields]"}},
		{`u.Query()`, nil},
		{`c.Query("commit")`, nil},
		{`db.Exec("commit")`, []string{"commit"}},
		{`db.Exec("CLOSE all_rows")`, []string{"CLOSE all_rows"}},
		{`db.QueryRow("FETCH NEXT FROM all_rows")`, []string{"FETCH NEXT FROM all_rows"}},
		{`db.Exec("; DELETE FROM t")`, []string{"; DELETE FROM t"}},
		{`db.Exec("/*!50000 DELETE FROM t */")`, []string{"/*!50000 DELETE FROM t */"}},
		{`db.Exec("if not exists (select 1) drop table t")`, []string{"if not exists (select 1) drop table t"}},
		{`app.Exec("close the door")`, nil},
		{`conn.Prepare(ctx, "remove", "DELETE FROM t")`, []string{"DELETE FROM t"}},
		{`conn.Prepare(ctx, name, text)`, []string{"x [text]"}},
		{`db.Query(loop)`, []string{"x [loop]"}},
	} {
		body, want := test.body, test.want
		code := "package p\n\nconst cols = \"id\" + \", name\"\n\nconst loop, pool2 = pool2, loop\n\nfunc f() {\n\t" + body + "\n}\n"
		if diff := cmp.Diff(want, filled(t, "x.go", code, "postgres", "run")); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

// TestGoFlow: the value of a name is followed through a function.
func TestGoFlow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		body string
		want []string
	}{
		{"q := `SELECT 1`\n_, err := db.QueryContext(ctx, q)", []string{"SELECT 1"}},
		{"var q = `SELECT 1`\ndb.QueryContext(ctx, q)", []string{"SELECT 1"}},
		{"q := `SELECT 1`\nif x {\n q := `SELECT 2`\n db.QueryContext(ctx, q) }\ndb.QueryContext(ctx, q)", []string{"SELECT 2", "SELECT 1"}},
		{"q := `SELECT 1`\nif x {\n q += ` FROM t` }\ndb.QueryContext(ctx, q)", []string{"SELECT 1 FROM t", "SELECT 1"}},
		{"q := `SELECT 1`\nif x {\n q = `SELECT 2` } else if y {\n q = `SELECT 3` } else {\n return }\ndb.QueryContext(ctx, q)", []string{"SELECT 2", "SELECT 3"}},
		{"var q string\nswitch x {\ncase 1: q = `SELECT 1`\ndefault: q = `SELECT 2` }\ndb.QueryContext(ctx, q)", []string{"SELECT 1", "SELECT 2"}},
		{"q := `SELECT 1`\nq = q + ` FROM ` + table\ndb.QueryContext(ctx, q)", []string{"SELECT 1 FROM x [table]"}},
		{"var b strings.Builder\nb.WriteString(`SELECT `)\nfmt.Fprintf(&b, `%d, %s`, n, cols)\nb.WriteByte(' ')\ndb.QueryContext(ctx, b.String())", []string{"SELECT 1, id, name "}},
		{"b := &bytes.Buffer{}\nb.WriteString(`SELECT 1`)\nfill(b)\ndb.QueryContext(ctx, b.String())", []string{"x [b.String()]"}},
		{"parts := []string{`SELECT 1`}\nparts = append(parts, `FROM t`)\ndb.QueryContext(ctx, strings.Join(parts, ` `))", []string{"SELECT 1 FROM t"}},
		{"q := `SELECT 1 FROM t`\nfor range x {\n q += ` WHERE a` }\ndb.QueryContext(ctx, q)", []string{"SELECT 1 FROM t", "SELECT 1 FROM tx [q]"}},
		{"for _, q := range []string{`SELECT 1`, `DROP TABLE t`} {\n db.QueryContext(ctx, q) }", []string{"SELECT 1", "DROP TABLE t"}},
		{"q := `SELECT 1`\nread(&q)\ndb.QueryContext(ctx, q)", []string{"x [q]"}},
		{"q := `SELECT 1`\nrun := func() { db.QueryContext(ctx, q) }\nq = load()\nrun()", []string{"x [q]"}},
		{"q := `SELECT 1`\nfunc() { db.QueryContext(ctx, q) }()", []string{"SELECT 1"}},
		{"q := `SELECT 1`\nset := func() { q = `DROP TABLE t` }\nset()\ndb.QueryContext(ctx, q)", []string{"x [q]"}},
		{"w := []string{}\nadd := func(s string) { w = append(w, s) }\nadd(`a`)\ndb.QueryContext(ctx, `SELECT `+strings.Join(w, `, `))", []string{"SELECT x [strings.Join(w, `, `)]"}},
		{"db.QueryContext(ctx, build(`t`))", []string{"SELECT 1 FROM t"}},
		{"q, args := both()\ndb.QueryContext(ctx, q, args...)", []string{"SELECT 2"}},
		{"qs := map[string]string{`a`: `SELECT 1`, `b`: `SELECT 2`}\ndb.QueryContext(ctx, qs[`b`])\ndb.QueryContext(ctx, qs[x])", []string{"SELECT 2", "SELECT 1", "SELECT 2"}},
		{"if q := `SELECT 1`; x {\n db.QueryContext(ctx, q) }", []string{"SELECT 1"}},
		{"db.QueryContext(ctx, late)", []string{"SELECT 9"}},
		{"var q string\nif x {\n q = load() }\ndb.Exec(q)", []string{"x [q]"}},
		{"w := []string{}\nif x {\n w = append(w, `a`) } else {\n w = append(w, `b`) }\ndb.QueryContext(ctx, `SELECT `+strings.Join(w, `, `))", []string{"SELECT ", "SELECT b", "SELECT a", "SELECT a, b"}},
	} {
		code := "package p\n\nconst cols = \"id\" + \", name\"\n\nfunc f() {\n\t" + test.body + "\n}\nfunc build(t string) string { return `SELECT 1 FROM ` + t }\nfunc both() (string, []any) { return `SELECT 2`, nil }\nconst late = `SELECT 9`\n"
		if diff := cmp.Diff(test.want, filled(t, "x.go", code, "postgres")); diff != "" {
			t.Errorf("%s: %s", test.body, diff)
		}
	}
}

// TestPlaces: a text is mapped to the file, whatever literals it is made of.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`db.Query("SELECT a, «drop» FROM t")`,
		`db.Query("SELECT é, " + "«drop»" + " FROM t")`,
		"db.Query(`SELECT\r\n\t«drop»\r\nFROM t`)",
		`db.Query("SELECT \u00e9, '\\', «drop»")`,
		`db.Query("SELECT a FROM t WHERE b = " + longer + " AND «drop» = $1")`,
		`db.Query(fmt.Sprintf("SELECT %d, '%%', «drop» FROM t", 4))`,
		`db.Query("SELECT '\x41', 1" + ", «drop»" + tail)`,
		`db.Query("SELECT $1, $2, «drop»")`,
	} {
		placed(t, "x.go", "package p\n\nfunc f() {\n\t"+body+"\n}\n")
	}
}

func TestGoThatIsNone(t *testing.T) {
	t.Parallel()
	_, err := source.Find("x.go", "package p\nfunc {", source.Options{})
	if syntax, ok := err.(*source.SyntaxError); !ok || syntax.Offset != 15 { //nolint:errorlint // Find says that it is one
		t.Errorf("%#v", err)
	}
	for name, want := range map[string]bool{"a.go": true, "b/A.GO": true, "a.sql": false, "go": false} {
		if source.Reads(name) != want {
			t.Errorf("%s", name)
		}
	}
}

func FuzzGo(f *testing.F) {
	f.Add("db.Query(fmt.Sprintf(\"SELECT %d, '%%' \" + `x`, 4))", "postgres")
	f.Add("db.Exec(\"a\\n\\u00e9\" + x + \"$1 ?\")", "mysql")
	f.Fuzz(func(t *testing.T, body, dialect string) {
		fuzzed(t, "x.go", "package p\nfunc f() {\n"+body+"\n}", dialect)
	})
}

// TestNamesThatMeanMore: a name that the file binds anywhere in another way has
// no known text.
func TestNamesThatMeanMore(t *testing.T) {
	t.Parallel()
	for name, sources := range map[string][]string{
		"x.go": {
			"const q = `SELECT 1`\nfunc f() { q := load(); db.QueryContext(ctx, q) }",
			"const q = `SELECT 1`\nfunc f(q string) { db.QueryContext(ctx, q) }",
			"const q = `SELECT 1`\nfunc f() { for _, q := range qs { db.QueryContext(ctx, q) } }",
			"const q = `SELECT 1`\nfunc f() { var q string; db.QueryContext(ctx, q) }",
			"const q = `SELECT 1`\nfunc f() { const q = x; db.QueryContext(ctx, q) }",
			"const q = `SELECT 1`\nfunc f() { func(q string) { db.QueryContext(ctx, q) }(x) }",
		},
		"x.py": {
			"q = 'SELECT 1'\ndef f(q): pd.read_sql(q, c)",
			"q = 'SELECT 1'\nlam = lambda q: pd.read_sql(q, c)",
			"q = 'SELECT 1'\nfor q in x: pd.read_sql(q, c)",
			"q = 'SELECT 1'\n(q, b) = y\npd.read_sql(q, c)",
			"q = 'SELECT 1'\nif (q := y): pd.read_sql(q, c)",
			"q = 'SELECT 1'\nimport a as q\npd.read_sql(q, c)",
			"q = 'SELECT 1'\nglobals()['q'] = y\npd.read_sql(q, c)",
			"q = 'SELECT 1'\nwith y as q: pd.read_sql(q, c)",
		},
		"x.ts": {
			"const q = 'SELECT 1'; function f(q) { db.$queryRawUnsafe(q) }",
			"const q = 'SELECT 1'; const f = (q: string): void => db.$queryRawUnsafe(q)",
			"const q = 'SELECT 1'; const f = q => db.$queryRawUnsafe(q)",
			"const q = 'SELECT 1'; function f({ q }) { db.$queryRawUnsafe(q) }",
			"const q = 'SELECT 1'; for (const q of x) db.$queryRawUnsafe(q)",
			"let q = 'SELECT 1'; for (q of x) db.$queryRawUnsafe(q)",
			"let q = 'SELECT 1'; [q] = x; db.$queryRawUnsafe(q)",
			"let q = 'SELECT 1'; ({ q } = x); db.$queryRawUnsafe(q)",
			"const q = 'SELECT 1'; try {} catch (q) { db.$queryRawUnsafe(q) }",
			"const q = 'SELECT 1'; class A { m(q: string) { db.$queryRawUnsafe(q) } }",
		},
	} {
		for _, code := range sources {
			if name == "x.go" {
				code = "package p\n" + code
			}
			if got := filled(t, name, code, "postgres"); len(got) != 1 || !strings.HasPrefix(got[0], "x [q]") {
				t.Errorf("%s: %q", code, got)
			}
		}
	}
}

// TestGoMigrations: lists of packages for migrations, functions of the file that pass an
// argument on, and lists of structs.
func TestGoMigrations(t *testing.T) {
	t.Parallel()
	const imports = "package p\n\nimport migrate \"github.com/rubenv/sql-migrate\"\n\n"
	for _, test := range []struct {
		code string
		want []string
	}{
		{imports + "var m = &migrate.Migration{Id: \"1\", Up: []string{\"DROP TABLE a\", `CREATE TABLE b (c int)`}, Down: []string{}}", []string{"DROP TABLE a", "CREATE TABLE b (c int)"}},
		{imports + `var all = []*migrate.Migration{{Up: []string{"DROP TABLE " + t}}, {Down: list}}`, []string{"DROP TABLE x [t]", "x [list]"}},
		{`package p; var m = &migrate.Migration{Up: []string{"DROP TABLE a"}}`, nil},
		{`package p
func run(ctx context.Context, db *sql.DB, q string) { db.ExecContext(ctx, q) }
func f() { run(ctx, db, "DROP TABLE a"); run(ctx, db, "no statement") }`, []string{"x [q]", "DROP TABLE a"}},
		{`package p
func (s *store) run(q string) { s.db.Exec(q) }
func (s *store) f() { s.run("DROP TABLE a") }`, []string{"x [q]", "DROP TABLE a"}},
		{`package p
func (s *store) run(q string) { q = q + "x"; s.db.Exec(q) }
func (s *store) f() { s.run("DROP TABLE a") }`, []string{"xx [q]"}},
		{`package p
func f() { for _, m := range []step{{name: "a", sql: "DROP TABLE a"}, {name: "b", sql: "DROP TABLE b"}} { db.Exec(m.sql) } }`, []string{"DROP TABLE a", "DROP TABLE b"}},
		{`package p; func f() { s.stmt(q).Queryx("%" + name + "%") }`, nil},
	} {
		if diff := cmp.Diff(test.want, filled(t, "x.go", test.code, "postgres")); diff != "" {
			t.Errorf("%s: %s", test.code, diff)
		}
	}
}
