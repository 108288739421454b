package source

import (
	"strings"
	"unicode"

	"github.com/ktxhq/ktx/sqlguard"
)

// Template is a file of SQL with Jinja, as dbt reads it.
type Template struct {
	Span sqlguard.Span // in the file

	source string
	nodes  []*jinjaNode
}

// jinjaKind is what a part of a template produces.
type jinjaKind uint8

const (
	jinjaText   jinjaKind = iota // text that stands in the file
	jinjaSilent                  // nothing: a comment, {% set x = … %}, {% do … %}
	jinjaOutput                  // {{ … }}, or an unknown tag
	jinjaBlock                   // {% if %} … {% endif %} and the like
)

// jinjaNode is a part of a template.
type jinjaNode struct {
	kind jinjaKind
	span sqlguard.Span // from the first mark to the last
	open sqlguard.Span // of a block: its first tag
	text *Text         // of a text
	// tag is the first word of a tag, and tokens are the words after it. Of {{
	// … }}, tokens are all words.
	tag      string
	tokens   []jinjaToken
	branches []jinjaBranch
}

// jinjaBranch is a part of a block. A block with if has one for each condition.
type jinjaBranch struct {
	span   sqlguard.Span
	tokens []jinjaToken // of the tag before it, unless that is the tag of the block
	nodes  []*jinjaNode
}

// jinjaToken is a word, a string, a number or an operator of an expression.
type jinjaToken struct {
	kind byte // 'n', 's', '0' or 'o'
	text string
	span sqlguard.Span
}

// maxJinjaDepth is how deeply blocks may be nested.
const maxJinjaDepth = 64

// jinjaBlocks are the tags of Jinja and dbt that need an end tag.
var jinjaBlocks = map[string]bool{
	"if": true, "for": true, "macro": true, "call": true, "filter": true, "block": true, "with": true, "autoescape": true, "trans": true,
	"snapshot": true, "test": true, "data_test": true, "materialization": true, "docs": true, "analysis": true,
}

// ParseTemplate parses a file with Jinja. The error is a *SyntaxError.
func ParseTemplate(source string) (*Template, error) {
	return parseTemplate(source, sqlguard.Span{Start: 0, End: len(source)})
}

// parseTemplate parses a part of a file. dbt removes the white space around it.
func parseTemplate(source string, span sqlguard.Span) (*Template, error) {
	part := source[span.Start:span.End]
	span.Start += len(part) - len(strings.TrimLeftFunc(part, PythonSpace))
	span.End = max(span.Start, span.End-(len(part)-len(strings.TrimRightFunc(part, PythonSpace))))
	p := jinjaParser{source: source, at: span.Start, end: span.End}
	nodes, err := p.parse()
	if err != nil {
		return nil, err
	}
	return &Template{Span: span, source: source, nodes: nodes}, nil
}

// PythonSpace reports whether Python treats r as white space. Jinja is written
// in Python.
func PythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

type jinjaParser struct {
	source  string
	at, end int
	trim    bool // white space in front of the next text is taken away
}

// frame is a block whose end was not read yet.
type frame struct {
	block *jinjaNode
	end   string // the tag that closes it
	outer []*jinjaNode
}

