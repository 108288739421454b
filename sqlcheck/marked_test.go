package sqlcheck_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// marked is a text with spans that are known to be findings. Their positions
// count characters, in the order in which the text was written.
type marked struct {
	text  []rune
	spans []markedSpan
}

type markedSpan struct {
	start, end int // characters of text
	code       string
}

func (m *marked) write(text string) { m.text = append(m.text, []rune(text)...) }

// mark writes a text that is a finding.
func (m *marked) mark(code, text string) {
	start := len(m.text)
	m.write(text)
	m.spans = append(m.spans, markedSpan{start, len(m.text), code})
}

// add appends a marked text unchanged.
func (m *marked) add(other marked) {
	m.encode(other, func(_ int, r rune) (string, string) { return "", string(r) })
}

// encode appends a marked text with every character replaced by what f returns.
// The string before is not part of a span that begins at the character.
func (m *marked) encode(other marked, f func(i int, r rune) (before, text string)) {
	starts, ends := make([]int, len(other.text)), make([]int, len(other.text))
	for i, r := range other.text {
		before, text := f(i, r)
		m.write(before)
		starts[i] = len(m.text)
		m.write(text)
		ends[i] = len(m.text)
	}
	for _, s := range other.spans {
		m.spans = append(m.spans, markedSpan{starts[s.start], ends[s.end-1], s.code})
	}
}

// placed is a finding with its position in a file.
type placed struct {
	Code                             string
	Start, End                       int
	Line, Column, EndLine, EndColumn int
}

// places returns the positions in bytes, lines and columns. A line ends with
// LF, CR LF or CR. A byte order mark counts in bytes only.
func (m *marked) places(mark string) []placed {
	type place struct{ offset, line, column int }
	at := make([]place, 0, len(m.text)+1)
	p := place{len(mark), 1, 1}
	for i, r := range m.text {
		at = append(at, p)
		p.offset += utf8.RuneLen(r)
		switch {
		case r == '\n', r == '\r' && (i+1 == len(m.text) || m.text[i+1] != '\n'):
			p.line, p.column = p.line+1, 1
		default:
			p.column++
		}
	}
	at = append(at, p)
	var all []placed
	for _, s := range m.spans {
		a, b := at[s.start], at[s.end]
		all = append(all, placed{s.code, a.offset, b.offset, a.line, a.column, b.line, b.column})
	}
	return all
}

// hole marks, in a SQL text, what a program inserts at run time.
const hole = '\uF8FF'

// writer writes random files with findings at known positions.
type writer struct {
	*rand.Rand
	dialect string
	eol     string // of the file
	form    string // of literals
	// apart says that line ends are only between statements and in literals,
	// because CR is not white space in SQL.
	apart bool
}

func (w *writer) one(of ...string) string { return of[w.IntN(len(of))] }

// space returns white space and comments of SQL.
func (w *writer) space() string {
	if w.apart {
		return w.one(" ", "\t", " \t ", " /* é😀; */ ", "/**/")
	}
	return w.one(" ", " ", "\t", "\n", "\n\n", " \t ", " /* é😀; */ ", " -- ü日 '\n", "\n\t-- \"x\n  ", "/**/")
}

// name returns the name of a table.
func (w *writer) name() string {
	switch w.dialect {
	case "mysql", "mariadb":
		if w.form == "raw" { // a raw string of Go cannot contain a backtick
			return w.one("t", "tä", "日本")
		}
		return w.one("t", "tä", "日本", "`é x`", "`日;`")
	case "sqlserver":
		return w.one("t", "tä", "日本", "[é😀 x]", "[a;b]", `"日"`)
	default:
		return w.one("t", "tä", "日本", `"é😀 x"`, `"a;b"`)
	}
}

func (w *writer) function() string { return w.one("müll", "nichts", "日本語", "f_ñ_1") }

// literal returns a literal of SQL.
func (w *writer) literal() string {
	var b strings.Builder
	b.WriteByte('\'')
	for range w.IntN(6) {
		b.WriteString(w.one("a", " ", "é", "😀", "e\u0301", "\t", "''", ";", "{", "}", "$", "--", "/*", "\"", "\n", "\u00a0", "👩\u200d💻", "Ω"))
	}
	b.WriteByte('\'')
	return b.String()
}

