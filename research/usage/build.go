package usage

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/sqlguard"
)

// Builder counts the statements of one connection.
type Builder struct {
	connection string
	dialect    sqlguard.Dialect
	schema     schema
	from, to   time.Time
	read       int64
	unread     int64
	tables     map[*catalog.Table]*count
	columns    map[columnKey]*count
	joins      map[joinKey]int64
}

type columnKey struct {
	table  *catalog.Table
	column int
}

type joinKey struct{ from, to columnKey }

type count struct {
	statements int64
	last       time.Time
}

func (c *count) add(at time.Time) {
	c.statements++
	if at.After(c.last) {
		c.last = at
	}
}

// NewBuilder returns a builder that counts the given tables, those of the last
// scan. Statements are read with the dialect d.
func NewBuilder(connectionID string, d sqlguard.Dialect, tables []*catalog.Table) *Builder {
	return &Builder{
		connection: connectionID, dialect: d, schema: newSchema(tables),
		tables: map[*catalog.Table]*count{}, columns: map[columnKey]*count{}, joins: map[joinKey]int64{},
	}
}

// Add counts a statement that was accepted at the given time. Sql is the
// statement, or its normal form with ? for literals ([sqlguard.Verdict]). Add
// reports whether it could read the statement.
func (b *Builder) Add(sql string, at time.Time) bool {
	if b.from.IsZero() || at.Before(b.from) {
		b.from = at
	}
	if at.After(b.to) {
		b.to = at
	}
	b.read++
	text, statements, ok := parse(b.dialect, sql)
	if !ok {
		b.unread++
		return false
	}
	seen := map[*catalog.Table]bool{}
	columns := map[columnKey]bool{}
	joins := map[joinKey]bool{}
	for i := range statements {
		b.schema.read(b.dialect, text, &statements[i], seen, columns, joins)
	}
	for t := range seen {
		entry(b.tables, t).add(at)
	}
	for c := range columns {
		entry(b.columns, c).add(at)
	}
	for j := range joins {
		b.joins[j]++
	}
	return true
}

func entry[K comparable](m map[K]*count, key K) *count {
	c := m[key]
	if c == nil {
		c = &count{}
		m[key] = c
	}
	return c
}

// File returns the artifact.
func (b *Builder) File(builtAt time.Time) *File {
	f := &File{
		ConnectionID: b.connection, BuiltAt: format(builtAt), Statements: b.read, Unread: b.unread,
		Tables: []Table{}, Columns: []Column{}, Joins: []Join{},
	}
	if b.read > 0 {
		f.From, f.To = format(b.from), format(b.to)
	}
	for t, c := range b.tables {
		f.Tables = append(f.Tables, Table{Table: t.Ref(), Statements: c.statements, LastUsed: format(c.last)})
	}
	for k, c := range b.columns {
		f.Columns = append(f.Columns, Column{Table: k.table.Ref(), Column: k.name(), Statements: c.statements, LastUsed: format(c.last)})
	}
	for k, n := range b.joins {
		f.Joins = append(f.Joins, Join{From: k.from.end(), To: k.to.end(), Statements: n})
	}
	slices.SortFunc(f.Tables, func(x, y Table) int { return compareRefs(x.Table, y.Table) })
	slices.SortFunc(f.Columns, func(x, y Column) int {
		return cmp.Or(compareRefs(x.Table, y.Table), strings.Compare(x.Column, y.Column))
	})
	slices.SortFunc(f.Joins, func(x, y Join) int { return cmp.Or(compareEnds(x.From, y.From), compareEnds(x.To, y.To)) })
	return f
}

func format(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (k columnKey) name() string { return k.table.Columns[k.column].Name }

func (k columnKey) end() End { return End{Table: k.table.Ref(), Column: k.name()} }

func compareRefs(a, b catalog.Ref) int {
	return cmp.Or(strings.Compare(a.Catalog, b.Catalog), strings.Compare(a.DB, b.DB), strings.Compare(a.Name, b.Name))
}

func compareEnds(a, b End) int {
	return cmp.Or(compareRefs(a.Table, b.Table), strings.Compare(a.Column, b.Column))
}
