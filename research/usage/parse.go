package usage

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// placeholders are what stands for a literal when a normal form is parsed again.
// A string is valid where most literals are. MySQL and SQL Server want a number
// after LIMIT, OFFSET and TOP.
var placeholders = []string{"'0'", "0"}

// parse parses a statement or its normal form. It returns the text that it parsed.
func parse(d sqlguard.Dialect, sql string) (text string, statements []sqlguard.Statement, ok bool) {
	if list, err := d.Analyze(sql); err == nil && readsOnly(list) {
		return sql, list, true
	}
	for _, literal := range placeholders {
		filled := fill(d, sql, literal)
		if list, err := d.Analyze(filled); err == nil && readsOnly(list) {
			return filled, list, true
		}
	}
	// A statement may need both: a number after the words that take a count.
	mixed := fillCounts(d, sql)
	if list, err := d.Analyze(mixed); err == nil && readsOnly(list) {
		return mixed, list, true
	}
	return "", nil, false
}

// readsOnly reports whether every statement was understood as a read. The dialect
// states no relations for others.
func readsOnly(list []sqlguard.Statement) bool {
	for i := range list {
		if list[i].Verb == "" {
			return false
		}
	}
	return len(list) > 0
}

// fill replaces every ? that stands alone by a literal. Operators that contain ?
// have other tokens beside it in the text, and a statement with one may then not
// parse; it is counted as unread.
func fill(d sqlguard.Dialect, sql, literal string) string {
	return replaceMarks(d, sql, func(string) string { return literal })
}

// fillCounts replaces ? by a number after LIMIT, OFFSET, TOP, FETCH FIRST and
// FETCH NEXT, and by a string elsewhere.
func fillCounts(d sqlguard.Dialect, sql string) string {
	return replaceMarks(d, sql, func(before string) string {
		switch before {
		case "limit", "offset", "top", "first", "next", "(", ",", "-", "+", "*", "/", "percentile", "interval":
			return "0"
		default:
			return "'0'"
		}
	})
}

// replaceMarks replaces each mark of a literal by what literal returns for the
// token before it. It joins a word and the parenthesis after it, which the normal
// form separates: MySQL reads "sum (x)" as a call of a user's own function.
func replaceMarks(d sqlguard.Dialect, sql string, literal func(before string) string) string {
	var b strings.Builder
	last, before := 0, sqlguard.Token{}
	for _, t := range d.Lex(sql).List {
		switch {
		case t.Text(sql) == "?":
			b.WriteString(sql[last:t.Start])
			b.WriteString(literal(before.Text(sql)))
			last = t.End
		case t.Kind == sqlguard.TokenOpen && before.Kind == sqlguard.TokenWord:
			b.WriteString(sql[last:before.End])
			last = t.Start
		}
		before = t
	}
	b.WriteString(sql[last:])
	return b.String()
}
