package migration

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// cursor reads the tokens of one statement, without its comments.
type cursor struct {
	sql    string
	tokens []sqlguard.Token
	at     int
}

func newCursor(sql string, all []sqlguard.Token) *cursor {
	tokens := make([]sqlguard.Token, 0, len(all))
	for _, t := range all {
		if t.Kind != sqlguard.TokenComment && t.Kind != sqlguard.TokenTerminator {
			tokens = append(tokens, t)
		}
	}
	return &cursor{sql: sql, tokens: tokens}
}

func (c *cursor) end() bool { return c.at >= len(c.tokens) }

// peek returns the text of the token n places ahead, or "".
func (c *cursor) peek(n int) string {
	if c.at+n >= len(c.tokens) {
		return ""
	}
	return c.tokens[c.at+n].Text(c.sql)
}

// is reports whether the next tokens are these words.
func (c *cursor) is(words ...string) bool {
	for i, w := range words {
		if c.at+i >= len(c.tokens) || c.tokens[c.at+i].Kind == sqlguard.TokenQuotedName || !strings.EqualFold(c.peek(i), w) {
			return false
		}
	}
	return true
}

// take skips these words if they are next.
func (c *cursor) take(words ...string) bool {
	if !c.is(words...) {
		return false
	}
	c.at += len(words)
	return true
}

// takeAny skips the first of the words that is next, and returns it.
func (c *cursor) takeAny(words ...string) string {
	for _, w := range words {
		if c.take(w) {
			return w
		}
	}
	return ""
}

// skip skips one token, or a whole pair of brackets.
func (c *cursor) skip() {
	if c.end() {
		return
	}
	if c.tokens[c.at].Kind != sqlguard.TokenOpen {
		c.at++
		return
	}
	depth := 0
	for !c.end() {
		switch c.tokens[c.at].Kind { //nolint:exhaustive // only brackets count
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			depth--
		}
		c.at++
		if depth == 0 {
			return
		}
	}
}

// skipTo skips to the first of these words outside of brackets, or to the end.
func (c *cursor) skipTo(words ...string) bool {
	for !c.end() {
		for _, w := range words {
			if c.is(w) {
				return true
			}
		}
		c.skip()
	}
	return false
}

// has reports whether the words follow somewhere outside of brackets, up to the
// end of the cursor.
func (c *cursor) has(words ...string) bool {
	look := *c
	for !look.end() {
		if look.is(words...) {
			return true
		}
		look.skip()
	}
	return false
}

// on reports whether an option of a list is on, as it is when nothing follows it.
func (c *cursor) on(option string) bool {
	return c.has(option) && !c.has(option, "off") && !c.has(option, "false") && !c.has(option, "0")
}

// bracket returns a cursor over what the next pair of brackets holds, and skips
// it. It returns nil if no bracket is next.
func (c *cursor) bracket() *cursor {
	if c.end() || c.tokens[c.at].Kind != sqlguard.TokenOpen {
		return nil
	}
	from := c.at + 1
	c.skip()
	return &cursor{sql: c.sql, tokens: c.tokens[from:max(from, c.at-1)]}
}

// parts splits what follows at the commas outside of brackets.
func (c *cursor) parts() (list []*cursor) {
	from := c.at
	for !c.end() {
		if c.tokens[c.at].Kind == sqlguard.TokenComma {
			list = append(list, &cursor{sql: c.sql, tokens: c.tokens[from:c.at]})
			c.at++
			from = c.at
			continue
		}
		c.skip()
	}
	return append(list, &cursor{sql: c.sql, tokens: c.tokens[from:c.at]})
}

// name reads a name as the server compares it, without quotes. It has its schema
// before it, unless that is the usual one.
func (c *cursor) name() string {
	before, last := c.qualified()
	if before == "" || before == "public" || strings.EqualFold(before, "dbo") {
		return last
	}
	return before + "." + last
}

// schemaOf returns the schema of a name with its dot, or "".
func schemaOf(name string) string { return name[:strings.LastIndexByte(name, '.')+1] }

// qualified reads a name as [cursor.name] does, and also returns the part before
// the last.
func (c *cursor) qualified() (before, last string) {
	for !c.end() {
		t := c.tokens[c.at]
		switch t.Kind { //nolint:exhaustive // others end the name
		case sqlguard.TokenWord:
			before, last = last, strings.ToLower(t.Text(c.sql))
		case sqlguard.TokenQuotedName, sqlguard.TokenQuotedText:
			before, last = last, unquote(t.Text(c.sql))
		default:
			return before, last
		}
		c.at++
		if c.end() || c.tokens[c.at].Kind != sqlguard.TokenDot {
			return before, last
		}
		c.at++
	}
	return before, last
}

// normalName returns a name in a text as [cursor.name] does.
func normalName(text string) string {
	parts := strings.Split(text, ".")
	for i, part := range parts {
		if part = strings.TrimSpace(part); strings.HasPrefix(part, `"`) {
			parts[i] = unquote(part)
		} else {
			parts[i] = strings.ToLower(part)
		}
	}
	return strings.TrimPrefix(strings.Join(parts, "."), "public.")
}

func unquote(name string) string {
	if len(name) < 2 {
		return name
	}
	first, inner := name[:1], name[1:len(name)-1]
	if first == "[" {
		return strings.ReplaceAll(inner, "]]", "]")
	}
	return strings.ReplaceAll(inner, first+first, first)
}

// span returns the span of all tokens of the cursor.
func (c *cursor) span() sqlguard.Span {
	if len(c.tokens) == 0 {
		return sqlguard.Span{}
	}
	return sqlguard.Span{Start: c.tokens[0].Start, End: c.tokens[len(c.tokens)-1].End}
}

// here returns the span of the next token, or an empty one at the end.
func (c *cursor) here() sqlguard.Span {
	if c.end() {
		end := c.span().End
		return sqlguard.Span{Start: end, End: end}
	}
	return sqlguard.Span{Start: c.tokens[c.at].Start, End: c.tokens[c.at].End}
}
