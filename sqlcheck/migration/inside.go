package migration

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// verbs begin the statements of a block that the rules know.
var verbs = []string{
	"create", "alter", "drop", "truncate", "reindex", "refresh", "cluster", "vacuum", "lock", "update", "delete", "insert", "with", "set", "exec",
	"execute", "select", "perform", "rename", "optimize",
}

// do judges the body of DO, which the server runs at once and in one transaction.
func (r *Reader) do(c *cursor) {
	body := sqlguard.Span{}
	for ; !c.end(); c.at++ {
		if t := c.tokens[c.at]; t.Kind == sqlguard.TokenString {
			body = sqlguard.Span{Start: t.Start, End: t.End}
		} else if c.is("language") && !strings.EqualFold(c.peek(1), "plpgsql") {
			r.add(CodeNotJudged, c.here(), "", "the profile reads blocks of plpgsql only", "")
			return
		}
	}
	if open := r.open; !open {
		r.open, r.locked, r.told = true, nil, false
		defer func() { r.open, r.locked, r.told, r.enumAdded, r.unchecked = false, nil, false, nil, nil }()
	}
	text := r.sql[body.Start:body.End]
	if !strings.HasPrefix(text, "$") {
		r.literal(body)
		return
	}
	quote := strings.IndexByte(text[1:], '$') + 2
	if len(text) < 2*quote {
		return
	}
	// Everything before the body becomes a space, so that positions stay those of the
	// statement.
	r.block(strings.Repeat(" ", body.Start+quote)+text[quote:len(text)-quote], r.sql)
}

// block judges the statements of a block. Their positions are those of text and of
// sql alike.
func (r *Reader) block(text, sql string) {
	tokens := r.dialect.Lex(text).List
	for from, i := 0, 0; i <= len(tokens); i++ {
		if i < len(tokens) && tokens[i].Kind != sqlguard.TokenTerminator {
			continue
		}
		r.part(newCursor(sql, tokens[from:i]))
		from = i + 1
	}
}

// part judges the statement in a part of a block, which can stand behind THEN and
// the like.
func (r *Reader) part(c *cursor) {
	for i := range c.tokens {
		here := &cursor{sql: c.sql, tokens: c.tokens[i:]}
		if i > 0 {
			before := &cursor{sql: c.sql, tokens: c.tokens[i-1 : i]}
			if before.takeAny("begin", "then", "else", "loop") == "" {
				continue
			}
		}
		look := *here
		switch verb := look.takeAny(verbs...); {
		case verb == "":
			continue
		case verb == "execute" && r.dialect.Name() == postgres:
			r.executed(&look)
		default:
			r.judge(here)
		}
		return
	}
}

// executed judges the text of EXECUTE and the like: a literal, or what nobody knows
// before it runs.
func (r *Reader) executed(c *cursor) {
	at := c.here()
	if !c.end() && c.tokens[c.at].Kind == sqlguard.TokenString {
		t := c.tokens[c.at]
		if c.at++; c.end() || c.is("using") || c.is("into") || c.tokens[c.at].Kind == sqlguard.TokenComma || c.tokens[c.at].Kind == sqlguard.TokenClose {
			r.literal(sqlguard.Span{Start: t.Start, End: t.End})
			return
		}
	}
	r.add(CodeNotJudged, at, "", "the statement is put together when it runs, so nothing says what it does to the tables", "write the statement out, or read what it makes")
}

// literal judges the statements in a string, which the server runs. Findings are at
// the string.
func (r *Reader) literal(at sqlguard.Span) {
	text := r.sql[at.Start:at.End]
	if i := strings.IndexAny(text, `'"$`); i > 0 {
		if strings.ContainsAny(text[:i], "eE") && strings.Contains(text, `\`) {
			r.add(CodeNotJudged, at, "", "the statement is in a string with escapes, which the profile does not read", "write it as a plain string")
			return
		}
		text = text[i:]
	}
	if strings.HasPrefix(text, "$") {
		quote := strings.IndexByte(text[1:], '$') + 2
		if len(text) < 2*quote {
			return
		}
		text = text[quote : len(text)-quote]
	} else if text = unquote(text); text == "" {
		return
	}
	sql, found := r.sql, r.found
	r.sql, r.found = text, nil
	r.block(text, text)
	inner := r.found
	r.sql, r.found = sql, found
	for _, f := range inner {
		f.Span = at
		r.found = append(r.found, f)
	}
}
