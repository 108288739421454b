package emit

import (
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// like writes LIKE without an escape character, so that a backslash is a character.
func (w *writer) like(e *expr.Expr, top bool) {
	w.open(top)
	w.asText(e.Args[0], false)
	w.not(e)
	pattern := e.Args[1]
	if w.dialect == SQLite {
		// LIKE of SQLite does not regard the case of ASCII letters, GLOB does.
		w.text(" GLOB ")
		w.glob(pattern)
		w.close(top)
		return
	}
	w.text(" LIKE ")
	if w.dialect == ClickHouse || w.dialect == BigQuery { // they have no ESCAPE, and a backslash always escapes
		w.unescaped(pattern)
		w.close(top)
		return
	}
	if w.dialect == DuckDB { // it has no escape character unless one is named
		w.asText(pattern, false)
		w.close(top)
		return
	}
	if pattern.Op == expr.OpString {
		// | becomes the escape character where one is needed. It then stands twice
		// where it means itself.
		s := pattern.Text
		if strings.IndexByte(s, w.special()) < 0 {
			w.str(s)
			w.close(top)
			return
		}
		s = strings.ReplaceAll(s, "|", "||")
		if w.dialect == SQLServer {
			s = strings.ReplaceAll(s, "[", "|[")
		}
		w.str(s)
	} else {
		if w.dialect == SQLServer {
			w.text("REPLACE(")
		}
		w.text("REPLACE(")
		w.asText(pattern, true)
		w.text(", '|', '||')")
		if w.dialect == SQLServer {
			w.text(", '[', '|[')")
		}
	}
	w.text(" ESCAPE '|'")
	w.close(top)
}

// unescaped writes a pattern of ClickHouse or BigQuery in which a backslash is a character.
func (w *writer) unescaped(pattern *expr.Expr) {
	if pattern.Op == expr.OpString {
		w.str(strings.ReplaceAll(pattern.Text, `\`, `\\`))
		return
	}
	w.text("REPLACE(")
	w.asText(pattern, true)
	w.text(", ")
	w.str(`\`)
	w.text(", ")
	w.str(`\\`)
	w.text(")")
}

// special is the character that means more than itself in a pattern without ESCAPE.
func (w *writer) special() byte {
	if w.dialect == SQLServer {
		return '['
	}
	return '\\'
}

// globs are the replacements that make a pattern of GLOB from one of LIKE.
var globs = [...][2]string{{"[", "[[]"}, {"*", "[*]"}, {"?", "[?]"}, {"%", "*"}, {"_", "?"}}

func (w *writer) glob(pattern *expr.Expr) {
	if pattern.Op == expr.OpString {
		s := pattern.Text
		for _, r := range globs {
			s = strings.ReplaceAll(s, r[0], r[1])
		}
		w.str(s)
		return
	}
	for range globs {
		w.text("REPLACE(")
	}
	w.asText(pattern, true)
	for _, r := range globs {
		w.text(", '", r[0], "', '", r[1], "')")
	}
}
