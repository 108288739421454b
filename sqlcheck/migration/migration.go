package migration

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Options are what the statements of a file do not say themselves.
type Options struct {
	// Transaction says that the tool runs each file in one transaction.
	Transaction bool
	// Reads, if set, returns the places in the tree that still name a table or a
	// column that a statement drops or renames, such as "app/orders.py:12".
	Reads func(name string) []string
	// Text is the whole file. A view or a routine that a statement drops and a later one
	// makes again is not gone.
	Text string
}

// Supports reports whether the package has rules for a dialect.
func Supports(dialect string) bool {
	return dialect == postgres || dialect == mysql || dialect == sqlserver
}

const (
	postgres  = "postgres"
	mysql     = "mysql"
	sqlserver = "sqlserver"
)

// Reader judges the statements of one file, in their order.
type Reader struct {
	dialect sqlguard.Dialect
	options Options
	sql     string
	found   []sqlguard.Finding

	created   map[string]bool // tables of this file, which are empty
	indexes   map[string]bool // indexes on them
	asked     demand          // what an ALTER TABLE of MySQL asks for
	limited   bool            // a limit for waits is set
	open      bool            // a transaction is open
	locked    []string        // the tables that the open transaction has locked
	told      bool            // the transaction's locks were reported
	enumAdded []string        // values that the open transaction added to enums
	unchecked []string        // table.constraint that the open transaction added as NOT VALID
	checked   map[string]bool // table.column that a constraint keeps from being NULL
	pending   map[string][]string
	coming    map[string]int    // views and routines by name: how many later statements make one
	back      bool              // the statements take the migration back
	keys      map[string]string // the tables that the file's foreign keys reference, by name
}

// NewReader returns a reader for one file of a dialect that [Supports] knows.
func NewReader(dialect sqlguard.Dialect, o Options) *Reader {
	o.Transaction = o.Transaction && dialect.Name() != mysql // its DDL commits
	r := &Reader{
		dialect: dialect, options: o, open: o.Transaction,
		created: map[string]bool{}, indexes: map[string]bool{}, checked: map[string]bool{}, pending: map[string][]string{}, coming: map[string]int{},
	}
	for _, name := range makes(o.Text) {
		r.coming[name]++
	}
	return r
}

// TakesBack says whether the next statements take the migration back, in a transaction of
// their own: what they drop is what programs of before do not know.
func (r *Reader) TakesBack(back bool) {
	r.back = back
	r.open, r.locked, r.told, r.enumAdded, r.unchecked = r.options.Transaction, nil, false, nil, nil
}

var maker = regexp.MustCompile(`(?i)\bcreate\s+(?:or\s+(?:replace|alter)\s+)?(?:view|proc(?:edure)?|function|type|domain|sequence|synonym|aggregate)\s+(?:if\s+not\s+exists\s+)?([\w."\x60$\[\]]+)`)

// makes returns the names of the views, routines and the like that a text creates.
func makes(text string) (names []string) {
	for _, m := range maker.FindAllStringSubmatch(text, -1) {
		names = append(names, lastPart(m[1]))
	}
	return names
}

// lastPart returns the name behind the schema, as two spellings of it compare.
func lastPart(name string) string {
	return strings.ToLower(strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "\"`[]"))
}

// Statement judges the next statement of the file. The spans of its findings are
// in sql. tokens are those of sql; none of them is kept.
func (r *Reader) Statement(sql string, tokens []sqlguard.Token) []sqlguard.Finding {
	r.sql, r.found = sql, nil
	for _, name := range makes(sql) {
		r.coming[name]--
	}
	c := newCursor(sql, tokens)
	if c.end() {
		return nil
	}
	if r.transaction(c) {
		return r.found
	}
	if !r.open {
		r.unchecked = nil // the lock of the statement before is gone
	}
	r.selectInto(c)
	r.judge(c)
	return r.found
}

// selectInto notes the table that a SELECT … INTO makes. Inside of a block it can be
// a variable, and the statements there are not asked.
func (r *Reader) selectInto(c *cursor) {
	look := *c
	if r.dialect.Name() == mysql || !look.is("select") && !look.is("with") || !look.skipTo("select") || !look.skipTo("into") {
		return
	}
	look.take("into")
	look.takeAny("temp", "temporary", "unlogged")
	look.take("table")
	r.create(look.name())
}

