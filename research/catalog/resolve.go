package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// MaxCandidates is how many names an error of [Snapshot.Resolve] has at most.
const MaxCandidates = 5

// NotFoundError says that no table has a name. Nearest has the most similar ones,
// the best first.
type NotFoundError struct {
	Nearest []*Table
}

// Error implements error.
func (e *NotFoundError) Error() string { return "no table has this name" }

// AmbiguousError says that a name fits several tables. Candidates has the first of
// them by name, and Omitted counts the others.
type AmbiguousError struct {
	Candidates []*Table
	Omitted    int
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d tables have this name", len(e.Candidates)+e.Omitted)
}

// nameIndex finds tables by the last part of their name, folded.
type nameIndex struct {
	once   sync.Once
	byName map[string][]int32 // positions in the tables of the snapshot
}

func (s *Snapshot) named(folded string) []int32 {
	s.names.once.Do(func() {
		s.names.byName = make(map[string][]int32, len(s.tables))
		for i, t := range s.tables {
			name := foldName(t.Name)
			s.names.byName[name] = append(s.names.byName[name], int32(i))
		}
	})
	return s.names.byName[folded]
}

// pattern is a name of a table of which the first parts may be unknown.
type pattern struct {
	ref                Ref
	anyCatalog, anyDB  bool
	fold, elsewhereToo bool // compare without case; ignore a catalog where the tables have none
}

func patternOf(parts []string) (pattern, bool) {
	n := len(parts)
	if n == 0 || n > 3 || parts[n-1] == "" {
		return pattern{}, false
	}
	p := pattern{ref: Ref{Name: parts[n-1]}, anyCatalog: n < 3, anyDB: n < 2}
	if n > 1 {
		p.ref.DB = parts[n-2]
	}
	if n > 2 {
		p.ref.Catalog = parts[0]
	}
	return p, true
}

// matches reports whether p fits r.
func (p pattern) matches(r Ref, driver string) bool {
	same := func(a, b string) bool { return a == b || p.fold && foldName(a) == foldName(b) }
	if !same(p.ref.Name, r.Name) {
		return false
	}
	if !p.anyDB && !same(p.ref.DB, r.DB) {
		// The artifact of another tool may leave out the one schema of SQLite.
		if !isSQLite(driver) || r.DB != "" || foldName(p.ref.DB) != "main" {
			return false
		}
	}
	return p.anyCatalog || same(p.ref.Catalog, r.Catalog) || p.elsewhereToo && r.Catalog == ""
}

// find returns the tables that p fits. If several fit and one of them has no parts
// but those of p, it returns that one.
func (s *Snapshot) find(p pattern) []*Table {
	var found, whole []*Table
	for _, i := range s.named(foldName(p.ref.Name)) {
		t := s.tables[i]
		r := t.Ref()
		if !p.matches(r, s.driver) {
			continue
		}
		found = append(found, t)
		if (!p.anyDB || r.DB == "") && (!p.anyCatalog || r.Catalog == "") {
			whole = append(whole, t)
		}
	}
	if len(whole) == 1 {
		return whole
	}
	return found
}

// Resolve returns the table that a path names, and the column if the path names a
// column of a table. A path is what [Snapshot.Display] and [Snapshot.DisplayColumn]
// return, or what a person or a model writes instead: its first parts may be
// missing, its case may differ, and it may have the quotes of any dialect. It may
// also be a [Ref] as JSON. The error is an [*AmbiguousError] or a [*NotFoundError].
func (s *Snapshot) Resolve(path string) (*Table, *Column, error) {
	path = strings.TrimSpace(path)
	if strings.HasPrefix(path, "{") {
		var r Ref
		if json.Unmarshal([]byte(path), &r) == nil && r.Name != "" {
			t, err := s.ResolveRef(r)
			if t == nil && r.DB == "" && strings.Contains(r.Name, ".") {
				return s.Resolve(strings.TrimLeft(r.Name, "{ ")) // a path in place of a name
			}
			return t, nil, err
		}
	}
	tried := map[string]bool{}
	for _, parts := range s.readings(path) {
		key := strings.Join(parts, "\x00")
		if tried[key] {
			continue
		}
		tried[key] = true
		t, c, err := s.resolveParts(parts)
		if t != nil || err != nil {
			return t, c, err
		}
	}
	return nil, nil, &NotFoundError{Nearest: s.nearestTables(path)}
}

// Lookup is [Snapshot.Resolve] for a name that need not be one: it returns nil for a
// name that fits nothing, or several tables.
func (s *Snapshot) Lookup(path string) (*Table, *Column) {
	for _, parts := range s.readings(strings.TrimSpace(path)) {
		if t, c, err := s.resolveParts(parts); t != nil || err != nil {
			return t, c
		}
	}
	return nil, nil
}

// ResolveRef returns the table that r names. Parts of r that are empty are unknown.
func (s *Snapshot) ResolveRef(r Ref) (*Table, error) {
	if t := s.Table(r); t != nil {
		return t, nil
	}
	p := pattern{ref: r, anyCatalog: r.Catalog == "", anyDB: r.DB == ""}
	if t, err := s.tiers(p); t != nil || err != nil {
		return t, err
	}
	return nil, &NotFoundError{Nearest: s.nearestTables(strings.Join(r.own(), "."))}
}

