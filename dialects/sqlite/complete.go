package sqlite

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// marks records where the names and literals that the walk has met start and end, with one
// bit for each byte of the statement.
type marks struct {
	starts, ends []uint64
}

func newMarks(size int) marks {
	words := size/64 + 1
	both := make([]uint64, 2*words)
	return marks{both[:words:words], both[words:]}
}

func (m marks) set(start, end int) {
	m.starts[start>>6] |= 1 << (start & 63)
	m.ends[end>>6] |= 1 << (end & 63)
}

func (m marks) has(start, end int) bool {
	return m.starts[start>>6]&(1<<(start&63)) != 0 && m.ends[end>>6]&(1<<(end&63)) != 0
}

// complete checks that the walk over the tree met, at its position, every literal
// and parameter of the text, every quoted name, every word that is not a keyword,
// and every keyword in a position where only a name is valid. The walk has
// compared the spelling. Other keywords and punctuation need not be met. The only
// exceptions are in allowedUnseen.
func (w *walker) complete() error {
	if w.differs >= 0 {
		return &sqlguard.SyntaxError{Message: "the parser read this part of the statement differently than it is written", Offset: w.differs}
	}
	l := lexer{text: w.sql}
	var before, t sqlguard.Token
	before.Kind = sqlguard.TokenTerminator
	t, more := nextToken(&l)
	for more {
		var after sqlguard.Token
		after, more = nextToken(&l)
		if !w.accounted(before, t, after, more) {
			return &sqlguard.SyntaxError{
				Message: "the parser skipped this part of the statement",
				Offset:  t.Start,
			}
		}
		before, t = t, after
	}
	return nil
}

// nextToken returns the next token that is not a comment.
func nextToken(l *lexer) (sqlguard.Token, bool) {
	for {
		t, ok := l.next()
		if !ok || t.Kind != sqlguard.TokenComment {
			return t, ok
		}
	}
}

// accounted judges one token with its neighbours. more says that a token follows.
func (w *walker) accounted(before, t, after sqlguard.Token, more bool) bool {
	switch t.Kind {
	case sqlguard.TokenOperator, sqlguard.TokenOpen, sqlguard.TokenClose, sqlguard.TokenComma, sqlguard.TokenDot, sqlguard.TokenTerminator:
		return true
	case sqlguard.TokenWord:
		if w.seen.has(t.Start, t.End) {
			return true
		}
		beforeOpen := more && after.Kind == sqlguard.TokenOpen
		aroundDot := before.Kind == sqlguard.TokenDot || more && after.Kind == sqlguard.TokenDot
		return w.allowedUnseen(t.Text(w.sql), before, beforeOpen, aroundDot)
	case sqlguard.TokenString, sqlguard.TokenNumber, sqlguard.TokenQuotedName, sqlguard.TokenQuotedText, sqlguard.TokenParameter:
		return w.seen.has(t.Start, t.End)
	case sqlguard.TokenInvalid, sqlguard.TokenUnterminated, sqlguard.TokenClientCommand, sqlguard.TokenExecutableComment, sqlguard.TokenComment:
		return false
	default:
		return false
	}
}

// allowedUnseen is the reviewed table of words that the tree leaves out because
// they are syntax.
func (w *walker) allowedUnseen(word string, before sqlguard.Token, beforeOpen, aroundDot bool) bool {
	switch classOf(word) {
	case wordReserved:
		return true
	case wordSyntax: // syntax here, a name elsewhere, and with its own bracket
		return !aroundDot && !w.namePlace(before)
	case wordCall: // CAST(…) and similar words occur wherever an expression does
		return beforeOpen && !aroundDot
	case wordSoft: // syntax here, a name elsewhere
		return !beforeOpen && !aroundDot && !w.namePlace(before)
	case wordName:
		return false
	default:
		return false
	}
}

// namePlace reports whether only a name, a bracket or an expression can follow
// the token.
func (w *walker) namePlace(before sqlguard.Token) bool {
	if before.Kind != sqlguard.TokenWord {
		return before.Kind == sqlguard.TokenComma
	}
	word := before.Text(w.sql)
	return strings.EqualFold(word, "from") || strings.EqualFold(word, "join") || strings.EqualFold(word, "in")
}

type wordClass uint8

const (
	wordName     wordClass = iota // no keyword
	wordReserved                  // never a name
	wordSoft                      // a keyword that falls back to a name
	wordSyntax                    // like wordSoft, and syntax may have it before "("
	wordCall                      // like wordSoft, and as syntax "(" always follows it
)

// classOf returns the class of an unquoted word: SQLite's keywords, and which
// of them fall back to names (src/parse.y, %fallback and the class idj).
func classOf(word string) wordClass {
	var buf [17]byte
	if len(word) < 2 || len(word) > len(buf) {
		return wordName
	}
	for i := range len(word) {
		c := word[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	switch string(buf[:len(word)]) {
	case "add", "all", "alter", "and", "as", "autoincrement", "between", "case", "check", "collate",
		"commit", "constraint", "create", "default", "deferrable", "delete", "distinct", "drop", "else",
		"escape", "except", "exists", "foreign", "from", "group", "having", "in", "index", "insert",
		"intersect", "into", "is", "isnull", "join", "limit", "not", "nothing", "notnull", "null", "on",
		"or", "order", "primary", "references", "returning", "select", "set", "table", "then", "to",
		"transaction", "union", "unique", "update", "using", "values", "when", "where":
		return wordReserved
	case "by", "offset", "materialized", "over", "filter", "rows", "range", "groups":
		return wordSyntax
	case "cast", "raise":
		return wordCall
	case "abort", "action", "after", "always", "analyze", "asc", "attach", "before", "begin", "cascade",
		"column", "conflict", "cross", "current", "current_date", "current_time", "current_timestamp",
		"database", "deferred", "desc", "detach", "do", "each", "end", "exclude", "exclusive", "explain",
		"fail", "first", "following", "for", "full", "generated", "glob", "if", "ignore", "immediate", "indexed",
		"initially", "inner", "instead", "key", "last", "left", "like", "match", "natural", "no", "nulls", "of", "others",
		"outer", "partition", "plan", "pragma", "preceding", "query", "recursive", "regexp", "reindex", "release",
		"rename", "replace", "restrict", "right", "rollback", "row", "savepoint", "temp", "temporary",
		"ties", "trigger", "unbounded", "vacuum", "view", "virtual", "window", "with", "without":
		return wordSoft
	default:
		return wordName
	}
}
