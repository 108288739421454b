package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/rank"
)

// A Connection is what the tables belong to. Its texts are searched too.
type Connection struct {
	ID, Name, Description string
}

// Input is what an [Index] is built from. The tables must not change afterwards.
type Input struct {
	Connection    Connection
	Tables        []*catalog.Table
	Relationships []catalog.Relationship // accepted ones; the foreign keys of the tables count without
}

// An Index is the searchable form of the tables of one connection. It is immutable, and
// safe for concurrent use.
type Index struct {
	connection Connection
	tables     []*catalog.Table
	firsts     []uint32 // by table, and one more: the number of its first column
	owners     []uint32 // by column: its table
	places     []uint32 // by table: its schema
	schemas    int
	members    []uint32   // by table: its family, or none
	families   [][]uint32 // tables, the latest first
	tableEnds  []uint32   // by schema: the number after that of its last table
	columnEnds []uint32   // by schema: the number after that of its last column
	roots      []float64  // by schema: what evidence is divided by, a root of the number of its columns
	neighbours [][]uint32 // by table
	keys       []key      // sorted

	scratch sync.Pool // *scratch

	table, column, place *rank.Index

	byRefOnce sync.Once
	byRef     map[catalog.Ref]uint32
}

// A key is a column of a foreign key or an accepted relationship, and the table that the
// key leads to or comes from.
type key struct{ column, other uint32 }

// none is the family of a table that is like no other.
const none = ^uint32(0)

// The fields of the documents. The names are those of matchedOn.
const (
	fieldName = iota
	fieldBody // of a table: the names of its columns
	fieldComment
	fieldDescription
	fieldSample
	fieldDisplay // of a column: its table
)

// matchedOn is what an answer calls a field.
var matchedOn = []string{
	fieldName: "name", fieldBody: "body", fieldComment: "comment", fieldDescription: "description", fieldSample: "sample_value", fieldDisplay: "display",
}

// Build makes the index of a connection.
func Build(a *rank.Analyzer, in Input) *Index {
	x := outline(in)
	x.build(a)
	return x
}

// build makes the parts of the index that are stored.
func (x *Index) build(a *rank.Analyzer) {
	var wait sync.WaitGroup
	wait.Go(func() { x.table = buildTables(a, x.tables) })
	x.column = buildColumns(a, x.tables, longComments(x.tables))
	x.place = buildPlaces(a, x)
	wait.Wait()
}

// together returns the tables with those of one schema next to each other. The schemas
// are in the order of their first tables.
func together(tables []*catalog.Table) []*catalog.Table {
	schema := func(t *catalog.Table) [2]string {
		ref := t.Ref()
		return [2]string{ref.Catalog, ref.DB}
	}
	numbers := map[[2]string]int{}
	for _, t := range tables {
		if _, ok := numbers[schema(t)]; !ok {
			numbers[schema(t)] = len(numbers)
		}
	}
	order := func(a, b *catalog.Table) int { return cmp.Compare(numbers[schema(a)], numbers[schema(b)]) }
	if !slices.IsSortedFunc(tables, order) {
		tables = slices.Clone(tables)
		slices.SortStableFunc(tables, order)
	}
	return tables
}

