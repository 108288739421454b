package mysql

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

var _ sqlguard.HomeDialect = Dialect{}

// AnalyzeObjects is Analyze for a guard with the objects of a catalogue. The query of a
// view is the server's own printed form. The body of a function can be read only if it is
// RETURN and an expression.
func (d Dialect) AnalyzeObjects(text string, part sqlguard.Part, _ sqlguard.ObjectNames) ([]sqlguard.Statement, error) {
	switch part {
	case sqlguard.PartBody:
		var list []sqlguard.Token
		for _, t := range d.Lex(text).List {
			if t.Kind != sqlguard.TokenComment {
				list = append(list, t)
			}
		}
		if len(list) == 0 || foldName(list[0].Text(text)) != "return" {
			return nil, &sqlguard.SyntaxError{Message: "only a body of RETURN and an expression can be read"}
		}
		text = "SELECT " + text[list[0].End:]
	case sqlguard.PartExpression:
		text = "SELECT " + text
	case sqlguard.PartStatement, sqlguard.PartQuery:
	}
	return d.Analyze(text)
}

// ServerSchemas returns the databases of the server's own.
func (Dialect) ServerSchemas() []string {
	return []string{"mysql", "information_schema", "performance_schema", "sys"}
}

// SearchFrom returns the database of an object: the servers look up the names in its
// source there.
func (Dialect) SearchFrom(schema string) []string { return []string{schema} }

// VirtualRelation reports whether a name means a relation that no catalogue lists: all
// relations of a database, which SHOW lists, and MariaDB's tables of numbers.
func (d Dialect) VirtualRelation(name string) bool {
	if name == "*" {
		return true
	}
	rest, ok := strings.CutPrefix(foldName(name), "seq_")
	if !ok || d.product == productMySQL {
		return false
	}
	from, rest, ok := strings.Cut(rest, "_to_")
	to, step, stepped := strings.Cut(rest, "_step_")
	return ok && digitsOnly(from) && digitsOnly(to) && (!stepped || digitsOnly(step))
}

// HidesObjects returns true: an account sees only the objects that it has a privilege on.
func (Dialect) HidesObjects() bool { return true }

func digitsOnly(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
