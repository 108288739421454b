package scan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// table is a table as introspection found it, with what the profile needs to know.
type table struct {
	catalog.Table
	columns []column // by position, as Table.Columns
	// stride is the expression of an integer key by which the engine can read ranges
	// of rows; "" if there is none.
	stride string
	// samples says that the engine can read a random part of the table.
	samples bool
	primary []string // columns of the primary key, in the order of the key
}

// column is what the profile needs to know of a column beside its artifact.
type column struct {
	// readable says that the role and the access rules permit reading the column.
	readable bool
	class    class
	// maxLength is the declared length of a text, or 0.
	maxLength int
}

// class says how the values of a column are read.
type class uint8

const (
	classOpaque class = iota // only whether a value is null: documents, bytes, arrays, shapes
	classPlain               // the value as the server writes it: numbers, times, identifiers
	classText                // the beginning and the length of a text
)

// add appends a column.
func (t *table) add(c catalog.Column, more column) {
	t.Columns = append(t.Columns, c)
	t.columns = append(t.columns, more)
}

// key marks the columns of the primary key. Numbers are positions in the key, from 1;
// 0 is no part of the key.
func (t *table) key(columns []string) {
	t.primary = columns
	for i := range t.Columns {
		if slices.Contains(columns, t.Columns[i].Name) {
			t.Columns[i].PrimaryKey, t.Columns[i].Nullable = true, false
		}
	}
}

// integerKey returns the name of the primary key if it is one integer column that may
// be read.
func (t *table) integerKey() string {
	if len(t.primary) != 1 {
		return ""
	}
	i := slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return c.Name == t.primary[0] })
	if i < 0 || t.Columns[i].NormalizedType != typeInteger || !t.columns[i].readable {
		return ""
	}
	return t.primary[0]
}

// newTable returns a table without columns.
func newTable(ref catalog.Ref, kind catalog.Kind) *table {
	return &table{Table: catalog.Table{
		Catalog: optional(ref.Catalog), DB: optional(ref.DB), Name: ref.Name, Kind: kind,
		Columns: []catalog.Column{}, ForeignKeys: []catalog.ForeignKey{},
	}}
}

// optional returns nil for "".
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// compareRefs orders tables by catalog, schema and name.
func compareRefs(a, b catalog.Ref) int {
	return cmp.Or(strings.Compare(a.Catalog, b.Catalog), strings.Compare(a.DB, b.DB), strings.Compare(a.Name, b.Name))
}

// display writes the name of a table for people, and for the keys of the profile. A
// part that holds a dot, a quote or a space is quoted.
func display(ref catalog.Ref) string {
	parts := make([]string, 0, 3)
	for _, p := range []string{ref.Catalog, ref.DB, ref.Name} {
		if p != "" {
			parts = append(parts, displayPart(p))
		}
	}
	return strings.Join(parts, ".")
}

func displayPart(name string) string {
	if strings.ContainsAny(name, "\". \t\r\n") {
		return quoteWith(name, `"`, `"`)
	}
	return name
}

// quoteWith writes a name between marks. The closing mark is doubled inside.
func quoteWith(name, open, end string) string {
	return open + strings.ReplaceAll(name, end, end+end) + end
}

// literal writes a text as an SQL literal for servers in which a backslash has no
// meaning inside of it.
func literal(text string) string { return quoteWith(text, "'", "'") }
