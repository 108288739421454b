package source_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck/source"
)

func TestPython(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code string
		want []string
	}{
		{`cur.execute("SELECT 1")`, []string{"SELECT 1"}},
		{`cur.execute('SELECT 1;')`, []string{"SELECT 1;"}},
		{`cur.execute("""SELECT "a"` + "\n" + `FROM t""")`, []string{"SELECT \"a\"\nFROM t"}},
		{`cur.execute("SELECT a " "FROM t")`, []string{"SELECT a FROM t"}},
		{"cur.execute(\n    'SELECT a '  # what\n    'FROM t'\n)", []string{"SELECT a FROM t"}},
		{`cur.execute("SELECT a " + "FROM t")`, []string{"SELECT a FROM t"}},
		{`cur.execute("SELECT %s, unnest(%s), CASE %s WHEN 1 THEN 2 END FROM t WHERE %(a)s IS NULL AND NOT %s AND b IN %s", p)`, []string{"SELECT 1, unnest(1), CASE 1 WHEN 1 THEN 2 END FROM t WHERE 1 IS NULL AND NOT 1 AND b IN (1)"}},
		{"from psycopg2.extensions import AsIs\ncur.execute('SELECT %s FROM t', (AsIs(a),))", []string{"SELECT x FROM t [%s]"}},
		{`cur.execute("SELECT %s FROM t" % a)`, []string{"SELECT x FROM t [%s]"}},
		{`cur.execute("DELETE FROM t WHERE a = %s AND b = %(b)s", (a,))`, []string{"DELETE FROM t WHERE a = 1 AND b = 1"}},
		{`cur.execute("SELECT a FROM t WHERE b LIKE 'x%%' AND c = %s", [c])`, []string{"SELECT a FROM t WHERE b LIKE 'x%' AND c = 1"}},
		{`cur.execute("SELECT a FROM t WHERE b = ?", (b,))`, []string{"SELECT a FROM t WHERE b = 1"}},
		{`conn.execute(text("SELECT a FROM t WHERE b = :b"), {"b": 1})`, []string{"SELECT a FROM t WHERE b = 1"}},
		{`cur.execute(f"SELECT a FROM t WHERE b = {b}")`, []string{"SELECT a FROM t WHERE b = 1"}},
		{`cur.execute(f"SELECT a FROM {table}")`, []string{"SELECT a FROM x [{table}]"}},
		{`cur.execute(f"SELECT a FROM {tables['x']} WHERE b = '{b}'")`, []string{"SELECT a FROM x WHERE b = 'x' [{tables['x']}]"}},
		{`cur.execute(f"SELECT '{{}}', a FROM t LIMIT {n:d}")`, []string{"SELECT '{}', a FROM t LIMIT 1"}},
		{`cur.execute(F'SELECT a FROM t WHERE b = {f("x")}')`, []string{"SELECT a FROM t WHERE b = 1"}},
		{`cur.execute("SELECT a FROM {} WHERE b = {b}".format(table, b=1))`, []string{"SELECT a FROM x WHERE b = 1 [{}]"}},
		{`cur.execute("SELECT a FROM %s WHERE b = %d" % (table, 1))`, []string{"SELECT a FROM x WHERE b = 1 [%s]"}},
		{`cur.execute("SELECT a FROM " + table + " WHERE b = 1")`, []string{"SELECT a FROM x WHERE b = 1 [table]"}},
		{"Q = 'SELECT 1'\ncur.execute(Q)", []string{"SELECT 1"}},
		{"Q: str = 'SELECT 1'\ncur.execute(Q)", []string{"SELECT 1"}},
		{"Q = 'SELECT 1'\nQ = 'SELECT 2'\ncur.execute(Q)", []string{"SELECT 2"}},
		{"Q = 'SELECT 1'\nQ += ' FROM t'\ncur.execute(Q)", []string{"SELECT 1 FROM t"}},
		{"T = 't'\ncur.execute('SELECT a FROM ' + T)", []string{"SELECT a FROM t"}},
		{"def f():\n    q = '''\n    SELECT 1\n    '''\n    cur.execute(q.strip())\n", []string{"\n    SELECT 1\n    "}},
		{"q = ('SELECT a '\n     'FROM t')\ncur.execute(q)", []string{"SELECT a FROM t"}},
		{`df = pd.read_sql_query("SELECT a FROM t", con)`, []string{"SELECT a FROM t"}},
		{`df = pd.read_sql(sql="SELECT a FROM t", con=con)`, []string{"SELECT a FROM t"}},
		{`rows = await conn.fetch("SELECT a FROM t WHERE b = $1", b)`, []string{"SELECT a FROM t WHERE b = 1"}},
		{`spark.sql("SELECT 1")`, []string{"SELECT 1"}},
		{"f(*[a] if a else [], **b or {})\ncur.execute('SELECT 1')", []string{"SELECT 1"}},
		{`print("SELECT 1")`, nil},
		{"x.loc[:, c] = y[::2, 1:, :]\ncur.execute('SELECT 1')", []string{"SELECT 1"}},
		{`cur.execute(query)`, []string{"x [query]"}},
		{`cur.execute(b"SELECT 1")`, []string{`x [b"SELECT 1"]`}},
		{`pool.execute(task, "SELECT 1")`, []string{"x [task]"}},
		{`cur.execute(verb + " FROM t")`, []string{"x FROM t [verb]"}},
		{`cur.executemany(verb + " t SET a = 1", [])`, []string{"x t SET a = 1 [verb]"}},
		{`cur.executemany("no statement at all", [])`, []string{"no statement at all"}},
		{`cur.execute("SELECT 1" * n)`, []string{"x [\"SELECT 1\" * n]"}},
		{`cur.execute("SELECT 1" or q)`, []string{"SELECT 1", "x [q]"}},
		{`cur.execute("SELECT 1" if x else q)`, []string{"SELECT 1", "x [q]"}},
		{`cur.fetch(n + " rows")`, nil},
		{`cur.fetch(n + " FROM t")`, []string{"x FROM t [n]"}},
		{`cur.execute("status", x)`, nil},
		{`pd.read_sql(con=f(a, b), sql=q)`, []string{"x [q]"}},
		{`pd.read_sql(con=c)`, nil},
		{"# x\rcur.execute('SELECT 1')", []string{"SELECT 1"}},
		{"Q = 'SELECT 1'\rcur.execute(Q)\r", []string{"SELECT 1"}},
		{"cur.execute('SELECT \\\r\n1')", []string{"SELECT 1"}},
		{"cur.execute('''SELECT 1 --\rFROM\r\nt''')", []string{"SELECT 1 --\nFROM\nt"}},
		{"x = 1 + \\\r\n2; cur.execute('SELECT 1')", []string{"SELECT 1"}},
		{`cur.execute(f'SELECT a FROM t WHERE b = {x['a']:>{len('b')}} AND c = {'}'!r}')`, []string{"SELECT a FROM t WHERE b = 1 AND c = 1"}},
		{`cur.execute(f"SELECT a FROM t WHERE b = {x:'>10} AND c = '\{y}'")`, []string{`SELECT a FROM t WHERE b = 1 AND c = '\x'`}},
		{`def execute(self, sql="SELECT 1"): pass`, nil},
		{`# cur.execute("SELECT 1")`, nil},
		{`x = "cur.execute('SELECT 1')"`, nil},
		{`cur.execute(r"SELECT '\d'")`, []string{`SELECT '\d'`}},
		{`cur.execute("SELECT '\x41\u00e9\101\''")`, []string{"SELECT 'AéA''"}},
		{`cur.execute("SELECT '\N{DASH}'")`, []string{"SELECT 'x'"}},
		{`cur.execute("\N{LATIN CAPITAL LETTER D}ELETE FROM t")`, []string{`xELETE FROM t [\N{LATIN CAPITAL LETTER D}]`}},
		{`run("SELECT 3")`, []string{"SELECT 3"}},
		{`cur.execute("SELECT a FROM t" if x else "SELECT b FROM t")`, []string{"SELECT a FROM t", "SELECT b FROM t"}},
		{`cur.executemany(query, rows)`, []string{"x [query]"}},
		{`pd.read_sql(make(1, 2), con)`, []string{"x [make(1, 2)]"}},
		{`log.info("x"); cur.execute("SELECT 1")`, []string{"SELECT 1"}},
		{"cur.execute(\"SELECT a FROM t WHERE b IN (%s)\" % ','.join(['%s'] * n), bs)", []string{"SELECT a FROM t WHERE b IN (1)"}},
	} {
		code, want := test.code, test.want
		if diff := cmp.Diff(want, filled(t, "x.py", code, "postgres", "run")); diff != "" {
			t.Errorf("%s: %s", code, diff)
		}
	}
}

