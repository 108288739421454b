package model

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// subset reads the part of YAML that files of sources are mostly written in, several
// times faster than a reader of all of YAML: mappings and lists by indentation, those in
// brackets on one line, texts on one line without escapes, and comments. It gives up at
// anything else, right or wrong, and the whole file is then read by the library. What it
// reads, it reads as the library does; a fuzz test compares the two.
type subset struct {
	text string

	// The line with content that comes next.
	at     int // where its content begins; len(text) at the end
	indent int // how many characters stand before; -1 at the end
	line   int32

	stack []node // the items of the mappings and lists that are open
	depth int
}

// readSubset returns the root of a file, or nil if something in it is not of the subset.
func readSubset(text string) *node {
	if !plainText(text) {
		return nil
	}
	p := &subset{text: text}
	p.advance(0)
	if p.indent != 0 || p.dash() {
		return nil
	}
	root, ok := p.mapping(0)
	if !ok || p.indent >= 0 {
		return nil
	}
	return &root
}

// plainText reports whether a text has only characters without a meaning for lines: no
// control character but \n, and no other end of a line of Unicode.
func plainText(text string) bool {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' || c == 0x7F {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r < 0xA0 || r == '\u2028' || r == '\u2029' || r == '\uFEFF' || r == 0xFFFE || r == 0xFFFF || r == utf8.RuneError {
			return false
		}
		i += size
	}
	return true
}

// advance finds the next line with content. It begins at start, the beginning of a line.
func (p *subset) advance(start int) {
	for start < len(p.text) {
		p.line++
		at := start
		for at < len(p.text) && p.text[at] == ' ' {
			at++
		}
		if at < len(p.text) && p.text[at] != '\n' && p.text[at] != '#' {
			p.at, p.indent = at, at-start
			return
		}
		end := strings.IndexByte(p.text[at:], '\n')
		if end < 0 {
			break
		}
		start = at + end + 1
	}
	p.at, p.indent = len(p.text), -1
}

