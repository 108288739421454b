package relate

import (
	"math"
	"slices"

	"github.com/ktxhq/ktx/research/catalog"
)

const (
	scoreSelfByValues = 0.40
	scoreByValues     = 0.36
	scoreNaturalKey   = 0.46
	scoreCalendar     = 0.46
	maxByValues       = 12 // targets of one column that only values can tell of
	maxIntegerKeys    = 40 // tables with an integer key, before integers tell nothing
	minIntegers       = 10 // different values, before integers tell anything
	minTelling        = 3  // different values, before values of any kind tell anything

	// chanceAtMost is how likely it may be that values fit a key by accident, for the
	// fit to tell of a reference where nothing else does.
	chanceAtMost = 1e-4
	// certainChance is the same for a column to join by, if its name has a key word or
	// it is a part of the primary key.
	certainChance = 1e-6
	// mostDense is the share of the possible values that a key may have. Of counters
	// with a few gaps, one fits another up to its first gap.
	mostDense = 0.5
)

// A lead is what a column has that may refer to a table which only values tell of.
type lead int

const (
	noLead    lead = iota
	byKeyWord      // a key word in its name
	byMember       // it is a part of the primary key
	bySubtype      // a key word, and it is the key of its own table
	byNothing      // values only
)

// leadOf returns the lead of column i.
func (t *table) leadOf(i int) lead {
	c := &t.columns[i]
	if len(c.readings) == 0 || t.anyTable(c) || c.empty {
		return noLead
	}
	r := c.fullest()
	member := len(t.primary) > 1 && slices.Contains(t.primary, i)
	alone := !member && (i == t.key || c.unique == yes)
	switch {
	case r.key != "" && i == t.key && !member && len(r.entity) > 0:
		return bySubtype
	case r.key != "" && !alone && (member || len(r.entity) > 0):
		return byKeyWord
	case r.key != "", memberWords[c.joined], alone:
		return noLead
	case member:
		return byMember
	}
	return byNothing
}

// isAttribute reports whether the last word of the name says nothing about where the
// values come from, as in order_quantity and billing_city.
func (c *column) isAttribute() bool {
	return generic[c.joined] || c.fullest().key == "" && len(c.words) > 0 && generic[c.words[len(c.words)-1]]
}

// namesItself reports whether the name of column i tells of its own table.
func (t *table) namesItself(i int) bool { return nameLevel(t.columns[i].fullest().label, t) > 0 }

// fullest returns the first reading that has a key word and other words, or else the
// first one.
func (c *column) fullest() reading {
	for _, r := range c.readings {
		if r.key != "" && len(r.entity) > 0 {
			return r
		}
	}
	return c.readings[0]
}

// byValues returns targets for a column whose name tells of no table. Only the values
// can tell of one; see [judged.tells]. A column that is empty in some rows, as it is
// for the top of a tree, may refer to its own table. All of it is for a person to
// review.
func (f *finder) byValues(t *table, i int) []*proposal {
	c := &t.columns[i]
	lead := t.leadOf(i)
	if lead == noLead || c.kind != integer && c.kind != textual && c.kind != uniqueID && lead != byKeyWord {
		return nil
	}
	var list []*proposal
	add := func(to *table, score float64) {
		evidence := "only the values tell of the table"
		if r := c.fullest(); r.key != "" {
			evidence = "the column name has the key word " + quoted(r.key) + ", and only the values tell of the table"
		}
		list = append(list, &proposal{from: t, to: to, columns: []int{i}, targets: []int{to.key}, score: score, lead: lead, evidence: evidence})
	}
	if lead == byKeyWord && t.key >= 0 && c.nulls && t.columns[t.key].kind == c.kind {
		add(t, scoreSelfByValues)
	}
	targets := f.keysOf[schemaOf(t)][c.kind]
	if len(targets) > maxIntegerKeys && (c.kind == integer || lead != byKeyWord) || c.distinct >= 0 && c.distinct < minTelling && lead != byMember {
		return list
	}
	for _, to := range targets {
		key := &to.columns[to.key]
		if to == t || key.kind != c.kind || c.isAttribute() && !key.hasName(c) || key.distinct >= 0 && key.distinct < c.distinct {
			continue
		}
		if key.shortest >= 0 && c.shortest >= 0 && (c.shortest < key.shortest || c.longest > key.longest) {
			continue
		}
		if lead == bySubtype && key.distinct <= c.distinct && t.namesItself(i) {
			continue // two tables with equal keys, each with its own name
		}
		if len(list) == maxByValues {
			break
		}
		add(to, scoreByValues)
	}
	return list
}

// tells reports whether values that fit say that the column refers to the table. Small
// numbers fit each table that counts its rows from 1: these say so only for a column
// with a key word, or for a part of the primary key.
func (j *judged) tells() bool {
	if j.lead == noLead || j.from == j.to || j.chance() <= chanceAtMost {
		return true
	}
	c := &j.from.columns[j.columns[0]]
	many := j.overlap.Distinct >= minIntegers || c.kind != integer && j.overlap.Distinct >= 2*fewKeys
	return j.lead == byKeyWord && many || j.lead == byMember && j.overlap.Distinct >= minTelling
}

// chance estimates how likely it is that all values of the column are in the key if the
// two have nothing to do with each other. Nothing speaks against that if the values of
// the column are small numbers, no greater than their count.
func (j *judged) chance() float64 {
	if c := &j.from.columns[j.columns[0]]; c.kind == integer && c.highest <= j.overlap.Distinct {
		return 1
	}
	return math.Pow(j.to.density(j.overlap.TargetRows, j.overlap.TargetMax), float64(j.overlap.Found))
}

