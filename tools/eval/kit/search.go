package kit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ktxhq/ktx/research/catalog"
)

// A row is one way to ask the questions of a data set. Recall is the mean share of
// what the SQL of a question reads that is among the first k results. "All" is the
// share of questions for which nothing is missing. MRR is the mean of 1/rank of the
// first right result.
type row struct {
	name    string
	kinds   []string // nil: those of a call that names none
	columns bool     // columns are counted; otherwise tables
	scoped  bool     // the connection is given
	k       int
	bars    map[string]bars // by data set
}

// bars are what is required, or 0.
type bars struct{ recall, mrr float64 }

var rows = []row{
	{"tables, over all databases", []string{"table"}, false, false, 10, map[string]bars{"Spider": {0.92, 0.83}, "BIRD": {0.88, 0}}},
	{"tables, in the right database", []string{"table"}, false, true, 5, map[string]bars{"Spider": {0.98, 0.96}}},
	{"columns, over all databases", []string{"column"}, true, false, 10, map[string]bars{"Spider": {0.78, 0}}},
	{"columns, in the right database", []string{"column"}, true, true, 10, map[string]bars{"Spider": {0.91, 0}, "BIRD": {0.63, 0}}},
	{"tables among all kinds, over all databases", nil, false, false, 15, map[string]bars{"Spider": {0.91, 0}}},
}

// deepest is how many results are asked for, so that MRR sees more than k of them.
const deepest = 50

// repeated is how many questions of each row are asked a second time, of another
// server.
const repeated = 40

// A discovered is the part of the answer of discover_data that counts.
type discovered struct {
	Refs []discoveredRef `json:"refs"`
}

type discoveredRef struct {
	Kind         string      `json:"kind"`
	ID           string      `json:"id"`
	ConnectionID string      `json:"connectionId"`
	TableRef     catalog.Ref `json:"tableRef"`
	ColumnName   string      `json:"columnName"`
}

// searches measures discover_data and entity_details on the data sets that are there.
func (k *kit) searches(ctx context.Context) error {
	var failed error
	for _, from := range sources {
		if k.data == "" {
			continue
		}
		if !k.has(filepath.Dir(from.tables)) {
			k.report.Notes = append(k.report.Notes, fmt.Sprintf("%s was not measured: %s is not there.", from.name, filepath.Join(k.data, filepath.Dir(from.tables))))
			continue
		}
		d, err := readDataset(k.data, from)
		if err == nil {
			err = k.search(ctx, d)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// search measures one data set. Its schemas become scans of connections.
func (k *kit) search(ctx context.Context, d *dataset) (err error) {
	p, err := k.project(d.name)
	if err != nil {
		return err
	}
	for _, db := range d.databases {
		p.connect(db.id, "")
		if err := p.artifacts(db.id, db.tables); err != nil {
			return err
		}
	}
	if err := p.configure(); err != nil {
		return err
	}
	s, err := startServer(ctx, k.program, p.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	again, err := startServer(ctx, k.program, p.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, again.close()) }()
	named := &tablesNamed{ids: map[tableID]catalog.Ref{}}
	asked, differing := 0, 0
	for _, r := range rows {
		n, different, err := k.row(ctx, d, r, s, again, named)
		if err != nil {
			return err
		}
		asked, differing = asked+n, differing+different
	}
	k.report.none(d.name, "equal calls of discover_data to two servers", "differing answers", differing, asked)
	if err := k.details(ctx, d, s, named); err != nil {
		return err
	}
	return k.amongPages(ctx, d, p, s)
}

// row asks all questions in one way. It collects the tables that answers name, unless
// named is nil.
func (k *kit) row(ctx context.Context, d *dataset, r row, s, again *server, named *tablesNamed) (compared, differing int, err error) {
	type outcome struct {
		wanted, found, first int
		compared, differs    bool
	}
	outcomes := make([]outcome, len(d.questions))
	every := max(1, len(d.questions)/repeated)
	err = k.each(ctx, d.name+", "+r.name, len(d.questions), func(ctx context.Context, i int) error {
		q := &d.questions[i]
		wanted := q.wanted(r.columns)
		if len(wanted) == 0 {
			return nil
		}
		arguments := map[string]any{"query": q.text, "limit": deepest}
		if r.kinds != nil {
			arguments["kinds"] = r.kinds
		}
		if r.scoped {
			arguments["connectionId"] = q.database
		}
		var answer discovered
		text, err := s.call(ctx, "discover_data", arguments, &answer)
		if err != nil {
			return fmt.Errorf("%q: %w", q.text, err)
		}
		o := &outcomes[i]
		o.wanted = len(wanted)
		for at, ref := range answer.Refs {
			name := strings.ToLower(ref.TableRef.Name)
			if ref.Kind == "table" && named != nil {
				named.add(ref.ConnectionID, ref.ID, ref.TableRef)
			}
			if ref.Kind == "column" {
				name += "\x00" + strings.ToLower(ref.ColumnName)
			}
			if ref.ConnectionID != q.database || !wanted[name] {
				continue
			}
			if o.first == 0 {
				o.first = at + 1
			}
			if at < r.k {
				o.found++
			}
		}
		if i%every == 0 {
			second, err := again.call(ctx, "discover_data", arguments, &discovered{})
			if err != nil {
				return fmt.Errorf("%q: %w", q.text, err)
			}
			o.compared, o.differs = true, !bytes.Equal(text, second)
		}
		return nil
	})
	var recall, all, reciprocal float64
	n := 0
	for _, o := range outcomes {
		compared, differing = compared+one(o.compared), differing+one(o.differs)
		if o.wanted == 0 {
			continue
		}
		n++
		recall += float64(o.found) / float64(o.wanted)
		all += float64(one(o.found == o.wanted))
		if o.first > 0 {
			reciprocal += 1 / float64(o.first)
		}
	}
	if err != nil {
		return compared, differing, err
	}
	required := r.bars[d.name]
	k.report.atLeast(required.recall, d.name, r.name, fmt.Sprintf("recall@%d", r.k), mean(recall, n), n)
	k.report.figure(d.name, r.name, fmt.Sprintf("all@%d", r.k), mean(all, n), n)
	k.report.atLeast(required.mrr, d.name, r.name, "MRR", mean(reciprocal, n), n)
	return compared, differing, nil
}

// mean returns 0 for nothing.
func mean(sum float64, n int) float64 { return sum / float64(max(n, 1)) }

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// wanted returns what a question's SQL reads, folded: tables, or tables and columns
// with a zero byte between them.
func (q *question) wanted(columns bool) map[string]bool {
	out := map[string]bool{}
	if columns {
		for _, c := range q.columns {
			out[strings.ToLower(c[0]+"\x00"+c[1])] = true
		}
		return out
	}
	for _, t := range q.tables {
		out[strings.ToLower(t)] = true
	}
	return out
}

// A tableID is an id that discover_data gave to a table.
type tableID struct{ connection, id string }

// tablesNamed collects the tables that answers name.
type tablesNamed struct {
	mu  sync.Mutex
	ids map[tableID]catalog.Ref
}

func (t *tablesNamed) add(connection, id string, ref catalog.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ids[tableID{connection, id}] = ref
}
