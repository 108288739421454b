package dialecttest

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// CheckTokens checks that the tokens of sql are in order, lie within sql, do not overlap,
// and leave out only white space. more lists other characters that are white space to the
// dialect.
func CheckTokens(tb testing.TB, d sqlguard.Dialect, sql, more string) {
	tb.Helper()
	blank := " \t\n\v\f\r" + more
	end := 0
	gap := func(to int) {
		if rest := strings.Trim(sql[end:to], blank); rest != "" {
			tb.Fatalf("%q: %q belongs to no token", sql, rest)
		}
	}
	for _, token := range d.Lex(sql).List {
		if token.Start < end || token.End <= token.Start || token.End > len(sql) {
			tb.Fatalf("%q: token %+v begins before %d, where the one before it ends, or is empty or outside of the text", sql, token, end)
		}
		gap(token.Start)
		end = token.End
	}
	gap(len(sql))
}

// CheckFacts analyzes sql without the screen of the guard. It checks that an error is a
// *sqlguard.SyntaxError that points into sql, that the statements follow each other, that
// every span lies within sql, and that every effect has a code and a message.
func CheckFacts(tb testing.TB, d sqlguard.Dialect, sql string) {
	tb.Helper()
	statements, err := d.Analyze(sql)
	if err != nil {
		if syntax, ok := err.(*sqlguard.SyntaxError); !ok || syntax.Offset < 0 || syntax.Offset > len(sql) || syntax.Message == "" { //nolint:errorlint // the interface promises exactly this type
			tb.Fatalf("%q: %#v", sql, err)
		}
		return
	}
	end := 0
	for _, st := range statements {
		if st.Span.Start < end {
			tb.Fatalf("%q: a statement begins at %d, before %d, where the one before it ends", sql, st.Span.Start, end)
		}
		end = st.Span.End
		for _, span := range Spans(&st) {
			checkSpan(tb, sql, span)
		}
		for _, f := range st.Effects {
			if f.Code == "" || f.Message == "" {
				tb.Fatalf("%q: the effect %+v has no code or no message", sql, f)
			}
		}
	}
}

// Spans returns the span of a statement and the spans of all its facts.
func Spans(st *sqlguard.Statement) []sqlguard.Span {
	spans := []sqlguard.Span{st.Span}
	for _, f := range st.Effects {
		spans = append(spans, f.Span)
	}
	for _, r := range st.Relations {
		spans = append(spans, r.Span)
	}
	for _, c := range st.Calls {
		spans = append(spans, c.Span)
	}
	for _, c := range st.ColumnRefs {
		spans = append(spans, c.Span)
	}
	for _, t := range st.Types {
		spans = append(spans, t.Span)
	}
	for _, s := range st.Settings {
		spans = append(spans, s.Span)
	}
	return spans
}

func checkSpan(tb testing.TB, sql string, s sqlguard.Span) {
	tb.Helper()
	if s.Start < 0 || s.End < s.Start || s.End > len(sql) {
		tb.Fatalf("%q: the span %v is outside of the text", sql, s)
	}
}

// CheckVerdict judges sql with two new guards and returns the verdict. It checks that both
// agree, that Approve succeeds exactly when sql is allowed, and that the dialect did not
// fail. Allowed SQL must be one statement of a known kind, in valid UTF-8, without
// findings. Findings must have a message and point into sql.
func CheckVerdict(tb testing.TB, d sqlguard.Dialect, sql string) sqlguard.Verdict {
	tb.Helper()
	g, other := NewGuard(tb, d), NewGuard(tb, d)
	v := g.Check(sql)
	if _, err := other.Approve(sql); (err == nil) != v.Allowed {
		tb.Fatalf("%q: allowed is %v, but Approve says %v", sql, v.Allowed, err)
	}
	if again := other.Check(sql); !reflect.DeepEqual(v, again) {
		tb.Fatalf("%q: one guard says %+v, another %+v", sql, v, again)
	}
	if v.Allowed != (len(v.Findings) == 0) {
		tb.Fatalf("%q: allowed is %v with %d findings", sql, v.Allowed, len(v.Findings))
	}
	if v.Allowed && (v.Statements != 1 || v.Verb == "" || !utf8.ValidString(sql)) {
		tb.Fatalf("%q is allowed: %+v", sql, v)
	}
	for _, f := range v.Findings {
		if f.Code == sqlguard.CodeInternalError || f.Message == "" {
			tb.Fatalf("%q: %+v", sql, f)
		}
		checkSpan(tb, sql, f.Span)
	}
	return v
}
