package source_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck/source"
)

func TestJavaScript(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code string
		want []string
	}{
		{"db.query('SELECT 1')", []string{"SELECT 1"}},
		{"await pool.query(\"SELECT a FROM t WHERE b = $1\", [b])", []string{"SELECT a FROM t WHERE b = 1"}},
		{"knex.raw('SELECT a FROM ' + t + ' WHERE b \\\\? ? AND c \\\\?| d AND e = ' + e, [b])", []string{"SELECT a FROM x WHERE b ? 1 AND c ?| d AND e = 1 [t]"}},
		{"db.query<Row>('SELECT 1')", []string{"SELECT 1"}},
		{"db.query(`SELECT\n 1`)", []string{"SELECT\n 1"}},
		{"db.query(`SELECT a FROM ${table} WHERE b = ${b}`)", []string{"SELECT a FROM x WHERE b = 1 [${table}]"}},
		{"db.query(`SELECT a FROM t WHERE b = '${b}'`)", []string{"SELECT a FROM t WHERE b = 'x'"}},
		{"db.query('SELECT a ' + 'FROM t')", []string{"SELECT a FROM t"}},
		{"db.query('SELECT a FROM ' + table)", []string{"SELECT a FROM x [table]"}},
		{"const q = `SELECT 1`;\ndb.query(q)", []string{"SELECT 1"}},
		{"const q: string = 'SELECT 1'\ndb.query(q)", []string{"SELECT 1"}},
		{"let q = 'SELECT 1'; q += ' FROM t'; db.query(q)", []string{"SELECT 1 FROM t"}},
		{"let q = 'SELECT 1'; q = 'SELECT 2'; db.query(q)", []string{"SELECT 2"}},
		{"sql`SELECT a FROM t WHERE b = ${b}`", []string{"SELECT a FROM t WHERE b = 1"}},
		{"await prisma.$queryRaw`SELECT a FROM t WHERE b IN (${list})`", []string{"SELECT a FROM t WHERE b IN (1)"}},
		{"await prisma.$queryRaw`SELECT ${a}::text, CASE ${a} WHEN 1 THEN ${b} END, ${c} AS c FROM t WHERE ${a} IS NULL OR (${a}, ${b}) = (c, d)`", []string{"SELECT 1::text, CASE 1 WHEN 1 THEN 1 END, 1 AS c FROM t WHERE 1 IS NULL OR (1, 1) = (c, d)"}},
		{"await prisma.$queryRaw`SELECT ${'a' + a} FROM t WHERE ${cond} ORDER BY ${b}`", []string{"SELECT 1 FROM t WHERE x ORDER BY x [${cond}] [${b}]"}},
		{"await prisma.$queryRawUnsafe(text)", []string{"x [text]"}},
		{"gql`query { a }`", nil},
		{"db.prepare('DELETE FROM t WHERE id = ?').run(1)", []string{"DELETE FROM t WHERE id = 1"}},
		{"db.query({text: 'SELECT a FROM t WHERE b = $1', values: [b]})", []string{"SELECT a FROM t WHERE b = 1"}},
		{"db.query('SELECT 1'.trim())", []string{"SELECT 1"}},
		{"fetch('/select')", nil},
		{"map.get('select a from t')", []string{"select a from t"}},
		{"// db.query('SELECT 1')", nil},
		{"/* db.query('SELECT 1') */", nil},
		{"x = \"db.query('SELECT 1')\"", nil},
		{"x = /db.query('SELECT 1')/", nil},
		{"x = a / b; db.query('SELECT 1') / 2", []string{"SELECT 1"}},
		{"const s = `${db.query('SELECT 2')}`", []string{"SELECT 2"}},
		{"db.query('SELECT \\'\\x41\\u00e9\\u{41}\\'')", []string{"SELECT 'AéA'"}},
		{"db.query('SELECT \\\n1')", []string{"SELECT 1"}},
		{"run('SELECT 3')", []string{"SELECT 3"}},
		{"function query(sql) { return db.query(sql) }", []string{"x [sql]"}},
		{"class A { query(sql) { return 1 }\n async execute(sql: string): Promise<void> {} }", nil},
		{"db.query(verb + ' FROM t')", []string{"x FROM t [verb]"}},
		{"db.query('SELECT 1' || q)", []string{"SELECT 1", "x [q]"}},
		{"db.query(x ? 'SELECT 1' : q)", []string{"SELECT 1", "x [q]"}},
		{"db.query('SELECT 1' as string, [])", []string{"SELECT 1"}},
		{"db.query({text, values})", []string{"x [text]"}},
		{"db.query({values, name: 'x'})", nil},
		{"db.query(sql`SELECT 1`)", []string{"SELECT 1"}},
		{"client.query(gql`query { a }`)", nil},
		{"cy.query((a, b) => a); cy.query(x => x); cy.query(async () => 1); cy.query(function () {})", nil},
		{"cy.get('select[name=type]').select('public'); cy.get('table tbody tr'); cy.get('table.wide'); headers.get('set-cookie')", nil},
		{"db.get('SELECT [a] FROM t'); db.get('TABLE t')", []string{"SELECT [a] FROM t", "TABLE t"}},
		{"cache.get('/users/' + id)", nil},
		{"api.query('begin'); page.query('Commit'); api.query('select'); t.get('Select the file that you need'); t.get('select щёлкните по файлу')", nil},
		{"api.query('DELETE FROM t'); client.query('begin'); db.run('COMMIT')", []string{"DELETE FROM t", "begin", "COMMIT"}},
		{"let i = 1; db.query(`UPDATE t SET a = $${i++} WHERE b = $${i}`, [a, b])", []string{"UPDATE t SET a = 1 WHERE b = 1"}},
		{"db.all(fields + ' FROM t')", []string{"x FROM t [fields]"}},
		{"db.query(`SELECT ${f(`a, b`, c)} ` + 'FROM t', x)", []string{"SELECT x FROM t [${f(`a, b`, c)}]"}},
		{"// x\rdb.query('SELECT 1')", []string{"SELECT 1"}},
		{"// x\u2028db.query('SELECT 1')", []string{"SELECT 1"}},
		{"db.query\u00a0('SELECT 1')", []string{"SELECT 1"}},
		{"db.query('SELECT \\\r\n1')", []string{"SELECT 1"}},
		{"db.query(`SELECT 1 --\rFROM\r\nt`)", []string{"SELECT 1 --\nFROM\nt"}},
		{"db.query('SELECT \\104, \\0 \\ud83d\\ude00')", []string{"SELECT D, \x00 😀"}},
		{"db.query('SELECT a FROM t LIMIT ' + n, cb)", []string{"SELECT a FROM t LIMIT 1"}},
	} {
		code, want := test.code, test.want
		for _, name := range []string{"x.ts", "x.js"} {
			if diff := cmp.Diff(want, filled(t, name, code, "postgres", "run")); diff != "" {
				t.Errorf("%s: %s", code, diff)
			}
		}
	}
}

