package executiontest

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

// Permissive is a dialect that takes every text for one SELECT without effects.
// So a guard with it approves everything, like a guard that fails. Only the raw
// screen's rules on bytes still apply: valid UTF-8, no NUL, and the maximum
// size.
type Permissive struct {
	// DialectName is the name that Name returns.
	DialectName string
}

var _ sqlguard.Dialect = Permissive{}

// Name returns the name that p was given.
func (p Permissive) Name() string { return p.DialectName }

// Version returns a constant, because nothing is parsed.
func (Permissive) Version() string { return "permissive" }

// Session returns no assumptions.
func (Permissive) Session() []sqlguard.Setting { return nil }

// Lex returns the text as one string literal, because the screen allows every
// character in a literal.
func (Permissive) Lex(text string) sqlguard.Tokens {
	if text == "" {
		return sqlguard.Tokens{}
	}
	return sqlguard.Tokens{List: []sqlguard.Token{{Kind: sqlguard.TokenString, Start: 0, End: len(text)}}}
}

// Analyze returns one SELECT that covers the whole text.
func (Permissive) Analyze(sql string) ([]sqlguard.Statement, error) {
	return []sqlguard.Statement{{Verb: sqlguard.VerbSelect, Span: sqlguard.Span{Start: 0, End: len(sql)}}}, nil
}

// Guard returns a guard that approves every statement of at most 256 KiB that
// is valid UTF-8 without NUL. Guards with the same name and number have the
// same ID. Guards with other numbers have other IDs.
func Guard(tb testing.TB, dialect string, number int) *sqlguard.Guard {
	tb.Helper()
	g, err := sqlguard.New(Permissive{DialectName: dialect}, sqlguard.Policy{MaxBytes: sqlguard.CeilingMaxBytes - number}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// Approve returns sql, approved by guard number 0 of the dialect, and the ID of
// that guard.
func Approve(tb testing.TB, dialect, sql string) (sqlguard.Approved, sqlguard.ID) {
	tb.Helper()
	g := Guard(tb, dialect, 0)
	return approve(tb, g, sql), g.ID()
}

func approve(tb testing.TB, g *sqlguard.Guard, sql string) sqlguard.Approved {
	tb.Helper()
	a, err := g.Approve(sql)
	if err != nil {
		tb.Fatalf("approve %s: %v", shorten(sql), err)
	}
	return a
}

// shorten shortens a long statement for a message.
func shorten(sql string) string {
	const most = 120
	sql = strings.Join(strings.Fields(sql), " ")
	if len(sql) <= most {
		return sql
	}
	return strings.ToValidUTF8(sql[:most], "") + "…"
}
