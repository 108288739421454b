package emit

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// str writes a string literal that means s in every session.
func (w *writer) str(s string) {
	if !w.ok() {
		return
	}
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		w.fail(expr.UnsafeExpression, "write the text without it", "the text %q contains a NUL character or is not valid UTF-8", s)
		return
	}
	switch w.dialect {
	case Postgres:
		if strings.IndexByte(s, '\\') >= 0 { // whatever standard_conforming_strings is
			w.text("E")
			w.doubled(s, "\\")
			return
		}
	case MySQL:
		if strings.IndexByte(s, '\\') >= 0 { // whatever NO_BACKSLASH_ESCAPES is
			const digits = "0123456789ABCDEF"
			w.text("_utf8mb4 X'")
			for i := range len(s) {
				w.b = append(w.b, digits[s[i]>>4], digits[s[i]&15])
			}
			w.text("'")
			return
		}
	case SQLServer:
		w.nationalString(s)
		return
	case ClickHouse:
		w.doubled(s, "\\")
		return
	case BigQuery:
		w.bigString(s)
		return
	case SQLite, DuckDB:
	}
	w.doubled(s, "")
}

// doubled writes a literal in which quotes, and the further character, are doubled.
func (w *writer) doubled(s, further string) {
	w.b = append(w.b, '\'')
	for i := range len(s) {
		if s[i] == '\'' || further != "" && s[i] == further[0] {
			w.b = append(w.b, s[i])
		}
		w.b = append(w.b, s[i])
	}
	w.b = append(w.b, '\'')
}

// nationalString writes a literal of SQL Server, which drops a backslash and the line
// break after it from a literal. Such a text is written in two pieces.
func (w *writer) nationalString(s string) {
	pieces := 0
	for begin, i := 0, 0; i <= len(s); i++ {
		last := i == len(s)
		if !last && (s[i] != '\\' || i+1 == len(s) || s[i+1] != '\n' && s[i+1] != '\r') {
			continue
		}
		end := min(i+1, len(s))
		switch {
		case pieces > 0:
			w.text(" + ")
		case !last:
			w.text("(")
		}
		w.text("N")
		w.doubled(s[begin:end], "")
		pieces++
		begin = end
		if last && pieces > 1 {
			w.text(")")
		}
	}
}

// digits writes a number as it stands in its text.
func (w *writer) digits(s string) {
	if !isNumber(s) {
		w.broken("%q is no number", s)
		return
	}
	w.text(s)
}

// isNumber reports whether s is an unsigned decimal number.
func isNumber(s string) bool {
	i := 0
	run := func() bool {
		begin := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > begin
	}
	whole, fraction := run(), false
	if i < len(s) && s[i] == '.' {
		i++
		fraction = run()
	}
	if !whole && !fraction {
		return false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !run() {
			return false
		}
	}
	return i == len(s)
}

// moment is a date or timestamp of a literal.
type moment struct {
	text string // YYYY-MM-DD, or YYYY-MM-DD HH:MM:SS with up to six digits of fractions
	date bool
}

// forms are the forms in which a literal may give a time.
var forms = [...]string{"2006-01-02", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04"}

// parseMoment reads a date or timestamp.
func parseMoment(s string) (moment, bool) {
	const longest = len("2006-01-02 15:04:05.999999")
	if len(s) > longest || len(s) > 10 && s[10] != ' ' && s[10] != 'T' || strings.IndexByte(s, ',') >= 0 {
		return moment{}, false
	}
	for i, form := range forms {
		t, err := time.Parse(form, s)
		if err != nil || t.Year() < 1 {
			continue
		}
		if i == 0 {
			return moment{s, true}, true
		}
		return moment{t.Format("2006-01-02 15:04:05.999999"), false}, true
	}
	return moment{}, false
}

// time writes a literal of the engine's type of dates or timestamps.
func (w *writer) time(m moment) {
	switch {
	case w.dialect == SQLite:
		w.doubled(m.text, "")
	case w.dialect == SQLServer && m.date:
		w.text("CAST('", m.text, "' AS date)")
	case w.dialect == SQLServer:
		w.text("CAST('", m.text[:10], "T", m.text[11:], "' AS datetime2)")
	case w.dialect == ClickHouse:
		w.instantOf(m, "", "")
	case m.date:
		w.text("DATE '", m.text, "'")
	case w.dialect == BigQuery:
		w.text("DATETIME '", m.text, "'")
	default:
		w.text("TIMESTAMP '", m.text, "'")
	}
}

// momentOf returns the moment of a literal, and false if e is none or has no such form.
func momentOf(e *expr.Expr) (moment, bool) {
	if e.Op == expr.OpDate || e.Op == expr.OpTimestamp || e.Op == expr.OpString {
		return parseMoment(e.Text)
	}
	return moment{}, false
}