func (p *jinjaParser) parse() ([]*jinjaNode, error) {
	var (
		nodes []*jinjaNode
		open  []frame
	)
	for p.at < p.end {
		mark := p.next()
		p.literal(&nodes, mark)
		if mark == p.end {
			break
		}
		p.at = mark
		switch p.source[mark+1] {
		case '#':
			node, err := p.comment()
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, node)
			continue
		case '{':
			tokens, span, err := p.expression("}}")
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, &jinjaNode{kind: jinjaOutput, span: span, tokens: tokens})
			continue
		}
		tokens, span, err := p.expression("%}")
		if err != nil {
			return nil, err
		}
		tag := ""
		if len(tokens) > 0 && tokens[0].kind == 'n' {
			tag, tokens = tokens[0].text, tokens[1:]
		}
		inner := len(open) - 1
		switch {
		case tag == "raw":
			if err := p.raw(&nodes, span); err != nil {
				return nil, err
			}
		case inner >= 0 && tag == open[inner].end:
			f := open[inner]
			f.block.branches[len(f.block.branches)-1].nodes = nodes
			f.block.branches[len(f.block.branches)-1].span.End = span.Start
			f.block.span.End = span.End
			nodes = f.outer
			nodes, open = append(nodes, f.block), open[:inner]
		case strings.HasPrefix(tag, "end"):
			return nil, &SyntaxError{Offset: span.Start, Message: "{% " + tag + " %} ends nothing that is open"}
		case inner >= 0 && (tag == "else" || tag == "elif") && (open[inner].block.tag == "if" || open[inner].block.tag == "for"):
			f := open[inner]
			f.block.branches[len(f.block.branches)-1].nodes = nodes
			f.block.branches[len(f.block.branches)-1].span.End = span.Start
			f.block.branches = append(f.block.branches, jinjaBranch{span: sqlguard.Span{Start: span.End}, tokens: tokens})
			nodes = nil
		case jinjaBlocks[tag] || tag == "set" && !assigns(tokens):
			if len(open) == maxJinjaDepth {
				return nil, &SyntaxError{Offset: span.Start, Message: "its blocks are nested too deeply"}
			}
			block := &jinjaNode{kind: jinjaBlock, span: span, open: span, tag: tag, tokens: tokens, branches: []jinjaBranch{{span: sqlguard.Span{Start: span.End}}}}
			open = append(open, frame{block, "end" + tag, nodes})
			nodes = nil
		case tag == "set" || tag == "do" || tag == "import" || tag == "from":
			nodes = append(nodes, &jinjaNode{kind: jinjaSilent, span: span, tag: tag, tokens: tokens})
		default:
			nodes = append(nodes, &jinjaNode{kind: jinjaOutput, span: span, tag: tag, tokens: tokens})
		}
	}
	if len(open) > 0 {
		block := open[len(open)-1].block
		return nil, &SyntaxError{Offset: block.span.Start, Message: "{% " + block.tag + " %} is never closed"}
	}
	return nodes, nil
}

// next returns the offset of the next delimiter of Jinja.
func (p *jinjaParser) next() int {
	for i := p.at; i+1 < p.end; i++ {
		if p.source[i] == '{' && (p.source[i+1] == '{' || p.source[i+1] == '%' || p.source[i+1] == '#') {
			return i
		}
	}
	return p.end
}

// literal adds the text before a delimiter. It removes the white space that a
// minus sign in the delimiter before or after it strips. Jinja writes every
// line end as LF.
func (p *jinjaParser) literal(nodes *[]*jinjaNode, to int) {
	start, end := p.at, to
	if p.trim {
		start += len(p.source[start:end]) - len(strings.TrimLeftFunc(p.source[start:end], PythonSpace))
	}
	if to+2 < p.end && p.source[to+2] == '-' {
		end = start + len(strings.TrimRightFunc(p.source[start:end], PythonSpace))
	}
	p.trim = false
	if start == end {
		return
	}
	text := &Text{Span: sqlguard.Span{Start: start, End: end}}
	for at := start; at < end; {
		i := strings.IndexByte(p.source[at:end], '\r')
		if i < 0 {
			text.verbatim(p.source[at:end], at)
			break
		}
		text.verbatim(p.source[at:at+i], at)
		n := 1
		if at+i+1 < end && p.source[at+i+1] == '\n' {
			n = 2
		}
		text.escaped("\n", sqlguard.Span{Start: at + i, End: at + i + n})
		at += i + n
	}
	*nodes = append(*nodes, &jinjaNode{kind: jinjaText, span: text.Span, text: text})
}

func (p *jinjaParser) comment() (*jinjaNode, error) {
	i := strings.Index(p.source[p.at+2:p.end], "#}")
	if i < 0 {
		return nil, &SyntaxError{Offset: p.at, Message: "a comment of Jinja begins here and never ends"}
	}
	span := sqlguard.Span{Start: p.at, End: p.at + 2 + i + 2}
	p.at, p.trim = span.End, i > 0 && p.source[span.End-3] == '-'
	return &jinjaNode{kind: jinjaSilent, span: span, tag: "#"}, nil
}

// raw adds the text of {% raw %} … {% endraw %}. Its first tag was read
// already.
func (p *jinjaParser) raw(nodes *[]*jinjaNode, open sqlguard.Span) error {
	for at := p.at; at+1 < p.end; at++ {
		if p.source[at] != '{' || p.source[at+1] != '%' {
			continue
		}
		inner := jinjaParser{source: p.source, at: at, end: p.end}
		tokens, span, err := inner.expression("%}")
		if err != nil || len(tokens) != 1 || tokens[0].text != "endraw" {
			continue
		}
		p.literal(nodes, at)
		p.at, p.trim = span.End, inner.trim
		return nil
	}
	return &SyntaxError{Offset: open.Start, Message: "{% raw %} is never closed"}
}