// sql returns a few statements, some of which are refused. With fills, some
// have holes, at positions where SQL takes a value and where it does not.
func (w *writer) sql(fills bool) marked {
	var m marked
	value := func() string {
		if fills && w.IntN(3) == 0 {
			return string(hole)
		}
		return w.literal()
	}
	for n := range 1 + w.IntN(4) {
		if n > 0 {
			m.write(w.one(";", " ;", ";\n", ";;\n\n", "; ") + w.one("", w.space()))
		} else if w.IntN(2) == 0 {
			m.write(w.space())
		}
		switch kind := w.IntN(7); kind {
		case 0, 1:
			m.write("SELECT" + w.space() + w.literal() + w.space() + "AS a")
		case 2:
			m.mark("write_statement", "DELETE"+w.space()+"FROM "+w.name()+w.space()+"WHERE a ="+w.space()+value())
		case 3:
			m.mark("ddl_statement", "DROP"+w.space()+"TABLE"+w.space()+w.name())
		case 4:
			m.write("SELECT 1 + " + value() + "," + w.space())
			m.mark("function_not_allowed", w.function())
			m.write("(1)")
		case 5:
			m.write("SELECT" + w.space())
			m.mark("function_not_allowed", w.function())
			m.write("(" + w.literal() + ")," + w.space())
			m.mark("function_not_allowed", w.function())
			m.write("(2)" + w.space() + "FROM " + w.name())
		case 6:
			if !fills {
				m.write("SELECT 1" + w.one("", w.space()))
				continue
			}
			m.write("SELECT 1 FROM" + w.space())
			m.mark("dynamic_sql_unprovable", string(hole))
		}
	}
	return m
}

// line returns a text for a comment in any language.
func (w *writer) line() string {
	return w.one("x", "é😀\t日本 'it''s \"q\" `b`", "\t\t", "e\u0301e\u0301 DROP TABLE t;")
}

// file returns a file of SQL: statements, blank lines, and separators of the
// dialect's files.
func (w *writer) file() marked {
	var sql marked
	for range 1 + w.IntN(3) {
		if !w.apart && w.IntN(3) == 0 {
			sql.write("-- " + w.line() + "\n")
		}
		sql.add(w.sql(false))
		dialect := w.dialect
		if w.apart {
			dialect = ""
		}
		switch dialect {
		case "":
			sql.write(";\n")
		case "sqlserver":
			sql.write("\n" + w.one("GO", "  go 2", "GO\t") + "\n")
			if w.IntN(2) == 0 {
				sql.mark("client_command", ":setvar é x")
				sql.write("\nGO\n")
			}
		case "mysql", "mariadb":
			sql.write(";\n")
			if w.IntN(2) == 0 {
				sql.mark("client_command", "\\! é😀")
				sql.write("\n")
			}
			if w.IntN(2) == 0 {
				sql.write("DELIMITER //\n")
				sql.mark("ddl_statement", "DROP TABLE é")
				sql.write("//\nSELECT 1 //\ndelimiter ;\n")
			}
		case "sqlite":
			sql.write(";\n")
			if w.IntN(2) == 0 {
				sql.mark("client_command", ".read é😀.sql")
				sql.write("\n")
			}
		default:
			sql.write(";\n")
			if w.IntN(2) == 0 {
				sql.mark("client_command", "\\d é😀")
				sql.write("\n")
			}
		}
		if w.IntN(2) == 0 {
			sql.write(w.one("\n", "\n\n", " \n\t\n"))
		}
	}
	var m marked
	m.encode(sql, func(_ int, r rune) (string, string) {
		if r == '\n' {
			return "", w.eol
		}
		return "", string(r)
	})
	return m
}

// lines replaces LF by the line end of the file, outside of encoded text.
func (w *writer) lines(text string) string { return strings.ReplaceAll(text, "\n", w.eol) }

