package sqlitedb

import (
	"encoding/json"
	"fmt"
	"strings"
)

// textGenerated returns the name, the definition and the columns of each table. The
// second value of a column is 2 or 3 when it is generated (PRAGMA table_xinfo).
const textGenerated = "SELECT json_array(m.name, m.sql, json((SELECT json_group_array(json_array(x.name, x.hidden)) FROM pragma_table_xinfo(m.name) AS x))) FROM sqlite_schema AS m WHERE m.type = 'table' AND m.rootpage > 0"

// readDerived finds the columns that are generated from denied columns, also over
// several steps. The engine does not ask for the columns in the expression of a
// generated column when a statement reads it.
func (s *session) readDerived(relations []relation) error {
	a := s.access
	a.derived = map[string][]string{}
	denies := false
	for _, r := range relations {
		denies = denies || r.kind == "table" && len(a.rules.DeniedColumns("main", r.name)) > 0
	}
	if !denies {
		return nil
	}
	rows, err := s.askOwn(textGenerated)
	if err != nil {
		return err
	}
	for _, row := range rows {
		var (
			name, text string
			columns    [][2]any
		)
		if err := json.Unmarshal([]byte(row), &[]any{&name, &text, &columns}); err != nil {
			return fmt.Errorf("a name of the schema: %w", err)
		}
		denied := a.rules.DeniedColumns("main", name)
		if len(denied) == 0 {
			continue
		}
		pieces := definitions(text)
		generated := map[string]string{} // the definition of each generated column
		for _, c := range columns {
			column, _ := c[0].(string)
			if hidden, _ := c[1].(float64); hidden != 2 && hidden != 3 {
				continue
			}
			generated[column] = definitionOf(pieces, column, text)
		}
		known := map[string]bool{}
		for from := 0; from < len(denied); from++ {
			for column, definition := range generated {
				if !known[column] && mayName(definition, denied[from]) {
					known[column] = true
					denied = append(denied, column)
					a.derived[lowerName(name)] = append(a.derived[lowerName(name)], column)
				}
			}
		}
	}
	return nil
}

// deniedColumns returns the columns of a relation that a rule denies, and those generated
// from them.
func (a *access) deniedColumns(name string) []string {
	return append(a.rules.DeniedColumns("main", name), a.derived[lowerName(name)]...)
}

// definitionOf returns the piece of a table's definition that defines a column, or the
// whole definition when no piece or several pieces may do so.
func definitionOf(pieces []string, column, text string) string {
	found := ""
	for _, piece := range pieces {
		rest, ok := strings.CutPrefix(strings.TrimLeft(unquoted(piece), "\x00 \t\n\f\r"), unquoted(column))
		if !ok || rest != "" && strings.IndexByte("\x00 \t\n\f\r(/-", rest[0]) < 0 {
			continue
		}
		if found != "" {
			return text
		}
		found = piece
	}
	if found == "" {
		return text
	}
	return found
}

// definitions returns the parts between the outer brackets of a CREATE TABLE, as its
// commas separate them. Commas in quotes, comments and inner brackets separate nothing.
func definitions(text string) []string {
	var pieces []string
	depth, start := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'', '"', '`':
			i = after(text, i+1, string(c))
		case '[':
			i = after(text, i+1, "]")
		case '-':
			if strings.HasPrefix(text[i:], "--") {
				i = after(text, i+2, "\n")
			}
		case '/':
			if strings.HasPrefix(text[i:], "/*") {
				i = after(text, i+2, "*/")
			}
		case '(':
			if depth++; depth == 1 {
				start = i + 1
			}
		case ')':
			if depth--; depth == 0 {
				return append(pieces, text[start:i])
			}
		case ',':
			if depth == 1 {
				pieces, start = append(pieces, text[start:i]), i+1
			}
		}
	}
	return nil // not the form of CREATE TABLE: nothing is known
}

// after returns the offset of the last byte of end in text from an offset on, or of the
// end of the text. A doubled quote reads as two strings side by side.
func after(text string, from int, end string) int {
	at := strings.Index(text[min(from, len(text)):], end)
	if at < 0 {
		return len(text)
	}
	return from + at + len(end) - 1
}