// TestJavaScriptFlow: the value of a name is followed, and nothing in the syntax
// hides SQL.
func TestJavaScriptFlow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code string
		want []string
	}{
		{"await prisma.$queryRaw<User[]>`DELETE FROM t`", []string{"DELETE FROM t"}},
		{"await prisma.$queryRaw<Map<string, Array<User>>>(Prisma.sql`SELECT 1`)", []string{"SELECT 1"}},
		{"const f = (s) => /[`'\"]/.test(s); db.query('SELECT 1')", []string{"SELECT 1"}},
		{"const s = `${a.replace(/[`}]/g, '')}`; db.query('DELETE FROM t'); const r = `${b.replace(/`/g, '')}`", []string{"DELETE FROM t"}},
		{"let a=1,b=2;function f(c){return c?db.query(\"SELECT 1\"):a/b/c}", []string{"SELECT 1"}},
		{"let q = 'SELECT 1'; if (x) { q += ' FROM t' } db.query(q)", []string{"SELECT 1 FROM t", "SELECT 1"}},
		{"const parts = ['SELECT 1']; parts.push('FROM t'); db.query(parts.join(' '))", []string{"SELECT 1 FROM t"}},
		{"const q = { one: 'SELECT 1', two: `SELECT 2` }; db.query(q.two)", []string{"SELECT 2"}},
		{"class A { static q = 'SELECT 1'; m() { db.query(A.q); db.query(this.q) } }", []string{"SELECT 1", "SELECT 1"}},
		{"function build(t: string): string { return `SELECT 1 FROM ${t}` }\ndb.query(build('t'))", []string{"SELECT 1 FROM t"}},
		{"enum Q { A = 'SELECT 1' }\ndb.query(Q.A)", []string{"SELECT 1"}},
		{"const w = Prisma.sql`a = ${1}`; await prisma.$queryRaw`SELECT a FROM t WHERE ${w}`", []string{"SELECT a FROM t WHERE a = 1"}},
		{"const w = 'active'; await prisma.$queryRaw`SELECT a FROM t WHERE b = ${w}`", []string{"SELECT a FROM t WHERE b = 1"}},
		{"for (const q of ['SELECT 1', 'DROP TABLE t']) await db.query(q)", []string{"SELECT 1", "DROP TABLE t"}},
		{"const x = async <T,>(a: T): Promise<T> => { await db.query('SELECT 1'); return a }", []string{"SELECT 1"}},
		{"const x = a ? (b) : c; db.query('SELECT 1')", []string{"SELECT 1"}},
		{"type A<T> = T extends `a${infer X}` ? { [K in keyof T]: X } : never\ndb.query('SELECT 1')", []string{"SELECT 1"}},
		{"type A<T> = T extends infer X extends string ? X : never\ndb.query('SELECT 1')", []string{"SELECT 1"}},
		{"type A<O> = { [K in keyof O]: `${B<O[K]> extends infer U extends string ? U : never}` }[keyof O]\ndb.query('SELECT 1')", []string{"SELECT 1"}},
		{"type A<T> = T extends `${infer X extends string}/*` ? X : T extends [infer Y extends string ? 1 : 2] ? Y : never\ndb.query('SELECT 1')", []string{"SELECT 1"}},
		{"await using db = await open(); using x = f()\nfor (await using y of z) db.query('SELECT 1')\nawait using; await using.f(db.query('SELECT 2'))", []string{"SELECT 1", "SELECT 2"}},
		{"interface A { query(sql: string): Promise<void>; [k: string]: any }\ndb.query('SELECT 1')", []string{"SELECT 1"}},
		{"abstract class A<T> extends B<T> implements C { private readonly q?: string = 'SELECT 1'; @Dec() async m?(@Inject() a: T, ...r: any[]): Promise<void> { await this.db.query(this.q!) } }", []string{"SELECT 1"}},
		{"import { a, type B } from './x'\nexport default function () { return db.query('SELECT 1') }", []string{"SELECT 1"}},
		{"label: for (let i = 0, n = (a in b); i < n; i++) { continue label }\ndb.query('SELECT 1')", []string{"SELECT 1"}},
		{"let q; switch (x) { case 1: q = 'SELECT 1'; break; default: q = 'SELECT 2' } db.query(q)", []string{"SELECT 1", "SELECT 2"}},
	} {
		if diff := cmp.Diff(test.want, filled(t, "x.ts", test.code, "postgres")); diff != "" {
			t.Errorf("%s: %s", test.code, diff)
		}
	}
	for _, code := range []string{
		"x = <p>Don't {y} <b a=\"'\" c={`}`}/> </p>;\ndb.query('SELECT 1')",
		"const C = () => <><A<T> {...p}>it's {/* c */} <i>`</i></A></>\ndb.query('SELECT 1')",
		"const f = <T = A<B>,>(a: T) => <p>{a}</p>;\ndb.query('SELECT 1')",
		"const f = <T extends X>(a: T) => <div onClick={() => db.query('SELECT 1')}>/</div>",
	} {
		if diff := cmp.Diff([]string{"SELECT 1"}, filled(t, "x.tsx", code, "postgres")); diff != "" {
			t.Errorf("%s: %s", code, diff)
		}
	}
}

