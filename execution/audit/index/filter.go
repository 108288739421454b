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

func (c *condition) add(where string, args ...any) {
	c.where = append(c.where, where)
	c.args = append(c.args, args...)
}

// among adds a condition that an index finds: the column has one of the values.
func (c *condition) among(column string, ids []int64) {
	c.none = c.none || len(ids) == 0
	where := column + ` IN array(?)`
	c.drivers = append(c.drivers, driver{"statement_" + column, where, ids})
	c.add("+"+where, ids)
}

// condition translates f. The conditions select exactly the statements for which
// [audit.Filter.MatchStatement] is true, except that two query ids may have the same
// number, and so may two fingerprints.
func (v *view) condition(f audit.Filter) (*condition, error) {
	c := &condition{}
	for _, n := range []struct {
		text, column string
		kind         nameKind
		indexed      bool
	}{
		{f.Principal, "principal", namePrincipal, true},
		{f.Session, "session", nameSession, true},
		{f.Client, "client", nameClient, false},
		{f.Connection, "connection", nameConnection, false},
		{f.Reason, "reason", nameReason, false},
		{f.Verdict, "verdict", nameVerdict, false},
		{f.Status, "status", nameStatus, false},
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
		if n.indexed {
			c.among(n.column, []int64{id})
		} else {
			c.add(n.column+` = ?`, id)
		}
	}
	if f.QueryID != "" {
		c.among("query", []int64{textNumber(f.QueryID)})
	}
	if f.Seq != 0 {
		c.add(`? IN (CASE WHEN segment <> 0 THEN seq END, CASE WHEN "end" <> 0 THEN end_seq END)`, f.Seq)
	}
	if f.MinRows != 0 {
		c.add(`rows >= ?`, f.MinRows)
	}
	if f.MinExecMS != 0 {
		c.add(`ms >= ?`, f.MinExecMS)
	}
	if !f.Since.IsZero() {
		c.add(`time >= ?`, nanos(f.Since))
	}
	if !f.Until.IsZero() {
		c.add(`time < ?`, nanos(f.Until))
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
	c.add(`(segment <> 0 AND ? OR "end" <> 0 AND end_type IN array(?))`, decided, ids)
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
	c.add(`address IN array(?)`, ids)
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
	c.among("codes", ids)
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
	c.among("shape", ids)
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

// fewRows is how many rows are worth sorting to find the newest of them.
const fewRows = 5000

// from returns the rest of a query on the statements that meet the condition: FROM and
// WHERE with its arguments. It uses the index of a condition that few statements meet,
// and reads the statements in their order otherwise.
func (v *view) from(c *condition) (string, []any, error) {
	by := ` NOT INDEXED`
	where, args := c.where, c.args
	for _, d := range c.drivers {
		if d.index == "statement_codes" {
			d.where += ` AND codes <> 0` // the index is partial
		}
		n, err := v.number(v.ctx, `SELECT count(*) FROM (SELECT 1 FROM statement INDEXED BY `+d.index+` WHERE `+d.where+` LIMIT `+few+`)`, d.arg)
		if err != nil {
			return "", nil, err
		}
		if n < fewRows {
			by = ` INDEXED BY ` + d.index
			where, args = append([]string{d.where}, where...), append([]any{d.arg}, args...)
			break
		}
	}
	text := ` FROM statement` + by + ` WHERE n BETWEEN ? AND ?`
	if by != ` NOT INDEXED` {
		text = ` FROM statement` + by + ` WHERE +n BETWEEN ? AND ?`
	}
	args = append([]any{c.first, c.last}, args...)
	for _, w := range where {
		text += ` AND ` + w
	}
	return text, args, nil
}

const few = "5000"
