package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/ktxhq/ktx/research/rank"
)

// Exhaustive returns what Search should return. It scores every table and column, sorts
// all of them, and uses no memory of earlier searches.
func Exhaustive(q *rank.Query, o Options, indexes ...*Index) []Hit {
	if q.Empty() || o.Limit <= 0 || len(indexes) == 0 {
		return nil
	}
	e := &exhaustive{
		scoring: scoring{query: q, options: o, indexes: indexes, named: map[object]bool{}},
		scores:  map[object]float64{}, fields: map[object]string{},
	}
	e.score()
	e.findNamed()
	return e.take(e.sorted())
}

type exhaustive struct {
	scoring
	scores map[object]float64
	fields map[object]string // of objects without a word of the question
}

// score fills scores.
func (e *exhaustive) score() {
	var tables, columns, places []*rank.Index
	for _, x := range e.indexes {
		tables, columns, places = append(tables, x.table), append(columns, x.column), append(places, x.place)
	}
	e.table, e.column = rank.Score(e.query, tables...), rank.Score(e.query, columns...)
	place := rank.Score(e.query, places...)
	for n, x := range e.indexes {
		own, of := e.table[n].Score, e.column[n].Score
		evidence := e.evidenceOf(n, x)
		at := func(t uint32) object { return object{index: uint32(n), number: t} }
		lend := func(t uint32, score float64, field int) {
			if e.options.Tables && score > e.scores[at(t)] {
				e.scores[at(t)], e.fields[at(t)] = score, matchedOn[field]
			}
		}
		// The sum of each table with a word, and of its three best columns.
		sums := make([]float64, len(x.tables))
		for t := range x.tables {
			if own[t] > 0 {
				best := append(slices.Clone(of[x.firsts[t]:x.firsts[t+1]]), 0, 0, 0)
				slices.SortFunc(best, func(a, b float64) int { return cmp.Compare(b, a) })
				sums[t] = own[t] + chosen.bestColumns*(best[0]+best[1]/2+best[2]/3)
			}
		}
		totals := make([]float64, len(x.tables))
		for t := range x.tables {
			if own[t] == 0 {
				continue
			}
			top := 0.0
			for _, other := range x.neighbours[t] {
				top = max(top, sums[other])
				if own[other] == 0 {
					lend(other, chosen.neighbour*sums[t]+chosen.evidence*evidence[x.places[other]], fieldBody)
				}
			}
			totals[t] = sums[t] + chosen.neighbour*top + chosen.place*place[n].Score[x.places[t]] + chosen.evidence*evidence[x.places[t]]
			e.scores[at(uint32(t))] = totals[t]
		}
		for t := range x.tables {
			if p := place[n].Score[x.places[t]]; p > 0 && own[t] == 0 {
				lend(uint32(t), chosen.place*p, fieldDisplay)
			}
		}
		for c, t := range x.owners {
			if of[c] == 0 {
				continue
			}
			score := of[c] + chosen.ownTable*e.scores[at(t)]
			top, key := 0.0, false
			for _, k := range x.keys {
				if int(k.column) == c {
					top, key = max(top, e.scores[at(k.other)]), true
				}
			}
			if key {
				score += chosen.key * min(top, e.scores[at(t)])
			}
			e.scores[object{uint32(n), uint32(c), true}] = score
		}
	}
	e.lift()
}

// evidenceOf is evidence, document by document.
func (e *exhaustive) evidenceOf(n int, x *Index) []float64 {
	out := make([]float64, x.schemas)
	if e.options.Scoped && x.schemas < 2 {
		return out
	}
	for word := range e.table[n].Words() {
		table, column := make([]float64, x.schemas), make([]float64, x.schemas)
		for t, v := range each(e.table[n], word) {
			table[x.places[t]] = max(table[x.places[t]], v)
		}
		for c, v := range each(e.column[n], word) {
			column[x.places[x.owners[c]]] = max(column[x.places[x.owners[c]]], v)
		}
		for i := range out {
			out[i] += table[i] + column[i]
		}
	}
	for i := range out {
		columns := 0
		for t := range x.tables {
			if int(x.places[t]) == i && (x.members[t] == none || x.families[x.members[t]][0] == uint32(t)) {
				columns += len(x.tables[t].Columns)
			}
		}
		out[i] /= math.Pow(float64(max(columns, 1)), chosen.evidenceShare)
	}
	return out
}

// each returns what a word contributes to each document.
func each(s *rank.Scores, word int) []float64 {
	ends := make([]uint32, len(s.Score))
	for doc := range ends {
		ends[doc] = uint32(doc) + 1
	}
	out := make([]float64, len(ends))
	s.Best(word, ends, out)
	return out
}