// TestPythonFlow: the value of a name is followed.
func TestPythonFlow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code string
		want []string
	}{
		{"def f():\n  q = 'SELECT 1'\n  if x:\n    q += ' FROM t'\n  cur.execute(q)", []string{"SELECT 1 FROM t", "SELECT 1"}},
		{"def f(self):\n    sql = 'SELECT a FROM {} WHERE b = %s'.format('t')\n    cur.execute(sql, (b,))", []string{"SELECT a FROM t WHERE b = 1"}},
		{"def f(txn):\n  sql = '''SELECT %s FROM t''' % ('a',)\n  txn.execute(sql)", []string{"SELECT a FROM t"}},
		{"T = 't'\ndef f():\n  cur.execute(f'SELECT a FROM {T}')", []string{"SELECT a FROM t"}},
		{"class A:\n  Q = 'SELECT 1'\n  def m(self):\n    cur.execute(self.Q)\n    cur.execute(A.Q)", []string{"SELECT 1", "SELECT 1"}},
		{"class A:\n  Q = 'SELECT 1'\n  def m(self):\n    self.Q = x\n    cur.execute(self.Q)", []string{"x [self.Q]"}},
		{"parts = ['SELECT 1']\nparts.append('FROM t')\ncur.execute(' '.join(parts))", []string{"SELECT 1 FROM t"}},
		{"def q(t):\n  return 'SELECT 1 FROM ' + t\ncur.execute(q('t'))", []string{"SELECT 1 FROM t"}},
		{"for q in ('SELECT 1', 'DROP TABLE t'):\n  cur.execute(q)", []string{"SELECT 1", "DROP TABLE t"}},
		{"try:\n  q = 'SELECT 1'\nexcept E as e:\n  raise\ncur.execute(q)", []string{"SELECT 1"}},
		{"q = 'SELECT 1 FROM t'\nwhile x:\n  q += ' a'\ncur.execute(q)", []string{"SELECT 1 FROM t", "SELECT 1 FROM tx [q]"}},
		{"match x:\n  case [a, *b] if a: q = 'SELECT 1'\n  case _: q = 'SELECT 2'\ncur.execute(q)", []string{"SELECT 1", "SELECT 2"}},
		{"with a() as b, (c()) as d:\n\tcur.execute('SELECT 1')", []string{"SELECT 1"}},
		{"with (a() as b, c() as d):\n  cur.execute('SELECT 1')", []string{"SELECT 1"}},
		{"async def f[T](a: int = 1, /, *, b: str = ':', **k) -> dict[str, int]:\n  x = [i async for i in y if i]\n  await conn.fetchrow('SELECT 1')", []string{"SELECT 1"}},
		{"x = lambda a, *b, c=1: cur.execute('SELECT 1') if a else None", []string{"SELECT 1"}},
		{"print(a[1:2, ::3], {**b, 'c': 1}, {1, 2}, not a in b, a if b else c)\ncur.execute('SELECT 1')", []string{"SELECT 1"}},
		{"@dec(x)\nclass A(B, metaclass=C): x: int = 1; y = 2\ncur.execute('SELECT 1')", []string{"SELECT 1"}},
		{"if (n := f(x)) > 1: cur.execute('SELECT 1')\nelif y: pass\nelse: cur.execute('SELECT 2')", []string{"SELECT 1", "SELECT 2"}},
	} {
		if diff := cmp.Diff(test.want, filled(t, "x.py", test.code, "postgres")); diff != "" {
			t.Errorf("%s: %s", test.code, diff)
		}
	}
}