// outline derives what is not stored: who belongs to whom.
func outline(in Input) *Index {
	in.Tables = together(in.Tables)
	x := &Index{connection: in.Connection, tables: in.Tables}
	columns := 0
	for _, t := range in.Tables {
		columns += len(t.Columns)
	}
	x.firsts = make([]uint32, len(in.Tables)+1)
	x.owners = make([]uint32, 0, columns)
	for i, t := range in.Tables {
		for range t.Columns {
			x.owners = append(x.owners, uint32(i))
		}
		x.firsts[i+1] = uint32(len(x.owners)) //nolint:gosec // there are fewer than 2^32 in memory
	}
	x.places = make([]uint32, len(in.Tables))
	numbers := map[[2]string]uint32{}
	for i, t := range in.Tables {
		ref := t.Ref()
		key := [2]string{ref.Catalog, ref.DB}
		n, ok := numbers[key]
		if !ok {
			n = uint32(len(numbers)) //nolint:gosec // there are fewer than 2^32 in memory
			numbers[key] = n
		}
		x.places[i] = n
	}
	x.schemas = len(numbers)
	x.members, x.families = findFamilies(in.Tables)
	x.tableEnds, x.columnEnds = make([]uint32, x.schemas), make([]uint32, x.schemas)
	sizes := make([]int, x.schemas) // columns, of one table of each family
	for i, t := range in.Tables {
		at := x.places[i]
		x.tableEnds[at], x.columnEnds[at] = uint32(i)+1, x.firsts[i+1]
		if x.members[i] == none || x.families[x.members[i]][0] == uint32(i) {
			sizes[at] += len(t.Columns)
		}
	}
	for _, size := range sizes {
		x.roots = append(x.roots, math.Pow(float64(max(size, 1)), chosen.evidenceShare))
	}
	x.connect(in.Relationships)
	return x
}

// fields returns the fields of documents with these weights.
func fields(name, body, text, sample, display, nameB, bodyB, textB, displayB float64) []rank.Field {
	return []rank.Field{
		fieldName:        {Name: matchedOn[fieldName], Weight: name, B: nameB},
		fieldBody:        {Name: matchedOn[fieldBody], Weight: body, B: bodyB},
		fieldComment:     {Name: matchedOn[fieldComment], Weight: text, B: textB},
		fieldDescription: {Name: matchedOn[fieldDescription], Weight: text, B: textB},
		fieldSample:      {Name: matchedOn[fieldSample], Weight: sample, B: textB},
		fieldDisplay:     {Name: matchedOn[fieldDisplay], Weight: display, B: displayB},
	}
}

// buildTables makes one document of each table.
func buildTables(a *rank.Analyzer, tables []*catalog.Table) *rank.Index {
	w := &chosen
	b := rank.NewBuilder(a, fields(w.tableName, w.tableColumns, w.tableText, w.tableSamples, 0, w.tableNameB, w.tableColumnsB, w.textB, 0))
	var texts []rank.Text
	for _, t := range tables {
		texts = append(texts[:0], rank.Text{Field: fieldName, Text: t.Name})
		texts = appendTexts(texts, t.Descriptions, t.Comment)
		for i := range t.Columns {
			c := &t.Columns[i]
			texts = append(texts, rank.Text{Field: fieldBody, Text: c.Name})
			for _, v := range c.SampleValues {
				texts = append(texts, rank.Text{Field: fieldSample, Text: v})
			}
		}
		b.Add(texts...)
	}
	return b.Index()
}

// buildColumns makes one document of each column.
func buildColumns(a *rank.Analyzer, tables []*catalog.Table, long bool) *rank.Index {
	w := &chosen
	name, text := w.columnName, w.columnText
	if long {
		name, text = w.columnNameLong, w.columnTextLong
	}
	b := rank.NewBuilder(a, fields(name, 0, text, w.columnSamples, w.columnTable, w.columnNameB, 0, w.textB, w.columnTableB))
	var texts []rank.Text
	for _, t := range tables {
		for i := range t.Columns {
			c := &t.Columns[i]
			texts = append(texts[:0], rank.Text{Field: fieldName, Text: c.Name}, rank.Text{Field: fieldDisplay, Text: t.Name})
			texts = appendTexts(texts, c.Descriptions, c.Comment)
			for _, v := range c.SampleValues {
				texts = append(texts, rank.Text{Field: fieldSample, Text: v})
			}
			b.Add(texts...)
		}
	}
	return b.Index()
}

// appendTexts appends the comment and the description that is shown. Equal texts count
// once.
func appendTexts(texts []rank.Text, descriptions map[string]string, comment *string) []rank.Text {
	shown := catalog.Describe(descriptions, nil)
	if shown != "" {
		texts = append(texts, rank.Text{Field: fieldDescription, Text: shown})
	}
	if comment != nil && *comment != "" && *comment != shown {
		texts = append(texts, rank.Text{Field: fieldComment, Text: *comment})
	}
	return texts
}

