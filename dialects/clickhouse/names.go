package clickhouse

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// name is a name of one or more parts.
type name struct {
	parts []string
	at    sqlguard.Span
	bare  bool // one part that is not quoted
}

func (n *name) last() string { return n.parts[len(n.parts)-1] }

func (t token) isName() bool {
	return t.kind == sqlguard.TokenQuotedName || t.kind == sqlguard.TokenWord && !reserved[t.word]
}

// simpleName reads a name of one part.
func (p *parser) simpleName(what string) string {
	if !p.tok.isName() {
		p.fail(what)
		return ""
	}
	if slices.Contains(p.barred, p.tok.word) && p.tok.word != "" {
		p.fail("quotes around a name like this")
		return ""
	}
	return p.namePart(what)
}

// namePart reads the current token, of any word, as a part of a name.
func (p *parser) namePart(what string) string {
	text := p.text()
	if p.followed("parallel", "with") {
		p.fail(what)
		return ""
	}
	if p.tok.kind == sqlguard.TokenQuotedName {
		var ok bool
		if text, ok = unquote(text); !ok {
			p.fail(what + " whose escapes ktx knows, and that is not empty")
			return ""
		}
	}
	p.next()
	return text
}

// multiName reads a name of at most that many parts.
func (p *parser) multiName(what string, most int) name {
	n := name{at: p.here(), bare: p.tok.kind == sqlguard.TokenWord}
	n.parts = append(n.parts, p.simpleName(what))
	for p.mark() == "." && p.err == nil {
		if len(n.parts) == most {
			p.fail("a name of fewer parts")
			break
		}
		p.next()
		if p.tok.kind != sqlguard.TokenWord && p.tok.kind != sqlguard.TokenQuotedName {
			p.fail("a name after the dot")
			break
		}
		n.at.End, n.bare = p.tok.end, false
		n.parts = append(n.parts, p.namePart("a name"))
	}
	return n
}

// unquote returns the name that a quoted name spells. It is false for an empty name and
// for escapes other than those of the quotes and the backslash.
func unquote(text string) (string, bool) {
	quote := text[0]
	text = text[1 : len(text)-1]
	if strings.IndexByte(text, '\\') < 0 && strings.IndexByte(text, quote) < 0 {
		return text, text != ""
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case quote:
			i++ // doubled
		case '\\':
			i++
			if i >= len(text) || strings.IndexByte("\\'\"`", text[i]) < 0 {
				return "", false
			}
		}
		out.WriteByte(text[i])
	}
	return out.String(), out.Len() > 0
}