func TestJavaScriptPlaces(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"db.query('SELECT a, «drop» FROM t')",
		"db.query(`SELECT ${a}, '\\n', «drop» FROM t`)",
		"const q = 'SELECT «drop»'\ndb.query(q + x)",
		"sql`SELECT ${f(`x ${y}`)}, é, «drop»`",
	} {
		placed(t, "x.ts", code)
	}
	for _, code := range []string{"x = `abc", "/* x", "`${`"} {
		if _, err := source.Find("x.js", code, source.Options{}); err == nil {
			t.Errorf("%s is read", code)
		}
	}
}

func FuzzJavaScript(f *testing.F) {
	f.Add("db.query(`SELECT ${a} \\u{41} ${`b ${c}`}` + 'x' + /r[/]e/)", "postgres")
	f.Add("const q = 'a\\x41'; sql`${q}`; db.query<A<B>>({text: q})", "mysql")
	f.Fuzz(func(t *testing.T, code, dialect string) { fuzzed(t, "x.ts", code, dialect) })
}

// TestJavaScriptMigrations: the SQL of migrations, functions that pass an argument on,
// lists of objects, and the variables of pg-promise.
func TestJavaScriptMigrations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code string
		want []string
	}{
		{"pgm.sql('DROP TABLE a'); x.sql('DROP TABLE b')", []string{"DROP TABLE a"}},
		{"this.addSql(`DROP TABLE a`); db.runSql('DROP TABLE b')", []string{"DROP TABLE a", "DROP TABLE b"}},
		{"class M { async $run(q, p) { await DB.query(q, p) }\n up() { this.$run('DROP TABLE a') } }", []string{"x [q]", "DROP TABLE a"}},
		{"const go = (q) => pool.query({text: q}); go('DROP TABLE a')", []string{"x [q]", "DROP TABLE a"}},
		{"for (const m of [{stmts: ['DROP TABLE a']}, {stmts: ['DROP TABLE b', 'DROP TABLE c']}]) for (const s of m.stmts) db.exec(s)", []string{"DROP TABLE a", "DROP TABLE b", "DROP TABLE c"}},
		{"db.any('SELECT a FROM t WHERE b = ${b} AND c IN (${c:csv}) AND d = $/d/')", []string{"SELECT a FROM t WHERE b = 1 AND c IN (1) AND d = 1"}},
		{"db.any('SELECT a FROM ${t:name} ${w:raw}')", []string{"SELECT a FROM x x [${t:name}] [${w:raw}]"}},
	} {
		if diff := cmp.Diff(test.want, filled(t, "x.ts", test.code, "postgres")); diff != "" {
			t.Errorf("%s: %s", test.code, diff)
		}
	}
}