func TestPythonPlaces(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		`cur.execute("SELECT a, «drop» FROM t")`,
		`cur.execute("SELECT 'é\n', " f"{x}, " '''«drop»''')`,
		`cur.execute("SELECT %s, '%%', «drop»" % x)`,
		`cur.execute("SELECT {}, '{{}}', «drop»".format(x))`,
		`cur.execute("SELECT a FROM t WHERE b = %(name)s AND «drop» = :x")`,
		"Q = 'SELECT «drop»'\ncur.execute(Q + x)",
	} {
		placed(t, "x.py", code)
	}
	if _, err := source.Find("x.py", "x = 'abc\ny", source.Options{}); err == nil {
		t.Error("a string without an end")
	}
}

func FuzzPython(f *testing.F) {
	f.Add("cur.execute(f\"SELECT {a!r:>{w}} {{x}} %s\" '''\\n''' % (x,))", "postgres")
	f.Add("Q = ('a'\n'b')\ncur.execute(Q.format(1) + \"\\x41\\N{A}\")", "mysql")
	f.Fuzz(func(t *testing.T, code, dialect string) { fuzzed(t, "x.py", code, dialect) })
}

// TestPythonMigrations: the SQL of migrations, and functions that pass an argument on.
func TestPythonMigrations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code string
		want []string
	}{
		{`migrations.RunSQL("DROP TABLE a", migrations.RunSQL.noop)`, []string{"DROP TABLE a"}},
		{`RunSQL(sql="DROP TABLE a", reverse_sql="DROP TABLE b", state_operations=[x])`, []string{"DROP TABLE a", "DROP TABLE b"}},
		{`RunSQL(["DROP TABLE a", ("DELETE FROM b WHERE c = %s", [1]), None])`, []string{"DROP TABLE a", "DELETE FROM b WHERE c = 1", "x [None]"}},
		{`RunSQL(open("x").read())`, []string{`x [open("x").read()]`}},
		{"from yoyo import step\nsteps = [step('DROP TABLE a', 'DROP TABLE b'), step(forward)]\ndef forward(c): pass", []string{"DROP TABLE a", "DROP TABLE b"}},
		{`step("DROP TABLE a")`, nil},
		{`execute_values(cur, "INSERT INTO t (a) VALUES %s", rows)`, []string{"INSERT INTO t (a) VALUES (1)"}},
		{"class T:\n    def run(self, q, args=None):\n        self.cursor.execute(q, args)\n    def f(self):\n        self.run('DROP TABLE a')\n", []string{"x [q]", "DROP TABLE a"}},
	} {
		if diff := cmp.Diff(test.want, filled(t, "x.py", test.code, "postgres")); diff != "" {
			t.Errorf("%s: %s", test.code, diff)
		}
	}
}