// lineEnd returns where the line that i is in ends.
func (p *subset) lineEnd(i int) int {
	if n := strings.IndexByte(p.text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(p.text)
}

// finish goes on to the next line, if nothing but a comment follows at i.
func (p *subset) finish(i int) bool {
	rest := i
	for rest < len(p.text) && p.text[rest] == ' ' {
		rest++
	}
	end := p.lineEnd(rest)
	if rest < end && (p.text[rest] != '#' || rest == i) {
		return false
	}
	p.advance(end + 1)
	return true
}

func (p *subset) char(i int) byte {
	if i < len(p.text) {
		return p.text[i]
	}
	return '\n'
}

// dash reports whether an item of a list begins at the present place.
func (p *subset) dash() bool {
	return p.char(p.at) == '-' && (p.char(p.at+1) == ' ' || p.char(p.at+1) == '\n')
}

// close makes a mapping or list of the items that were pushed since.
func (p *subset) close(since int, kind nodeKind, flow bool, line int32) (node, bool) {
	if len(p.stack)-since > 2*maxItems {
		return node{}, false
	}
	n := node{kind: kind, flow: flow, line: line}
	if len(p.stack) > since {
		n.items = slices.Clone(p.stack[since:])
	}
	p.stack = p.stack[:since]
	return n, true
}

// enter opens a mapping or a list, unless it is nested too deep.
func (p *subset) enter() bool {
	p.depth++
	return p.depth < maxDepth
}

// mapping reads the mapping whose keys stand in a column.
func (p *subset) mapping(column int) (node, bool) {
	since, line := len(p.stack), p.line
	if !p.enter() {
		return node{}, false
	}
	for p.indent == column {
		key, i, ok := p.key(p.at)
		if !ok {
			return node{}, false
		}
		p.stack = append(p.stack, key)
		value, ok := p.value(i, column, true)
		if !ok {
			return node{}, false
		}
		p.stack = append(p.stack, value)
	}
	p.depth--
	if p.indent > column {
		return node{}, false
	}
	return p.close(since, mappingNode, false, line)
}

// sequence reads the list whose dashes stand in a column.
func (p *subset) sequence(column int) (node, bool) {
	since, line := len(p.stack), p.line
	if !p.enter() {
		return node{}, false
	}
	for p.indent == column && p.dash() {
		i := p.at + 1
		for p.char(i) == ' ' {
			i++
		}
		var item node
		var ok bool
		if _, _, isKey := p.key(i); isKey {
			p.indent += i - p.at
			p.at = i
			item, ok = p.mapping(p.indent)
		} else if c := p.char(i); c != '\n' && c != '#' {
			item, ok = p.value(i, column, false)
		}
		if !ok {
			return node{}, false
		}
		p.stack = append(p.stack, item)
	}
	p.depth--
	if p.indent > column {
		return node{}, false
	}
	return p.close(since, sequenceNode, false, line)
}

// key reads a key and its colon. It returns where the value may begin.
func (p *subset) key(i int) (key node, after int, ok bool) {
	const most = 250 // characters; YAML has a limit too
	end := i
	switch c := p.char(i); {
	case c == '"' || c == '\'':
		key, end, ok = p.quoted(i)
		if !ok {
			return node{}, 0, false
		}
	case wordByte(c):
		for end < len(p.text) && (wordByte(p.text[end]) || strings.IndexByte(" -./$()+<>=%,", p.text[end]) >= 0) {
			end++
		}
		if p.text[end-1] == ' ' {
			return node{}, 0, false
		}
		key = p.plain(i, end)
	default:
		return node{}, 0, false
	}
	if end-i > most || p.char(end) != ':' || p.char(end+1) != ' ' && p.char(end+1) != '\n' {
		return node{}, 0, false
	}
	return key, end + 1, true
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= utf8.RuneSelf
}

// plain makes a scalar of a text without quotes.
func (p *subset) plain(i, end int) node {
	n := node{kind: scalarNode, line: p.line, text: p.text[i:end]}
	switch n.text {
	case "~", "null", "Null", "NULL":
		n.tag = nullTag
	case "true", "True", "TRUE", "false", "False", "FALSE":
		n.tag = boolTag
	}
	return n
}

// quoted reads a text in quotes.
func (p *subset) quoted(i int) (n node, end int, ok bool) {
	quote := p.text[i]
	end = i + 1
	for doubled := false; ; end++ {
		switch c := p.char(end); {
		case c == '\n' || c == '\\' && quote == '"':
			return node{}, 0, false
		case c != quote:
		case quote == '\'' && p.char(end+1) == quote:
			doubled = true
			end++
		default:
			n = node{kind: scalarNode, line: p.line, text: p.text[i+1 : end]}
			if doubled {
				n.text = strings.ReplaceAll(n.text, "''", "'")
			}
			return n, end + 1, len(n.text) <= maxValue
		}
	}
}

// value reads what stands behind a key or a dash, and goes on to the next line. Column is
// that of the key or the dash.
func (p *subset) value(i, column int, ofKey bool) (n node, ok bool) {
	for p.char(i) == ' ' {
		i++
	}
	switch p.char(i) {
	case '\n', '#':
		p.advance(p.lineEnd(i) + 1)
		switch {
		case p.indent > column && p.dash(), ofKey && p.indent == column && p.dash():
			return p.sequence(p.indent)
		case p.indent > column:
			return p.mapping(p.indent)
		}
		return node{}, false
	case '"', '\'':
		n, i, ok = p.quoted(i)
	case '[', '{':
		n, i, ok = p.brackets(i)
	default:
		end := p.lineEnd(i)
		if comment := strings.Index(p.text[i:end], " #"); comment >= 0 {
			end = i + comment
		}
		n, ok = p.bare(i, end)
		i = end
	}
	// A line that is further in would belong to the value.
	return n, ok && p.finish(i) && p.indent <= column
}

// bare makes a scalar of a text without quotes, if it is one.
func (p *subset) bare(i, end int) (node, bool) {
	for end > i && p.text[end-1] == ' ' {
		end--
	}
	text := p.text[i:end]
	if text == "" || len(text) > maxValue || text == "<<" || text[len(text)-1] == ':' || strings.Contains(text, ": ") {
		return node{}, false
	}
	first := text[0]
	if first == '-' && len(text) > 1 {
		first = text[1]
	}
	if !wordByte(first) && (first != text[0] || strings.IndexByte("(/$+<=^.~;", first) < 0) {
		return node{}, false
	}
	return p.plain(i, end), true
}

// brackets reads a mapping or a list in brackets, which ends on the same line.
func (p *subset) brackets(i int) (n node, end int, ok bool) {
	kind, closer := mappingNode, byte('}')
	if p.text[i] == '[' {
		kind, closer = sequenceNode, ']'
	}
	since := len(p.stack)
	if !p.enter() {
		return node{}, 0, false
	}
	i = p.spaces(i + 1)
	for first := true; !first || p.char(i) != closer; first = false {
		if kind == mappingNode {
			key, after, ok := p.key(i)
			if !ok || strings.IndexByte(key.text, ',') >= 0 || p.char(after) != ' ' {
				return node{}, 0, false
			}
			p.stack = append(p.stack, key)
			i = p.spaces(after)
		}
		item, after, ok := p.item(i)
		if !ok {
			return node{}, 0, false
		}
		p.stack = append(p.stack, item)
		i = p.spaces(after)
		if p.char(i) == closer {
			break
		}
		if p.char(i) != ',' {
			return node{}, 0, false
		}
		i = p.spaces(i + 1)
	}
	p.depth--
	n, ok = p.close(since, kind, true, p.line)
	return n, i + 1, ok
}

func (p *subset) spaces(i int) int {
	for p.char(i) == ' ' {
		i++
	}
	return i
}

// item reads a value in brackets.
func (p *subset) item(i int) (n node, end int, ok bool) {
	switch p.char(i) {
	case '"', '\'':
		return p.quoted(i)
	case '[', '{':
		return p.brackets(i)
	}
	end = i
	for end < len(p.text) && (wordByte(p.text[end]) || strings.IndexByte(" -./$()+<>=%*|'\"&!;~^@", p.text[end]) >= 0) {
		end++
	}
	n, ok = p.bare(i, end)
	return n, end, ok
}
