package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// Relation is a table or view, and the columns of it that a role may read.
type Relation struct {
	sqlguard.CatalogName
	View     bool
	Columns  []string
	Readable []string
	// Rows says that the role may count the rows, also if it may read no column.
	Rows bool
}

// Access compares the rules of a connection with what a database has. The zero value has
// no rules.
type Access struct {
	Rules     sqlguard.ReadRules
	Relations []Relation
	Around    []sqlguard.Around // relations that show what a rule denies
}

// Grant is what a role needs of one relation. Columns is nil when it is every column.
type Grant struct {
	sqlguard.CatalogName
	View    bool
	Columns []string
}

// Grants returns what the rules permit to be read, relation by relation. A relation of
// which they permit no column, and one that shows what they deny, is not in it.
func (a *Access) Grants() []Grant {
	var out []Grant
	for i := range a.Relations {
		r := &a.Relations[i]
		if !a.Rules.Permits(r.Schema, r.Name) || a.around(r.CatalogName) != nil {
			continue
		}
		g := Grant{CatalogName: r.CatalogName, View: r.View}
		if denied := a.denied(r); len(denied) > 0 {
			for _, c := range r.Columns {
				if !slices.Contains(denied, c) {
					g.Columns = append(g.Columns, c)
				}
			}
			if g.Columns == nil {
				continue
			}
		}
		out = append(out, g)
	}
	return out
}

// Whole reports whether a role may get SELECT on every table of a schema, also on those
// that are made later: the rules permit all of it, and no relation of it leads around one.
func (a *Access) Whole(schema string) bool {
	return !a.Rules.Restricts() || a.Rules.Whole(schema) &&
		!slices.ContainsFunc(a.Around, func(v sqlguard.Around) bool { return v.Schema == schema }) &&
		!slices.ContainsFunc(a.Relations, func(r Relation) bool { return r.Schema == schema && len(a.denied(&r)) > 0 })
}

// denied returns the columns of a relation that a rule denies, as the relation spells them.
func (a *Access) denied(r *Relation) []string {
	rules := a.Rules.DeniedColumns(r.Schema, r.Name)
	if len(rules) == 0 {
		return nil
	}
	var out []string
	for _, c := range r.Columns {
		if slices.ContainsFunc(rules, func(rule string) bool { return a.Rules.SameName(rule, c) }) {
			out = append(out, c)
		}
	}
	return out
}

func (a *Access) around(n sqlguard.CatalogName) *sqlguard.Around {
	if i := slices.IndexFunc(a.Around, func(v sqlguard.Around) bool { return v.CatalogName == n }); i >= 0 {
		return &a.Around[i]
	}
	return nil
}

// Revocation is what a role may read although a rule denies it. Columns is nil when it is
// the whole relation. Others are the columns of the relation that the role may still read.
type Revocation struct {
	sqlguard.CatalogName
	Columns, Others []string
}

// Excess adds a warning to a report for each kind of thing that the role may read although
// the rules deny it. revoke returns the statement that takes a right away, for the first
// thing that a warning names.
func (a *Access) Excess(report *Report, revoke func(Revocation) string) {
	var tables, columns, around []Revocation
	why := map[sqlguard.CatalogName]string{}
	for i := range a.Relations {
		r := &a.Relations[i]
		if !r.Rows && len(r.Readable) == 0 {
			continue
		}
		if !a.Rules.Permits(r.Schema, r.Name) {
			tables = append(tables, Revocation{CatalogName: r.CatalogName})
			continue
		}
		if v := a.around(r.CatalogName); v != nil {
			around, why[v.CatalogName] = append(around, Revocation{CatalogName: r.CatalogName}), v.Why
			continue
		}
		denies := a.denied(r)
		var denied, others []string
		for _, c := range r.Readable {
			if slices.Contains(denies, c) {
				denied = append(denied, c)
			} else {
				others = append(others, c)
			}
		}
		if denied != nil {
			columns = append(columns, Revocation{r.CatalogName, denied, others})
		}
	}
	warn := func(list []Revocation, one, many string) {
		if len(list) == 0 {
			return
		}
		names := make([]string, 0, len(list))
		for _, r := range list {
			name := r.String()
			if r.Columns != nil {
				name += " (" + strings.Join(r.Columns[:min(len(r.Columns), maxNamed)], ", ") + ")"
			}
			if w := why[r.CatalogName]; w != "" {
				name += " (" + w + ")"
			}
			names = append(names, name)
		}
		report.Warn(execution.TopicAccess, revoke(list[0])+", or use the role of ktx doctor --role-script", "the role may read %s: %s", Several(len(list), one, many), Named(names))
	}
	warn(tables, "a table or view that the rules of this connection do not permit", "%d tables and views that the rules of this connection do not permit")
	warn(columns, "denied columns of a table", "denied columns of %d tables")
	warn(around, "a table or view that leads or may lead around a rule of this connection", "%d tables and views that lead or may lead around a rule of this connection")
}

// maxNamed bounds the names in a warning.
const maxNamed = 5

// Named lists names for a warning, and leaves out what would be too many.
func Named(names []string) string {
	if len(names) > maxNamed {
		names = append(names[:maxNamed:maxNamed], "…")
	}
	return strings.Join(names, ", ")
}

// Several writes one, or many with the number n.
func Several(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}