// goFile returns a source file in Go, where CR is not a line end.
func (w *writer) goFile() marked {
	var m, body marked
	m.write(w.lines("// " + w.line() + "\npackage p\n\n"))
	for i := range 1 + w.IntN(3) {
		fills := w.form == "concatenated" || w.form == "formatted"
		sql := w.sql(fills)
		body.write(w.lines("\t" + w.one("", "// "+w.line()+"\n\t")))
		if w.form == "constant" {
			m.write(fmt.Sprintf("const q%d = ", i))
			w.goLiteral(&m, sql)
			m.write(w.lines("\n"))
			body.write(fmt.Sprintf("db.ExecContext(ctx, q%d)", i))
		} else {
			body.write("/* é😀 */ db.ExecContext(ctx, ")
			if w.form == "formatted" {
				body.write("fmt.Sprintf(")
			}
			w.goLiteral(&body, sql)
			if w.form == "formatted" {
				for _, r := range sql.text {
					if r == hole {
						body.write(", é")
					}
				}
				body.write(")")
			}
			body.write(")")
		}
		body.write(w.lines("\n"))
	}
	m.write(w.lines("func f() {\n"))
	m.add(body)
	m.write("}")
	return m
}

func (w *writer) goLiteral(m *marked, sql marked) {
	ticks := strings.Contains(string(sql.text), "`")
	raw := w.form == "raw" || w.form == "concatenated" && !ticks && w.IntN(2) == 0
	quote := func() string {
		if raw {
			return "`"
		}
		return `"`
	}
	m.write(quote())
	behind := "" // a hole before the next character
	m.encode(sql, func(_ int, r rune) (string, string) {
		before := behind
		behind = ""
		if w.form == "concatenated" && w.IntN(12) == 0 {
			before += quote() + w.one("+", " + ", w.lines(" +\n\t\t"))
			raw = !ticks && w.IntN(2) == 0
			before += quote()
		}
		switch {
		case r == hole && w.form == "formatted":
			return before, w.one("%s", "%v", "%d")
		case r == hole:
			open := quote()
			raw = !ticks && w.IntN(2) == 0
			behind = " + " + quote()
			return before + open + " + ", "ü"
		case raw && r == '\n':
			return before, w.eol
		case raw:
			return before, string(r)
		case r == '\n':
			return before, w.one(`\n`, `\x0a`, `\012`, `\u000a`)
		case r == '\\' || r == '"':
			return before, `\` + string(r)
		case w.IntN(5) > 0:
			return before, string(r)
		case r < 0x80:
			return before, fmt.Sprintf(w.one(`\x%02x`, `\u%04x`, `\U%08x`, `\%03o`), r)
		case r < 0x10000 && w.IntN(2) == 0:
			return before, fmt.Sprintf(`\u%04x`, r)
		case w.IntN(2) == 0:
			return before, fmt.Sprintf(`\U%08X`, r)
		default:
			text := ""
			for _, c := range []byte(string(r)) {
				text += fmt.Sprintf(w.one(`\x%02x`, `\%03o`), c)
			}
			return before, text
		}
	})
	m.write(behind + quote())
}

// python returns a source file in Python.
func (w *writer) python() marked {
	var m marked
	m.write("# " + w.line() + w.eol)
	for i := range 1 + w.IntN(3) {
		sql := w.sql(w.form == "formatted")
		switch w.IntN(3) {
		case 0:
			m.write(w.lines("if x:\n\t"))
		case 1:
			m.write(w.lines("# " + w.line() + "\n\n"))
		}
		if w.form == "constant" {
			m.write(fmt.Sprintf("q%d = ", i))
			w.pyLiteral(&m, sql)
			m.write(w.eol + fmt.Sprintf("cur.executemany(q%d)", i))
		} else {
			m.write("é.executemany(")
			w.pyLiteral(&m, sql)
			m.write(", [])")
		}
		m.write(w.one("", "  # "+w.line()) + w.eol)
	}
	m.write("x = 1")
	return m
}

func (w *writer) pyLiteral(m *marked, sql marked) {
	var quote string
	var raw, formatted bool
	begin := func() string {
		quote = w.one(`'`, `"`)
		raw = w.form == "raw"
		if w.form == "triple" || raw {
			quote = w.one(`'''`, `"""`)
		}
		if raw { // quotes cannot be escaped; the text has no run of three of them
			quote = `"""`
		}
		formatted = w.form == "formatted"
		switch {
		case raw:
			return w.one("r", "R") + quote
		case formatted:
			return w.one("f", "F") + quote
		default:
			return w.one("", "", "u") + quote
		}
	}
	m.write(begin())
	long := func() bool { return len(quote) == 3 }
	m.encode(sql, func(_ int, r rune) (string, string) {
		before := ""
		if !raw && w.IntN(40) == 0 {
			before = `\` + w.eol // the line continues
		}
		if w.form == "joined" && w.IntN(12) == 0 {
			open := quote
			before += open + w.one(" ", w.lines("\n    "), w.lines("  # é '\n\t"), " + ", w.lines(" +\n  ")) + begin()
		}
		switch {
		case r == hole:
			return before, w.one("{é}", "{x['a']}", "{x!r:>10}", "{f(1, {})}")
		case formatted && (r == '{' || r == '}'):
			return before, string(r) + string(r)
		case r == '\n' && long():
			return before, w.eol
		case raw:
			return before, string(r)
		case r == '\n':
			return before, w.one(`\n`, `\x0a`, `\012`, `\u000a`)
		case r == '\\' || strings.ContainsRune(quote, r):
			return before, `\` + string(r)
		case r == '\'' || r == '"':
			return before, w.one("", `\`) + string(r)
		case w.IntN(5) > 0:
			return before, string(r)
		case r < 0x100:
			return before, fmt.Sprintf(w.one(`\x%02x`, `\u%04x`, `\U%08x`, `\%03o`), r)
		case r < 0x10000:
			return before, fmt.Sprintf(w.one(`\u%04x`, `\U%08X`), r)
		default:
			return before, fmt.Sprintf(`\U%08x`, r)
		}
	})
	if raw {
		m.write(" ") // it may end with a quote
	}
	m.write(quote)
}

// javaScript returns a source file in JavaScript or TypeScript.
func (w *writer) javaScript() marked {
	var m marked
	m.write("// " + w.line() + w.eol)
	for i := range 1 + w.IntN(3) {
		sql := w.sql(w.form == "template" || w.form == "joined")
		m.write(w.lines(w.one("", "\t", "/* "+w.line()+"\n*/ ", "const r = /['\"`]/;\n")))
		if w.form == "constant" {
			m.write(fmt.Sprintf("const q%d = ", i))
			w.jsLiteral(&m, sql)
			m.write(w.lines(";\n") + fmt.Sprintf("await db.$queryRawUnsafe(q%d);", i))
		} else {
			m.write("await é.$executeRawUnsafe(")
			w.jsLiteral(&m, sql)
			m.write(");")
		}
		m.write(w.one("", " // "+w.line()) + w.eol)
	}
	m.write("let x = 1")
	return m
}

func (w *writer) jsLiteral(m *marked, sql marked) {
	var quote string
	begin := func() string {
		quote = w.one(`'`, `"`, "`")
		switch w.form {
		case "template":
			quote = "`"
		case "quoted":
			quote = w.one(`'`, `"`)
		}
		return quote
	}
	m.write(begin())
	behind := "" // a hole before the next character
	m.encode(sql, func(_ int, r rune) (string, string) {
		before := behind
		behind = ""
		if w.IntN(40) == 0 {
			before += `\` + w.eol
		}
		if w.form == "joined" && w.IntN(12) == 0 {
			open := quote
			before += open + w.one("+", " + ", w.lines(" +\n  ")) + begin()
		}
		switch {
		case r == hole && quote == "`":
			return before, w.one("${é}", "${f({a: `}`})}", "${x['}']}")
		case r == hole:
			open := quote
			behind = " + " + begin()
			return before + open + " + ", "é"
		case r == '\n' && quote == "`":
			return before, w.one(w.eol, `\n`)
		case r == '\n':
			return before, w.one(`\n`, `\x0a`, `\u000a`, `\u{a}`)
		case r == '\\' || string(r) == quote || r == '$':
			return before, `\` + string(r)
		case w.IntN(5) > 0:
			return before, string(r)
		case r < 0x100:
			return before, fmt.Sprintf(w.one(`\x%02x`, `\u%04x`, `\u{%x}`), r)
		case r < 0x10000:
			return before, fmt.Sprintf(w.one(`\u%04x`, `\u{%X}`), r)
		case w.IntN(2) == 0:
			return before, fmt.Sprintf(`\u{%x}`, r)
		default:
			return before, fmt.Sprintf(`\u%04x\u%04X`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		}
	})
	m.write(behind + quote)
}

// notebook returns a Jupyter notebook: cells of Python and of SQL, as one
// string or as a list of lines.
func (w *writer) notebook() marked {
	var m marked
	m.write(w.lines("{\n \"cells\": [\n  {\"cell_type\": \"markdown\", \"source\": [\"%%sql\\n\", \"DROP TABLE t\"]}"))
	cell := *w // its lines end with LF, and its literals may have any form
	cell.eol = "\n"
	for range 1 + w.IntN(3) {
		var text marked
		switch w.IntN(3) {
		case 0:
			text.write("%%sql" + w.one("", " sqlite:///é.db") + "\n")
			text.add(w.cellSQL())
		case 1:
			text.write("x = 1\n%sql ")
			text.add(w.lineSQL())
			text.write("\ny = 2")
		default:
			cell.form = w.one("single", "triple", "raw", "formatted", "joined", "constant")
			text = cell.python()
			w.rename(&text)
		}
		m.write(w.lines(",\n  {\"cell_type\": \"code\", \"outputs\": [], \"source\": "))
		m.write(map[bool]string{true: "[\"", false: "\""}[w.form == "lines"])
		split := false
		m.encode(text, func(_ int, r rune) (string, string) {
			before := ""
			if split {
				before, split = w.lines("\",\n   \""), false
			}
			if r == '\n' {
				split = w.form == "lines"
				return before, w.one(`\n`, `\n`, `\u000a`)
			}
			switch {
			case r == '"' || r == '\\':
				return before, `\` + string(r)
			case r == '\t':
				return before, w.one(`\t`, `\u0009`)
			case r == '/':
				return before, w.one("/", `\/`)
			case r < 0x20 || w.IntN(3) == 0 && r < 0x10000:
				return before, fmt.Sprintf(w.one(`\u%04x`, `\u%04X`), r)
			case r >= 0x10000 && w.IntN(2) == 0:
				return before, fmt.Sprintf(`\u%04x\u%04X`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
			default:
				return before, string(r)
			}
		})
		m.write(map[bool]string{true: "\"]}", false: "\"}"}[w.form == "lines"])
	}
	m.write(w.lines("\n ],\n \"metadata\": {\"é\": \"😀\"}\n}"))
	return m
}

// rename adds a suffix to the names of a cell's texts. The cells of a notebook
// are one program, in which a name has one text.
func (w *writer) rename(text *marked) {
	var out marked
	ending := fmt.Sprint("_", w.Uint32())
	source := text.text
	out.encode(*text, func(i int, r rune) (string, string) {
		if r >= '0' && r <= '2' && i > 0 && source[i-1] == 'q' && (i < 2 || strings.ContainsRune("\n\t(", source[i-2])) {
			return "", string(r) + ending
		}
		return "", string(r)
	})
	*text = out
}

// cellSQL returns SQL for a cell. In such SQL, names in braces are replaced.
func (w *writer) cellSQL() marked {
	sql := w.sql(true)
	var out marked
	out.encode(sql, func(_ int, r rune) (string, string) {
		switch r {
		case hole:
			return "", w.one("{x}", "{{ é }}")
		case '{', '}':
			return "", "("
		default:
			return "", string(r)
		}
	})
	return out
}

// lineSQL returns SQL on one line, continued with backslashes.
func (w *writer) lineSQL() marked {
	var sql marked
	for sql = w.sql(false); strings.Contains(string(sql.text), "--"); {
		sql = w.sql(false)
	}
	var out marked
	out.encode(sql, func(_ int, r rune) (string, string) {
		switch r {
		case '\n':
			return "", " \\\n"
		case '{', '}', '$':
			return "", "("
		default:
			return "", string(r)
		}
	})
	return out
}