// judge judges one statement by the rules of the dialect.
func (r *Reader) judge(c *cursor) {
	switch r.dialect.Name() {
	case postgres:
		r.postgres(c)
	case mysql:
		r.mysql(c)
	case sqlserver:
		for _, one := range msStatements(c) {
			r.sqlserver(one)
		}
	}
}

// transaction reads the statements that begin and end transactions.
func (r *Reader) transaction(c *cursor) bool {
	switch {
	case c.is("begin", "try"), c.is("begin", "catch"), c.is("begin") && r.dialect.Name() == sqlserver && !c.is("begin", "tran") && !c.is("begin", "transaction"):
		return false
	case c.is("begin"), c.is("start", "transaction"):
		if c.has("if") || len(c.tokens) > 8 { // the body of a routine
			return false
		}
		r.open, r.locked, r.told, r.enumAdded, r.unchecked = true, nil, false, nil, nil
	case c.is("commit"), c.is("rollback") && !c.has("to"), c.is("end") && len(c.tokens) < 3 && r.dialect.Name() == postgres:
		r.open, r.locked, r.told, r.enumAdded, r.unchecked = r.options.Transaction, nil, false, nil, nil
	default:
		return false
	}
	return true
}

// add adds a finding. An empty advice takes the general one of the code.
func (r *Reader) add(code sqlguard.Code, at sqlguard.Span, object, message, advice string) {
	if advice == "" {
		advice = hint(code)
	}
	r.found = append(r.found, sqlguard.Finding{Code: code, Span: at, Object: object, Message: message, Hint: advice, Retryable: true})
}

// create notes a table that the file makes.
func (r *Reader) create(table string) { r.created[table] = true }

// fresh reports whether the file itself made the table, so that it is empty.
func (r *Reader) fresh(table string) bool { return r.created[table] }

// lock notes that the statement takes a lock on an existing table that stops
// programs, and reports a wait without a limit and a second table.
func (r *Reader) lock(table string, at sqlguard.Span, limit string) {
	if table == "" || r.fresh(table) {
		return
	}
	if !r.limited && limit != "" {
		r.limited = true // one finding for a file
		r.add(CodeNoLockTimeout, at, table, "the statement waits for its lock on "+table+" for as long as it takes, and every later query on the table waits behind it", limit)
	}
	if !r.open || slices.Contains(r.locked, table) {
		return
	}
	r.locked = append(r.locked, table)
	if len(r.locked) > 1 && !r.told {
		r.told = true
		r.add(CodeLockOrder, at, table, "the transaction holds a lock on "+strings.Join(r.locked[:len(r.locked)-1], ", ")+" and waits for one on "+table, "")
	}
}

// gone reports that a table, a view or a column is dropped or renamed.
func (r *Reader) gone(at sqlguard.Span, name, message, advice string) {
	if r.back {
		return
	}
	if r.options.Reads != nil {
		if places := r.options.Reads(name[strings.LastIndexByte(name, '.')+1:]); len(places) > 0 {
			shown := places[:min(len(places), 3)]
			switch message += "; " + strings.Join(shown, ", "); {
			case len(places) == 1:
				message += " still names it"
			case len(places) == len(shown):
				message += " still name it"
			default:
				message += " and other places still name it"
			}
		}
	}
	r.add(CodeBreaksPrograms, at, name, message, advice)
}

// notJudged reports DDL that no rule knows.
func (r *Reader) notJudged(at sqlguard.Span, what string) {
	r.add(CodeNotJudged, at, "", "the profile has no rule for "+strings.ToUpper(what), "")
}

// ifNotExists skips IF [NOT] EXISTS.
func ifExists(c *cursor) {
	if !c.take("if", "not", "exists") {
		c.take("if", "exists")
	}
}

// words returns the next n tokens in upper case, for messages.
func words(c *cursor, n int) string {
	var list []string
	for i := range n {
		if w := c.peek(i); w != "" {
			list = append(list, strings.ToUpper(w))
		}
	}
	return strings.Join(list, " ")
}
