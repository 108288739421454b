package relate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// maxProposals is how many targets of one column are considered.
const maxProposals = 4

// proposal is a relationship that names suggest.
type proposal struct {
	from, to *table
	columns  []int // of from
	targets  []int // of to, by position
	score    float64
	evidence string
	byName   bool // false if no name tells of the target
	named    bool // of composite keys: a column is named after the target
	own      bool // of composite keys: a column of the target tells its own rows apart
	mismatch bool // the types differ
	implied  bool // a composite key holds this reference too
	extended bool // of composite keys: the key of From has these columns and others
	valued   bool // only values can confirm it
	lead     lead // of those that only values tell of
	joined   int64
}

func (p *proposal) relationship() catalog.Relationship {
	r := catalog.Relationship{
		From:         catalog.EndPoint{Table: p.from.ref},
		To:           catalog.EndPoint{Table: p.to.ref},
		Relationship: manyToOne,
		Confidence:   p.score,
		Source:       inferred,
	}
	for i := range p.columns {
		r.From.Columns = append(r.From.Columns, p.from.columns[p.columns[i]].name)
		r.To.Columns = append(r.To.Columns, p.to.columns[p.targets[i]].name)
	}
	if p.oneToOne() {
		r.Relationship = oneToOne
	}
	r.Evidence = append(r.Evidence, p.evidence)
	if p.mismatch {
		r.Evidence = append(r.Evidence, "the types of the columns differ")
	}
	return r
}

// oneToOne reports whether a key of From occurs once.
func (p *proposal) oneToOne() bool {
	if len(p.columns) == 1 {
		if c := &p.from.columns[p.columns[0]]; c.unique == yes && p.from.rows > 1 {
			return true
		}
	}
	if len(p.from.primary) != len(p.columns) {
		return false
	}
	for _, c := range p.columns {
		if !slices.Contains(p.from.primary, c) {
			return false
		}
	}
	return true
}

// compareProposals orders the proposals for one end point: the better one first.
func compareProposals(a, b *proposal) int {
	return cmp.Or(
		cmp.Compare(b.score, a.score), compareRefs(a.to.ref, b.to.ref), slices.Compare(a.targets, b.targets),
	)
}

// propose adds a target for one column, or raises the score of the target that is
// there.
func propose(list []*proposal, p *proposal) []*proposal {
	for _, old := range list {
		if old.to == p.to && slices.Equal(old.targets, p.targets) {
			if p.score > old.score {
				old.score, old.evidence = p.score, p.evidence
			}
			return list
		}
	}
	return append(list, p)
}

// single returns the proposals for each column that no declared key starts from,
// the best first. With data, values may tell where names do not.
func (f *finder) single(data bool) [][]*proposal {
	var all [][]*proposal
	for _, t := range f.tables {
		for i := range t.columns {
			c := &t.columns[i]
			if f.formalFrom[endKey(catalog.EndPoint{Table: t.ref, Columns: []string{c.name}})] || !c.kind.keyable() || c.kind == binary {
				continue
			}
			list := f.byNames(t, i)
			list = f.byRole(t, i, list)
			list = f.byUsage(t, i, list)
			if len(list) == 0 && data {
				list = f.byNaturalKey(t, i, f.byCalendar(t, i))
			}
			if len(list) == 0 {
				continue
			}
			for _, p := range list {
				f.adjust(p)
			}
			besideTwins(list)
			slices.SortStableFunc(list, compareProposals)
			if len(list) > maxProposals && list[0].byName {
				list = list[:maxProposals]
			}
			all = append(all, list)
		}
	}
	return all
}

// besideTwins lowers the scores of targets that have a twin in the list which fits the
// table of the column better: one whose name differs in the first word only, which is
// that of the table of the column. Such words divide the tables of engines without
// schemas: sales_orders refers to sales_customers rather than to archive_customers.
func besideTwins(list []*proposal) {
	if len(list) < 2 {
		return
	}
	words := split(list[0].from.Name)
	if len(words) < 2 {
		return
	}
	own := map[string]*proposal{} // of the targets with this first word, by the other words
	for _, p := range list {
		if to := split(p.to.Name); len(to) > 1 && to[0] == words[0] {
			own[phrase(to[1:])] = p
		}
	}
	for _, p := range list {
		if to := split(p.to.Name); len(to) > 1 && to[0] != words[0] && schemaOf(p.to) == schemaOf(p.from) {
			if twin := own[phrase(to[1:])]; twin != nil && schemaOf(twin.to) == schemaOf(p.from) && twin.score >= p.score {
				p.score = round(max(p.score-0.06, 0)) // as if it were in another schema
			}
		}
	}
}

// undecided returns the targets that only values tell of, for the columns that names
// gave no relationship. Columns of held are part of a composite reference.
func (f *finder) undecided(held map[columnKey][]*table) [][]*proposal {
	decided := map[string]bool{}
	for _, list := range [][]catalog.Relationship{f.out.Accepted, f.out.Review, f.out.Skipped} {
		for i := range list {
			if v := list[i].Validation.Coverage; v != nil && *v == 0 {
				continue // a person sees the name, and no value fits
			}
			decided[endKey(list[i].From)] = true
		}
	}
	var all [][]*proposal
	for _, t := range f.tables {
		for i := range t.columns {
			if len(held[columnKey{t.number, i}]) > 0 || decided[endKey(catalog.EndPoint{Table: t.ref, Columns: []string{t.columns[i].name}})] {
				continue
			}
			if list := f.byValues(t, i); len(list) > 0 {
				for _, p := range list {
					f.adjust(p)
				}
				slices.SortStableFunc(list, compareProposals)
				all = append(all, list)
			}
		}
	}
	return all
}

// adjust lets the schema, the layer and the types of a target count.
func (f *finder) adjust(p *proposal) {
	switch {
	case p.from.ref.DB != p.to.ref.DB || p.from.ref.Catalog != p.to.ref.Catalog:
		p.score -= 0.06
	case p.from.layer == p.to.layer:
		p.score += 0.02
	case strings.HasPrefix(p.to.layer, "dim") && (strings.HasPrefix(p.from.layer, "f") || strings.HasPrefix(p.from.layer, "dim")):
		p.score += 0.02
	}
	if p.to.Kind == catalog.KindView {
		p.score -= 0.05
	}
	for i := range p.columns {
		if !p.from.columns[p.columns[i]].kind.fits(p.to.columns[p.targets[i]].kind) {
			p.mismatch = true
		}
	}
	p.score = round(min(max(p.score, 0), 0.99))
}

// round keeps three decimals.
func round(v float64) float64 { return float64(int64(float64(v*1000)+0.5)) / 1000 }
