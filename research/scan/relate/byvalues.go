package relate

import "slices"

const (
	scoreSelfByValues = 0.40
	scoreByValues     = 0.36
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
	if len(c.readings) == 0 || c.readings[0].key == "" || len(c.readings[0].entity) == 0 || i == t.key || slices.Contains(t.primary, i) || c.unique == yes || t.anyTable(c) {
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
