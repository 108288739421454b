package relatetest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ktxhq/ktx/research/catalog"
)

// Sample is a database with rows, as it was generated.
type Sample struct {
	Database

	Rows map[catalog.Ref][][]string // by column; Null stands for null
}

// Null stands for null in the rows of a Sample.
const Null = "\x00null"

// entity is a concept that has a table.
type entity struct {
	concept string
	rows    int
	refs    []reference
}

type reference struct{ to, role string }

// entities is the model that every database has. Tables precede those that refer to
// them; a reference to a later table or to the own one is filled afterwards.
func entities() []entity {
	return []entity{
		{"country", 30, nil},
		{"category", 18, []reference{{"category", "parent"}}},
		{"department", 9, []reference{{"employee", "manager"}}},
		{"employee", 70, []reference{{"department", ""}, {"employee", "manager"}}},
		{"supplier", 25, []reference{{"country", ""}}},
		{"warehouse", 7, []reference{{"country", ""}}},
		{"address", 220, []reference{{"country", ""}}},
		{"customer", 150, []reference{{"address", "billing"}, {"address", "delivery"}}},
		{"product", 120, []reference{{"category", ""}, {"supplier", ""}}},
		{"order", 400, []reference{{"customer", ""}, {"employee", ""}, {"address", "delivery"}}},
		{"order item", 900, []reference{{"product", ""}}},
		{"shipment", 300, []reference{{"order", ""}, {"warehouse", ""}}},
		{"shipment item", 500, []reference{{"shipment", ""}}},
		{"invoice", 260, []reference{{"order", ""}, {"address", "billing"}}},
		{"payment", 310, []reference{{"invoice", ""}}},
	}
}

// generator makes one database.
type generator struct {
	habit  *Habit
	words  vocabulary
	random *rand.Rand
	sample *Sample
	schema string
	keys   map[string][]string // the key values of a concept
	items  [][2]string         // the keys of the order items
}

// Generate makes the database of a habit. Equal seeds give equal databases.
func Generate(h Habit, seed uint64) *Sample {
	g := &generator{
		habit: &h, words: vocabularies()[h.Words], random: rand.New(rand.NewPCG(seed, 17)), //nolint:gosec // test data
		sample: &Sample{Database: Database{Name: h.Name}, Rows: map[catalog.Ref][][]string{}},
	}
	schemas := []string{"main"}
	if h.Schemas {
		schemas = []string{"sales", "archive"}
	}
	for i, schema := range schemas {
		g.schema = schema
		g.keys = map[string][]string{}
		g.items = nil
		for _, e := range entities() {
			g.keys[e.concept] = g.keyValues(e.concept, e.rows-3*i)
		}
		for _, e := range entities() {
			g.table(e)
		}
	}
	return g.sample
}

func (g *generator) keyValues(concept string, n int) []string {
	list := make([]string, n)
	for i := range list {
		switch g.habit.Values {
		case "codes":
			list[i] = fmt.Sprintf("%c%c%04d", 'A'+len(concept)%26, 'A'+concept[0]%26, 17*(i+3))
		case "uuids":
			list[i] = fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", g.random.Uint32(), g.random.Uint32()&0xffff, g.random.Uint32()&0xfff, g.random.Uint32()&0xfff, g.random.Uint64()&0xffffffffffff)
		default:
			list[i] = fmt.Sprint(i + 1)
		}
	}
	return list
}

// build collects the columns of a table.
type build struct {
	table *catalog.Table
	rows  [][]string
}

func (b *build) add(name, kind string, key bool, value func(row int) string) {
	b.table.Columns = append(b.table.Columns, catalog.Column{Name: name, NativeType: kind, NormalizedType: kind, DimensionType: dimensionOf(kind), Nullable: !key, PrimaryKey: key})
	for i := range b.rows {
		b.rows[i] = append(b.rows[i], value(i))
	}
}

func dimensionOf(kind string) catalog.DimensionType {
	switch kind {
	case "INTEGER", "REAL":
		return catalog.DimensionNumber
	case "DATE":
		return catalog.DimensionTime
	}
	return catalog.DimensionString
}

func (g *generator) keyKind() string {
	if g.habit.Values == "" {
		return "INTEGER"
	}
	return "TEXT"
}

func (g *generator) table(e entity) {
	h, v := g.habit, g.words
	rows := len(g.keys[e.concept])
	if h.Empty && (e.concept == "payment" || e.concept == "warehouse") {
		rows = 0
	}
	schema := g.schema
	b := &build{table: &catalog.Table{DB: &schema, Name: h.table(v, e.concept), Kind: catalog.KindTable}, rows: make([][]string, rows)}
	declared := !h.Undeclared
	switch e.concept {
	case "order item":
		g.orderItems(b, declared)
	case "shipment item":
		g.shipmentItems(b, declared)
	default:
		b.add(h.key(v, e.concept), g.keyKind(), declared, func(i int) string { return g.keys[e.concept][i] })
		b.add(h.column(v, e.concept, v["name"][1]), "TEXT", false, func(i int) string { return fmt.Sprintf("%s %d", v[e.concept][1], i) })
	}
	for n, r := range e.refs {
		g.reference(b, e, r, n)
	}
	if h.PeopleRoles && (e.concept == "order" || e.concept == "invoice") {
		name := "created by"
		if e.concept == "invoice" {
			name = "approved by"
		}
		g.refer(b, h.column(v, e.concept, name), g.keyKind(), "employee", 0.1, false)
	}
	g.decoys(b, e)
	g.sample.Tables = append(g.sample.Tables, b.table)
	g.sample.Rows[b.table.Ref()] = b.rows
}

