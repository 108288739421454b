package mysql

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// matches returns edits that put brackets around every MATCH … AGAINST (…) of a
// statement, or nil when it has none. The servers accept an operator after it, as after a
// call. The parsers accept one only if it is in brackets. MATCH is a reserved word of both
// servers, so it can be a name only after a dot.
func matches(sql string, tokens []sqlguard.Token) []edit {
	var added []edit
	for i, t := range tokens {
		if t.Kind != sqlguard.TokenWord || !strings.EqualFold(t.Text(sql), "match") || i > 0 && tokens[i-1].Kind == sqlguard.TokenDot {
			continue
		}
		columns := closing(tokens, next(tokens, i))
		against := next(tokens, columns)
		if columns < 0 || against < 0 || !strings.EqualFold(tokens[against].Text(sql), "against") {
			continue
		}
		if end := closing(tokens, next(tokens, against)); end >= 0 {
			added = append(added, edit{t.Start, t.Start, "("}, edit{tokens[end].End, tokens[end].End, ")"})
		}
	}
	return added
}

// next returns the index of the first token after i that is not a comment, or -1
// when there is none.
func next(tokens []sqlguard.Token, i int) int {
	if i < 0 {
		return -1
	}
	for i++; i < len(tokens); i++ {
		if tokens[i].Kind != sqlguard.TokenComment {
			return i
		}
	}
	return -1
}

// closing returns the index of the bracket that closes the one at i. It returns
// -1 when i is not an opening bracket or nothing closes it.
func closing(tokens []sqlguard.Token, i int) int {
	if i < 0 || tokens[i].Kind != sqlguard.TokenOpen {
		return -1
	}
	depth := 0
	for ; i < len(tokens); i++ {
		switch tokens[i].Kind { //nolint:exhaustive // the others stand in the bracket
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// edited returns part of a statement with the edits applied.
func edited(sql string, from, to int, edits []edit) string {
	if len(edits) == 0 {
		return sql[from:to]
	}
	var b strings.Builder
	at := from
	for _, e := range edits {
		if e.from < at || e.to > to {
			continue // before the part that the parser reads
		}
		b.WriteString(sql[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(sql[at:to])
	return b.String()
}
