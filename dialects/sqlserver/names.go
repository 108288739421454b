package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// part is one part of a name.
type part struct {
	text   string // decoded
	quoted bool
	at     sqlguard.Span
}

// name is a name of up to maxParts parts. A part that is left out between two
// dots is empty.
type name struct {
	parts [maxParts]part
	n     int
	star  bool // ends in .*
	// dotted says that dots stand before the first part. Such a name means an
	// object of a schema, never a name of WITH.
	dotted bool
	at     sqlguard.Span
}

const maxParts = 6

func (n *name) last() part { return n.parts[n.n-1] }

// qualifier returns the parts before the last but skipped ones.
func (n *name) qualifier(without int) []string {
	if n.n <= without {
		return nil
	}
	out := make([]string, 0, n.n-without)
	for _, p := range n.parts[:n.n-without] {
		out = append(out, p.text)
	}
	return out
}

// String returns the decoded parts, joined by dots.
func (n *name) String() string { return strings.Join(n.qualifier(0), ".") }

// isName reports whether a token can be a name here: a quoted one, or a word
// that is not reserved. Reference: Database Identifiers.
func (t token) isName() bool {
	return t.kind == sqlguard.TokenQuotedName || t.kind == sqlguard.TokenWord && (t.word == nil || !t.word.reserved)
}

// atName reports whether the current token can be a name.
func (p *parser) atName() bool { return p.tok.isName() && !p.atGlobal() && !p.atPseudo() }

// atGlobal reports whether the current token is a function such as @@VERSION.
func (p *parser) atGlobal() bool {
	return p.tok.kind == sqlguard.TokenWord && p.sql[p.tok.start] == '@'
}

// atPseudo reports whether the current token is a word such as $IDENTITY.
func (p *parser) atPseudo() bool {
	return p.tok.kind == sqlguard.TokenWord && p.sql[p.tok.start] == '$'
}

// simpleName reads a name of one part. Reference: Database Identifiers.
func (p *parser) simpleName(what string) part {
	if !p.atName() {
		p.fail(what)
		return part{}
	}
	return p.namePart()
}

// namePart decodes the current token and reads it. Reference: Database
// Identifiers.
func (p *parser) namePart() part {
	t := p.tok
	out := part{at: sqlguard.Span{Start: t.start, End: t.end}}
	if t.kind == sqlguard.TokenQuotedName {
		out.quoted = true
		out.text = decodeName(p.text())
		if out.text == "" {
			p.fail("a name, and a quoted name cannot be empty")
			return out
		}
	} else {
		out.text = p.text()
	}
	p.next()
	return out
}

// multiName reads a name of several parts. Parts before the last may be left
// out; at the start that changes nothing. Reference: Transact-SQL syntax
// conventions, "Multipart names".
func (p *parser) multiName(what string) name {
	var n name
	for range maxParts - 1 {
		if p.mark() != '.' {
			break
		}
		n.dotted = true
		p.next()
	}
	n.parts[0] = p.simpleName(what)
	n.n = 1
	n.at = n.parts[0].at
	for p.mark() == '.' {
		if p.markOf(1) == '*' {
			p.next()
			n.star = true
			n.at.End = p.tok.end
			p.next()
			return n
		}
		if n.n == maxParts {
			p.fail("a name of fewer parts")
			return n
		}
		p.next()
		switch {
		case p.mark() == '.':
			n.parts[n.n] = part{at: sqlguard.Span{Start: p.tok.start, End: p.tok.start}}
		case p.tok.isName() || p.isAny("identitycol", "rowguidcol"):
			n.parts[n.n] = p.namePart()
			n.at.End = n.parts[n.n].at.End
		default:
			p.fail("a name after the dot")
			return n
		}
		n.n++
	}
	if n.last().text == "" && p.err == nil {
		p.fail("a name")
	}
	return n
}

// decodeName returns the name that a quoted name spells.
func decodeName(text string) string {
	quote := text[len(text)-1]
	text = text[1 : len(text)-1]
	if strings.IndexByte(text, quote) < 0 {
		return text
	}
	q := string(quote)
	return strings.ReplaceAll(text, q+q, q)
}

// decodeString returns the value that a string literal spells. A backslash at the
// end of a line continues it. Reference: Backslash (Line Continuation).
func decodeString(text string) string {
	text = text[strings.IndexByte(text, '\'')+1 : len(text)-1]
	if strings.Contains(text, "''") {
		text = strings.ReplaceAll(text, "''", "'")
	}
	if strings.Contains(text, "\\\n") || strings.Contains(text, "\\\r\n") {
		text = strings.NewReplacer("\\\r\n", "", "\\\n", "").Replace(text)
	}
	return text
}
