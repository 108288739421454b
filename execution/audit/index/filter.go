package index

import (
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution/audit"
)

// condition is a filter as conditions on the table statement.
type condition struct {
	where []string
	args  []any
	// tests are the same for a block. Without whole, it cannot test all of them.
	tests []test
	whole bool
	// first and last bound the rows by the times that are asked for.
	first, last int64
	// drivers are conditions that an index finds: the name of the index, and the
	// place of the condition in where.
	drivers []driver
	none    bool // nothing can meet the filter
}

type driver struct {
	index string
	where string
	arg   any
}

// add adds a condition. A nil test says that blocks do not have what it looks at.
func (c *condition) add(t test, where string, args ...any) {
	c.where = append(c.where, where)
	c.args = append(c.args, args...)
	if t == nil {
		c.whole = false
		return
	}
	c.tests = append(c.tests, t)
}

// among adds a condition that an index finds: the column has one of the values.
func (c *condition) among(t test, column string, ids []int64) {
	c.none = c.none || len(ids) == 0
	where := column + ` IN array(?)`
	c.drivers = append(c.drivers, driver{"statement_" + column, where, ids})
	c.add(t, "+"+where, ids)
}

// condition translates f. The conditions select exactly the statements for which
// [audit.Filter.MatchStatement] is true, except that two query ids may have the same
// number, and so may two fingerprints.
func (v *view) condition(f audit.Filter) (*condition, error) {
	c := &condition{whole: true}
	for _, n := range []struct {
		text, column string
		in           column
		kind         nameKind
		indexed      bool
	}{
		{f.Principal, "principal", columnPrincipal, namePrincipal, true},
		{f.Session, "session", columnSession, nameSession, true},
		{f.Client, "client", columnClient, nameClient, false},
		{f.Connection, "connection", columnConnection, nameConnection, false},
		{f.Reason, "reason", columnReason, nameReason, false},
		{f.Verdict, "verdict", columnVerdict, nameVerdict, false},
		{f.Status, "status", columnStatus, nameStatus, false},
	} {
		if n.text == "" {
			continue
		}
		id, err := v.number(v.ctx, `SELECT id FROM name WHERE kind = ? AND text = ?`, int(n.kind), n.text)
		if err != nil {
			return nil, err
		}
		if id == 0 {
			c.none = true
		}
		is := isAmong(n.in, []int64{id})
		if n.indexed {
			c.among(is, n.column, []int64{id})
		} else {
			c.add(is, n.column+` = ?`, id)
		}
	}
	if f.QueryID != "" {
		c.among(nil, "query", []int64{textNumber(f.QueryID)})
	}
	if f.Seq != 0 {
		c.add(nil, `? IN (CASE WHEN segment <> 0 THEN seq END, CASE WHEN "end" <> 0 THEN end_seq END)`, f.Seq)
	}
	if f.MinRows != 0 {
		c.add(func(b *block, i int) bool {
			return b.column(columnEnded)[i] != 0 && b.column(columnRows)[i] >= f.MinRows
		}, `rows >= ?`, f.MinRows)
	}
	if f.MinExecMS != 0 {
		c.add(func(b *block, i int) bool {
			return b.column(columnEnded)[i] != 0 && b.ms(i) >= f.MinExecMS
		}, `ms >= ?`, f.MinExecMS)
	}
	if !f.Since.IsZero() {
		since := nanos(f.Since)
		c.add(func(b *block, i int) bool { return b.column(columnTime)[i] >= since }, `time >= ?`, since)
	}
	if !f.Until.IsZero() {
		until := nanos(f.Until)
		c.add(func(b *block, i int) bool { return b.column(columnTime)[i] < until }, `time < ?`, until)
	}
	for _, step := range []func(*condition, audit.Filter) error{v.types, v.address, v.codes, v.shapes, v.bounds} {
		if err := step(c, f); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// types selects statements that have an event of one of the types.
func (v *view) types(c *condition, f audit.Filter) error {
	if len(f.Types) == 0 {
		return nil
	}
	wanted := map[string]bool{}
	for _, t := range f.Types {
		wanted[string(t)] = true
	}
	ids, err := v.texts(nameType, func(text string) bool { return wanted[text] })
	decided := 0
	if wanted[string(audit.QueryDecision)] {
		decided = 1
	}
	c.add(nil, `(segment <> 0 AND ? OR "end" <> 0 AND end_type IN array(?))`, decided, ids)
	return err
}

// address selects by an address with or without its port.
func (v *view) address(c *condition, f audit.Filter) error {
	if f.Address == "" {
		return nil
	}
	only := audit.Filter{Address: f.Address}
	ids, err := v.texts(nameAddress, func(text string) bool {
		return only.Match(audit.Event{Client: audit.Client{Address: text}})
	})
	c.none = c.none || len(ids) == 0
	c.add(isAmong(columnAddress, ids), `address IN array(?)`, ids)
	return err
}

// codes selects by a code of the decision or of the result.
func (v *view) codes(c *condition, f audit.Filter) error {
	if f.Code == "" {
		return nil
	}
	ids, err := v.numbers(`SELECT codeset FROM code JOIN name ON name.id = code.name WHERE name.kind = ? AND name.text = ?`, int(nameCode), f.Code)
	if err != nil {
		return err
	}
	c.among(isAmong(columnCodes, ids), "codes", ids)
	return nil
}

// shapes selects by what a statement is without its literals.
func (v *view) shapes(c *condition, f audit.Filter) error {
	var parts []string
	var args []any
	add := func(where string, arg any) { parts, args = append(parts, where), append(args, arg) }
	if f.Fingerprint != "" {
		add(`fingerprint = ?`, textNumber(f.Fingerprint))
	}
	if f.Kind != "" {
		id, err := v.number(v.ctx, `SELECT id FROM name WHERE kind = ? AND text = ?`, int(nameKindOf), f.Kind)
		if err != nil {
			return err
		}
		c.none = c.none || id == 0
		add(`kind = ?`, id)
	}
	for _, n := range []struct {
		name  string
		table string
		kind  nameKind
		only  audit.Filter
		event func(string) audit.Event
	}{
		{f.Table, "relation", nameTable, audit.Filter{Table: f.Table}, func(s string) audit.Event { return audit.Event{SQL: audit.SQL{Tables: []string{s}}} }},
		{f.Function, "function", nameFunction, audit.Filter{Function: f.Function}, func(s string) audit.Event { return audit.Event{SQL: audit.SQL{Functions: []string{s}}} }},
	} {
		if n.name == "" {
			continue
		}
		ids, err := v.texts(n.kind, func(text string) bool { return n.only.Match(n.event(text)) })
		if err != nil {
			return err
		}
		c.none = c.none || len(ids) == 0
		add(`id IN (SELECT shape FROM `+n.table+` WHERE name IN array(?))`, ids)
	}
	only := audit.Filter{Text: f.Text}
	if f.Text != "" {
		if match := trigrams(f.Text); match != "" {
			add(`id IN (SELECT rowid FROM search WHERE search MATCH ?)`, match)
		}
	}
	if len(parts) == 0 && f.Text == "" {
		return nil
	}
	text := `SELECT id, text FROM shape`
	if f.Text == "" {
		text = `SELECT id, NULL FROM shape`
	}
	if len(parts) > 0 {
		text += ` WHERE ` + strings.Join(parts, ` AND `)
	}
	ids := []int64{}
	err := v.each(v.ctx, text, args, func(s *sqlite3.Stmt) bool {
		if f.Text == "" || only.Match(audit.Event{SQL: audit.SQL{Normalized: s.ColumnText(1)}}) {
			ids = append(ids, s.ColumnInt64(0))
		}
		return true
	})
	if err != nil {
		return err
	}
	c.among(isAmong(columnShape, ids), "shape", ids)
	return nil
}

// maxTrigrams bounds the parts of a text that are looked up. The texts found are
// compared as a whole.
const maxTrigrams = 32

// trigrams returns the query for texts that may contain text: one that has all parts
// of three characters. It is blank when text is shorter than that.
func trigrams(text string) string {
	runes := []rune(strings.ToLower(text))
	var parts []string
	for i := 0; i+3 <= len(runes) && len(parts) < maxTrigrams; i++ {
		part := string(runes[i : i+3])
		if strings.ContainsRune(part, 0) || strings.ContainsRune(part, '\uFFFD') {
			continue // the engine ends a text there
		}
		parts = append(parts, `"`+strings.ReplaceAll(part, `"`, `""`)+`"`)
	}
	return strings.Join(parts, ` AND `)
}

// bounds finds the rows between which the wanted times lie.
func (v *view) bounds(c *condition, f audit.Filter) error {
	c.first, c.last = 1, v.state.Events
	var err error
	if !f.Since.IsZero() {
		if c.first, err = v.number(v.ctx, `SELECT coalesce(min(first), 9223372036854775807) FROM span WHERE latest >= ?`, nanos(f.Since)); err != nil {
			return err
		}
	}
	if !f.Until.IsZero() {
		c.last, err = v.number(v.ctx, `SELECT coalesce(max(last), 0) FROM span WHERE earliest < ?`, nanos(f.Until))
	}
	c.none = c.none || c.first > c.last
	return err
}

// numbers returns the first column of a result.
func (v *view) numbers(text string, args ...any) ([]int64, error) {
	ids := []int64{}
	err := v.each(v.ctx, text, args, func(s *sqlite3.Stmt) bool { ids = append(ids, s.ColumnInt64(0)); return true })
	return ids, err
}

// fewRows is how many rows are worth sorting to find the newest of them. Tests change it.
var fewRows int64 = 5000

// from returns the rest of a query on the statements that meet the condition: FROM and
// WHERE with its arguments. It uses the index of a condition that few statements meet,
// which few reports, and reads the statements in their order otherwise. Then the first
// two arguments are the rows between which they lie.
func (v *view) from(c *condition) (text string, args []any, few bool, err error) {
	where := ``
	if len(c.where) > 0 {
		where = ` AND ` + strings.Join(c.where, ` AND `)
	}
	for _, d := range c.drivers {
		if d.index == "statement_codes" {
			d.where += ` AND codes <> 0` // the index is partial
		}
		n, err := v.number(v.ctx, `SELECT count(*) FROM (SELECT 1 FROM statement INDEXED BY `+d.index+` WHERE `+d.where+` LIMIT ?)`, d.arg, fewRows)
		if err != nil {
			return "", nil, false, err
		}
		if n < fewRows {
			return ` FROM statement INDEXED BY ` + d.index + ` WHERE +n BETWEEN ? AND ? AND ` + d.where + where, append([]any{c.first, c.last, d.arg}, c.args...), true, nil
		}
	}
	return ` FROM statement NOT INDEXED WHERE n BETWEEN ? AND ?` + where, append([]any{c.first, c.last}, c.args...), false, nil
}
