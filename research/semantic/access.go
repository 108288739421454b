package semantic

import (
	"strings"

	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// Access says what the rules of a connection permit to be read. sqlguard.Readable
// implements it.
type Access interface {
	// Relation reports whether a table may be read.
	Relation(schema, name string) bool
	// Column reports whether a column may be read, and its table too.
	Column(schema, table, column string) bool
	// DeniesColumns reports whether any rule denies a column.
	DeniesColumns() bool
	// ID is equal for two values that give the same answers.
	ID() string
}

// restrict marks in a new model what the rules deny. A source whose table is denied is
// denied. A denied column that only a scan named is left out; a source that a person
// wrote, and that names the column or uses it, is denied as a whole.
func restrict(m *model.Model, rules *Rules) {
	for i, source := range m.Sources {
		if source.Table == nil {
			continue // the guard has judged the body when it was read
		}
		p := permission{rules: rules, source: source}
		if !p.table() {
			m.Deny(i)
			continue
		}
		if !rules.Access.DeniesColumns() {
			continue
		}
		for c, column := range source.Columns {
			switch {
			case column.Expr != nil || p.column(column.Name):
			case source.Form == model.Standalone || uses(source, c):
				m.Deny(i)
			default:
				m.DenyColumn(i, c)
			}
		}
	}
}

// permission asks the rules about one source.
type permission struct {
	rules  *Rules
	source *model.Source
}

// names returns the schema and the name of the table. The schema is "" if the file has
// none and the engine has more than one.
func (p *permission) names() (schema, name string) {
	parts := make([]string, len(p.source.Table))
	for i, part := range p.source.Table {
		parts[i] = emit.Folded(part, p.rules.Dialect)
	}
	name = parts[len(parts)-1]
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	} else if p.rules.Dialect == emit.SQLite {
		schema = "main"
	}
	return schema, name
}

// table reports whether the table may be read. The guard decides about a table without a
// schema, because it knows where the server looks for it.
func (p *permission) table() bool {
	schema, name := p.names()
	return p.rules.Access.Relation(schema, name) || schema == "" && p.judged("1")
}

func (p *permission) column(column string) bool {
	schema, name := p.names()
	if p.rules.Access.Column(schema, name, column) {
		return true
	}
	written, err := emit.Identifier(column, p.rules.Dialect)
	return err == nil && schema == "" && p.judged(written)
}

// judged reports whether the guard permits to read a column, or a constant, from the
// table.
func (p *permission) judged(column string) bool {
	if p.rules.Judge == nil {
		return false
	}
	table, err := emit.Table(p.source.Table, p.rules.Dialect)
	if err == nil {
		_, _, err = p.rules.Judge("SELECT " + column + " FROM " + table)
	}
	return err == nil
}

// uses reports whether an expression of the source reads its own column c.
func uses(s *model.Source, c int) bool {
	found := false
	look := func(e *expr.Expr) {
		if e == nil {
			return
		}
		expr.Walk(e, func(n *expr.Expr) bool {
			if n.Op == expr.OpField && n.Field.Node == expr.Self && n.Field.Column == c {
				found = true
			}
			return !found
		})
	}
	for _, column := range s.Columns {
		look(column.Expr)
	}
	for _, m := range s.Measures {
		look(m.Expr)
		look(m.Filter)
		if m.SemiAdditive != nil && m.SemiAdditive.Over == c {
			found = true
		}
	}
	for _, segment := range s.Segments {
		look(segment.Expr)
	}
	return found
}

// touched returns what the guard is asked to learn which tables the sources of a plan
// read: one statement for each.
func touched(m *model.Model, sources []int, d emit.Dialect) []string {
	var out []string
	for _, i := range sources {
		s := m.Sources[i]
		if s.Table == nil {
			out = append(out, strings.TrimSpace(s.SQL))
			continue
		}
		if table, err := emit.Table(s.Table, d); err == nil { // else it could not be emitted
			out = append(out, "SELECT 1 FROM "+table)
		}
	}
	return out
}
