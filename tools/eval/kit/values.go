package kit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary/dictionarytest"
	"github.com/ktxhq/ktx/research/scan/relate/relatetest"
)

// The generated databases for dictionary_search: their seeds, the values of a column,
// and the questions of each habit.
var valueSeeds = []uint64{1, 2}

const (
	valuesPerColumn   = 60
	questionsPerHabit = 40
)

// lookedUp is the part of the answer of dictionary_search that counts.
type lookedUp struct {
	Results []struct {
		Matches []struct {
			TableRef   catalog.Ref `json:"tableRef"`
			ColumnName string      `json:"columnName"`
		} `json:"matches"`
	} `json:"results"`
}

// values measures dictionary_search on scanned databases of generated values.
func (k *kit) values(ctx context.Context) error {
	p, err := k.project("values")
	if err != nil {
		return err
	}
	worlds := map[uint64]*dictionarytest.World{}
	for _, seed := range valueSeeds {
		worlds[seed] = dictionarytest.New(seed, valuesPerColumn)
		name := valuesID(seed) + ".sqlite"
		p.connect(valuesID(seed), name)
		if err := relatetest.WriteSQLite(filepath.Join(p.dir, name), valuesSample(worlds[seed])); err != nil {
			return err
		}
	}
	if err := p.configure(); err != nil {
		return err
	}
	if err := k.scan(ctx, "scan of values", p); err != nil {
		return err
	}
	s, err := startServer(ctx, k.program, p.dir)
	if err != nil {
		return err
	}
	for _, seed := range valueSeeds {
		if err := k.lookUps(ctx, s, seed, worlds[seed]); err != nil {
			return errors.Join(err, s.close())
		}
	}
	return s.close()
}

func valuesID(seed uint64) string { return fmt.Sprintf("values%d", seed) }

// valuesTable returns the table of the SQLite file for a table of a world. The file
// has one schema.
func valuesTable(world catalog.Ref) catalog.Ref {
	return catalog.Ref{DB: "main", Name: world.DB + "_" + world.Name}
}

// valuesSample returns the tables of a world with their rows.
func valuesSample(w *dictionarytest.World) *relatetest.Sample {
	s := &relatetest.Sample{Rows: map[catalog.Ref][][]string{}}
	byRef := map[catalog.Ref]*catalog.Table{}
	for _, c := range w.Columns {
		ref := valuesTable(c.Table)
		t := byRef[ref]
		if t == nil {
			t = &catalog.Table{DB: &ref.DB, Name: ref.Name, Kind: catalog.KindTable}
			byRef[ref] = t
			s.Tables = append(s.Tables, t)
			s.Rows[ref] = make([][]string, len(c.Values))
		}
		t.Columns = append(t.Columns, catalog.Column{Name: c.Name, NativeType: "TEXT"})
		for i, v := range c.Values {
			s.Rows[ref][i] = append(s.Rows[ref][i], v)
		}
	}
	return s
}

// lookUps asks the questions about one world.
func (k *kit) lookUps(ctx context.Context, s *server, seed uint64, w *dictionarytest.World) error {
	type asked struct {
		dictionarytest.Question
		held         bool
		found, first bool
	}
	var list []asked
	for _, h := range dictionarytest.Habits() {
		for _, q := range w.Questions(h, questionsPerHabit) {
			list = append(list, asked{Question: q, held: h.Held})
		}
	}
	err := k.each(ctx, fmt.Sprintf("values, seed %d", seed), len(list), func(ctx context.Context, i int) error {
		q := &list[i]
		var answer lookedUp
		_, err := s.call(ctx, "dictionary_search", map[string]any{"values": []string{q.Value}, "connectionId": valuesID(seed)}, &answer)
		if err != nil {
			return fmt.Errorf("%q: %w", q.Value, err)
		}
		if len(answer.Results) != 1 {
			return fmt.Errorf("%q: dictionary_search gave %d results", q.Value, len(answer.Results))
		}
		for at, m := range answer.Results[0].Matches {
			if m.TableRef == valuesTable(q.Column.Table) && m.ColumnName == q.Column.Name {
				q.found, q.first = true, q.first || at == 0
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, held := range []bool{false, true} {
		n, found, first := 0, 0, 0
		for _, q := range list {
			if q.held == held {
				n, found, first = n+1, found+one(q.found), first+one(q.first)
			}
		}
		data, question := fmt.Sprintf("values, seed %d", seed), "habits of spelling, "+half(held)
		k.report.atLeast(0.95, data, question, "right column found", mean(float64(found), n), n)
		k.report.atLeast(0.93, data, question, "right column first", mean(float64(first), n), n)
	}
	return nil
}

// half names a part of generated data.
func half(held bool) string {
	if held {
		return "held out"
	}
	return "chosen on"
}
