package source_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Programs that run another statement than the first one that they name.
func TestHiding(t *testing.T) {
	t.Parallel()
	const harmless, removes = "SELECT 1", "DELETE FROM t"
	for _, test := range []struct {
		name, code string
		want       []string
	}{
		// A value that is changed through another name, or by something that has it.
		{"x.go", `s := "SELECT 1"; p := &s; *p = "DELETE FROM t"; db.Exec(s)`, []string{"x [s]"}},
		{"x.go", `s := "SELECT 1"; keep(&s); s = "SELECT 2"; db.Exec(s)`, []string{"SELECT 2"}},
		{"x.go", `s := []string{"SELECT 1"}; p := &s[0]; *p = "DELETE FROM t"; db.Exec(s[0])`, []string{"x [s[0]]"}},
		{"x.go", `v := T{q: "SELECT 1"}; v.q += "; DELETE FROM t"; db.Exec(v.q)`, []string{"x [v.q]"}},
		{"x.go", `v := T{q: "SELECT 1"}; v.set(); db.Exec(v.q)`, []string{"x [v.q]"}},
		{"x.go", `v := &T{q: "SELECT 1"}; w := v; w.q = "DELETE FROM t"; db.Exec(v.q)`, []string{"x [v.q]"}},
		{"x.go", `m := map[string]string{"a": "SELECT 1"}; change(m); db.Exec(m["a"])`, []string{`x [m["a"]]`}},
		{"x.ts", "const d = {q: 'SELECT 1'}; d.q += '; DELETE FROM t'; db.query(d.q)", []string{"x [d.q]"}},
		{"x.ts", "const d = {q: 'SELECT 1'}; Object.assign(d, other); db.query(d.q)", []string{"x [d.q]"}},
		{"x.ts", "const d = {q: 'SELECT 1'}; const e = d; e.q = 'DELETE FROM t'; db.query(d.q)", []string{"x [d.q]"}},
		{"x.ts", "const D = {q: 'SELECT 1'}; function r() { db.query(D.q) } function s() { D.q = 'DELETE FROM t' }", []string{"x [D.q]"}},
		{"x.ts", "const d = {q: 'SELECT 1', ...other}; db.query(d.q)", []string{"x [d.q]"}},
		{"x.ts", "const d = {q: 'SELECT 1', ['q']: 'DELETE FROM t'}; db.query(d.q)", []string{removes}},
		{"x.ts", "const d = {q: 'SELECT 1', [k]: 'DELETE FROM t'}; db.query(d.q)", []string{"x [d.q]"}},
		{"x.ts", "const d = {get q() { return 'DELETE FROM t' }}; db.query(d.q)", []string{"x [d.q]"}},
		{"x.py", "def f():\n    d = {'q': 'SELECT 1'}\n    d['q'] += '; DELETE FROM t'\n    cur.execute(d['q'])", []string{"x [d['q']]"}},
		{"x.py", "def f():\n    d = {'q': 'SELECT 1'}\n    d.update(q='DELETE FROM t')\n    cur.execute(d['q'])", []string{"x [d['q']]"}},
		{"x.py", "def f():\n    d = {'q': 'SELECT 1'}\n    e = d\n    e['q'] = 'DELETE FROM t'\n    cur.execute(d['q'])", []string{"x [d['q']]"}},
		{"x.py", "def f():\n    a = ['SELECT 1']\n    b = a\n    b.append('; DELETE FROM t')\n    cur.execute(''.join(a))", []string{"x [''.join(a)]"}},

		// A value from another place of the control flow.
		{"x.go", `q := "SELECT 1"; switch { case a: q = "DELETE FROM t"; fallthrough; case b: db.Exec(q) }`, []string{harmless, removes}},
		{"x.go", `q := "DELETE FROM t"; switch { case a: q = "SELECT 1"; fallthrough; default: db.Exec(q) }`, []string{removes, harmless}},
		{"x.go", "q := \"SELECT 1\"\nagain:\ndb.Exec(q)\nq = \"DELETE FROM t\"\ngoto again", []string{"x [q]"}},
		{"x.ts", "let q = 'DELETE FROM t'; switch (a) { case 1: q = 'SELECT 1'; case 2: db.query(q) }", []string{removes, harmless}},
		{"x.ts", "let q = 'SELECT 1'; try { q = 'DELETE FROM t'; f(); q = 'SELECT 2' } catch {} db.query(q)", []string{"SELECT 2", harmless, removes}},
		{"x.py", "def f():\n    q = 'SELECT 1'\n    try:\n        q = 'DELETE FROM t'\n        g()\n        q = 'SELECT 2'\n    except E:\n        pass\n    cur.execute(q)", []string{"SELECT 2", harmless, removes}},

		// A call that does not look like one.
		{"x.go", `run := db.Exec; run("DELETE FROM t")`, []string{removes}},
		{"x.ts", "const go = db.query.bind(db); go('DELETE FROM t')", []string{removes}},
		{"x.ts", "db['query']('DELETE FROM t'); db[`query`]('DELETE FROM t')", []string{removes, removes}},
		{"x.ts", "db.query.call(db, 'DELETE FROM t'); db.query.apply(db, ['DELETE FROM t'])", []string{removes, removes}},
		{"x.ts", `db.\u0071uery('DELETE FROM t')`, []string{removes}},
		{"x.ts", "db.query(String.raw`DELETE FROM t`); db.query(dedent`DELETE FROM t`); db.query(other`DELETE FROM t`)", []string{removes, removes, "x [other`DELETE FROM t`]"}},
		{"x.py", "getattr(cur, 'execute')('DELETE FROM t')", []string{removes}},
		{"x.py", "def f():\n    run = cur.execute\n    run('DELETE FROM t')", []string{removes}},

		// A call where nobody looks for one.
		{"x.ts", "const f = ({a = db.query('DELETE FROM t')} = {}) => a; function g([b = db.query('DELETE FROM t')]) {}", []string{removes, removes}},
		{"x.ts", "const o = {[db.query('DELETE FROM t')]: 1}; class A { [db.query('DELETE FROM t')]() {} }; const {[db.query('DELETE FROM t')]: x} = y", []string{removes, removes, removes}},
		{"x.ts", "@D(db.query('DELETE FROM t')) class A { @P(db.query('DELETE FROM t')) x(@Q(db.query('DELETE FROM t')) y) {} }", []string{removes, removes, removes}},
		{"x.py", "a[cur.execute('DELETE FROM t'):] += 1", []string{removes}},
		{"x.py", "raise E from cur.execute('DELETE FROM t')", []string{removes}},
		{"x.py", "x = {cur.execute('DELETE FROM t'): 1}", []string{removes}},
	} {
		code := test.code
		if test.name == "x.go" {
			code = "package p\nfunc f() {\n" + code + "\n}\n"
		}
		if diff := cmp.Diff(test.want, filled(t, test.name, code, "postgres")); diff != "" {
			t.Errorf("%s: %s", test.code, diff)
		}
	}
}
