package relate

import "slices"

const (
	scoreSelfByValues = 0.40
	scoreByValues     = 0.36
	scoreNaturalKey   = 0.46
	scoreCalendar     = 0.46
	maxByValues       = 12 // targets of one column that only values can tell of
	maxIntegerKeys    = 40 // tables with an integer key, before integers tell nothing
	minIntegers       = 10 // different values, before integers tell anything
)

// byValues returns targets for a column whose name has a key word and tells of no
// table. A column that is empty in some rows, as it is for the top of a tree, may refer
// to its own table. Other tables count only if the values fit one of them and no other
// (see onlyOne). All of it is for a person to review.
func (f *finder) byValues(t *table, i int) []*proposal {
	c := &t.columns[i]
	if len(c.readings) == 0 || c.readings[0].key == "" || i == t.key || c.unique == yes || t.anyTable(c) {
		return nil
	}
	// A member of a composite key often refers to another table, even one with the
	// bare name id.
	member := slices.Contains(t.primary, i)
	if member && len(t.primary) == 1 || !member && len(c.readings[0].entity) == 0 {
		return nil
	}
	var list []*proposal
	add := func(to *table, score float64) {
		list = append(list, &proposal{
			from: t, to: to, columns: []int{i}, targets: []int{to.key}, score: score,
			evidence: "the column name has the key word " + quoted(c.readings[0].key) + ", and only the values tell of the table",
		})
	}
	if t.key >= 0 && c.nulls && t.columns[t.key].kind == c.kind {
		add(t, scoreSelfByValues)
	}
	targets := f.keysOf[schemaOf(t)][c.kind]
	if c.kind == integer && (c.distinct < minIntegers || len(targets) > maxIntegerKeys) {
		return list
	}
	for _, to := range targets {
		key := &to.columns[to.key]
		if to == t || key.kind != c.kind || key.distinct >= 0 && key.distinct < c.distinct {
			continue
		}
		if key.shortest >= 0 && c.shortest >= 0 && (c.shortest < key.shortest || c.longest > key.longest) {
			continue
		}
		if len(list) == maxByValues {
			break
		}
		add(to, scoreByValues)
	}
	return list
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
// own table, or else the only one that the values fit. It returns nil if several fit.
func onlyOne(fit []judged) *judged {
	for i := range fit {
		if fit[i].from == fit[i].to {
			return &fit[i]
		}
	}
	if len(fit) != 1 {
		return nil
	}
	return &fit[0]
}

// schema is where a table is.
type schema struct{ catalog, db string }

func schemaOf(t *table) schema { return schema{t.ref.Catalog, t.ref.DB} }