// expression reads the tokens of {{ … }} or {% … %} and both delimiters.
func (p *jinjaParser) expression(closing string) ([]jinjaToken, sqlguard.Span, error) {
	start := p.at
	i := start + 2
	if i < p.end && (p.source[i] == '-' || p.source[i] == '+') {
		i++
	}
	var tokens []jinjaToken
	depth := 0 // of brackets, in which no delimiter ends the expression
	add := func(kind byte, end int) {
		tokens = append(tokens, jinjaToken{kind, p.source[i:end], sqlguard.Span{Start: i, End: end}})
		i = end
	}
	for i < p.end {
		rest := p.source[i:p.end]
		switch c := rest[0]; {
		case depth == 0 && strings.HasPrefix(rest, closing):
			p.at, p.trim = i+2, false
			return tokens, sqlguard.Span{Start: start, End: p.at}, nil
		case depth == 0 && (c == '-' || c == '+') && strings.HasPrefix(rest[1:], closing):
			p.at, p.trim = i+3, c == '-'
			return tokens, sqlguard.Span{Start: start, End: p.at}, nil
		case c == '\'' || c == '"':
			end := i + 1
			for end < p.end && p.source[end] != c {
				if p.source[end] == '\\' {
					end++
				}
				end++
			}
			if end >= p.end {
				return nil, sqlguard.Span{}, &SyntaxError{Offset: i, Message: "a string of Jinja begins here and never ends"}
			}
			add('s', end+1)
		case wordByte(c):
			end := i
			for end < p.end && wordByte(p.source[end]) {
				end++
			}
			kind := byte('n')
			if c >= '0' && c <= '9' {
				kind = '0'
			}
			add(kind, end)
		case c <= ' ':
			i++
		default:
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
			add('o', i+1)
		}
	}
	return nil, sqlguard.Span{}, &SyntaxError{Offset: start, Message: "Jinja begins here and never ends"}
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// assigns reports whether a set has its value in the tag. Otherwise its value
// is a block of text.
func assigns(tokens []jinjaToken) bool {
	for i, t := range tokens {
		if t.text == "=" && (i+1 == len(tokens) || tokens[i+1].text != "=") {
			return true
		}
	}
	return false
}

// each calls f for the nodes of a template and for the nodes inside them.
func each(nodes []*jinjaNode, f func(*jinjaNode)) {
	for _, n := range nodes {
		f(n)
		for i := range n.branches {
			each(n.branches[i].nodes, f)
		}
	}
}

// Comments returns the spans of the comments of Jinja.
func (t *Template) Comments() []sqlguard.Span {
	var all []sqlguard.Span
	each(t.nodes, func(n *jinjaNode) {
		if n.tag == "#" {
			all = append(all, n.span)
		}
	})
	return all
}

// Snapshot is a block {% snapshot name %}, which holds a query.
type Snapshot struct {
	Name string
	Body *Template
}

// Snapshots returns the snapshots of the file.
func (t *Template) Snapshots() []Snapshot {
	var all []Snapshot
	for _, n := range t.nodes {
		if n.kind == jinjaBlock && n.tag == "snapshot" && len(n.tokens) > 0 {
			all = append(all, Snapshot{n.tokens[0].text, &Template{Span: n.branches[0].span, source: t.source, nodes: n.branches[0].nodes}})
		}
	}
	return all
}

// definitions are the tags of blocks that define something for other files.
var definitions = map[string]bool{"macro": true, "test": true, "data_test": true, "materialization": true, "docs": true}

// Definitions returns the first tags of macros, tests and materializations.
func (t *Template) Definitions() []sqlguard.Span {
	var all []sqlguard.Span
	for _, n := range t.nodes {
		if n.kind == jinjaBlock && definitions[n.tag] && n.tag != "docs" {
			all = append(all, n.open)
		}
	}
	return all
}

// Empty reports whether the template produces nothing but white space, because
// it only has definitions or comments.
func (t *Template) Empty() bool {
	for _, n := range t.nodes {
		switch {
		case n.kind == jinjaText && strings.TrimFunc(string(n.text.sql), PythonSpace) == "":
		case n.kind == jinjaSilent, n.kind == jinjaBlock && definitions[n.tag]:
		default:
			return false
		}
	}
	return true
}

// Source returns the part of the file that the template was parsed from.
func (t *Template) Source() string { return t.source[t.Span.Start:t.Span.End] }
