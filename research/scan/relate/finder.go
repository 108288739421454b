package relate

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// The values of catalog.Relationship.Relationship.
const (
	manyToOne = "many_to_one"
	oneToOne  = "one_to_one"
)

// finder is the state of one call of Find.
type finder struct {
	tables     []*table // sorted by ref
	byRef      map[catalog.Ref]*table
	names      *index
	affixes    map[string]bool // key words that this database uses, folded
	peopleRank []int           // by table number; 0 for a table that does not hold people
	peopleOf   map[peopleKey][]*table
	keysOf     map[schema]map[kind][]*table // tables by the kind of their key
	calendars  []*table                     // tables with a row for each day
	joins      map[columnKey][]usage
	formalFrom map[string]bool // end points that a declared key starts from
	references map[tablePair][]columnPair
	greatest   map[*table]int64 // of the key of a table that was compared
	data       bool             // proposals are compared with values
	out        catalog.Relationships
}

type columnKey struct{ table, column int }

// usage is a column that statements joined another one with.
type usage struct {
	to         *table
	column     int
	statements int64
}

func newFinder(in Input) *finder {
	f := &finder{
		byRef: map[catalog.Ref]*table{}, affixes: map[string]bool{}, peopleOf: map[peopleKey][]*table{},
		keysOf: map[schema]map[kind][]*table{}, joins: map[columnKey][]usage{}, formalFrom: map[string]bool{}, references: map[tablePair][]columnPair{}, greatest: map[*table]int64{},
		out: catalog.Relationships{
			ConnectionID: in.ConnectionID,
			Accepted:     []catalog.Relationship{}, Review: []catalog.Relationship{},
			Rejected: []catalog.Relationship{}, Skipped: []catalog.Relationship{},
		},
	}
	f.tables = newTables(in.Tables)
	for _, t := range f.tables {
		f.byRef[t.ref] = t
	}
	f.usesProfile(in.Profile)
	return f
}

// learn derives from all names together what single names do not tell: affixes, the
// readings of columns, and keys.
func (f *finder) learn(extra []Pair) {
	f.names = newIndex(f.tables)
	f.declaredKeys()
	f.findAffixes()
	for _, t := range f.tables {
		for i := range t.columns {
			t.columns[i].readings = f.read(&t.columns[i])
		}
	}
	f.guessKeys()
	people := peopleTables
	if f.data {
		people = slices.Concat(peopleTables, professions)
	}
	f.peopleRank = rankPeople(f.tables, people)
	for _, t := range f.tables {
		for i := range t.columns {
			if c := &t.columns[i]; i != t.key && c.unique == yes && len(c.readings) > 0 && c.readings[0].key != "" && len(c.readings[0].entity) > 0 {
				f.names.other[c.joined] = append(f.names.other[c.joined], target{t, i})
			} else if i != t.key && c.unique == yes && c.kind == textual && !generic[c.joined] {
				f.names.natural[c.joined] = append(f.names.natural[c.joined], target{t, i})
			}
		}
		if t.key >= 0 {
			s, k := schemaOf(t), t.columns[t.key].kind
			if f.keysOf[s] == nil {
				f.keysOf[s] = map[kind][]*table{}
			}
			f.keysOf[s][k] = append(f.keysOf[s][k], t)
			if k == moment && slices.ContainsFunc(t.words, func(w string) bool { return calendarWords[w] }) {
				f.calendars = append(f.calendars, t)
			}
			key := &t.columns[t.key]
			f.names.key[key.joined] = append(f.names.key[key.joined], target{t, t.key})
			if key.whole != key.joined {
				f.names.key[key.whole] = append(f.names.key[key.whole], target{t, t.key})
			}
		}
	}
	f.usages(extra)
}

// usages takes the joins of one column with one that may be a key.
func (f *finder) usages(extra []Pair) {
	for _, e := range extra {
		if len(e.From.Columns) != 1 || len(e.To.Columns) != 1 || e.Statements < minStatements {
			continue
		}
		for _, ends := range [][2]catalog.EndPoint{{e.From, e.To}, {e.To, e.From}} {
			from, to := f.byRef[ends[0].Table], f.byRef[ends[1].Table]
			if from == nil || to == nil {
				continue
			}
			a, b := from.place(ends[0].Columns[0]), to.place(ends[1].Columns[0])
			if a < 0 || b < 0 || b != to.key && to.columns[b].unique != yes && (to.key >= 0 || to.columns[b].unique == no) || from == to && a == b {
				continue
			}
			if a == from.key && b == to.key && nameLevel(from.label, to) > 0 {
				continue
			}
			key := columnKey{from.number, a}
			f.joins[key] = append(f.joins[key], usage{to, b, e.Statements})
		}
	}
	for _, list := range f.joins {
		slices.SortFunc(list, func(a, b usage) int {
			return cmp.Or(cmp.Compare(b.statements, a.statements), a.to.number-b.to.number, a.column-b.column)
		})
	}
}