// readings returns the ways to read a path, the most literal first.
func (s *Snapshot) readings(path string) [][]string {
	var all [][]string
	for _, opening := range []string{quotes(s.driver), anyQuotes} {
		if parts, ok := split(path, opening); ok {
			all = append(all, parts)
			if len(parts) == 1 && parts[0] != path {
				// Quotes around a whole path, as in BigQuery.
				if inner, ok := split(parts[0], anyQuotes); ok {
					all = append(all, inner)
				}
			}
		}
	}
	if parts, ok := split(path, ""); ok {
		all = append(all, parts)
		// A name may hold dots that nobody quoted.
		for first := len(parts) - 2; first >= 0; first-- {
			name := strings.Join(parts[first:], ".")
			all = append(all, append(slices.Clone(parts[:first]), name))
			if first > 1 {
				all = append(all, []string{strings.Join(parts[:first], "."), name})
			}
		}
		for last := 2; last < len(parts); last++ {
			all = append(all, []string{strings.Join(parts[:last], "."), strings.Join(parts[last:], ".")})
		}
	}
	return all
}

// resolveParts returns nil without an error if nothing has these parts.
func (s *Snapshot) resolveParts(parts []string) (*Table, *Column, error) {
	p, isTable := patternOf(parts)
	if isTable {
		if t := s.Table(p.ref); t != nil {
			return t, nil, nil
		}
	}
	var of pattern
	column, hasColumn := "", false
	if n := len(parts); n > 1 && parts[n-1] != "" {
		// Empty parts in front of a column say which parts its table lacks.
		front := parts[:n-1]
		for len(front) > 3 && front[0] == "" {
			front = front[1:]
		}
		of, hasColumn = patternOf(front)
		column = parts[n-1]
	}
	if hasColumn {
		if t := s.Table(of.ref); t != nil {
			if c := t.Column(column); c != nil {
				return t, c, nil
			}
		}
	}
	if isTable {
		if t, err := s.tiers(p); t != nil || err != nil {
			return t, nil, err
		}
	}
	if !hasColumn {
		return nil, nil, nil
	}
	for _, of.fold = range []bool{false, true} {
		var tables []*Table
		var columns []*Column
		for _, t := range s.find(of) {
			if found := t.columns(column); len(found) == 1 {
				tables, columns = append(tables, t), append(columns, found[0])
			}
		}
		switch {
		case len(tables) == 1:
			return tables[0], columns[0], nil
		case len(tables) > 1:
			return nil, nil, ambiguous(tables)
		}
	}
	return nil, nil, nil
}

// tiers tries a pattern with exact case, then without, and then without a catalog
// that the artifact does not name.
func (s *Snapshot) tiers(p pattern) (*Table, error) {
	for tier := range 4 {
		p.fold, p.elsewhereToo = tier%2 == 1, tier > 1
		if p.elsewhereToo && (p.anyCatalog || quotes(s.driver)[0] == '[') {
			break // on SQL Server another catalog is another database
		}
		switch found := s.find(p); len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return nil, ambiguous(found)
		}
	}
	return nil, nil
}

func ambiguous(found []*Table) error {
	n := min(len(found), MaxCandidates)
	return &AmbiguousError{Candidates: found[:n:n], Omitted: len(found) - n}
}

// columns returns the column with this name, or else those whose name differs in
// case only.
func (t *Table) columns(name string) []*Column {
	if c := t.Column(name); c != nil {
		return []*Column{c}
	}
	var found []*Column
	folded := foldName(name)
	for i := range t.Columns {
		if foldName(t.Columns[i].Name) == folded {
			found = append(found, &t.Columns[i])
		}
	}
	return found
}

// ResolveColumn returns the column of t that a name names. The name may differ in
// case, have quotes, or begin with the name of the table. The error is a
// [*ColumnError].
func (s *Snapshot) ResolveColumn(t *Table, name string) (*Column, error) {
	if c := t.Column(name); c != nil {
		return c, nil // also a name that ends in white space
	}
	name = strings.TrimSpace(name)
	found := t.columns(name)
	for _, parts := range s.readings(name) {
		if len(found) > 0 {
			break
		}
		last := parts[len(parts)-1]
		if p, ok := patternOf(parts[:len(parts)-1]); ok {
			p.fold = true
			if !p.matches(t.Ref(), s.driver) {
				continue
			}
		} else if len(parts) > 1 {
			continue
		}
		found = t.columns(last)
	}
	if len(found) == 1 {
		return found[0], nil
	}
	e := &ColumnError{}
	for _, c := range found {
		e.Nearest = append(e.Nearest, c.Name)
	}
	if len(found) == 0 {
		e.Nearest = nearestColumns(t, name)
	}
	e.Nearest = e.Nearest[:min(len(e.Nearest), MaxCandidates)]
	return nil, e
}

// ColumnError says that a table has no column with a name, or several whose names
// differ in case only. Nearest has the most similar ones, the best first.
type ColumnError struct {
	Nearest []string
}

// Error implements error.
func (e *ColumnError) Error() string { return "the table has no such column" }
