package usage

import (
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/sqlguard"
)

// schema finds the tables and columns of a scan by the names of a statement. The
// normal form of a statement has unquoted names in lower case, so names are
// compared without their case.
type schema struct {
	byName map[string][]*catalog.Table
	column map[*catalog.Table]map[string]int
}

func newSchema(tables []*catalog.Table) schema {
	s := schema{byName: map[string][]*catalog.Table{}, column: map[*catalog.Table]map[string]int{}}
	for _, t := range tables {
		key := strings.ToLower(t.Name)
		s.byName[key] = append(s.byName[key], t)
		columns := make(map[string]int, len(t.Columns))
		for i := range t.Columns {
			columns[strings.ToLower(t.Columns[i].Name)] = i
		}
		s.column[t] = columns
	}
	return s
}

// table returns the one table that a relation can mean, or nil.
func (s schema) table(r *sqlguard.Relation) *catalog.Table {
	var found *catalog.Table
	for _, t := range s.byName[strings.ToLower(r.Name)] {
		ref := t.Ref()
		if r.Schema != "" && !strings.EqualFold(r.Schema, ref.DB) {
			continue
		}
		if r.Database != "" && ref.Catalog != "" && !strings.EqualFold(r.Database, ref.Catalog) {
			continue
		}
		if found != nil {
			return nil // the search path decides, and the log does not have it
		}
		found = t
	}
	return found
}

// scope is what the qualifiers of a statement mean. An alias that two relations
// have, in two parts of the statement, means nothing here.
type scope struct {
	named  map[string]*catalog.Table
	tables []*catalog.Table
}

// read adds what a statement reads to the sets.
func (s schema) read(d sqlguard.Dialect, sql string, st *sqlguard.Statement, tables map[*catalog.Table]bool, columns map[columnKey]bool, joins map[joinKey]bool) {
	in := s.scope(st, tables)
	at := make(map[int]columnKey, len(st.ColumnRefs)) // by the end of the reference in the text
	from := make(map[int]columnKey, len(st.ColumnRefs))
	for i := range st.ColumnRefs {
		ref := &st.ColumnRefs[i]
		key, ok := s.resolve(in, ref)
		if !ok {
			continue
		}
		columns[key] = true
		from[ref.Span.Start], at[ref.Span.End] = key, key
	}
	for _, t := range d.Lex(sql).List {
		if t.Kind != sqlguard.TokenOperator || t.Text(sql) != "=" {
			continue
		}
		left, ok := at[len(strings.TrimRight(sql[:t.Start], " \t\r\n"))]
		if !ok {
			continue
		}
		right, ok := from[len(sql)-len(strings.TrimLeft(sql[t.End:], " \t\r\n"))]
		if !ok || left.table == right.table {
			continue
		}
		if compareEnds(left.end(), right.end()) > 0 {
			left, right = right, left
		}
		joins[joinKey{left, right}] = true
	}
}

func (s schema) scope(st *sqlguard.Statement, tables map[*catalog.Table]bool) scope {
	in := scope{named: map[string]*catalog.Table{}}
	for i := range st.Relations {
		r := &st.Relations[i]
		if r.System {
			continue
		}
		t := s.table(r)
		if t != nil {
			tables[t] = true
			in.tables = append(in.tables, t)
		}
		name := strings.ToLower(r.Name)
		if r.Alias != "" {
			name = strings.ToLower(r.Alias)
		}
		if other, ok := in.named[name]; ok && other != t {
			t = nil
		}
		in.named[name] = t
	}
	return in
}

// resolve returns the column that a reference means. A reference without a
// qualifier means the only table of the statement that has such a column.
func (s schema) resolve(in scope, ref *sqlguard.ColumnRef) (columnKey, bool) {
	if ref.Star {
		return columnKey{}, false
	}
	name := strings.ToLower(ref.Name)
	if n := len(ref.Qualifier); n > 0 {
		t := in.named[strings.ToLower(ref.Qualifier[n-1])]
		if t == nil {
			return columnKey{}, false
		}
		i, ok := s.column[t][name]
		return columnKey{t, i}, ok
	}
	var found columnKey
	for _, t := range in.tables {
		i, ok := s.column[t][name]
		if !ok || found.table == t {
			continue
		}
		if found.table != nil {
			return columnKey{}, false
		}
		found = columnKey{t, i}
	}
	return found, found.table != nil
}