// place returns the number of the column of that name, or -1.
func (t *table) place(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
}

// infer proposes and judges what is not declared.
func (f *finder) infer(ctx context.Context, in Input, p Prober) error {
	f.data = p != nil
	f.learn(in.Extra)
	var q *prober
	if p != nil {
		q = &prober{Prober: p, left: in.MaxProbes}
		if in.MaxProbes == 0 {
			q.left = DefaultMaxProbes
		}
	}
	held, err := f.inferComposite(ctx, q)
	if err != nil {
		return err
	}
	lists := f.single(q != nil)
	for i, list := range lists {
		lists[i] = slices.DeleteFunc(list, func(p *proposal) bool {
			targets := held[columnKey{p.from.number, p.columns[0]}]
			p.implied = len(targets) > 0
			return slices.Contains(targets, p.to)
		})
	}
	if err := f.choose(ctx, lists, q); err != nil {
		return err
	}
	if q != nil {
		if err := f.choose(ctx, f.undecided(held), q); err != nil {
			return err
		}
	}
	f.oneDirection()
	return nil
}

// inferComposite judges the proposals for composite keys. It returns the columns that
// are part of an accepted or declared composite reference, with its targets.
func (f *finder) inferComposite(ctx context.Context, q *prober) (map[columnKey][]*table, error) {
	held := map[columnKey][]*table{}
	groups := map[string][]*proposal{}
	var order []string
	for _, p := range f.composite(q != nil) {
		key := endKey(p.relationship().From)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = propose(groups[key], p)
	}
	slices.Sort(order)
	lists := make([][]*proposal, 0, len(order))
	for _, key := range order {
		list := groups[key]
		slices.SortStableFunc(list, compareProposals)
		lists = append(lists, list[:min(len(list), maxProposals)])
	}
	if err := f.choose(ctx, lists, q); err != nil {
		return nil, err
	}
	for i := range f.out.Accepted {
		r := &f.out.Accepted[i]
		if len(r.From.Columns) < 2 {
			continue
		}
		t := f.byRef[r.From.Table]
		if t == nil {
			continue
		}
		for _, c := range r.From.Columns {
			if n := t.place(c); n >= 0 {
				key := columnKey{t.number, n}
				held[key] = append(held[key], f.byRef[r.To.Table])
			}
		}
	}
	return held, nil
}

// oneDirection keeps the better one of two accepted relationships that are each
// other's reverse.
func (f *finder) oneDirection() {
	pairs := map[string]int{}
	key := func(a, b catalog.EndPoint) string { return endKey(a) + "\x00\x00" + endKey(b) }
	for i := range f.out.Accepted {
		pairs[key(f.out.Accepted[i].From, f.out.Accepted[i].To)] = i
	}
	drop := map[int]bool{}
	for i := range f.out.Accepted {
		a := &f.out.Accepted[i]
		k, ok := pairs[key(a.To, a.From)]
		if !ok || k == i || a.Source == formal || drop[k] {
			continue
		}
		b := &f.out.Accepted[k]
		if b.Source == formal || b.Confidence > a.Confidence || b.Confidence == a.Confidence && compareEnds(b.From, a.From) < 0 {
			drop[i] = true
		}
	}
	kept := f.out.Accepted[:0]
	for i, r := range f.out.Accepted {
		if drop[i] {
			r.Evidence = append(r.Evidence, "the reverse fits better")
			f.out.Rejected = append(f.out.Rejected, r)
			continue
		}
		kept = append(kept, r)
	}
	f.out.Accepted = kept
}

// result returns the lists, each sorted by From and then by To.
func (f *finder) result() catalog.Relationships {
	for _, list := range [][]catalog.Relationship{f.out.Accepted, f.out.Review, f.out.Rejected, f.out.Skipped} {
		slices.SortStableFunc(list, func(a, b catalog.Relationship) int {
			return cmp.Or(compareEnds(a.From, b.From), compareEnds(a.To, b.To))
		})
	}
	return f.out
}

func compareRefs(a, b catalog.Ref) int {
	return cmp.Or(strings.Compare(a.Catalog, b.Catalog), strings.Compare(a.DB, b.DB), strings.Compare(a.Name, b.Name))
}

func compareEnds(a, b catalog.EndPoint) int {
	return cmp.Or(compareRefs(a.Table, b.Table), slices.Compare(a.Columns, b.Columns))
}

// endKey returns a string that no other end point has.
func endKey(e catalog.EndPoint) string {
	parts := append([]string{e.Table.Catalog, e.Table.DB, e.Table.Name}, e.Columns...)
	return strings.Join(parts, "\x00")
}
