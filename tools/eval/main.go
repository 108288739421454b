// Command eval measures how often search finds the tables and columns of a
// question, on Spider and BIRD:
//
//	go run ./tools/eval -data DIR
//
// DIR holds spider/tables.json, spider/train_spider.json, spider/dev.json,
// bird/dev_tables.json and bird/dev.json, which are not part of this repository.
// The weights of the search were chosen on Spider's train set and half of BIRD's
// databases. This program reads off on the dev sets, and calls the packages of the
// search directly, not over MCP.
//
// Recall is the mean share of the tables, or columns, of a question's SQL that are
// among the first k results. "All" is the share of questions with all of them. MRR
// is the mean of 1/rank of the first one.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ktxhq/ktx/research/catalog/search"
	"github.com/ktxhq/ktx/research/rank"
)

// A row is one line of the output.
type row struct {
	name            string
	tables, columns bool // kinds that are searched
	wantColumns     bool // columns are counted; otherwise tables
	scoped          bool
	k               int
}

var rows = []row{
	{"tables, no connection", true, false, false, false, 10},
	{"tables, scoped", true, false, false, true, 5},
	{"columns, no connection", false, true, true, false, 10},
	{"columns, scoped", false, true, true, true, 10},
	{"default kinds, no connection: tables", true, true, false, false, 15},
}

// deepest is how many results are asked for, so that MRR sees more than k of them.
const deepest = 50

func main() {
	data := flag.String("data", "", "folder with the data sets")
	flag.Parse()
	if *data == "" {
		fmt.Fprintln(os.Stderr, "usage: eval -data DIR")
		os.Exit(2)
	}
	for _, s := range sources {
		d, err := readDataset(*data, s.name, s.tables, s.tuning, s.held)
		if err != nil {
			fmt.Fprintln(os.Stderr, "eval:", err)
			os.Exit(1)
		}
		d.measure(os.Stdout)
	}
}

// measure writes the rows of one data set.
func (d *dataset) measure(w io.Writer) {
	analyzer := rank.NewAnalyzer(nil)
	position := map[string]int{}
	indexes := make([]*search.Index, len(d.databases))
	for i, db := range d.databases {
		position[db.id] = i
		indexes[i] = search.Build(analyzer, search.Input{Connection: search.Connection{ID: db.id}, Tables: db.tables})
	}
	for _, r := range rows {
		var recall, all, reciprocal float64
		n := 0
		for _, q := range d.held {
			wanted := q.wanted(r.wantColumns)
			if len(wanted) == 0 {
				continue
			}
			n++
			own, among := position[q.database], indexes
			if r.scoped {
				among = indexes[own : own+1]
			}
			hits := search.Search(analyzer.Query(q.text), search.Options{Tables: r.tables, Columns: r.columns, Limit: deepest, Scoped: r.scoped}, among...)
			found := 0
			first := 0
			for at, h := range hits {
				here := r.scoped || h.Index == own
				if !here || (h.Column >= 0) != r.wantColumns || !wanted[name(h)] {
					continue
				}
				if first == 0 {
					first = at + 1
				}
				if at < r.k {
					found++
				}
			}
			recall += float64(found) / float64(len(wanted))
			if found == len(wanted) {
				all++
			}
			if first > 0 {
				reciprocal += 1 / float64(first)
			}
		}
		_, _ = fmt.Fprintf(w, "%-7s %-38s recall@%-2d %.3f  all@%-2d %.3f  MRR %.3f  (%d questions)\n",
			d.name, r.name, r.k, recall/float64(n), r.k, all/float64(n), reciprocal/float64(n), n)
	}
}

// wanted returns what a question's SQL reads, folded.
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

// name returns the name of a hit as wanted has it.
func name(h search.Hit) string {
	if h.Column < 0 {
		return strings.ToLower(h.Table.Name)
	}
	return strings.ToLower(h.Table.Name + "\x00" + h.Table.Columns[h.Column].Name)
}
