package sqlguard_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

// library is a dialect whose statements are lists of words: a name with brackets calls
// a function, +name is an operator, :name is a type, and any other name is a relation.
type library struct{ reader }

func (library) AnalyzeObjects(text string, _ sqlguard.Part, _ sqlguard.ObjectNames) ([]sqlguard.Statement, error) {
	if text == "panic" {
		panic("the dialect has a fault")
	}
	if text == "garbage" {
		return nil, errors.New("garbage")
	}
	s := sqlguard.Statement{Verb: sqlguard.VerbSelect, Span: sqlguard.Span{End: len(text)}}
	for word := range strings.FieldsSeq(text) {
		schema, name, ok := strings.Cut(word, ".")
		if !ok {
			schema, name = "", word
		}
		span := sqlguard.Span{End: 1}
		if call, ok := strings.CutSuffix(name, "()"); ok {
			s.Calls = append(s.Calls, sqlguard.Call{Schema: schema, Name: call, Notation: sqlguard.NotationCall, Span: span, Builtin: call == "len", Ruling: sqlguard.Ruling{Allowed: call == "len"}})
		} else if op, ok := strings.CutPrefix(name, "+"); ok {
			s.Calls = append(s.Calls, sqlguard.Call{Schema: schema, Name: op, Notation: sqlguard.NotationOperator, Span: span, Arguments: 2})
		} else if t, ok := strings.CutPrefix(word, ":"); ok {
			s.Types = append(s.Types, sqlguard.Type{Name: t, Span: span})
		} else {
			s.Relations = append(s.Relations, sqlguard.Relation{
				Schema: schema, Name: name, Access: sqlguard.AccessRead, Span: span, Ruling: sqlguard.Ruling{Allowed: true},
			})
		}
	}
	return []sqlguard.Statement{s}, nil
}

func (library) ServerSchemas() []string { return []string{"server"} }
func (library) ServerFunction(name string) sqlguard.Ruling {
	return sqlguard.Ruling{Allowed: name == "len"}
}
func (library) Reviewed(extension string) bool            { return extension == "known" }
func (library) ReviewedOperator(extension, _ string) bool { return extension == "known" }
func (library) ReviewedType(extension, _ string) bool     { return extension == "known" }

func (library) QuietCasts() []string      { return nil }
func (library) ReturnsRow(string) bool    { return false }
func (library) Polymorphic(n string) bool { return n == "anything" }

