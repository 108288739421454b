package source

import (
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// pythonCells are the cell magics of IPython whose cells are Python. Cells of
// other magics are in other languages.
var pythonCells = map[string]bool{"time": true, "timeit": true, "capture": true, "prun": true}

var (
	// leading is what may stand before the magic of a cell: comments, in Colab.
	leading   = lazily(`^\s*(?:#[^\n]*\n\s*)*`)
	cellMagic = lazily(`^%%(\w+)([^\n]*)`)
	lineMagic = lazily(`^[ \t]*(?:[\w.,\[\]'" \t]+=[ \t]*)?(%{1,2}\w|!|\?)`)
	// commands are magics and aliases that IPython takes without a %. What follows is not
	// Python: a name behind a name.
	commands   = lazily(`^(?:pip3?|conda|mamba|uv|cd|ls|mkdir|rmdir|cp|mv|rm|cat|man|load_ext|reload_ext|matplotlib|run)[ \t]+(?:(?:[A-Za-z~"'][^\s]*|\.\.\S*)(?:[ \t]|[\r]?$))`)
	operatorIn = lazily(`^\w+[ \t]+(?:if|and|or|in|is|not|for)\b`)
	helpOf     = lazily(`^[ \t]*%{0,2}[\w.]+\?{1,2}[ \t\r]*$`)
	sqlMagic   = lazily(`%sql(?:[ \t\r]|$)`)
	resultName = lazily(`^\w+[ \t]*(?:=[ \t]*)?<<`)
	identifier = lazily(`^[\w.-]+$`)
	option     = lazily(`^(?:--[A-Za-z][\w-]*|-[A-Za-z])(?:=|$)`)
	// filledIn matches what a magic replaces: {name}, and Jinja.
	filledIn = lazily(`(?s)\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\{[A-Za-z_][^{}'"\n]*\}`)
	// filledInLine is for a line magic, which also replaces $name, and which
	// continues after a backslash at the end of a line.
	filledInLine = lazily(`(?s)\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\{[A-Za-z_][^{}'"\n]*\}|\$[A-Za-z_]\w*\$?|\\\r?\n`)
)

// cell adds the SQL of the magics in a cell, and adds the rest to the program.
func (n *notebook) cell(cell *Text) {
	text := string(cell.sql)
	at := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	if n := len(leading().FindString(text)); strings.HasPrefix(text[n:], "%%") {
		at = n
	}
	if m := cellMagic().FindStringSubmatchIndex(text[at:]); m != nil {
		switch name := text[at+m[2] : at+m[3]]; {
		case name == "bigquery": // its first line has options only
			n.add(cell, at+m[1], len(text))
			return
		case name == "sql":
			n.magic(cell, at+m[3], len(text), false)
			return
		case !pythonCells[name]:
			return
		}
		at += m[1]
	} else if strings.HasPrefix(text[at:], "%sql") {
		// If the magic is alone on the first line, the whole cell is SQL
		// (Databricks).
		line, rest, _ := strings.Cut(text[at:], "\n")
		if strings.TrimSpace(line) == "%sql" && strings.TrimSpace(rest) != "" {
			n.magic(cell, at+len(line), len(text), false)
			return
		}
	}
	n.python.add(cell)
	n.python.escaped("\n", sqlguard.Span{Start: cell.Span.End, End: cell.Span.End})
	n.masked = append(n.masked, n.mask(cell, text, at)...)
	n.masked = append(n.masked, '\n')
}

// mask returns a cell in which spaces replace the first bytes and everything
// that is not Python. It adds the SQL of the line magics.
func (n *notebook) mask(cell *Text, text string, at int) []byte {
	out := []byte(text)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	blank(0, at)
	for i := at; i < len(text); {
		end := endOfLine(text, i)
		m := lineMagic().FindStringSubmatchIndex(text[i:end])
		line := text[i:end]
		if m == nil && !helpOf().MatchString(line) && (!commands().MatchString(line) || operatorIn().MatchString(line)) {
			i = statementEnd(text, i)
			continue
		}
		for end < len(text) && strings.HasSuffix(strings.TrimSuffix(text[i:end], "\r"), `\`) {
			end = endOfLine(text, end+1)
		}
		if m != nil {
			if from := i + m[2]; sqlMagic().MatchString(text[from:end]) && strings.HasPrefix(text[from:end], "%sql") {
				n.magic(cell, from+len("%sql"), end, true)
			}
		}
		blank(i, end)
		i = end + 1
	}
	return out
}

// endOfLine returns the offset of the end of the line at an offset of a cell.
func endOfLine(text string, at int) int { return at + len(firstLine(text[at:])) }

// statementEnd returns the offset after the logical line of Python at i.
func statementEnd(text string, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '\'', '"':
			end, ok := pyStringEnd(text, i)
			if !ok {
				return len(text) // the Python parser finds this error too
			}
			i = end
			continue
		case '#':
			i = endOfLine(text, i)
			continue
		case '\\':
			i++
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		case '\n':
			if depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(text)
}

// magic adds the SQL of a magic whose arguments begin at an offset of a cell.
func (n *notebook) magic(cell *Text, from, to int, line bool) {
	at, elsewhere := magicSQL(string(cell.sql[from:to]))
	if elsewhere {
		n.texts = append(n.texts, unknown(&Text{Span: cell.span(from, to), Call: cell.place(from, false), Sink: "%sql", Certain: true}))
		return
	}
	if line {
		n.fill(cell, from+at, to, filledInLine())
	} else {
		n.fill(cell, from+at, to, filledIn())
	}
}

// add adds a part of a cell that is nothing but SQL.
func (n *notebook) add(cell *Text, from, to int) { n.fill(cell, from, to, filledIn()) }

// fill adds a part of a cell as a text, with holes where the magic replaces
// something.
func (n *notebook) fill(cell *Text, from, to int, holes *regexp.Regexp) {
	text := string(cell.sql[from:to])
	if strings.TrimSpace(text) == "" {
		return
	}
	t := &Text{Span: cell.span(from, to), Call: cell.place(from, false), Sink: "%sql", Certain: true}
	done := from
	for _, m := range holes.FindAllStringIndex(text, -1) {
		start, end := from+m[0], from+m[1]
		t.run(cell, done, start)
		done = end
		switch mark := text[m[0]:m[1]]; {
		case mark[0] == '\\':
			t.escaped(" ", cell.span(start, end))
		case mark[0] == '$' && strings.HasSuffix(mark, "$"): // it may also be a dollar quote
			n.texts = append(n.texts, unknown(t))
			return
		default:
			t.hole(cell.span(start, end), false)
		}
	}
	t.run(cell, done, to)
	n.texts = append(n.texts, t)
}

// span maps a part of the text to the file.
func (t *Text) span(from, to int) sqlguard.Span {
	start := t.place(from, false)
	return sqlguard.Span{Start: start, End: max(start, t.place(to, true))}
}

// valued are the options of the magic that take a value. storing are those that
// store a result; the statement is then written elsewhere.
var (
	valued  = map[string]bool{"save": true, "S": true, "with": true, "w": true, "close": true, "x": true, "creator": true, "c": true, "section": true, "s": true, "connection_arguments": true, "A": true, "alias": true, "interact": true, "i": true}
	storing = map[string]bool{"persist": true, "p": true, "persist-replace": true, "P": true, "append": true, "a": true, "file": true, "f": true}
)

// magicSQL returns the offset at which the SQL of a magic begins, after its
// options, its connection and the name of its result. elsewhere is set if the
// magic has no SQL of its own.
func magicSQL(text string) (at int, elsewhere bool) {
	line := text[:endOfLine(text, 0)]
	for i := 0; ; {
		for i < len(line) && strings.IndexByte(" \t\r", line[i]) >= 0 {
			i++
		}
		rest := line[i:]
		word := firstWord(rest)
		after := strings.TrimLeft(rest[len(word):], " \t\r")
		switch {
		case rest == "":
			return i, false
		case option().MatchString(word):
			name, _, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
			if storing[name] {
				return 0, true
			}
			i += len(word)
			if valued[name] && !given {
				i = len(line) - len(after) + len(firstWord(after))
			}
		case LooksLikeSQL(rest):
			return i, false
		case resultName().MatchString(rest):
			i += len(resultName().FindString(rest))
		case strings.Contains(word, "://") || strings.Contains(word, "@") || strings.IndexByte("$[", word[0]) >= 0,
			identifier().MatchString(word) && (after == "" || LooksLikeSQL(after) || resultName().MatchString(after) || option().MatchString(firstWord(after))):
			i += len(word)
		default:
			return i, false
		}
	}
}

// firstWord returns the text before the first white space outside of quotes.
func firstWord(s string) string {
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ' || c == '\t' || c == '\r':
			return s[:i]
		}
	}
	return s
}
