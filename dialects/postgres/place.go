package postgres

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// at notes the position of the walk. A construct without a location in the tree is
// reported at the last known location.
func (w *walker) at(location int32) {
	if location >= 0 {
		w.near = int(location)
	}
}

// place returns the byte offset of a node's location, or the last known offset.
func (w *walker) place(location int32) int {
	if location >= 0 && int(location) < len(w.sql) {
		return int(location)
	}
	return w.near
}

// tokenSpan is the span of the token at location.
func (w *walker) tokenSpan(location int32) sqlguard.Span {
	at := w.place(location)
	l := lexer{sql: w.sql, pos: at}
	t, ok := l.next()
	if !ok {
		return w.st.Span
	}
	return sqlguard.Span{Start: t.Start, End: t.End}
}

// nameSpan is the span of the name at location, with its qualifiers.
func (w *walker) nameSpan(location int32) sqlguard.Span {
	at := w.place(location)
	end := at
	for end < len(w.sql) && (byteClass[w.sql[end]]&byteName != 0 || w.sql[end] == '.' && end > at) {
		end++
	}
	// This is a plain name, and nothing after it could be a part of it.
	if end > at && end < len(w.sql) && w.sql[end-1] != '.' {
		switch w.sql[end] {
		case ',', ')', '(', '=', ':', ']', '[', '<', '>':
			return sqlguard.Span{Start: at, End: end}
		case ' ', '\n':
			if end+1 < len(w.sql) && byteClass[w.sql[end+1]]&byteName != 0 {
				return sqlguard.Span{Start: at, End: end}
			}
		}
	}
	return w.anyNameSpan(at)
}

// anyNameSpan is nameSpan for names with quotes, spaces or comments in them.
func (w *walker) anyNameSpan(at int) sqlguard.Span {
	l := lexer{sql: w.sql, pos: at}
	t, ok := l.next()
	if !ok {
		return w.st.Span
	}
	span := sqlguard.Span{Start: t.Start, End: t.End}
	for t.Kind == sqlguard.TokenWord || t.Kind == sqlguard.TokenQuotedName {
		dot, ok := l.code()
		if !ok || dot.Kind != sqlguard.TokenDot {
			break
		}
		t, ok = l.code()
		if !ok || t.Kind != sqlguard.TokenWord && t.Kind != sqlguard.TokenQuotedName && t.Text(w.sql) != "*" {
			break
		}
		span.End = t.End
	}
	return span
}

// bracketSpan is the span from location to the bracket that closes the first bracket
// after it.
func (w *walker) bracketSpan(location int32) sqlguard.Span {
	l := lexer{sql: w.sql, pos: w.place(location)}
	span := sqlguard.Span{Start: -1}
	for {
		t, ok := l.code()
		if !ok {
			return w.tokenSpan(location)
		}
		if span.Start < 0 {
			span.Start = t.Start
		}
		if t.Kind == sqlguard.TokenClose && l.depth == 0 {
			span.End = t.End
			return span
		}
	}
}

// attributeSpan is the span of the next attribute of that name. The parser gives no
// location for it.
func (w *walker) attributeSpan(name string) sqlguard.Span {
	const far = 1000 // tokens; the name may have been cut to the server's length
	l := lexer{sql: w.sql, pos: w.near}
	var before sqlguard.Token
	for range far {
		t, ok := l.code()
		if !ok {
			break
		}
		if before.Kind == sqlguard.TokenDot {
			text := t.Text(w.sql)
			switch {
			case t.Kind == sqlguard.TokenWord && strings.EqualFold(text, name),
				t.Kind == sqlguard.TokenQuotedName && (text[0] != '"' || strings.ReplaceAll(text[1:len(text)-1], `""`, `"`) == name):
				return sqlguard.Span{Start: t.Start, End: t.End}
			}
		}
		before = t
	}
	return w.tokenSpan(-1)
}

// bodySpan is the span of the statement in the brackets of a common table
// expression whose name is at location.
func (w *walker) bodySpan(location int32) sqlguard.Span {
	l := lexer{sql: w.sql, pos: w.place(location)}
	body := sqlguard.Span{Start: -1}
	as := false // AS was read: the next bracket opens the body
	for {
		t, ok := l.code()
		if !ok {
			return w.tokenSpan(location)
		}
		switch {
		case body.Start >= 0:
			if t.Kind == sqlguard.TokenClose && l.depth == 0 {
				return body
			}
			if body.Start == 0 {
				body.Start = t.Start
			}
			body.End = t.End
		case l.depth == 0 && t.Kind == sqlguard.TokenWord && strings.EqualFold(t.Text(w.sql), "as"):
			as = true
		case as && t.Kind == sqlguard.TokenOpen:
			body.Start = 0
		}
	}
}

// lockingSearch finds the locking clauses of a statement one after the other.
type lockingSearch struct {
	l    lexer
	word [4]sqlguard.Token // the last tokens, in order
}

// lockingSpan is the span of the next locking clause of the statement. The parser gives
// no location for it.
func (w *walker) lockingSpan() sqlguard.Span {
	if w.locks == nil {
		w.locks = &lockingSearch{l: lexer{sql: w.sql, pos: w.st.Span.Start}}
	}
	word := &w.locks.word
	is := func(i int, keyword string) bool {
		return word[i].Kind == sqlguard.TokenWord && strings.EqualFold(word[i].Text(w.sql), keyword)
	}
	for {
		t, ok := w.locks.l.code()
		if !ok {
			return w.tokenSpan(-1)
		}
		copy(word[:], word[1:])
		word[3] = t
		switch {
		case is(2, "for") && (is(3, "update") || is(3, "share")):
			return sqlguard.Span{Start: word[2].Start, End: t.End}
		case is(0, "for") && is(1, "no") && is(2, "key") && is(3, "update"):
			return sqlguard.Span{Start: word[0].Start, End: t.End}
		case is(1, "for") && is(2, "key") && is(3, "share"):
			return sqlguard.Span{Start: word[1].Start, End: t.End}
		}
	}
}

// lowerToken returns the token at location in lower case. It is the name of a construct
// that has its own keyword, such as current_user.
func (w *walker) lowerToken(location int32) string {
	span := w.tokenSpan(location)
	return strings.ToLower(w.sql[span.Start:span.End])
}

// code returns the next token that is not a comment.
func (l *lexer) code() (sqlguard.Token, bool) {
	for {
		t, ok := l.next()
		if !ok || t.Kind != sqlguard.TokenComment {
			return t, ok
		}
	}
}