// lift adds what Options.Evidence says.
func (e *exhaustive) lift() {
	top := 0.0
	for o, score := range e.scores {
		if e.hasWord(o) {
			top = max(top, score)
		}
	}
	if top == 0 {
		top = 1
	}
	for _, v := range e.options.Evidence {
		for n, x := range e.indexes {
			t, ok := x.lookup(v.Table)
			if x.connection.ID != v.Connection || !ok {
				continue
			}
			o := object{index: uint32(n), number: t}
			if v.Column != "" {
				c, ok := x.columnOf(t, v.Column)
				if !ok {
					continue
				}
				o.number, o.column = c, true
			}
			score := e.scores[o]
			usage, wiki := chosen.usage*min(max(v.Usage, 0), 1)*score, chosen.wiki*min(max(v.Wiki, 0), 1)*top
			if score == 0 && wiki > 0 {
				e.fields[o] = matchedOn[fieldBody]
			}
			e.scores[o] += usage + wiki
		}
	}
}

// hasWord reports whether an object has a word of the question.
func (e *exhaustive) hasWord(o object) bool {
	if o.column {
		return e.column[o.index].Score[o.number] > 0
	}
	return e.table[o.index].Score[o.number] > 0
}

// sorted returns all candidates, the best first.
func (e *exhaustive) sorted() []candidate {
	var out []candidate
	for o, score := range e.scores {
		if score > 0 && e.wanted(o) {
			out = append(out, candidate{object: o, score: score, named: e.named[o]})
		}
	}
	slices.SortFunc(out, func(a, b candidate) int {
		kind := func(c candidate) int {
			if c.column {
				return 1
			}
			return 0
		}
		name := func(c candidate) int {
			if c.named {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(name(a), name(b)), cmp.Compare(b.score, a.score), cmp.Compare(kind(a), kind(b)),
			cmp.Compare(a.index, b.index), cmp.Compare(a.number, b.number))
	})
	return out
}

// take applies families and the quota of columns, candidate by candidate.
func (e *exhaustive) take(rest []candidate) []Hit {
	numbers := e.numbers()
	table := func(c candidate) object {
		if c.column {
			return object{index: c.index, number: e.indexes[c.index].owners[c.number]}
		}
		return object{index: c.index, number: c.number}
	}
	known := map[object]bool{}
	behind := func(c candidate) bool {
		x, t := e.indexes[c.index], table(c).number
		if c.named || x.members[t] == none || named(x, t, numbers) {
			return false
		}
		family := x.families[x.members[t]]
		return t != family[0] || slices.ContainsFunc(family, func(other uint32) bool { return named(x, other, numbers) })
	}
	deferred := func(c candidate) bool {
		answer, ok := known[c.object]
		if !ok {
			answer = behind(c)
			known[c.object] = answer
		}
		return answer
	}
	var hits []Hit
	var later []candidate
	columns := map[object]int{}
	quota := e.options.Tables && e.options.Columns
	// add adds a candidate, after its table if it has its score for the name of the table,
	// and returns the others.
	add := func(rest []candidate, at int) []candidate {
		c := rest[at]
		if quota && c.column && !c.named && e.hasWord(c.object) && e.column[c.index].Field(int(c.number)) == fieldDisplay {
			own := slices.IndexFunc(rest, func(o candidate) bool { return !o.column && o.object == table(c) })
			if own >= 0 {
				first := rest[own]
				first.score = c.score
				hits = append(hits, e.hit(first))
				rest = slices.Delete(rest, own, own+1)
				if own < at {
					at--
				}
				if len(hits) == e.options.Limit {
					return rest
				}
			}
		}
		hits = append(hits, e.hit(c))
		return slices.Delete(rest, at, at+1)
	}
	for len(hits) < e.options.Limit {
		// The first one that may be next.
		next := slices.IndexFunc(rest, func(c candidate) bool {
			held := quota && c.column && !c.named && len(hits) < quotaHits && columns[table(c)] >= quotaColumns
			return !held && !deferred(c)
		})
		if next < 0 {
			break
		}
		c := rest[next]
		if c.column && !c.named {
			columns[table(c)]++
		}
		rest = add(rest, next)
	}
	// What the quota held back, and then the rest of the families.
	for i := 0; i < len(rest) && len(hits) < e.options.Limit; {
		if deferred(rest[i]) {
			i++
			continue
		}
		rest = add(rest, i)
	}
	later = rest
	for len(later) > 0 && len(hits) < e.options.Limit {
		later = add(later, 0)
	}
	return hits
}

// hit makes the hit of a candidate.
func (e *exhaustive) hit(c candidate) Hit {
	x := e.indexes[c.index]
	h := Hit{Index: int(c.index), Column: -1, Score: c.score, Named: c.named}
	scores := e.table[c.index]
	if c.column {
		t := x.owners[c.number]
		h.Table, h.Column, scores = x.tables[t], int(c.number-x.firsts[t]), e.column[c.index]
	} else {
		h.Table = x.tables[c.number]
	}
	h.Mass = scores.Mass[c.number]
	switch {
	case c.named:
		h.MatchedOn = matchedOn[fieldName]
	case e.hasWord(c.object):
		h.MatchedOn = matchedOn[scores.Field(int(c.number))]
	default:
		h.MatchedOn = e.fields[c.object]
	}
	return h
}
