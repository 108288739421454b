package executiontest

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

// Permissive is a dialect that takes every text for one SELECT without
// effects, so that a guard over it approves what it is given. It is what a
// guard that fails would be: only the raw screen's rules on bytes (valid
// UTF-8, no NUL, the size) still hold.
type Permissive struct {
	// DialectName is what Name returns.
	DialectName string
}

var _ sqlguard.Dialect = Permissive{}

// Name returns the name that p was given.
func (p Permissive) Name() string { return p.DialectName }

// Version says that nothing is parsed.
func (Permissive) Version() string { return "permissive" }

// Session assumes nothing.
func (Permissive) Session() []sqlguard.Setting { return nil }

// Lex returns the text as one string literal, in which the screen allows every
// character.
func (Permissive) Lex(text string) sqlguard.Tokens {
	if text == "" {
		return sqlguard.Tokens{}
	}
	return sqlguard.Tokens{List: []sqlguard.Token{{Kind: sqlguard.TokenString, Start: 0, End: len(text)}}}
}

// Analyze returns one SELECT that spans the text.
func (Permissive) Analyze(sql string) ([]sqlguard.Statement, error) {
	return []sqlguard.Statement{{Verb: sqlguard.VerbSelect, Span: sqlguard.Span{Start: 0, End: len(sql)}}}, nil
}

// Guard returns a guard that approves every text of at most 256 KiB that is
// valid UTF-8 without NUL. Guards of the same name and number share an ID;
// other numbers give other IDs.
func Guard(tb testing.TB, dialect string, number int) *sqlguard.Guard {
	tb.Helper()
	g, err := sqlguard.New(Permissive{DialectName: dialect}, sqlguard.Policy{MaxBytes: sqlguard.CeilingMaxBytes - number}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// Approve returns sql as approved by guard number 0 of the dialect, and that
// guard's ID.
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

// shorten makes a long text fit a message.
func shorten(sql string) string {
	const most = 120
	sql = strings.Join(strings.Fields(sql), " ")
	if len(sql) <= most {
		return sql
	}
	return strings.ToValidUTF8(sql[:most], "") + "…"
}
