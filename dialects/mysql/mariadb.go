package mysql

import (
	"slices"

	"github.com/ktxhq/ktx/sqlguard"
)

// change is a difference between the text that a parser gets and the text that
// the server gets. It replaces syntax of the server that the parsers do not know.
type change struct {
	edits []edit // in the order of the text
	// met are the items that the parser does not see. They are words of that syntax and
	// literals, and nothing else.
	met []int
}

// edit replaces a part of a statement, which may be empty.
type edit struct {
	from, to int
	text     string
}

// insert puts text before an item.
func (c *change) insert(l *ledger, i int, text string) {
	c.edits = append(c.edits, edit{l.items[i].Start, l.items[i].Start, text})
}

// replace replaces the items from … to-1 by text.
func (c *change) replace(l *ledger, from, to int, text string) {
	c.edits = append(c.edits, edit{l.items[from].Start, l.items[to-1].End, " " + text + " "})
	for i := from; i < to; i++ {
		if l.items[i].class != classMark {
			c.met = append(c.met, i)
		}
	}
}

// mariadbSyntax finds syntax of MariaDB that neither parser knows, and syntax
// that they know to replace it. It removes only fixed words and literals: a
// server that does not know them at this position does not run the text.
// Expressions inside of the syntax stay, so that the walk meets them (Knowledge
// Base: Table Value Constructors, LIMIT, LIMIT ROWS EXAMINED, SELECT … OFFSET …
// FETCH, GROUP_CONCAT, CAST, System-Versioned Tables, COLUMN_GET, MEDIAN,
// PERCENTILE_CONT, CYCLE in WITH).
func (l *ledger) mariadbSyntax() change {
	var c change
	var open []int // the brackets around an item
	for i := 0; i < len(l.items); i++ {
		switch l.kind(i) { //nolint:exhaustive // others open nothing
		case sqlguard.TokenOpen:
			open = append(open, i)
			continue
		case sqlguard.TokenClose:
			open = open[:max(len(open)-1, 0)]
			continue
		case sqlguard.TokenWord:
		default:
			continue
		}
		if l.kind(i-1) == sqlguard.TokenDot || l.kind(i+1) == sqlguard.TokenDot {
			continue
		}
		around := -1 // the word before the bracket around the item
		if len(open) > 0 {
			around = open[len(open)-1] - 1
		}
		end := i
		switch {
		case l.word(i, "values"):
			l.rows(&c, i)
		case l.word(i, "rows") && l.word(i+1, "examined") && l.isNumber(i+2) && (l.word(i-1, "limit") || l.isNumber(i-1)):
			if end = i + 3; l.word(i-1, "limit") {
				i--
			}
			c.replace(l, i, end, "")
		case l.word(i, "offset") && l.isNumber(i+1) && (l.word(i+2, "row") || l.word(i+2, "rows")) && !l.word(i+3, "examined"):
			end = i + 3
			c.replace(l, i, end, "")
		case l.word(i, "with") && l.word(i+1, "ties") && (l.word(i-1, "row") || l.word(i-1, "rows")):
			end = i + 2
			c.replace(l, i, end, "ONLY")
		case l.word(i, "limit") && l.word(around, "group_concat") && l.isNumber(i+1):
			end = i + 2
			if (l.kind(end) == sqlguard.TokenComma || l.word(end, "offset")) && l.isNumber(end+1) {
				end += 2
			}
			if l.kind(end) == sqlguard.TokenClose {
				c.replace(l, i, end, "")
			} else {
				end = i
			}
		case l.word(around, "cast") && l.word(i-1, "as"):
			switch {
			case (l.word(i, "int") || l.word(i, "integer")) && l.kind(i+1) == sqlguard.TokenClose:
				c.spell(l, i, "SIGNED")
			case l.word(i, "varchar") && l.kind(i+1) == sqlguard.TokenOpen,
				(l.word(i, "inet6") || l.word(i, "inet4") || l.word(i, "uuid")) && l.kind(i+1) == sqlguard.TokenClose:
				c.spell(l, i, "CHAR")
			}
		case l.word(i, "as") && (l.word(around, "column_get") || l.word(around, "column_create") || l.word(around, "column_add")):
			if end = l.columnType(i + 1); end > 0 {
				c.replace(l, i, end, "")
			} else {
				end = i
			}
		case l.word(i, "median") && l.kind(i+1) == sqlguard.TokenOpen && l.word(l.closing(i+1)+1, "over"):
			c.spell(l, i, overRowsOfWindow)
		case l.word(i, "percentile_cont") || l.word(i, "percentile_disc"):
			if last := l.percentile(&c, i); last > 0 {
				open = append(open, last-2)
				end = last + 1
			}
		case l.word(i, "cycle") && l.kind(i-1) == sqlguard.TokenClose:
			if end = l.cycle(i + 1); end > 0 {
				c.replace(l, i, end, "")
			} else {
				end = i
			}
		case l.word(i, "for") && l.word(i+1, "system_time") && i > 0 && l.items[i-1].class&className != 0:
			if end = l.period(i + 2); end > 0 {
				c.replace(l, i, end, "")
			} else {
				end = i
			}
		}
		i = max(i, end-1)
	}
	return c
}

// overRowsOfWindow is a function of both parsers that takes one argument and a window. It
// stands for those of MariaDB; its synonyms are their names.
const overRowsOfWindow = "AVG"

