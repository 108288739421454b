package sqlguard

import (
	"slices"
	"strings"
)

// Inventory lists the schemas, relations and functions of a database by name,
// including the server's own.
type Inventory struct {
	Schemas   []string
	Relations []InventoryRelation
	Functions []CatalogName
}

// InventoryRelation is one table, view or the like. Columns is nil when they are
// not known.
type InventoryRelation struct {
	CatalogName
	Columns []string
}

// UnmatchedName is a name in a policy that no object of the database has.
type UnmatchedName struct {
	// Key is where the configuration of a connection has it, such as
	// "access.tables.deny".
	Key  string
	Name string
	// Near is the name that is nearest to it, or "".
	Near string
	// Protects says that the rule denies exactly one name. A misspelled name then
	// denies nothing.
	Protects bool
}

// Unmatched returns the names of a policy that match no object of a database. It
// compares names as a guard of the dialect does.
func Unmatched(d Dialect, p Policy, in Inventory) []UnmatchedName {
	u := unmatched{folds: traitsOf(d).folds, in: in}
	for _, s := range in.Schemas {
		u.schemas = append(u.schemas, CatalogName{Schema: s})
	}
	for i := range in.Relations {
		u.relations = append(u.relations, in.Relations[i].CatalogName)
	}
	lists := []struct {
		key   string
		names Names
		of    []CatalogName
	}{
		{"access.schemas", p.Schemas, u.schemas},
		{"access.tables", p.Tables, u.relations},
		{"functions", p.Functions, in.Functions},
	}
	for _, list := range lists {
		for _, pattern := range list.names.Allow {
			if !slices.ContainsFunc(list.of, func(n CatalogName) bool { return names(pattern, n.Schema, n.Name, u.folds) }) {
				u.add(list.key+".allow", pattern, false, list.of)
			}
		}
	}
	for _, list := range lists {
		for _, pattern := range list.names.Deny {
			if !slices.ContainsFunc(list.of, func(n CatalogName) bool { return couldName(pattern, n.Schema, n.Name) }) {
				u.add(list.key+".deny", pattern, !strings.HasSuffix(pattern, "*"), list.of)
			}
		}
	}
	for _, rule := range p.Columns {
		u.column(rule.Match)
	}
	return u.out
}

type unmatched struct {
	folds              bool
	in                 Inventory
	schemas, relations []CatalogName
	out                []UnmatchedName
}

// column looks for the column of a rule.
func (u *unmatched) column(rule string) {
	schema, rest, _ := strings.Cut(rule, ".")
	table, column, _ := strings.Cut(rest, ".")
	var of []CatalogName
	for i := range u.in.Relations {
		r := &u.in.Relations[i]
		if !strings.EqualFold(r.Schema, schema) || !strings.EqualFold(r.Name, table) {
			continue
		}
		if r.Columns == nil || slices.ContainsFunc(r.Columns, func(c string) bool { return strings.EqualFold(c, column) }) {
			return
		}
		for _, c := range r.Columns {
			of = append(of, CatalogName{r.String(), c})
		}
	}
	if len(of) == 0 { // the table is not there either
		for _, n := range u.relations {
			of = append(of, CatalogName{n.String(), column})
		}
	}
	u.add("access.columns", rule, true, of)
}

// add notes a name, with the nearest of some names.
func (u *unmatched) add(key, name string, protects bool, of []CatalogName) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	best, distance := "", 1+len(last)/3
	for _, n := range of {
		full := strings.TrimSuffix(n.Schema+"."+n.Name, ".")
		if d := editDistance(strings.ToLower(name), strings.ToLower(full), distance); d < distance || d == distance && best == "" {
			best, distance = full, d
		}
	}
	if strings.HasSuffix(name, "*") {
		best = ""
	}
	u.out = append(u.out, UnmatchedName{Key: key, Name: name, Near: best, Protects: protects})
}