// reference adds the column of a reference.
func (g *generator) reference(b *build, e entity, r reference, n int) {
	kind := g.keyKind()
	if g.habit.Mismatch && n == 0 && (e.concept == "invoice" || e.concept == "shipment") {
		kind = "TEXT"
	}
	nulls := 0.0
	if r.role == "parent" || r.role == "manager" {
		nulls = 0.2
	}
	dirty := g.habit.Dirty && (e.concept == "payment" || e.concept == "order" && r.to == "customer")
	g.refer(b, g.habit.reference(g.words, e.concept, r.to, r.role), kind, r.to, nulls, dirty)
}

func (g *generator) refer(b *build, name, kind, to string, nulls float64, dirty bool) {
	targets := g.keys[to]
	b.add(name, kind, false, func(int) string {
		switch {
		case g.random.Float64() < nulls:
			return Null
		case dirty && g.random.Float64() < 0.02:
			return fmt.Sprint(9000 + g.random.IntN(50))
		}
		return targets[g.random.IntN(len(targets))]
	})
	g.truth(b, []string{name}, to, []string{g.habit.key(g.words, to)})
}

func (g *generator) truth(b *build, from []string, to string, columns []string) {
	schema := g.schema
	g.sample.Truth = append(g.sample.Truth, catalog.Relationship{
		From: catalog.EndPoint{Table: b.table.Ref(), Columns: from},
		To:   catalog.EndPoint{Table: catalog.Ref{DB: schema, Name: g.habit.table(g.words, to)}, Columns: columns},
	})
}

// orderItems has a key of two columns: the order and the number of the line.
func (g *generator) orderItems(b *build, declared bool) {
	h, v := g.habit, g.words
	line := 0
	for i := range b.rows {
		line++
		if i == 0 || line > 1+g.random.IntN(4) {
			line = 1
		}
		order := g.keys["order"][min(len(g.items)*len(g.keys["order"])/len(b.rows), len(g.keys["order"])-1)]
		if n := len(g.items); n > 0 && g.items[n-1][0] != order {
			line = 1
		} else if n > 0 && line == 1 {
			line = 2 // a second line of the same order
		}
		for slices.Contains(g.items[max(0, len(g.items)-12):], [2]string{order, fmt.Sprint(line)}) {
			line++
		}
		g.items = append(g.items, [2]string{order, fmt.Sprint(line)})
	}
	name := h.reference(v, "order item", "order", "")
	b.add(name, g.keyKind(), declared, func(i int) string { return g.items[i][0] })
	b.add(h.column(v, "order item", v["line"][1]), "INTEGER", declared, func(i int) string { return g.items[i][1] })
	g.truth(b, []string{name}, "order", []string{h.key(v, "order")})
}

// shipmentItems refers to order items by both columns of their key.
func (g *generator) shipmentItems(b *build, declared bool) {
	h, v := g.habit, g.words
	picks := make([]int, len(b.rows))
	for i := range picks {
		picks[i] = g.random.IntN(len(g.items))
	}
	if h.GenericKey {
		b.add(h.key(v, "shipment item"), "INTEGER", declared, func(i int) string { return fmt.Sprint(i + 1) })
	}
	from := []string{h.reference(v, "shipment item", "order", ""), h.column(v, "shipment item", v["line"][1])}
	b.add(from[0], g.keyKind(), false, func(i int) string { return g.items[picks[i]][0] })
	b.add(from[1], "INTEGER", false, func(i int) string { return g.items[picks[i]][1] })
	g.truth(b, from, "order item", []string{h.reference(v, "order item", "order", ""), h.column(v, "order item", v["line"][1])})
}

// decoys adds columns that refer to nothing, although small numbers overlap with
// every key.
func (g *generator) decoys(b *build, e entity) {
	h, v := g.habit, g.words
	numbers := []struct {
		name string
		most int
	}{{v["status"][1], 5}, {v["quantity"][1], 20}}
	for _, d := range numbers {
		b.add(h.column(v, e.concept, d.name), "INTEGER", false, func(int) string { return fmt.Sprint(1 + g.random.IntN(d.most)) })
	}
	b.add(h.column(v, e.concept, v["year"][1]), "INTEGER", false, func(int) string { return fmt.Sprint(2015 + g.random.IntN(10)) })
	b.add(h.column(v, e.concept, v["date"][1]), "DATE", false, func(int) string { return fmt.Sprintf("2024-%02d-%02d", 1+g.random.IntN(12), 1+g.random.IntN(28)) })
	switch e.concept {
	case "address":
		b.add(h.column(v, e.concept, "zip"), "INTEGER", false, func(int) string { return fmt.Sprint(100 + g.random.IntN(90)) })
	case "product":
		b.add(h.column(v, e.concept, v["supplier"][1], v["name"][1]), "TEXT", false, func(int) string { return fmt.Sprint("name ", g.random.IntN(25)) })
	case "order":
		b.add(h.column(v, e.concept, v["product"][1], v["quantity"][1]), "INTEGER", false, func(int) string { return fmt.Sprint(1 + g.random.IntN(9)) })
		b.add(h.column(v, e.concept, "region code"), "INTEGER", false, func(int) string { return fmt.Sprint(1 + g.random.IntN(6)) })
	case "shipment":
		b.add(h.column(v, e.concept, "tracking no"), "INTEGER", false, func(i int) string { return fmt.Sprint(50000 + i) })
		b.add(h.column(v, e.concept, "gate id"), "INTEGER", false, func(int) string { return fmt.Sprint(1 + g.random.IntN(12)) })
	}
}
