package relate

// surrogate are key words for values that only identify a row. A reference may be
// named with another word of the list than the key.
var surrogate = set("id", "key", "pk", "fk", "sk", "ref", "uuid", "guid", "uid", "oid", "fkey", "pkey", "skey", "hk", "ident", "identifier", "キー", "ид", "识别")

// declaredKeys sets the key of the tables that declare one of one column, and of the
// tables whose first column the profile found unique.
func (f *finder) declaredKeys() {
	for _, t := range f.tables {
		switch {
		case len(t.primary) == 1:
			t.key = t.primary[0]
		case len(t.primary) == 0 && len(t.columns) > 0 && t.columns[0].unique == yes && t.columns[0].kind.keyable():
			t.key = 0
		}
	}
}

// guessKeys chooses the key of the tables that declare none.
func (f *finder) guessKeys() {
	for _, t := range f.tables {
		if len(t.primary) > 0 {
			continue
		}
		best := 0.0
		t.key = -1
		for i := range t.columns {
			if score := f.keyScore(t, &t.columns[i]); score >= 3 && score > best {
				best, t.key = score, i
			}
		}
	}
}

// keyScore says how much a column looks like the key of its table. A key scores 3 or
// more.
func (f *finder) keyScore(t *table, c *column) float64 {
	if !c.kind.keyable() || c.kind == fraction || c.kind == moment || c.kind == binary {
		return 0
	}
	score := 0.0
	switch c.unique {
	case yes:
		score += 2
	case nearly:
		score++
	case no:
		return 0
	case unknown:
	}
	if c.first {
		score++
	}
	if c.kind == integer || c.kind == uniqueID {
		score += 0.5
	}
	for _, r := range c.readings {
		if r.key == "" {
			continue
		}
		list, _ := f.names.named(r.entity)
		level := nameLevel(r.label, t)
		switch {
		case len(r.entity) == 0 && surrogate[r.key]:
			return score + 5
		case len(r.entity) == 0, level >= 0.9, level > 0 && len(list) == 0:
			return score + 4
		case len(list) > 0:
			return score - 3
		}
		return score + 2
	}
	return score
}
