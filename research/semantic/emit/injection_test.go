package emit_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
	"github.com/ktxhq/ktx/sqlguard"
)

// schemaOf is a schema that the guard lets a connection read.
func schemaOf(d emit.Dialect) string {
	if d == emit.SQLite {
		return "main"
	}
	return "shop"
}

// payloadPlan is a plan of two facts with the payload wherever a text of a model or a
// request may stand: names of tables, columns, and outputs, and literals.
func payloadPlan(d emit.Dialect, name, literal string) *plan.Plan {
	m := &model.Model{}
	for i, table := range []string{name, "returns"} {
		m.Sources = append(m.Sources, &model.Source{
			Name: table, Table: []model.Ident{{Name: schemaOf(d), Quoted: true}, {Name: table, Quoted: true}},
			Columns: []*model.Column{{Name: name, Type: expr.String}, {Name: "amount", Type: expr.Number}, {Name: "customer", Type: expr.Number}},
		})
		m.Nodes = append(m.Nodes, model.Node{Name: table, Source: i})
	}
	m.Edges = []model.Edge{{From: 1, To: 0, Kind: model.ManyToOne, Pairs: []model.Pair{{From: 2, To: 2}}}}
	field := &expr.Expr{Op: expr.OpField, Field: expr.Field{Node: 0, Column: 0}}
	text := &expr.Expr{Op: expr.OpString, Text: literal}
	filter := &expr.Expr{Op: expr.OpOr, Args: []*expr.Expr{
		{Op: expr.OpEq, Args: []*expr.Expr{field, text}},
		{Op: expr.OpIn, Args: []*expr.Expr{field, text, text}},
		{Op: expr.OpLike, Args: []*expr.Expr{field, text}},
		{Op: expr.OpNe, Args: []*expr.Expr{{Op: expr.OpConcat, Args: []*expr.Expr{field, text}}, {Op: expr.OpCall, Func: "concat", Args: []*expr.Expr{text, field}}}},
	}}
	amount := func(node int) []*expr.Expr {
		return []*expr.Expr{{Op: expr.OpField, Field: expr.Field{Node: node, Column: 1}}}
	}
	return &plan.Plan{
		Model:      m,
		Dimensions: []plan.Dimension{{Name: name, Expr: field}, {Name: "text", Expr: text}},
		Measures:   []plan.Output{{Name: name + "2", Expr: &expr.Expr{Op: expr.OpAtom, Index: 0}}, {Name: "x", Expr: &expr.Expr{Op: expr.OpAtom, Index: 1}}},
		Atoms: []plan.Atom{
			{Func: "sum", Args: amount(0), Filter: filter, Base: 0, Leg: 0},
			{Func: "max", Args: amount(1), Base: 1, Leg: 1},
		},
		Legs: []plan.Leg{
			{Base: 0, Where: []*expr.Expr{filter}, Atoms: []int{0}},
			{Base: 1, Joins: []plan.Join{{Edge: 0}}, Where: []*expr.Expr{filter}, Atoms: []int{1}},
		},
		Order: []plan.OrderKey{{Dimension: 0, Measure: -1}}, Limit: 10,
	}
}

// structure is what a payload must not change: the tokens by kind, with every word and
// sign that is no name and no literal.
func structure(d emit.Dialect, text string) []string {
	dialect, _ := dialects.Lookup(string(d))
	var out []string
	for _, t := range dialect.Lex(text).List {
		if s := t.Text(text); t.Kind == sqlguard.TokenString || strings.ContainsAny(s[:1], "\"`[") {
			out = append(out, fmt.Sprint(t.Kind))
		} else {
			out = append(out, s)
		}
	}
	return out
}

