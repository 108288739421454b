package emit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// writer holds the text so far. After the first error it writes nothing.
type writer struct {
	b       []byte
	dialect Dialect
	plan    *plan.Plan
	err     *expr.Error
	indent  int
	depth   int // of value and predicate, against circular columns

	aliases []int        // of nodes in the leg being written: the number of t, plus 1; 0: not in it
	partner []expr.Field // by node: a column of it that is NULL only if a left join found no row; of another node if it needs none
	self    int          // the node that Self stands for
	outer   bool         // writing over the aggregates, where division is exact

	results []string // on BigQuery: the names of the result's columns

	read    map[expr.Field]bool // on ClickHouse: the columns that the leg being written reads
	doubles map[*expr.Expr]bool // on DuckDB: what is known to be a double
}

// fail keeps the first error.
func (w *writer) fail(class expr.Class, hint, format string, args ...any) {
	if w.err == nil {
		w.err = &expr.Error{Class: class, Message: fmt.Sprintf(format, args...), Hint: hint, Pos: -1}
	}
}

// broken is for plans that no planner makes.
func (w *writer) broken(format string, args ...any) {
	w.fail(expr.InvalidRequest, "", "the plan is broken: "+format, args...)
}

// ok reports whether to go on writing.
func (w *writer) ok() bool {
	if w.err == nil && len(w.b) > maxText {
		w.fail(expr.InvalidRequest, "ask for fewer measures at once", "the SQL of this request would be longer than %d KiB", maxText>>10)
	}
	return w.err == nil
}

func (w *writer) text(parts ...string) {
	if !w.ok() {
		return
	}
	for _, p := range parts {
		w.b = append(w.b, p...)
	}
}

func (w *writer) number(n int) { w.b = strconv.AppendInt(w.b, int64(n), 10) }

// column writes an internal column, as q.d0.
func (w *writer) column(table, prefix string, i int) {
	w.text(table, ".", prefix)
	w.number(i)
}

const spaces = "                                "

// line begins a line.
func (w *writer) line() { w.text("\n", spaces[:min(2*w.indent, len(spaces))]) }

// item begins an item of a list of one item a line.
func (w *writer) item(first *bool) {
	if !*first {
		w.text(",")
	}
	*first = false
	w.line()
}

// name writes a quoted identifier.
func (w *writer) name(s string) {
	if !w.ok() {
		return
	}
	if s == "" {
		w.broken("an identifier is empty")
		return
	}
	opening, closing := byte('"'), byte('"')
	switch w.dialect {
	case MySQL:
		opening, closing = '`', '`'
	case BigQuery:
		opening, closing = '`', '`'
		if !bigNamed(s) {
			w.fail(expr.UnsupportedInDialect, "rename it", "the name %q has a character that no name of BigQuery has", s)
			return
		}
	case SQLServer:
		opening, closing = '[', ']'
	case Postgres, SQLite, ClickHouse, DuckDB:
	}
	w.b = append(w.b, opening)
	if strings.IndexByte(s, 0) < 0 && strings.IndexByte(s, closing) < 0 && w.dialect != ClickHouse {
		w.b = append(append(w.b, s...), closing)
		return
	}
	for i := range len(s) {
		c := s[i]
		if c == 0 {
			w.fail(expr.UnsafeExpression, "rename it in the database", "the name %q contains a NUL character", s)
			return
		}
		if c == closing || c == '\\' && w.dialect == ClickHouse {
			w.b = append(w.b, c)
		}
		w.b = append(w.b, c)
	}
	w.b = append(w.b, closing)
}

// databaseName writes the name of a table or column. A name that PostgreSQL would cut
// could be taken for another one.
func (w *writer) databaseName(s string) {
	const longest = 63 // NAMEDATALEN - 1
	if w.dialect == Postgres && len(s) > longest {
		w.fail(expr.UnsupportedInDialect, "correct the name in the source's file", "PostgreSQL has no name of more than %d bytes: %q", longest, s)
		return
	}
	w.name(s)
}