// density returns the share of the possible values that the key of a table has. Possible
// are the numbers from 1 to the greatest key, also of codes that end with a number, and
// for texts without digits the words of ten letters that are as long as the shortest
// key.
func (t *table) density(rows int64, greatest *int64) float64 {
	key := &t.columns[t.key]
	share := 1.0
	switch {
	case key.kind == uniqueID:
		share = 0
	case key.kind == integer && greatest != nil && *greatest > 0:
		share = float64(rows) / float64(*greatest)
	case key.kind == textual && key.highest > 0:
		share = float64(rows) / float64(key.highest)
	case key.kind == textual && key.letters && key.shortest > 0:
		share = float64(rows) / math.Pow10(min(key.shortest, 18))
	}
	if share > mostDense {
		return 1
	}
	return share
}

// hopeless reports whether values that fit the key of a table would say nothing about a
// column, so that it need not be compared.
func (f *finder) hopeless(p *proposal) bool {
	c, to := &p.from.columns[p.columns[0]], p.to
	if p.lead != byNothing && p.lead != bySubtype || c.distinct < 0 || to.rows < 0 {
		return false
	}
	if c.kind == integer && c.highest <= c.distinct {
		return true
	}
	greatest, measured := f.greatest[to]
	if to.columns[to.key].kind == integer && !measured {
		return false
	}
	return math.Pow(to.density(to.rows, &greatest), float64(c.distinct)) > chanceAtMost
}

// byNaturalKey adds the text of another table that is unique there and has the name of
// the column. Only values can confirm it.
func (f *finder) byNaturalKey(t *table, i int, list []*proposal) []*proposal {
	c := &t.columns[i]
	keys := f.names.natural[c.joined]
	if c.kind != textual || c.unique == yes || i == t.key || len(keys) != 1 || keys[0].table == t {
		return list
	}
	return append(list, &proposal{
		from: t, to: keys[0].table, columns: []int{i}, targets: []int{keys[0].column}, score: scoreNaturalKey, valued: true,
		evidence: "the column has the name of a text that is unique in the other table",
	})
}

// calendarWords are words in names of tables with a row for each day.
var calendarWords = set("calendar", "date", "dates", "day", "days", "kalender", "datum", "calendrier", "calendario", "fecha", "data", "kalendarz")

// byCalendar returns the tables with a row for each day, for a column of dates.
func (f *finder) byCalendar(t *table, i int) []*proposal {
	if t.columns[i].kind != moment || i == t.key {
		return nil
	}
	var list []*proposal
	for _, to := range near(t, f.calendars, 2) {
		if to != t {
			list = append(list, &proposal{
				from: t, to: to, columns: []int{i}, targets: []int{to.key}, score: scoreCalendar, valued: true,
				evidence: "the column has dates, and the other table has a row for each day",
			})
		}
	}
	return list
}

// onlyOne returns the one proposal that stays of those that only values tell of: the
// own table, or else the only one that the values fit. Of several tables that fit, one
// whose key refers to another of them does not count, because that other one is meant,
// and neither does one to which another column of the table refers already. It returns
// nil if several are left.
func (f *finder) onlyOne(fit []judged) *judged {
	for i := range fit {
		if fit[i].from == fit[i].to {
			return &fit[i]
		}
	}
	if len(fit) > 1 && (fit[0].lead == byNothing || fit[0].lead == bySubtype) {
		fit = slices.DeleteFunc(slices.Clone(fit), func(j judged) bool { return !j.tells() })
	}
	if len(fit) > 1 {
		fit = slices.DeleteFunc(slices.Clone(fit), func(j judged) bool {
			return slices.ContainsFunc(fit, func(other judged) bool { return f.refersToKey(j.to, other.to) })
		})
	}
	if len(fit) > 1 {
		fit = slices.DeleteFunc(slices.Clone(fit), func(j judged) bool { return f.taken(j.from, j.to) })
	}
	if len(fit) != 1 || !fit[0].tells() {
		return nil
	}
	if j := &fit[0]; (j.lead == byKeyWord || j.lead == byMember || j.lead == bySubtype && !j.from.namesItself(j.columns[0])) && j.chance() <= certainChance {
		j.verdict, j.reason = accepted, j.reason+", and in no other key"
	}
	return &fit[0]
}

// refersToKey reports whether the key of one table refers to that of another.
func (f *finder) refersToKey(t, to *table) bool {
	return slices.Contains(f.references[tablePair{t.ref, to.ref}], columnPair{t.columns[t.key].name, to.columns[to.key].name})
}

// taken reports whether a column of one table refers to another table.
func (f *finder) taken(t, to *table) bool { return len(f.references[tablePair{t.ref, to.ref}]) > 0 }

// A tablePair is a table and one to which it refers.
type tablePair struct{ from, to catalog.Ref }

// A columnPair has the names of the columns by which it does so.
type columnPair struct{ from, to string }

// remember notes a reference of one column that was accepted, or that a person has to
// review.
func (f *finder) remember(r *catalog.Relationship) {
	if len(r.From.Columns) == 1 && len(r.To.Columns) == 1 {
		pair := tablePair{r.From.Table, r.To.Table}
		f.references[pair] = append(f.references[pair], columnPair{r.From.Columns[0], r.To.Columns[0]})
	}
}

// schema is where a table is.
type schema struct{ catalog, db string }

func schemaOf(t *table) schema { return schema{t.ref.Catalog, t.ref.DB} }