// buildPlaces makes one document of each schema, with the texts of the connection.
func buildPlaces(a *rank.Analyzer, x *Index) *rank.Index {
	b := rank.NewBuilder(a, []rank.Field{{Name: "display", Weight: 3, B: 0.5}})
	seen := uint32(0)
	for i, t := range x.tables {
		if x.places[i] != seen {
			continue
		}
		seen++
		ref := t.Ref()
		texts := []rank.Text{{Text: x.connection.ID}}
		if x.connection.Name != x.connection.ID {
			texts = append(texts, rank.Text{Text: x.connection.Name})
		}
		b.Add(append(texts, rank.Text{Text: x.connection.Description, Weight: 0.5}, rank.Text{Text: ref.Catalog}, rank.Text{Text: ref.DB})...)
	}
	return b.Index()
}

// longComments reports whether most columns have a comment of more than six words.
func longComments(tables []*catalog.Table) bool {
	long, all := 0, 0
	for _, t := range tables {
		for i := range t.Columns {
			all++
			if strings.Count(catalog.Describe(t.Columns[i].Descriptions, t.Columns[i].Comment), " ") >= 6 {
				long++
			}
		}
	}
	return long*2 > all
}

// connect fills neighbours and keys from foreign keys and accepted relationships.
func (x *Index) connect(relationships []catalog.Relationship) {
	x.neighbours = make([][]uint32, len(x.tables))
	pair := func(from, to uint32, fromColumn, toColumn string) {
		for _, end := range [2]struct {
			table, other uint32
			column       string
		}{{from, to, fromColumn}, {to, from, toColumn}} {
			if from != to {
				x.neighbours[end.table] = append(x.neighbours[end.table], end.other)
			}
			if c, ok := x.columnOf(end.table, end.column); ok {
				x.keys = append(x.keys, key{c, end.other})
			}
		}
	}
	for i, t := range x.tables {
		for k := range t.ForeignKeys {
			f := &t.ForeignKeys[k]
			if to, ok := x.lookup(f.To()); ok {
				pair(uint32(i), to, f.FromColumn, f.ToColumn)
			}
		}
	}
	for i := range relationships {
		r := &relationships[i]
		from, ok := x.lookup(r.From.Table)
		to, also := x.lookup(r.To.Table)
		if !ok || !also {
			continue
		}
		for k := range min(len(r.From.Columns), len(r.To.Columns)) {
			pair(from, to, r.From.Columns[k], r.To.Columns[k])
		}
	}
	for i := range x.neighbours {
		slices.Sort(x.neighbours[i])
		x.neighbours[i] = slices.Compact(x.neighbours[i])
	}
	slices.SortFunc(x.keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.column, b.column), cmp.Compare(a.other, b.other)) })
	x.keys = slices.Compact(x.keys)
}

// lookup returns the number of a table.
func (x *Index) lookup(ref catalog.Ref) (uint32, bool) {
	x.byRefOnce.Do(func() {
		x.byRef = make(map[catalog.Ref]uint32, len(x.tables))
		for i, t := range x.tables {
			x.byRef[t.Ref()] = uint32(i)
		}
	})
	n, ok := x.byRef[ref]
	return n, ok
}

// columnOf returns the number of a column of a table.
func (x *Index) columnOf(t uint32, name string) (uint32, bool) {
	for i := range x.tables[t].Columns {
		if x.tables[t].Columns[i].Name == name {
			return x.firsts[t] + uint32(i), true
		}
	}
	return 0, false
}

// Ranks returns the parts of the index for [rank.Query.Within].
func (x *Index) Ranks() []*rank.Index { return []*rank.Index{x.table, x.column} }

// Connection returns the connection of the index.
func (x *Index) Connection() Connection { return x.connection }

// Tables returns the number of tables.
func (x *Index) Tables() int { return len(x.tables) }

// Columns returns the number of columns.
func (x *Index) Columns() int { return len(x.owners) }
