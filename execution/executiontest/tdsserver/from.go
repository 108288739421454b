package tdsserver

import (
	"iter"
	"slices"
	"strings"
)

// Table is a table or a system view, with rows that a test sets.
type Table struct {
	Columns []Column
	Rows    [][]any // with the types of expressions: int64, string, …
}

// items is the table that every database has.
var items = Table{
	Columns: []Column{{"id", IntFixed}, {"name", NVarChar(50)}},
	Rows:    [][]any{{int64(1), "one"}, {int64(2), "two"}, {int64(3), "three"}},
}

// SetTable adds a table to every database, or replaces a system view. The name
// is written as in a query, such as "sys.databases". A name without a schema is
// also found with the schema dbo.
func (s *Server) SetTable(name string, t Table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables[strings.ToLower(name)] = t
}

// Rows returns the current rows of a table, including changes of open
// transactions. It returns nil if the table does not exist.
func (s *Server) Rows(name string) [][]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tables[strings.ToLower(name)].Rows)
}

// table finds a table by its name.
func (s *session) table(name string) (Table, bool) {
	name = strings.TrimPrefix(strings.ToLower(name), "dbo.")
	s.c.s.mu.Lock()
	defer s.c.s.mu.Unlock()
	t, ok := s.c.s.tables[name]
	return t, ok
}

// from reads the sources of a FROM clause, joined from left to right.
func (p *parser) from() (relation, error) {
	left, err := p.source()
	if err != nil {
		return left, err
	}
	for {
		switch {
		case p.take(","), p.take("CROSS", "JOIN"):
			right, err := p.source()
			if err != nil {
				return left, err
			}
			left = cross(left, right, nil, false)
		case p.take("JOIN"), p.take("INNER", "JOIN"):
			if left, err = p.joined(left, false); err != nil {
				return left, err
			}
		case p.take("LEFT", "JOIN"), p.take("LEFT", "OUTER", "JOIN"):
			if left, err = p.joined(left, true); err != nil {
				return left, err
			}
		default:
			return left, nil
		}
	}
}

// joined reads the right side of a join and its condition.
func (p *parser) joined(left relation, outer bool) (relation, error) {
	right, err := p.source()
	if err != nil {
		return left, err
	}
	if err := p.want("ON"); err != nil {
		return left, err
	}
	on, err := p.condition()
	if err != nil {
		return left, err
	}
	return cross(left, right, on, outer), nil
}

// cross joins two relations on a condition. An outer join keeps each row of the
// left side that has no match.
func cross(left, right relation, on cond, outer bool) relation {
	pair := func(e *env, row []any, yield func([]any, error) bool) bool {
		matched := false
		for b, err := range right.rows(e) {
			if err != nil {
				yield(nil, err)
				return false
			}
			copy(row[len(left.columns):], b)
			if on != nil {
				in := *e
				in.row = row
				ok, err := on(&in)
				if err != nil {
					yield(nil, err)
					return false
				}
				if ok != truthYes {
					continue
				}
			}
			matched = true
			if ended(e.r.ctx, yield) || !yield(row, nil) {
				return false
			}
		}
		if outer && !matched {
			clear(row[len(left.columns):])
			return yield(row, nil)
		}
		return true
	}
	return relation{
		columns: slices.Concat(left.columns, right.columns),
		rows: func(e *env) iter.Seq2[[]any, error] {
			return func(yield func([]any, error) bool) {
				row := make([]any, len(left.columns)+len(right.columns))
				for a, err := range left.rows(e) {
					if err != nil {
						yield(nil, err)
						return
					}
					copy(row, a)
					if !pair(e, row, yield) {
						return
					}
				}
			}
		},
	}
}

// source reads a table, GENERATE_SERIES, VALUES or a query in parentheses, with
// its alias.
func (p *parser) source() (relation, error) {
	var r relation
	var err error
	alias := ""
	switch {
	case p.is("(", "VALUES"):
		p.i += 2
		r, err = p.values()
	case p.is("("):
		p.i++
		r, err = p.derived()
	case p.is("GENERATE_SERIES", "("):
		p.i += 2
		r, err = p.series()
	default:
		r, alias, err = p.named()
	}
	if err != nil {
		return r, err
	}
	p.take("AS")
	if w := p.peek(); w.kind == kindName && (w.quoted || !slices.Contains(reserved, w.upper)) {
		alias = w.text
		p.i++
	}
	if p.take("(") {
		r.columns = slices.Clone(r.columns)
		for i := range r.columns {
			if i > 0 {
				if err := p.want(","); err != nil {
					return r, err
				}
			}
			if r.columns[i].Name, err = p.name(); err != nil {
				return r, err
			}
		}
		if err := p.want(")"); err != nil {
			return r, err
		}
	}
	for _, c := range r.columns {
		p.scope = append(p.scope, binding{alias, c.Name, c.Type})
	}
	return r, nil
}

