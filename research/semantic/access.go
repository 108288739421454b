package semantic

import (
	"strings"

	"github.com/ktxhq/ktx/research/semantic/emit"
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

// permission asks the rules about tables of the model. It implements [model.Permission].
type permission struct{ rules *Rules }

// names returns the schema and the name of the table. The schema is "" if the file has
// none and the engine has more than one.
func (p *permission) names(table []model.Ident) (schema, name string) {
	parts := make([]string, len(table))
	for i, part := range table {
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

// Table reports whether the table may be read. The guard decides about a table without a
// schema, because it knows where the server looks for it.
func (p *permission) Table(table []model.Ident) bool {
	schema, name := p.names(table)
	return p.rules.Access.Relation(schema, name) || schema == "" && p.judged(table, "1")
}

// Column reports whether the column may be read, by the same rule as Table.
func (p *permission) Column(table []model.Ident, column string) bool {
	schema, name := p.names(table)
	if p.rules.Access.Column(schema, name, column) {
		return true
	}
	written, err := emit.Identifier(column, p.rules.Dialect)
	return err == nil && schema == "" && p.judged(table, written)
}

// DeniesColumns reports whether any rule denies a column.
func (p *permission) DeniesColumns() bool { return p.rules.Access.DeniesColumns() }

// judged reports whether the guard permits to read a column, or a constant, from the
// table.
func (p *permission) judged(table []model.Ident, column string) bool {
	if p.rules.Judge == nil {
		return false
	}
	from, err := emit.Table(table, p.rules.Dialect)
	if err == nil {
		_, _, err = p.rules.Judge("SELECT " + column + " FROM " + from)
	}
	return err == nil
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