// TestJavaScriptBatches: lists of statements, the queries of node-postgres and the commands
// of ClickHouse.
func TestJavaScriptBatches(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code string
		want []string
	}{
		{"client.batch(['DELETE FROM a', {sql: 'DELETE FROM b WHERE c = ?', args: [1]}, ['DELETE FROM d', []], q], 'write')", []string{"DELETE FROM a", "DELETE FROM b WHERE c = 1", "DELETE FROM d", "x [q]"}},
		{"const all = [{query: 'DELETE FROM a', params}]; all.push({query: 'DELETE FROM b'}); client.batch(all, {prepare: true})", []string{"DELETE FROM a", "DELETE FROM b"}},
		{"db.executeBatch([['DELETE FROM a'], ['DELETE FROM b', [[1], [2]]]])", []string{"DELETE FROM a", "DELETE FROM b"}},
		{"store.batch([{type: 'del', key: 'a'}, 'update'], q); batch(() => x); fs.batch([f, g])", nil},
		{"client.query(new Query('DELETE FROM a')); new Parse.Query('Score'); new Query(q); new Query({query: 'DELETE FROM b'})", []string{"DELETE FROM a"}},
		{"ch.command({query: 'DROP TABLE a', format: f}); program.command('create <name>'); db.command({ping: 1})", []string{"DROP TABLE a"}},
		{"repo.query('SELECT a FROM t WHERE b IN (:...ids) AND c = $c', x)", []string{"SELECT a FROM t WHERE b IN (1) AND c = 1"}},
	} {
		if diff := cmp.Diff(test.want, filled(t, "x.ts", test.code, "postgres")); diff != "" {
			t.Errorf("%s: %s", test.code, diff)
		}
	}
}
