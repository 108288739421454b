// Package fix rewrites what is certain in a statement that its dialect cannot
// read: spellings of another dialect that have exactly one meaning, such as
// LIMIT 5, 10.
//
//	text, fixes := fix.Text(guard, content)
//
// A rewritten statement is judged again. It is kept only when the guard could not
// read the old one and allows the new one, so a rewrite never changes what a
// readable statement means. The package writes no file.
package fix

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Edit replaces a span of a text.
type Edit struct {
	Span  sqlguard.Span
	New   string
	Title string // "write LIMIT 10 OFFSET 5"
}

// Statement returns the edits of one statement that make the guard allow it, in
// their order, or none.
func Statement(guard *sqlguard.Guard, sql string) []Edit {
	if v := guard.CheckOnce(sql); v.Allowed || v.Code != sqlguard.CodeParseError {
		return nil
	}
	var edits []Edit
	sqlguard.WithTokens(guard.Dialect(), sql, func(tokens sqlguard.Tokens) {
		edits = rewrites(guard.Dialect().Name(), sql, tokens.List)
	})
	if len(edits) == 0 || !guard.CheckOnce(Apply(sql, edits)).Allowed {
		return nil
	}
	return edits
}

// Text returns the edits of every statement of a text, which can begin with a
// byte order mark.
func Text(guard *sqlguard.Guard, text string) (edits []Edit) {
	body := strings.TrimPrefix(text, "\uFEFF")
	for _, span := range sqlguard.Split(guard.Dialect(), body) {
		shift := len(text) - len(body) + span.Start
		for _, e := range Statement(guard, body[span.Start:span.End]) {
			e.Span = sqlguard.Span{Start: e.Span.Start + shift, End: e.Span.End + shift}
			edits = append(edits, e)
		}
	}
	return edits
}

// Apply returns a text with its edits made.
func Apply(text string, edits []Edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.Span.Start])
		b.WriteString(e.New)
		at = e.Span.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// rewrites returns every certain rewrite of a statement, without overlap. None
// of them removes a comment.
func rewrites(dialect, sql string, all []sqlguard.Token) (edits []Edit) {
	comment := func(t sqlguard.Token) bool { return t.Kind == sqlguard.TokenComment }
	tokens := slices.DeleteFunc(slices.Clone(all), comment)
	r := rewriter{sql: sql, tokens: tokens}
	for i := 0; i < len(tokens); {
		e, n := r.at(dialect, i)
		if n == 0 || slices.ContainsFunc(all, func(t sqlguard.Token) bool { return comment(t) && e.Span.Start < t.Start && t.End < e.Span.End }) {
			i++
			continue
		}
		edits = append(edits, e)
		i += n
	}
	return edits
}

type rewriter struct {
	sql    string
	tokens []sqlguard.Token
}

func (r rewriter) word(i int, words ...string) bool {
	for k, w := range words {
		if i+k >= len(r.tokens) || r.tokens[i+k].Kind != sqlguard.TokenWord || !strings.EqualFold(r.text(i+k), w) {
			return false
		}
	}
	return true
}

func (r rewriter) number(i int) bool {
	return i < len(r.tokens) && r.tokens[i].Kind == sqlguard.TokenNumber
}

func (r rewriter) text(i int) string {
	if i >= len(r.tokens) {
		return ""
	}
	return r.tokens[i].Text(r.sql)
}

// edit replaces n tokens from the i-th on.
func (r rewriter) edit(i, n int, text string) (Edit, int) {
	return Edit{Span: sqlguard.Span{Start: r.tokens[i].Start, End: r.tokens[i+n-1].End}, New: text, Title: "write " + text}, n
}

// at returns the rewrite that begins at a token, and how many tokens it replaces.
func (r rewriter) at(dialect string, i int) (Edit, int) {
	limits := dialect == "postgres" || dialect == "mysql" || dialect == "sqlite"
	switch {
	case dialect == "postgres" && r.word(i, "limit") && r.number(i+1) && r.text(i+2) == "," && r.number(i+3):
		return r.edit(i, 4, "LIMIT "+r.text(i+3)+" OFFSET "+r.text(i+1))
	case (dialect == "mysql" || dialect == "sqlite") && r.word(i, "offset") && r.number(i+1) && r.word(i+2, "limit") && r.number(i+3):
		return r.edit(i, 4, "LIMIT "+r.text(i+3)+" OFFSET "+r.text(i+1))
	case limits && dialect != "postgres" && (r.word(i, "fetch", "first") || r.word(i, "fetch", "next")) && r.number(i+2) &&
		(r.word(i+3, "rows", "only") || r.word(i+3, "row", "only")):
		return r.edit(i, 5, "LIMIT "+r.text(i+2))
	case dialect == "sqlserver" && r.word(i, "limit") && r.number(i+1) && i+2 == len(r.tokens) && r.fetches(i):
		return r.edit(i, 2, "OFFSET 0 ROWS FETCH NEXT "+r.text(i+1)+" ROWS ONLY")
	case dialect == "sqlserver" && r.word(i, "limit") && r.number(i+1) && r.word(i+2, "offset") && r.number(i+3) && i+4 == len(r.tokens) && r.fetches(i):
		return r.edit(i, 4, "OFFSET "+r.text(i+3)+" ROWS FETCH NEXT "+r.text(i+1)+" ROWS ONLY")
	case dialect == "postgres" && r.text(i) == "`" && i+2 < len(r.tokens) && r.tokens[i+1].Kind == sqlguard.TokenWord && r.text(i+2) == "`" &&
		r.text(i+1) == strings.ToLower(r.text(i+1)) && // otherwise the quotes decide which name it is
		r.tokens[i].End == r.tokens[i+1].Start && r.tokens[i+1].End == r.tokens[i+2].Start:
		return r.edit(i, 3, `"`+r.text(i+1)+`"`)
	case (dialect == "mysql" || dialect == "sqlserver") && r.text(i) == "==":
		return r.edit(i, 1, "=")
	case (dialect == "mysql" || dialect == "sqlserver") && r.text(i) == "=" && r.text(i+1) == "=" && r.tokens[i].End == r.tokens[i+1].Start:
		return r.edit(i, 2, "=")
	}
	return Edit{}, 0
}

// fetches reports whether SQL Server can have OFFSET and FETCH in the place of a
// LIMIT: behind an ORDER BY outside of brackets, without TOP, and for one row or
// more.
func (r rewriter) fetches(limit int) bool {
	depth, found := 0, false
	for i := range limit {
		switch r.tokens[i].Kind { //nolint:exhaustive // only brackets and words count
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			depth--
		case sqlguard.TokenWord:
			if depth == 0 && r.word(i, "order", "by") {
				found = true
			}
			if depth == 0 && r.word(i, "top") {
				return false
			}
		}
	}
	return found && r.text(limit+1) != "0"
}
