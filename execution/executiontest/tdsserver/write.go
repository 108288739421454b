package tdsserver

import (
	"slices"
	"strings"
)

// Write is one statement that changed something.
type Write struct {
	Connection int
	Text       string
	// Undone says that the transaction was rolled back.
	Undone bool
}

// Writes returns every change of a table so far. A change that was not undone
// is damage, even if it changed no row.
func (s *Server) Writes() []Write {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.writes)
}

// write reads a statement that changes data or tables: INSERT … VALUES, UPDATE,
// DELETE, CREATE TABLE or DROP TABLE. Without the permission it returns the
// server's error (229, 262 or 3701).
func (p *parser) write() (func(*env) error, error) {
	start := *p.peek()
	verb := start.upper
	p.i++
	denied := func(number int32, state byte, message string) func(*env) error {
		return func(*env) error {
			return &ServerError{Number: number, State: state, Class: 14, Message: message, Line: start.line, ends: true}
		}
	}
	switch verb {
	case "CREATE", "DROP", "ALTER", "TRUNCATE":
		object := p.peek().upper
		p.i++
		at := p.i
		name, err := p.objectName()
		if err != nil {
			return nil, err
		}
		permission := "ALTER"
		number, state := int32(3701), byte(14)
		message := "Cannot " + strings.ToLower(verb) + " the " + strings.ToLower(object) + " '" + name + "', because it does not exist or you do not have permission."
		if verb == "CREATE" {
			permission = "CREATE " + object
			number, state = 262, 1
			message = permission + " permission denied in database '" + p.c.session.database + "'."
		}
		if !p.c.may(permission) {
			p.i = len(p.words) - 1 // ends the batch here, so that the rest is not parsed
			return denied(number, state, message), nil
		}
		p.i = at
		switch {
		case verb == "CREATE" && object == "TABLE":
			return p.createTable(start)
		case verb == "DROP" && object == "TABLE":
			return p.dropTable(start)
		}
	case "INSERT", "UPDATE", "DELETE":
		p.take("INTO")
		p.take("FROM")
		at := p.i
		name, err := p.objectName()
		if err != nil {
			return nil, err
		}
		if !p.c.may(verb) {
			p.i = len(p.words) - 1
			return denied(229, 5, "The "+verb+" permission was denied on the object '"+name+"', database '"+p.c.session.database+"', schema 'dbo'."), nil
		}
		p.i = at
		return p.change(verb, start)
	}
	return nil, unknown(verb+" "+p.peek().text, start.line)
}

// objectName reads the name of a table and returns its last part.
func (p *parser) objectName() (string, error) {
	name, err := p.name()
	for err == nil && p.take(".") {
		if name, err = p.name(); err != nil {
			break
		}
	}
	return name, err
}

// apply changes a table and records the change. While a transaction is open, it
// also keeps how to undo the change. A nil table drops the table.
func (e *env) apply(text, name string, t *Table) {
	s, key := e.s.c.s, strings.ToLower(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	old, was := s.tables[key]
	if t == nil {
		delete(s.tables, key)
	} else {
		s.tables[key] = *t
	}
	note := len(s.writes)
	s.writes = append(s.writes, Write{Connection: e.s.c.id, Text: text})
	if e.s.transaction == 0 {
		return
	}
	e.s.undo = append(e.s.undo, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if was {
			s.tables[key] = old
		} else {
			delete(s.tables, key)
		}
		s.writes[note].Undone = true
	})
}

// since returns the text from a token up to the next one.
func (p *parser) since(start word) string {
	return strings.TrimSpace(p.text[start.at:p.peek().at])
}

func (p *parser) createTable(start word) (func(*env) error, error) {
	name, err := p.objectName()
	if err != nil {
		return nil, err
	}
	if err := p.want("("); err != nil {
		return nil, err
	}
	var t Table
	for {
		column, err := p.name()
		if err != nil {
			return nil, err
		}
		typ, err := p.typeName()
		if err != nil {
			return nil, err
		}
		if !p.take("NOT", "NULL") {
			p.take("NULL")
		}
		t.Columns = append(t.Columns, Column{column, typ})
		if !p.take(",") {
			break
		}
	}
	if err := p.want(")"); err != nil {
		return nil, err
	}
	text := p.since(start)
	if p.created == nil {
		p.created = make(map[string]Table)
	}
	p.created[strings.ToLower(name)] = t
	return func(e *env) error {
		if _, exists := e.s.table(name); exists {
			return &ServerError{Number: 2714, State: 6, Class: 16, Message: "There is already an object named '" + name + "' in the database.", Line: start.line}
		}
		e.apply(text, name, &t)
		return nil
	}, nil
}

