package tdsserver

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// relation is the result of a FROM clause: columns, and rows in order.
type relation struct {
	columns []Column
	rows    func(e *env) iter.Seq2[[]any, error]
}

// query is one SELECT of a UNION.
type query struct {
	columns []Column
	values  []expr
	top     int64 // -1 without TOP
	rows    func(e *env) iter.Seq2[[]any, error]
}

// selectStatement reads a SELECT with UNION ALL, ORDER BY and OPTION.
func (p *parser) selectStatement() (func(*env) error, error) {
	if run, ok, err := p.selectAssign(); ok || err != nil {
		return run, err
	}
	first, err := p.selectOne()
	if err != nil {
		return nil, err
	}
	parts := []query{first}
	top := first.top
	for p.take("UNION", "ALL") {
		next, err := p.selectOne()
		if err != nil {
			return nil, err
		}
		if len(next.columns) != len(first.columns) {
			return nil, &ServerError{Number: 205, State: 1, Class: 16, Message: "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in their target lists."}
		}
		for i := range next.columns {
			if first.columns[i].Type != next.columns[i].Type {
				t, err := join(first.columns[i].Type.nullable(), next.columns[i].Type.nullable())
				if err != nil {
					return nil, err
				}
				first.columns[i].Type = t
			}
		}
		parts = append(parts, next)
	}
	if len(parts) > 1 { // then each query has its own TOP, which applies before ORDER BY
		top = -1
		for i, q := range parts {
			parts[i].rows = firstRows(q.rows, q.top)
		}
	}
	sorted, err := p.orderBy(first)
	if err != nil {
		return nil, err
	}
	if err := p.option(); err != nil {
		return nil, err
	}
	columns := first.columns
	all := func(e *env) iter.Seq2[[]any, error] {
		return sorted(func(yield func([]any, error) bool) {
			for _, q := range parts {
				for row, err := range q.rows(e) {
					if !yield(row, err) || err != nil {
						return
					}
				}
			}
		})
	}
	all = firstRows(all, top)
	return func(e *env) error { return e.send(columns, all(e)) }, nil
}

// send sends a result with at most the rows that SET ROWCOUNT permits.
func (e *env) send(columns []Column, rows iter.Seq2[[]any, error]) error {
	if e.s.on("NOEXEC") || e.s.on("PARSEONLY") || e.s.on("FMTONLY") {
		return unknown("a SELECT that is not to be run", 0)
	}
	limit, err := strconv.ParseInt(e.s.options["ROWCOUNT"], 10, 64)
	if err != nil {
		return unknown("SET ROWCOUNT "+e.s.options["ROWCOUNT"], 0)
	}
	if err := e.r.Columns(columns...); err != nil {
		return err
	}
	e.s.rowCount = 0
	values := make([]any, len(columns))
	for row, err := range rows {
		if err != nil {
			return err
		}
		nulls := 0
		for i, v := range row {
			if values[i] = wireValue(columns[i].Type, v); v == nil {
				nulls++
			}
		}
		// A row with NULLs can be sent as ROW or NBCROW. The server chooses.
		send := e.r.Row
		if nulls > 0 && len(columns) > 1 {
			send = e.r.NBCRow
		}
		if err := send(values...); err != nil {
			return err
		}
		if e.s.rowCount++; limit > 0 && e.s.rowCount == limit {
			break
		}
	}
	return e.r.err
}

// selectAssign reads SELECT @x = expression, ….
func (p *parser) selectAssign() (func(*env) error, bool, error) {
	if w := p.at(1); w.kind != kindVariable || p.at(2).text != "=" || p.at(2).kind != kindSign {
		return nil, false, nil
	}
	p.i++
	var list []func(*env) error
	for {
		run, err := p.assign()
		if err != nil {
			return nil, true, err
		}
		list = append(list, run)
		if !p.take(",") {
			break
		}
	}
	return inOrder(list), true, nil
}

// selectOne reads SELECT … FROM … WHERE ….
func (p *parser) selectOne() (query, error) {
	var q query
	if err := p.want("SELECT"); err != nil {
		return q, err
	}
	distinct := p.take("DISTINCT")
	q.top = -1
	if p.take("TOP") {
		n, err := p.top()
		if err != nil {
			return q, err
		}
		q.top = n
	}
	// The select list is compiled later, when the columns are known.
	list := p.i
	p.skipList()
	outer, outerFolds, outerLoose := p.scope, p.folds, p.loose
	p.scope, p.folds = nil, nil
	defer func() { p.scope, p.folds, p.loose = outer, outerFolds, outerLoose }()
	from := relation{rows: func(*env) iter.Seq2[[]any, error] { return once }}
	if p.take("FROM") {
		var err error
		if from, err = p.from(); err != nil {
			return q, err
		}
	}
	var where cond
	if p.take("WHERE") {
		var err error
		if where, err = p.condition(); err != nil {
			return q, err
		}
	}
	keys, grouped, err := p.groupBy()
	if err != nil {
		return q, err
	}
	end := p.i
	p.i, p.loose = list, nil
	if err := p.list(&q); err != nil {
		return q, err
	}
	grouped = grouped || len(p.folds) > 0
	for _, at := range p.loose {
		if grouped && !slices.Contains(keys, at) {
			return q, &ServerError{Number: 8120, State: 1, Class: 16, Message: "Column '" + p.scope[at].name + "' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause."}
		}
	}
	if p.i != end && !p.is("FROM") {
		return q, p.syntax()
	}
	p.i = end
	if grouped {
		q.rows = group(q.values, p.folds, keys, from, where)
	} else {
		q.rows = produce(q.values, from, where)
	}
	if distinct {
		q.rows = unique(q.rows)
	}
	return q, nil
}