// TestPythonCommands: methods with common names take SQL where the imports of the file say so, or
// where the text is a whole statement and the name of what they are called on is of a database.
func TestPythonCommands(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code string
		want []string
	}{
		{"import pg8000.native\nconn.run('DELETE FROM a WHERE b = :b', b=1)\nconn.run(q)\napp.run('DELETE FROM a')\nasyncio.run(main())", []string{"DELETE FROM a WHERE b = 1", "x [q]"}},
		{"conn.run('DELETE FROM a'); conn.run('create user x'); conn.run(q); db.run('update the docs set'); self.run('DELETE FROM b')", []string{"DELETE FROM a"}},
		{"session.run('MATCH (n) DELETE n'); db.run('CREATE INDEX x FOR (n:A) ON (n.b)'); client.run('drop me a line')", nil},
		{"import clickhouse_connect\nclient.command('DROP TABLE a'); client.command(cmd='DROP TABLE b'); client.command(q)\n@cli.command('DROP TABLE c')\ndef f(): pass", []string{"DROP TABLE a", "DROP TABLE b", "x [q]"}},
		{"client.command('DROP TABLE a'); client.command(q); bot.command('DROP TABLE b')", []string{"DROP TABLE a"}},
		{"from airflow.providers.postgres.hooks.postgres import PostgresHook\nhook.run(['DELETE FROM a', f'DELETE FROM b WHERE c = {c}', q])\nself.pg_hook.run(sql='DELETE FROM c')\ntask.run(x)\nhook.get_df('DELETE FROM d')", []string{"DELETE FROM a", "DELETE FROM b WHERE c = 1", "x [q]", "DELETE FROM c", "DELETE FROM d"}},
		{"PostgresOperator(task_id='x', sql=['DELETE FROM a', 'b.sql'])", []string{"DELETE FROM a"}},
		{"class A:\n    def run(self, q):\n        self.cursor.execute(q)\n    def f(self):\n        self.run('DELETE FROM a')", []string{"x [q]", "DELETE FROM a"}},
	} {
		if diff := cmp.Diff(test.want, filled(t, "x.py", test.code, "postgres")); diff != "" {
			t.Errorf("%s: %s", test.code, diff)
		}
	}
}
