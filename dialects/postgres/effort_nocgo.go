//go:build !cgo

package postgres

import (
	"errors"
	"slices"
	"strings"

	pg "github.com/sqlc-dev/oliphant"
	"github.com/sqlc-dev/oliphant/parser"

	"github.com/ktxhq/ktx/sqlguard"
)

// Oliphant cannot know what a bracket opens. It reads the content as a query and, after an
// error, again as an expression, at every level. So a text with an error in nested queries
// would take it time that doubles with each level, and so would some texts without one.

// maxEffort bounds the number of tokens that oliphant reads, counting repeated reads.
const maxEffort = 2_000_000

// errEffort is the error for a text that would take oliphant too long.
var errEffort = &parserError{message: "brackets are nested so deeply here that the parser could take minutes; name the inner queries with WITH"}

// twice are the functions whose arguments oliphant reads as one form and, after an error,
// as another.
var twice = []string{"json_object", "overlay", "substring"}

// parseBounded parses a text of which oliphant may read more than maxEffort tokens. If that
// is so only because of queries that can have errors, it parses each query by itself first,
// with a short one in place of those in it. Without errors, each is read once.
func parseBounded(sql string) (tree *pg.ParseResult, err error) {
	sqlguard.WithTokens(Dialect{}, sql, func(list sqlguard.Tokens) {
		t := labor{sql: sql}
		for _, token := range list.List {
			if token.Kind != sqlguard.TokenComment {
				t.tokens = append(t.tokens, token)
			}
		}
		switch {
		case t.effort(true) <= maxEffort:
		case t.effort(false) > maxEffort:
			err = errEffort
		default:
			err = t.queries()
		}
	})
	if err != nil {
		return nil, err
	}
	return pg.Parse(sql)
}

// mayLabor reports whether a text is long and deep enough to be worth the count.
func mayLabor(sql string) bool {
	brackets := strings.Count(sql, "(")
	return brackets >= 15 || len(sql)<<brackets > maxEffort
}

type labor struct {
	sql    string
	tokens []sqlguard.Token // without comments
}

func (l *labor) word(i int) string {
	if i < 0 || i >= len(l.tokens) || l.tokens[i].Kind != sqlguard.TokenWord {
		return ""
	}
	return strings.ToLower(l.tokens[i].Text(l.sql))
}

// opensQuery reports whether the bracket at i has a query in it and nothing around that. In
// a WITH it can be another statement too, and nothing else, so oliphant reads it once.
func (l *labor) opensQuery(i int) bool {
	if l.tokens[i].Kind != sqlguard.TokenOpen || l.word(i-1) == "as" || l.word(i-1) == "materialized" {
		return false
	}
	switch l.word(i + 1) {
	case "select", "values", "table", "with":
		return true
	}
	return false
}

// effort is an upper bound of the number of tokens that oliphant reads, up to maxEffort.
// With errors, each bracket of a query counts twice; without, only brackets around one.
func (l *labor) effort(withErrors bool) int {
	around := make([]bool, len(l.tokens)+1) // the bracket, or the run of brackets, opens a query
	for i := len(l.tokens) - 1; i >= 0; i-- {
		around[i] = l.opensQuery(i) || l.tokens[i].Kind == sqlguard.TokenOpen && around[i+1]
	}
	weights := []int{1}
	sum := 0
	for i, t := range l.tokens {
		weight := weights[len(weights)-1]
		if sum += weight; sum > maxEffort {
			break
		}
		switch t.Kind { //nolint:exhaustive // others open no level
		case sqlguard.TokenOpen:
			if around[i] && (withErrors || !l.opensQuery(i)) || slices.Contains(twice, l.word(i-1)) {
				weight *= 2
			}
			weights = append(weights, min(weight, maxEffort))
		case sqlguard.TokenClose:
			if len(weights) > 1 {
				weights = weights[:len(weights)-1]
			}
		}
	}
	return sum
}

// part is a query, or the whole text, with a short query in place of those in it.
type part struct {
	text  strings.Builder
	from  int // where the rest of the part begins
	query bool
}

// queries parses each query by itself, the inner ones first, and at last the text.
func (l *labor) queries() error {
	parts := []*part{{query: true}}
	inner := func() *part { // the innermost query
		for i := len(parts) - 1; ; i-- {
			if parts[i].query {
				return parts[i]
			}
		}
	}
	for i, t := range l.tokens {
		switch t.Kind { //nolint:exhaustive // others open no level
		case sqlguard.TokenOpen:
			if l.opensQuery(i) {
				outer := inner()
				outer.text.WriteString(l.sql[outer.from:t.End])
			}
			parts = append(parts, &part{from: t.End, query: l.opensQuery(i)})
		case sqlguard.TokenClose:
			if len(parts) == 1 {
				continue // the parser says so
			}
			last := parts[len(parts)-1]
			parts = parts[:len(parts)-1]
			if !last.query {
				continue
			}
			if err := l.query(last, t.Start, false); err != nil {
				return err
			}
			outer := inner()
			outer.text.WriteString("SELECT 1")
			outer.from = t.Start
		}
	}
	if len(parts) > 1 {
		return &parserError{message: "syntax error at end of input"}
	}
	return l.query(parts[0], len(l.sql), true)
}

// query parses a part up to an offset. Only the whole text can be several statements, or
// no query.
func (l *labor) query(p *part, end int, whole bool) error {
	tree, err := pg.Parse(p.text.String() + l.sql[p.from:end])
	if failure, ok := errors.AsType[*parser.Error](err); ok {
		return &parserError{message: failure.Message}
	}
	if err == nil && !whole && (len(tree.Stmts) != 1 || tree.Stmts[0].Stmt.GetSelectStmt() == nil) {
		return &parserError{message: "syntax error in a query in brackets"}
	}
	return err
}
