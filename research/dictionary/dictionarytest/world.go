package dictionarytest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
)

// Column is a column with its values.
type Column struct {
	Table  catalog.Ref
	Name   string
	Values []string // as the database has them
	clean  []string // as they were before they became dirty
	script *script
	code   bool
}

// World is a database.
type World struct {
	Columns []*Column
	random  *rand.Rand
}

// New makes a world: for each script a table with columns of several shapes, tables
// of codes, and a column of texts that mention values of other columns. A column has
// size values.
func New(seed uint64, size int) *World {
	w := &World{random: rand.New(rand.NewPCG(seed, 13))} //nolint:gosec // no secret
	for i := range scripts {
		for _, s := range shapes {
			w.add(catalog.Ref{DB: "shop", Name: scripts[i].name}, s, &scripts[i], size, false)
		}
	}
	for _, s := range codes {
		w.add(catalog.Ref{DB: "stock", Name: "items"}, s, &scripts[0], size, true)
	}
	notes := &Column{Table: catalog.Ref{DB: "shop", Name: "visits"}, Name: "remark", script: &scripts[0]}
	for range size / 4 {
		c := w.Columns[w.random.IntN(len(w.Columns))]
		notes.Values = append(notes.Values, "Visit of "+c.Values[w.random.IntN(len(c.Values))]+" was fine")
	}
	w.Columns = append(w.Columns, notes)
	return w
}

// add adds a column with distinct values.
func (w *World) add(table catalog.Ref, s shape, script *script, size int, code bool) {
	c := &Column{Table: table, Name: s.name, script: script, code: code}
	seen := map[string]bool{}
	for len(c.Values) < size {
		v := s.make(w.random, script)
		if seen[v] {
			continue
		}
		seen[v] = true
		c.clean = append(c.clean, v)
		c.Values = append(c.Values, w.dirty(v))
	}
	w.Columns = append(w.Columns, c)
}

// dirty returns a value as careless programs store it.
func (w *World) dirty(v string) string {
	switch w.random.IntN(12) {
	case 0:
		return v + "  "
	case 1:
		return strings.ReplaceAll(v, " ", "\u00a0")
	case 2:
		return strings.ReplaceAll(v, "-", "\u2013")
	case 3:
		return strings.ToUpper(v)
	case 4:
		return strings.ReplaceAll(v, " ", "  ")
	default:
		return v
	}
}

// Write writes the world as the values of a scan, and returns the tables of the scan.
func (w *World) Write(root *os.Root, connectionID, syncID string) ([]*catalog.Table, error) {
	writer, err := dictionary.NewWriter(root, connectionID, syncID)
	if err != nil {
		return nil, err
	}
	var tables []*catalog.Table
	for _, c := range w.Columns {
		values := make([]dictionary.Value, len(c.Values))
		for i, v := range c.Values {
			values[i] = dictionary.Value{Text: v, Count: int64(len(c.Values) - i)}
		}
		if err := writer.Column(c.Table, c.Name, values, int64(len(values)), true); err != nil {
			return nil, err
		}
		if n := len(tables); n == 0 || tables[n-1].Ref() != c.Table {
			tables = append(tables, &catalog.Table{DB: &c.Table.DB, Name: c.Table.Name, Kind: catalog.KindTable})
		}
		t := tables[len(tables)-1]
		t.Columns = append(t.Columns, catalog.Column{Name: c.Name, NativeType: "text", NormalizedType: "string", DimensionType: catalog.DimensionString})
	}
	if err := writer.Commit(); err != nil {
		return nil, fmt.Errorf("write the world: %w", err)
	}
	return tables, nil
}