func (p *parser) named() (r relation, alias string, err error) {
	w := *p.peek()
	var parts []string
	for {
		part, err := p.name()
		if err != nil {
			return r, "", err
		}
		parts = append(parts, part)
		if !p.take(".") {
			break
		}
	}
	if len(parts) == 3 && strings.EqualFold(parts[0], p.c.session.database) {
		parts = parts[1:]
	}
	name := strings.Join(parts, ".")
	// The columns are those at compile time, and the rows those at run time.
	t, ok := p.table(name)
	now := func() Table {
		t, _ := p.c.session.table(name)
		return t
	}
	if !ok {
		if now, err = p.view(name); err != nil {
			return r, "", err
		}
		if now == nil {
			return r, "", &ServerError{Number: 208, State: 1, Class: 16, Line: w.line, Message: "Invalid object name '" + name + "'."}
		}
		t = now()
	}
	return relation{columns: t.Columns, rows: func(*env) iter.Seq2[[]any, error] {
		return func(yield func([]any, error) bool) {
			for _, row := range now().Rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	}}, parts[len(parts)-1], nil
}

// series reads GENERATE_SERIES(start, stop[, step]) of integers.
func (p *parser) series() (relation, error) {
	args := make([]expr, 0, 3)
	for {
		x, err := p.expression()
		if err != nil {
			return relation{}, err
		}
		if x.t.class() != classInteger {
			return relation{}, unknown("GENERATE_SERIES of "+x.t.String(), 0)
		}
		args = append(args, x)
		if !p.take(",") {
			break
		}
	}
	if err := p.want(")"); err != nil {
		return relation{}, err
	}
	if len(args) < 2 || len(args) > 3 {
		return relation{}, p.syntax()
	}
	t, err := join(args[0].t.nullable(), args[1].t.nullable())
	if err != nil {
		return relation{}, err
	}
	return relation{columns: []Column{{"value", t}}, rows: func(e *env) iter.Seq2[[]any, error] {
		return func(yield func([]any, error) bool) {
			bounds := []int64{0, 0, 1}
			for i, x := range args {
				v, err := x.eval(e)
				if err != nil {
					yield(nil, err)
					return
				}
				n, ok := v.(int64)
				if !ok {
					return // with NULL there are no rows
				}
				bounds[i] = n
			}
			if len(args) == 2 && bounds[1] < bounds[0] {
				bounds[2] = -1
			}
			if bounds[2] == 0 {
				yield(nil, unknown("GENERATE_SERIES that does not move", 0))
				return
			}
			row := make([]any, 1)
			for i := bounds[0]; (bounds[2] > 0 && i <= bounds[1]) || (bounds[2] < 0 && i >= bounds[1]); i += bounds[2] {
				row[0] = i
				if ended(e.r.ctx, yield) || !yield(row, nil) {
					return
				}
			}
		}
	}}, nil
}

// values reads the rows of VALUES, up to the closing parenthesis.
func (p *parser) values() (relation, error) {
	var rows [][]expr
	for {
		if err := p.want("("); err != nil {
			return relation{}, err
		}
		var row []expr
		for {
			x, err := p.expression()
			if err != nil {
				return relation{}, err
			}
			row = append(row, x)
			if !p.take(",") {
				break
			}
		}
		if err := p.want(")"); err != nil {
			return relation{}, err
		}
		rows = append(rows, row)
		if len(row) != len(rows[0]) {
			return relation{}, p.syntax()
		}
		if !p.take(",") {
			break
		}
	}
	if err := p.want(")"); err != nil {
		return relation{}, err
	}
	columns := make([]Column, len(rows[0]))
	for i := range columns {
		t := rows[0][i].t.nullable()
		for _, row := range rows[1:] {
			var err error
			if t, err = join(t, row[i].t.nullable()); err != nil {
				return relation{}, err
			}
		}
		columns[i].Type = t
		for _, row := range rows {
			var err error
			if row[i], err = convert(row[i], t, false); err != nil {
				return relation{}, err
			}
		}
	}
	return relation{columns: columns, rows: func(e *env) iter.Seq2[[]any, error] {
		return func(yield func([]any, error) bool) {
			for _, row := range rows {
				out := make([]any, len(row))
				for i, x := range row {
					var err error
					if out[i], err = x.eval(e); err != nil {
						yield(nil, err)
						return
					}
				}
				if !yield(out, nil) {
					return
				}
			}
		}
	}}, nil
}

// derived reads a query up to its closing parenthesis. It does not see the
// columns around it.
func (p *parser) derived() (relation, error) {
	scope := p.scope
	p.scope = nil
	q, err := p.selectOne()
	p.scope = scope
	if err != nil {
		return relation{}, err
	}
	if err := p.want(")"); err != nil {
		return relation{}, err
	}
	return relation{columns: q.columns, rows: firstRows(q.rows, q.top)}, nil
}

// column reads the name of a column.
func (p *parser) column() (expr, error) {
	w := *p.peek()
	name, err := p.name()
	if err != nil {
		return expr{}, err
	}
	table := ""
	for p.take(".") {
		table = name
		if name, err = p.name(); err != nil {
			return expr{}, err
		}
	}
	found := -1
	for i, b := range p.scope {
		if strings.EqualFold(b.name, name) && (table == "" || strings.EqualFold(b.table, table)) {
			if found >= 0 {
				return expr{}, &ServerError{Number: 209, State: 1, Class: 16, Line: w.line, Message: "Ambiguous column name '" + name + "'."}
			}
			found = i
		}
	}
	if found < 0 {
		return expr{}, &ServerError{Number: 207, State: 1, Class: 16, Line: w.line, Message: "Invalid column name '" + name + "'."}
	}
	p.loose = append(p.loose, found)
	return expr{t: p.scope[found].typ, name: p.scope[found].name, eval: func(e *env) (any, error) { return e.row[found], nil }}, nil
}