// groupBy reads GROUP BY over columns. Keys are their indexes in scope.
func (p *parser) groupBy() (keys []int, grouped bool, err error) {
	if !p.take("GROUP", "BY") {
		return nil, false, nil
	}
	for {
		p.loose = nil
		if _, err := p.column(); err != nil {
			return nil, true, err
		}
		keys = append(keys, p.loose...)
		if !p.take(",") {
			return keys, true, nil
		}
	}
}

func once(yield func([]any, error) bool) { yield(nil, nil) }

func (p *parser) top() (int64, error) {
	paren := p.take("(")
	n, err := strconv.ParseInt(p.peek().text, 10, 64)
	if err != nil || p.peek().kind != kindInteger {
		return 0, p.syntax()
	}
	p.i++
	if paren {
		return n, p.want(")")
	}
	return n, nil
}

// skipList moves to the FROM of this SELECT, or to its end.
func (p *parser) skipList() {
	for depth := 0; p.peek().kind != kindEnd; p.i++ {
		w := p.peek()
		switch {
		case w.kind == kindSign && w.text == "(", w.kind == kindName && !w.quoted && w.upper == "CASE":
			depth++
		case depth > 0 && w.kind == kindName && !w.quoted && w.upper == "END":
			depth--
		case w.kind == kindSign && w.text == ")":
			if depth--; depth < 0 {
				return
			}
		case depth == 0 && w.kind == kindSign && w.text == ";":
			return
		case depth == 0 && w.kind == kindName && !w.quoted:
			switch w.upper {
			case "ELSE", "END", "FROM", "WHERE", "GROUP", "UNION", "ORDER", "OPTION", "SELECT", "IF", "SET", "ROLLBACK", "COMMIT", "BEGIN", "WAITFOR", "PRINT", "RAISERROR", "THROW", "DECLARE":
				return
			}
		}
	}
}

// list reads the select list.
func (p *parser) list(q *query) error {
	for {
		if p.take("*") {
			if len(p.scope) == 0 {
				return p.syntax()
			}
			for i, b := range p.scope {
				q.columns = append(q.columns, Column{b.name, b.typ})
				q.values = append(q.values, expr{t: b.typ, eval: func(e *env) (any, error) { return e.row[i], nil }})
			}
		} else if err := p.listItem(q); err != nil {
			return err
		}
		if !p.take(",") {
			return nil
		}
	}
}

func (p *parser) listItem(q *query) error {
	name := ""
	if w := p.peek(); w.kind == kindName && p.at(1).kind == kindSign && p.at(1).text == "=" {
		name = w.text
		p.i += 2
	}
	x, err := p.expression()
	if err != nil {
		return err
	}
	if name == "" {
		name = x.name
	}
	if p.take("AS") {
		if w := p.peek(); w.kind == kindString || w.kind == kindName {
			name = w.text
			p.i++
		} else {
			return p.syntax()
		}
	} else if w := p.peek(); w.kind == kindName && (w.quoted || !slices.Contains(reserved, w.upper)) {
		name = w.text
		p.i++
	}
	q.columns = append(q.columns, Column{name, x.t})
	q.values = append(q.values, x)
	return nil
}

// orderBy reads ORDER BY over columns of the result.
func (p *parser) orderBy(q query) (func(iter.Seq2[[]any, error]) iter.Seq2[[]any, error], error) {
	type key struct {
		column int
		sign   int
	}
	var keys []key
	if p.take("ORDER", "BY") {
		for {
			w := p.peek()
			column := -1
			if n, err := strconv.Atoi(w.text); err == nil && w.kind == kindInteger && n >= 1 && n <= len(q.columns) {
				column = n - 1
			} else if w.kind == kindName {
				column = slices.IndexFunc(q.columns, func(c Column) bool { return strings.EqualFold(c.Name, w.text) })
			}
			if column < 0 {
				return nil, unknown("ORDER BY "+w.text, w.line)
			}
			p.i++
			k := key{column, 1}
			if p.take("DESC") {
				k.sign = -1
			} else {
				p.take("ASC")
			}
			keys = append(keys, k)
			if !p.take(",") {
				break
			}
		}
	}
	return func(rows iter.Seq2[[]any, error]) iter.Seq2[[]any, error] {
		if len(keys) == 0 {
			return rows
		}
		return func(yield func([]any, error) bool) {
			var all [][]any
			for row, err := range rows {
				if err != nil {
					yield(nil, err)
					return
				}
				all = append(all, row)
			}
			slices.SortStableFunc(all, func(a, b []any) int {
				for _, k := range keys {
					x, y := a[k.column], b[k.column]
					switch {
					case x == nil && y == nil:
						continue
					case x == nil:
						return -k.sign
					case y == nil:
						return k.sign
					}
					if n, err := order(x, y); err == nil && n != 0 {
						return k.sign * n
					}
				}
				return 0
			})
			for _, row := range all {
				if !yield(row, nil) {
					return
				}
			}
		}
	}, nil
}

// option reads the query hints that do not change the answer.
func (p *parser) option() error {
	if !p.take("OPTION") {
		return nil
	}
	if err := p.want("("); err != nil {
		return err
	}
	for {
		switch {
		case p.take("RECOMPILE"):
		case p.take("MAXDOP"), p.take("MAXRECURSION"):
			if p.peek().kind != kindInteger {
				return p.syntax()
			}
			p.i++
		default:
			return unknown("the hint "+p.peek().text, p.peek().line)
		}
		if !p.take(",") {
			return p.want(")")
		}
	}
}

// ended makes a sequence stop when the request has ended.
func ended(ctx context.Context, yield func([]any, error) bool) bool {
	if err := ctx.Err(); err != nil {
		yield(nil, err)
		return true
	}
	return false
}
