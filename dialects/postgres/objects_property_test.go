package postgres_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// An empty catalogue changes only one thing: a name that neither the server nor
// the catalogue has does not exist.
func TestEmptyObjectsChangeNothing(t *testing.T) {
	plain := objectGuard(t, nil, nil)
	empty := objectGuard(t, &sqlguard.Objects{}, nil)
	compared := 0
	for _, sql := range statements() {
		a, b := plain.Check(sql), empty.Check(sql)
		// The relations that the verdict names are added, so that they exist.
		o := &sqlguard.Objects{}
		for _, r := range a.Relations {
			o.Relations = append(o.Relations, table(cmp.Or(r.Schema, "public")+"."+r.Name, ""))
		}
		// Not every relation of a write is resolved.
		c := objectGuard(t, o, nil).Check(sql)
		for _, v := range []sqlguard.Verdict{b, c} {
			left := missing(t, a.Findings, v.Findings)
			for _, f := range left {
				if f.Code != sqlguard.CodeUnresolvedObject {
					t.Errorf("%s\n\tonly without a catalogue, or only with one: %+v", sql, f)
				}
			}
			if v.Allowed && !a.Allowed {
				t.Errorf("%s\n\tallowed by an empty catalogue: %v", sql, a.Findings)
			}
		}
		if c.Allowed == a.Allowed {
			compared++
		}
	}
	if n := len(statements()); compared < n*9/10 {
		t.Errorf("only %d of %d verdicts are the same where the relations exist", compared, n)
	}
}

// missing returns the findings of b that a does not have. It also returns the findings of
// a that b does not have, unless b says that the object does not exist.
func missing(t *testing.T, a, b []sqlguard.Finding) (left []sqlguard.Finding) {
	t.Helper()
	same := func(x, y sqlguard.Finding) bool { return x.Code == y.Code && x.Span == y.Span }
	for _, f := range b {
		if !slices.ContainsFunc(a, func(x sqlguard.Finding) bool { return same(x, f) }) {
			left = append(left, f)
		}
	}
	for _, f := range a {
		if !slices.ContainsFunc(b, func(x sqlguard.Finding) bool {
			return same(x, f) || x.Code == sqlguard.CodeUnresolvedObject && x.Span == f.Span
		}) {
			left = append(left, f)
		}
	}
	return left
}

// TestOpaqueObjectsAllowNothing: objects without known facts allow nothing. The guard
// refuses a statement with them that it refuses without them, whatever their names are.
// Relations are the exception.
func TestOpaqueObjectsAllowNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := statements()
	names := []string{"lower", "count", "pg_sleep", "f", "st_area", "name", "date", "mood", "current_user", "now", "c", "x", "similarity", "crosstab", "upper"}
	operators := []string{"=", "<", "||", "@@", "<->", "===", "+", "~~"}
	for range 12 {
		relations := shop().Relations
		with := &sqlguard.Objects{Relations: relations}
		for range 20 {
			arguments := []string{"", "text", "text text", "int4 int4", "_text", "anyelement", "record"}[r.IntN(7)]
			with.Functions = append(with.Functions, opaque([]string{"public.", "pg_catalog.", "other."}[r.IntN(3)]+names[r.IntN(len(names))], arguments))
		}
		for i := range 6 {
			with.Operators = append(with.Operators, operator("public."+operators[r.IntN(len(operators))], "text", "text", fmt.Sprintf("public.f%d", i)))
		}
		bare := objectGuard(t, &sqlguard.Objects{Relations: relations}, nil)
		full := objectGuard(t, with, func(p *sqlguard.Policy) { p.Functions.Allow = []string{"public.*", "pg_catalog.*", "other.*"} })
		for _, sql := range texts {
			if v := full.Check(sql); v.Allowed && !bare.Check(sql).Allowed {
				t.Errorf("%s\n\tis allowed by %+v", sql, with)
			}
		}
	}
}

// FuzzObjects: for every catalogue the guard gives a verdict, and the same verdict in a
// second run.
func FuzzObjects(f *testing.F) {
	for _, sql := range []string{"SELECT upper('a') FROM names n WHERE n.id = 1", "SELECT c.name, 'x'::email FROM customers c NATURAL JOIN orders"} {
		f.Add(sql, "SELECT id FROM customers", "(VALUE <> '')", "SELECT $1")
	}
	f.Add("SELECT atomic(1)", "TABLE x;", "CHECK (a) NOT VALID", "BEGIN ATOMIC SELECT 1; END")
	f.Fuzz(func(t *testing.T, sql, definition, check, body string) {
		o := shop()
		o.Relations = append(o.Relations, view("public.x", "id", definition), view("public.names2", "id", definition))
		o.Types = append(o.Types, domain("public.fuzzed", "text", check))
		o.Functions = append(o.Functions, sqlFunction("public.upper", "text", body), sqlFunction("public.fuzzed", "text", body))
		a, b := objectGuard(t, o, all), objectGuard(t, o, all)
		for _, text := range []string{sql, "SELECT * FROM x, names2", "SELECT 'a'::fuzzed, fuzzed('a'), upper('a')"} {
			v := a.Check(text)
			if again := b.Check(text); again.Code != v.Code || len(again.Findings) != len(v.Findings) {
				t.Fatalf("%q: %q, then %q", text, v.Code, again.Code)
			}
			if v.Code == sqlguard.CodeInternalError {
				t.Fatalf("%q: a fault", text)
			}
		}
	})
}

var _ sqlguard.ObjectDialect = postgres.Dialect{}

// TestLargeTextsWithObjects: the time for a large statement is proportional to its
// length, for any catalogue.
func TestLargeTextsWithObjects(t *testing.T) {
	wide := ""
	for i := range 1600 {
		wide += fmt.Sprintf("c%d ", i)
	}
	o := shop()
	o.Relations = append(o.Relations, table("public.wide", wide))
	for range 200 {
		o.Functions = append(o.Functions, opaque("public.c1599", "public.wide"), opaque("public.trouble", "anyelement"))
	}
	g := objectGuard(t, o, func(p *sqlguard.Policy) {
		p.MaxBytes = sqlguard.CeilingMaxBytes
		p.Columns = []sqlguard.ColumnRule{{Match: "public.wide.c7"}}
	})
	for name, sql := range map[string]string{
		"natural joins":     "SELECT 1 FROM wide" + strings.Repeat(" NATURAL JOIN wide", 1900),
		"one name":          "SELECT " + strings.Repeat("w.c1599,", 10_000) + "1 FROM wide w" + strings.Repeat(" CROSS JOIN wide w", 1900),
		"attributes":        "SELECT " + strings.Repeat("(w).c1599,", 7_000) + "1 FROM wide w" + strings.Repeat(" CROSS JOIN wide", 1900),
		"calls":             "SELECT " + strings.Repeat("trouble(w),", 8_000) + "1 FROM wide w",
		"unknown functions": "SELECT " + strings.Repeat("f(1),", 8_000) + "1",
		"unknown relations": "SELECT 1 FROM a" + strings.Repeat(" CROSS JOIN a", 1900),
		"nested stars":      "SELECT c1599 FROM " + strings.Repeat("(SELECT * FROM wide, ", 100) + "wide" + strings.Repeat(") w", 100),
		"operators":         "SELECT " + strings.Repeat("'a' = 'b',", 10_000) + "1 FROM wide",
	} {
		start := time.Now()
		v := g.Check(sql)
		t.Logf("%s: %v, %s", name, time.Since(start), v.Code)
		if time.Since(start) > dialecttest.Hang {
			t.Errorf("%s: took %v", name, time.Since(start))
		}
	}
}