// percentile finds PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x DESC) OVER, of which the
// parser gets AVG(x) OVER. It returns the item BY, or 0 when it is something else.
func (l *ledger) percentile(c *change, i int) int {
	if l.kind(i+1) != sqlguard.TokenOpen || !l.isNumber(i+2) || l.kind(i+3) != sqlguard.TokenClose || !l.word(i+4, "within") || !l.word(i+5, "group") ||
		l.kind(i+6) != sqlguard.TokenOpen || !l.word(i+7, "order") || !l.word(i+8, "by") {
		return 0
	}
	end := l.closing(i + 6)
	if end < 0 || !l.word(end+1, "over") {
		return 0
	}
	c.spell(l, i, overRowsOfWindow)
	c.replace(l, i+2, i+9, "")
	if l.word(end-1, "asc") || l.word(end-1, "desc") {
		c.replace(l, end-1, end, "")
	}
	return i + 8
}

// cycle returns the end of the names after CYCLE and of RESTRICT, or 0.
func (l *ledger) cycle(i int) int {
	for i < len(l.items) && l.items[i].class&className != 0 {
		switch {
		case l.word(i+1, "restrict"):
			return i + 2
		case l.kind(i+1) != sqlguard.TokenComma:
			return 0
		}
		i += 2
	}
	return 0
}

// columnTypes are the types of dynamic columns.
var columnTypes = []string{"binary", "char", "date", "datetime", "decimal", "double", "int", "integer", "signed", "unsigned", "time"}

// columnType returns the end of the type of a dynamic column, or 0.
func (l *ledger) columnType(i int) int {
	if !slices.ContainsFunc(columnTypes, func(name string) bool { return l.word(i, name) }) {
		return 0
	}
	sign := l.word(i, "signed") || l.word(i, "unsigned")
	if i++; sign && (l.word(i, "int") || l.word(i, "integer")) {
		i++
	}
	if l.kind(i) == sqlguard.TokenOpen && l.isNumber(i+1) {
		if i += 2; l.kind(i) == sqlguard.TokenComma && l.isNumber(i+1) {
			i += 2
		}
		if l.kind(i) != sqlguard.TokenClose {
			return 0
		}
		i++
	}
	if l.kind(i) != sqlguard.TokenClose && l.kind(i) != sqlguard.TokenComma {
		return 0
	}
	return i
}

// mysqlSyntax finds syntax of MySQL that neither parser knows: CAST(x AT TIME ZONE
// '+00:00' AS DATETIME) (Reference Manual: Cast Functions and Operators).
func (l *ledger) mysqlSyntax() change {
	var c change
	for i := range l.items {
		if !l.word(i, "at") || !l.word(i+1, "time") || !l.word(i+2, "zone") {
			continue
		}
		end := i + 3
		if l.word(end, "interval") {
			end++
		}
		if end+2 < len(l.items) && l.items[end].class == classString && l.word(end+1, "as") && l.word(end+2, "datetime") {
			c.replace(l, i, end+1, "")
		}
	}
	return c
}

// spell replaces an item that the walk meets by another word for the parser.
func (c *change) spell(l *ledger, i int, word string) {
	c.edits = append(c.edits, edit{l.items[i].Start, l.items[i].End, word})
}

// rows writes ROW before each row after VALUES, when VALUES is in the position of
// a query.
func (l *ledger) rows(c *change, i int) {
	query := i == 0 || l.kind(i-1) == sqlguard.TokenOpen
	for _, word := range [...]string{"union", "all", "distinct", "except", "intersect"} {
		query = query || l.word(i-1, word)
	}
	for at := i + 1; query && l.kind(at) == sqlguard.TokenOpen; {
		c.insert(l, at, " ROW")
		if at = l.closing(at); at < 0 || l.kind(at+1) != sqlguard.TokenComma {
			return
		}
		at += 2
	}
}

// period returns the end of the period after FOR SYSTEM_TIME. It returns 0 unless the
// period consists of literals and the current time.
func (l *ledger) period(i int) int {
	pair := func(first, second string) int {
		if !l.word(i, first) {
			return 0
		}
		at := l.moment(i + 1)
		if at == 0 || !l.word(at, second) {
			return 0
		}
		return l.moment(at + 1)
	}
	switch {
	case l.word(i, "all"):
		return i + 1
	case l.word(i, "as") && l.word(i+1, "of"):
		return l.moment(i + 2)
	default:
		return max(pair("between", "and"), pair("from", "to"))
	}
}

// moment returns the end of a point in time, or 0 when there is none.
func (l *ledger) moment(i int) int {
	if l.word(i, "timestamp") || l.word(i, "transaction") {
		i++
	}
	switch {
	case i >= len(l.items):
		return 0
	case l.items[i].class == classNumber:
		return i + 1
	case l.items[i].class == classString && (i+1 >= len(l.items) || l.items[i+1].class != classJoined):
		return i + 1
	case l.word(i, "now") || l.word(i, "current_timestamp"):
		if l.kind(i+1) == sqlguard.TokenOpen && l.kind(i+2) == sqlguard.TokenClose && l.items[i+1].Start == l.items[i].End {
			return i + 3
		}
		if l.word(i, "current_timestamp") && l.kind(i+1) != sqlguard.TokenOpen {
			return i + 1
		}
	}
	return 0
}

func (l *ledger) isNumber(i int) bool {
	return i >= 0 && i < len(l.items) && l.items[i].class == classNumber
}

// closing returns the item that closes the bracket at i, -1 when nothing does.
func (l *ledger) closing(i int) int {
	depth := 0
	for ; i < len(l.items); i++ {
		switch l.kind(i) { //nolint:exhaustive // the others stand in the bracket
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// joined are the edits of two changes, in the order of the text.
func joined(a, b []edit) []edit {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y edit) int { return x.from - y.from })
	return all
}