func (p *parser) dropTable(start word) (func(*env) error, error) {
	name, err := p.objectName()
	if err != nil {
		return nil, err
	}
	text := p.since(start)
	return func(e *env) error {
		if _, exists := e.s.table(name); !exists {
			return &ServerError{Number: 3701, State: 5, Class: 11, Message: "Cannot drop the table '" + name + "', because it does not exist or you do not have permission.", Line: start.line}
		}
		e.apply(text, name, nil)
		return nil
	}, nil
}

// change reads the rest of INSERT, UPDATE or DELETE.
func (p *parser) change(verb string, start word) (func(*env) error, error) {
	name, err := p.objectName()
	if err != nil {
		return nil, err
	}
	t, ok := p.table(name)
	if !ok {
		return nil, &ServerError{Number: 208, State: 1, Class: 16, Line: start.line, Message: "Invalid object name '" + name + "'."}
	}
	if verb == "INSERT" {
		return p.insert(start, name, t)
	}
	p.scope = nil
	for _, c := range t.Columns {
		p.scope = append(p.scope, binding{name, c.Name, c.Type})
	}
	defer func() { p.scope = nil }()
	sets := make(map[int]expr)
	if verb == "UPDATE" {
		if err := p.want("SET"); err != nil {
			return nil, err
		}
		for {
			p.loose = nil
			if _, err := p.column(); err != nil {
				return nil, err
			}
			at := p.loose[0]
			if err := p.want("="); err != nil {
				return nil, err
			}
			x, err := p.expression()
			if err != nil {
				return nil, err
			}
			if sets[at], err = convert(x, t.Columns[at].Type, false); err != nil {
				return nil, err
			}
			if !p.take(",") {
				break
			}
		}
	}
	where := func(*env) (truth, error) { return truthYes, nil }
	if p.take("WHERE") {
		if where, err = p.condition(); err != nil {
			return nil, err
		}
	}
	text := p.since(start)
	return func(e *env) error {
		now, _ := e.s.table(name)
		next := Table{Columns: now.Columns}
		in := *e
		e.s.rowCount = 0
		for _, row := range now.Rows {
			in.row = row
			hit, err := where(&in)
			if err != nil {
				return err
			}
			if hit != truthYes {
				next.Rows = append(next.Rows, row)
				continue
			}
			e.s.rowCount++
			if verb == "DELETE" {
				continue
			}
			row = slices.Clone(row)
			for at, x := range sets {
				if row[at], err = x.eval(&in); err != nil {
					return err
				}
			}
			next.Rows = append(next.Rows, row)
		}
		e.apply(text, name, &next)
		return e.affected()
	}, nil
}

func (p *parser) insert(start word, name string, t Table) (func(*env) error, error) {
	if p.is("(") {
		return nil, unknown("INSERT with a list of columns", start.line)
	}
	if err := p.want("VALUES"); err != nil {
		return nil, err
	}
	var rows [][]expr
	for {
		if err := p.want("("); err != nil {
			return nil, err
		}
		var row []expr
		for {
			x, err := p.expression()
			if err != nil {
				return nil, err
			}
			if len(row) < len(t.Columns) {
				if x, err = convert(x, t.Columns[len(row)].Type, false); err != nil {
					return nil, err
				}
			}
			row = append(row, x)
			if !p.take(",") {
				break
			}
		}
		if err := p.want(")"); err != nil {
			return nil, err
		}
		if len(row) != len(t.Columns) {
			return nil, &ServerError{Number: 213, State: 1, Class: 16, Line: start.line, Message: "Column name or number of supplied values does not match table definition."}
		}
		rows = append(rows, row)
		if !p.take(",") {
			break
		}
	}
	text := p.since(start)
	return func(e *env) error {
		now, _ := e.s.table(name)
		next := Table{Columns: now.Columns, Rows: slices.Clone(now.Rows)}
		for _, row := range rows {
			values, err := rowOf(e, row)
			if err != nil {
				return err
			}
			next.Rows = append(next.Rows, values)
		}
		e.s.rowCount = int64(len(rows))
		e.apply(text, name, &next)
		return e.affected()
	}, nil
}

// affected makes the DONE of a change report how many rows it changed.
func (e *env) affected() error {
	e.r.changed, e.r.rows = true, uint64(e.s.rowCount)
	return e.r.err
}