func libraryGuard(tb testing.TB, o *sqlguard.Objects) *sqlguard.Guard {
	tb.Helper()
	p := sqlguard.DefaultPolicy()
	p.Functions.Allow = []string{"own.*"}
	g, err := sqlguard.New(library{}, p, &sqlguard.Catalog{SearchPath: []string{"own"}, Objects: o})
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func function(name, body string) sqlguard.CatalogFunction {
	return sqlguard.CatalogFunction{
		CatalogName: sqlguard.CatalogName{Schema: "own", Name: name}, Kind: sqlguard.FunctionPlain,
		Results:    []sqlguard.CatalogName{{Schema: "server", Name: "text"}},
		Volatility: sqlguard.VolatilityStable, Language: "sql", Body: body,
	}
}

func viewOf(name, definition string) sqlguard.CatalogRelation {
	return sqlguard.CatalogRelation{CatalogName: sqlguard.CatalogName{Schema: "own", Name: name}, Kind: sqlguard.RelationView, Definition: definition}
}

func TestNewWithObjects(t *testing.T) {
	empty := &sqlguard.Catalog{Objects: &sqlguard.Objects{}}
	if _, err := sqlguard.New(selecting(nil), sqlguard.Policy{}, empty); err == nil || !strings.Contains(err.Error(), "does not judge with the objects") {
		t.Errorf("a dialect without AnalyzeObjects: %v", err)
	}
	ids := map[sqlguard.ID]string{}
	for name, c := range map[string]*sqlguard.Catalog{
		"none":             {},
		"empty":            empty,
		"a function":       {Objects: &sqlguard.Objects{Functions: []sqlguard.CatalogFunction{function("f", "len()")}}},
		"another function": {Objects: &sqlguard.Objects{Functions: []sqlguard.CatalogFunction{function("f", "other()")}}},
		"a view":           {Objects: &sqlguard.Objects{Relations: []sqlguard.CatalogRelation{viewOf("v", "t")}}},
	} {
		g, err := sqlguard.New(library{}, sqlguard.Policy{}, c)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := ids[g.ID()]; taken {
			t.Errorf("%s and %s have one ID", name, other)
		}
		ids[g.ID()] = name
	}
}

// TestObjectsAreCopied: changes of the catalogue after New change no verdict.
func TestObjectsAreCopied(t *testing.T) {
	o := &sqlguard.Objects{
		Functions: []sqlguard.CatalogFunction{function("f", "bad()")},
		Relations: []sqlguard.CatalogRelation{
			{CatalogName: sqlguard.CatalogName{Schema: "own", Name: "t"}, Kind: sqlguard.RelationTable, Children: []sqlguard.CatalogName{{Schema: "own", Name: "far"}}},
			{CatalogName: sqlguard.CatalogName{Schema: "own", Name: "far"}, Kind: sqlguard.RelationForeign},
		},
	}
	g := libraryGuard(t, o)
	o.Functions[0].Body = "len()"
	o.Relations[0].Children[0].Name = "near"
	o.Relations[1].Kind = sqlguard.RelationTable
	for _, sql := range []string{"f()", "t", "far"} {
		if v := g.Check(sql); v.Allowed {
			t.Errorf("%s is allowed", sql)
		}
	}
}

// TestChainsAndCircles: the guard follows dependencies at any depth and through
// cycles, and earlier checks do not change a verdict.
func TestChainsAndCircles(t *testing.T) {
	const long = 1000
	o := &sqlguard.Objects{}
	for i := range long {
		next := fmt.Sprintf("f%d()", i+1)
		o.Functions = append(o.Functions, function(fmt.Sprintf("f%d", i), next))
		o.Functions = append(o.Functions, function(fmt.Sprintf("bad%d", i), "bad"+next[1:]))
		o.Relations = append(o.Relations, viewOf(fmt.Sprintf("v%d", i), fmt.Sprintf("v%d f%d()", i+1, i)))
	}
	o.Functions = append(o.Functions, function(fmt.Sprintf("f%d", long), "f0() len()"), function(fmt.Sprintf("bad%d", long), "nothing()"))
	o.Functions = append(o.Functions, function("left", "right()"), function("right", "left() nothing()"))
	o.Relations = append(o.Relations, viewOf(fmt.Sprintf("v%d", long), "v0"), viewOf("broken", "garbage"), viewOf("fault", "panic"))
	want := map[string]sqlguard.Code{
		"f0()": "", "f17()": "", "v0": "", "v999 f1()": "",
		"bad0()": sqlguard.CodeFunctionNotAllowed, "bad990()": sqlguard.CodeFunctionNotAllowed,
		"left()": sqlguard.CodeFunctionNotAllowed, "right()": sqlguard.CodeFunctionNotAllowed,
		"broken": sqlguard.CodeParseError, "fault": sqlguard.CodeInternalError,
	}
	check := func(g *sqlguard.Guard, sql string) {
		if v := g.Check(sql); v.Code != want[sql] {
			t.Errorf("%s: got %q %v, want %q", sql, v.Code, v.Findings, want[sql])
		}
	}
	g := libraryGuard(t, o)
	var all sync.WaitGroup
	for sql := range want {
		all.Go(func() { check(g, sql) })
		check(libraryGuard(t, o), sql) // a new guard without earlier checks
	}
	all.Wait()
}

func TestTooMuchBehind(t *testing.T) {
	o := &sqlguard.Objects{}
	for i := range 20_001 {
		o.Functions = append(o.Functions, function(fmt.Sprintf("f%d", i), fmt.Sprintf("f%d()", (i+1)%20_001)))
	}
	v := libraryGuard(t, o).Check("f0()")
	if v.Allowed || !strings.Contains(v.Findings[0].Message, "more than 20000 objects") {
		t.Errorf("got %+v", v.Findings)
	}
}

func TestOperatorsRunInEachOthersPlace(t *testing.T) {
	op := func(name, function, negator, commutator string) sqlguard.CatalogOperator {
		text := sqlguard.CatalogName{Schema: "server", Name: "text"}
		o := sqlguard.CatalogOperator{CatalogName: sqlguard.CatalogName{Schema: "own", Name: name}, Left: text, Right: text, Function: sqlguard.CatalogName{Schema: "own", Name: function}}
		if negator != "" {
			o.Negator = sqlguard.CatalogName{Schema: "own", Name: negator}
		}
		if commutator != "" {
			o.Commutator = sqlguard.CatalogName{Schema: "server", Name: commutator}
		}
		return o
	}
	bad := function("bad", "")
	bad.Language = "c"
	g := libraryGuard(t, &sqlguard.Objects{
		Functions: []sqlguard.CatalogFunction{function("good", "len()"), bad},
		Operators: []sqlguard.CatalogOperator{
			op("=", "good", "<>", ""), op("<>", "bad", "=", ""), op("~", "good", "", ""),
			op("&", "good", "", ""), op("swapped", "bad", "", "&"),
		},
	})
	for sql, want := range map[string]sqlguard.Code{
		"+~": "", "+=": sqlguard.CodeOperatorNotAllowed, "+<>": sqlguard.CodeOperatorNotAllowed,
		"+&": sqlguard.CodeOperatorNotAllowed, "+none": sqlguard.CodeUnresolvedObject,
	} {
		if v := g.Check(sql); v.Code != want {
			t.Errorf("%s: got %q %v, want %q", sql, v.Code, v.Findings, want)
		}
	}
}

// TestVerdictNamesWhatIsMeant: with objects, the verdict has the full names of
// relations, types and functions.
func TestVerdictNamesWhatIsMeant(t *testing.T) {
	g := libraryGuard(t, &sqlguard.Objects{
		Functions: []sqlguard.CatalogFunction{function("f", "len()")},
		Types:     []sqlguard.CatalogType{{CatalogName: sqlguard.CatalogName{Schema: "own", Name: "mood"}, Kind: sqlguard.TypeEnum}},
		Relations: []sqlguard.CatalogRelation{viewOf("v", "w f()"), {CatalogName: sqlguard.CatalogName{Schema: "own", Name: "w"}, Kind: sqlguard.RelationTable}},
	})
	v := g.Check("v f() len() :mood")
	if got := fmt.Sprint(v.Allowed, v.Relations, v.Functions, v.Types); got != "true [{ own v read}] [own.f len] [{own.mood true}]" {
		t.Error(got, v.Findings)
	}
}