// fataler is a test or a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// checkPayload compares the structure of a plan with a payload with that of a plan with a
// harmless text of the same kind.
func checkPayload(tb fataler, d emit.Dialect, g *sqlguard.Guard, payload string) {
	tb.Helper()
	const longest = 60 // bytes of a name
	name := payload
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "")
	}
	if d == emit.DuckDB { // whose tables have no name that can be that of a file
		name = strings.Map(func(r rune) rune {
			if strings.ContainsRune(`./\:*?[`, r) {
				return '-'
			}
			return r
		}, name)
	}
	if name == "" {
		name = "x"
	}
	sql, refused := emit.Emit(payloadPlan(d, name, payload), d)
	if strings.ContainsRune(payload, 0) || !utf8.ValidString(payload) {
		if refused == nil || refused.Class != expr.UnsafeExpression {
			tb.Fatalf("%q is not refused: %v", payload, refused)
		}
		return
	}
	const never = "!\"$()*,./;?@[\\]^`{}~" // in names of BigQuery
	if d == emit.BigQuery && (strings.ContainsAny(name, never) || strings.ContainsFunc(name, unicode.IsControl)) {
		if refused == nil || refused.Class != expr.UnsupportedInDialect {
			tb.Fatalf("the name %q is not refused: %v", name, refused)
		}
		name = "x"
		sql, refused = emit.Emit(payloadPlan(d, name, payload), d)
	}
	if refused != nil {
		tb.Fatalf("%q: %v", payload, refused)
	}
	harmless := "x"
	for _, special := range []string{`\`, "[", "\n"} { // what literals with it are written with
		if strings.Contains(payload, special) {
			harmless += special + "x"
		}
	}
	if d == emit.SQLServer { // a literal in pieces
		harmless = strings.Repeat("\\\nx", strings.Count(payload, "\\\n")+strings.Count(payload, "\\\r")) + strings.ReplaceAll(harmless, "\n", "")
	}
	twin, refused := emit.Emit(payloadPlan(d, "x", harmless), d)
	if refused != nil {
		tb.Fatal(refused)
	}
	if diff := gocmp.Diff(structure(d, twin.Text), structure(d, sql.Text)); diff != "" {
		tb.Fatalf("%q (-harmless +payload):\n%s\n%s", payload, diff, sql.Text)
	}
	v := g.CheckOnce(sql.Text)
	if !slices.ContainsFunc(v.Findings, func(f sqlguard.Finding) bool { return f.Code != sqlguard.CodeRelationNotAllowed }) && len(v.Findings) > 0 {
		return // the policy refuses a name that collations take for another one
	}
	if !v.Allowed || v.Statements != 1 || v.Verb != sqlguard.VerbSelect {
		tb.Fatalf("%q: %v\n%s", payload, v.Findings, sql.Text)
	}
	want := []sqlguard.VerdictRelation{{Schema: schemaOf(d), Name: name, Access: sqlguard.AccessRead}, {Schema: schemaOf(d), Name: "returns", Access: sqlguard.AccessRead}}
	key := func(a, b sqlguard.VerdictRelation) int { return strings.Compare(a.Name, b.Name) }
	got := slices.Clone(v.Relations)
	slices.SortFunc(want, key)
	slices.SortFunc(got, key)
	if diff := gocmp.Diff(want, got); diff != "" {
		tb.Fatalf("%q: relations (-want +got):\n%s\n%s", payload, diff, sql.Text)
	}
}

// TestPayloadsOfTheCorpus writes every statement of the corpus of attacks as names and
// literals.
func TestPayloadsOfTheCorpus(t *testing.T) {
	cases := corpus.Cases()
	for _, d := range all {
		t.Run(string(d), func(t *testing.T) {
			g := guard(t, d)
			for i, c := range cases {
				if os.Getenv("KTX_TEST_FULL") == "" && c.Dialect != string(d) && i%5 != 0 {
					continue
				}
				payloads := []string{c.SQL, "x'; " + c.SQL, `x\'; ` + c.SQL, `x"] ` + "`" + c.SQL}
				if os.Getenv("KTX_TEST_FULL") == "" {
					payloads = payloads[i%4:][:1]
				}
				for _, p := range payloads {
					if len(p) <= 1000 {
						checkPayload(t, d, g, p)
					}
				}
			}
		})
	}
}

// TestAnyPayload writes texts of quotes, signs of comments, and other dangerous pieces.
func TestAnyPayload(t *testing.T) {
	pieces := []string{
		"'", "''", `"`, "`", "[", "]", "]]", `\`, `\'`, "\n", "\r\n", "\\\n", "--", "/*", "*/", "/*!", "#", ";", "$$", "$x$", "|", "||", "%", "_", "?", "@", ":x", "{fn", "}",
		"N'", "E'", "X'", "q'[", "0x", "\x00", "\xff", "\u2018", "\uff07", "\u202e", "\ufeff", "\u00a0", "é", "𝄞", "a", " ", "\t", "\v", "x AS y", " OR 1=1", "*",
	}
	for _, d := range all {
		t.Run(string(d), func(t *testing.T) {
			g := guard(t, d)
			rapid.Check(t, func(t *rapid.T) {
				payload := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "pieces"), "")
				checkPayload(t, d, g, payload)
			})
		})
	}
}
