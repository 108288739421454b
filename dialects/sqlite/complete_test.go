package sqlite_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/sqlc-dev/meyer/ast"
	"github.com/sqlc-dev/meyer/parser"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestCompleteNoticesLoss removes each node of every allowed statement from its tree, one
// at a time, like a parser that drops it. It also changes every name and literal, like a
// parser that rewrites it. The check must notice each change.
func TestCompleteNoticesLoss(t *testing.T) {
	lost, rewritten := 0, 0
	for _, c := range readVerdicts(t) {
		if c.code != "" {
			continue
		}
		root, err := parser.ParseStatement(c.sql)
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		if err := complete(c.sql, root); err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		ast.Walk(root, func(n ast.Node) bool {
			v := reflect.ValueOf(n).Elem()
			for i := range v.NumField() {
				field, name := v.Field(i), v.Type().Field(i).Name
				switch {
				case holdsNodes(field.Type()) && !field.IsZero():
					span, ok := extent(field)
					if !ok || !mustBeSeen(c.sql[span.Start:span.End]) {
						continue
					}
					kept := reflect.ValueOf(field.Interface())
					field.SetZero()
					if complete(c.sql, root) == nil {
						t.Errorf("%s\nnothing notices the loss of %s.%s, %q", c.sql, v.Type().Name(), name, c.sql[span.Start:span.End])
					}
					field.Set(kept)
					lost++
				case field.Kind() == reflect.String && (name == "Raw" || name == "Name" && v.Type().Name() == "Ident"):
					kept := field.String()
					field.SetString(kept + "x")
					if complete(c.sql, root) == nil {
						t.Errorf("%s\nnothing notices that %s.%s is not %q", c.sql, v.Type().Name(), name, kept)
					}
					field.SetString(kept)
					rewritten++
				}
			}
			return true
		})
	}
	if lost < 1000 || rewritten < 1000 {
		t.Errorf("only %d losses and %d rewritings tried", lost, rewritten)
	}
}

// complete is sqlite.Complete with a panic turned into an error, because the guard refuses
// a statement in both cases.
func complete(sql string, n ast.Stmt) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return sqlite.Complete(sql, n)
}

// extent is the span of the value of a field.
func extent(field reflect.Value) (s sqlguard.Span, ok bool) {
	if field.Kind() == reflect.Slice {
		for i := range field.Len() {
			if item, found := extent(field.Index(i)); found {
				if !ok {
					s = item
				}
				s.End, ok = item.End, true
			}
		}
		return s, ok
	}
	n, isNode := reflect.TypeAssert[ast.Node](field)
	if !isNode {
		return s, false
	}
	return sqlguard.Span{Start: n.Pos(), End: n.End()}, true
}

// mustBeSeen reports whether a text contains a literal or a word that can only be
// a name. It misses a keyword that is the name of a column inside other syntax.
func mustBeSeen(text string) bool {
	spelled := []sqlguard.TokenKind{
		sqlguard.TokenString, sqlguard.TokenNumber, sqlguard.TokenQuotedName, sqlguard.TokenQuotedText, sqlguard.TokenParameter,
	}
	return slices.ContainsFunc((sqlite.Dialect{}).Lex(text).List, func(t sqlguard.Token) bool {
		return slices.Contains(spelled, t.Kind) || t.Kind == sqlguard.TokenWord && sqlite.WordClass(t.Text(text)) == "name"
	})
}
