package relate

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The scores of proposals. A name that says all about its target scores near 1.
const (
	scoreWhole     = 0.95 // the name is that of the table, with a key word
	scoreRole      = 0.85 // words before the name of the table tell a role (billing_customer_id)
	scoreRoleFront = 0.79 // the same where a key word is in front, so that either side may be the role
	scoreAttribute = 0.42 // words on the other side, which may also tell an attribute (customer_type_id)
	scoreAbbrev    = 0.72 // an abbreviation of the table
	scoreTail      = 0.68 // the last words of the table (order_id, sales_order)
	scoreSimilar   = 0.60 // a word that is similar to the name of the table
	scoreHead      = 0.50 // the first words of the table (order_id, order_header)
	scoreSameKey   = 0.80 // the name of the key that only one table has
	scoreSharedKey = 0.50 // the name of a key that several tables have

	lessInflected = 0.12 // only the stems of the words are equal
	lessEnding    = 0.06 // one of the words has an ending that the other lacks
	lessOtherKey  = 0.08 // the key has another key word
	lessNoKeyWord = 0.20 // the name has no key word
)

// compoundLetters is how many letters a name has at least that is found at the end of a
// longer word.
const compoundLetters = 6

// byNames returns the targets that the name of a column suggests.
func (f *finder) byNames(t *table, i int) []*proposal {
	c := &t.columns[i]
	var list []*proposal
	for _, r := range c.readings {
		list = f.byTableName(t, i, r, list)
	}
	list = f.byKeyName(t, i, list)
	if len(list) == 0 || list[0].score < scoreHead {
		for _, r := range c.readings {
			list = f.byShortName(t, i, r, list)
		}
	}
	if len(list) == 0 && f.data {
		list = f.byCompound(t, i, list)
	}
	return list
}

// byCompound looks for the name of a table at the end of a word without a key word, as
// in zielflughafen. Many words end like the name of a table by chance (username), so that
// only values can confirm it.
func (f *finder) byCompound(t *table, i int, list []*proposal) []*proposal {
	c := &t.columns[i]
	if len(c.readings) == 0 || i == t.key || c.isAttribute() {
		return list
	}
	r := c.readings[0]
	if r.key != "" || len(r.entity) == 0 {
		return list
	}
	last := r.entity[len(r.entity)-1]
	at := f.tableAtEnd(last)
	if at == 0 || utf8.RuneCountInString(last[at:]) < compoundLetters || generic[last[at:]] {
		return list
	}
	tables, inflected := f.names.named([]string{last[at:]})
	score, evidence := scoreRole, "the column name ends with the name of the table"
	if inflected {
		score, evidence = score-lessInflected, evidence+", in another form"
	}
	for _, to := range near(t, tables, maxSameName) {
		if p := f.refer(t, i, r, to, score, evidence, true); p != nil {
			p.valued = true
			list = propose(list, p)
		}
	}
	return list
}

// byTableName looks for names of tables in the words of a reading.
func (f *finder) byTableName(t *table, i int, r reading, list []*proposal) []*proposal {
	words := r.entity
	for len(words) > 1 && isNumber(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	n := len(words)
	for size := n; size > 0; size-- {
		found := false
		for _, at := range []int{n - size, 0} {
			tables, inflected := f.names.named(words[at : at+size])
			if isNumber(words[at]) && size == 1 {
				continue
			}
			if size == n && slices.Contains(tables, t) && len(words) == len(r.entity) && !inflected {
				return list // the name describes its own table
			}
			score, evidence := scoreWhole, "the column name is the name of the table"
			switch {
			case size == n && len(words) != len(r.entity):
				score, evidence = scoreRole, "the column name is the name of the table with a number"
			case size == n:
			case (at > 0) != r.front:
				score, evidence = scoreRole, "the column name is the name of the table with a role"
			case r.front:
				score, evidence = scoreRoleFront, "the column name ends with the name of the table"
			default:
				score, evidence = scoreAttribute, "the column name begins with the name of the table"
			}
			if inflected {
				evidence += ", in another form"
			}
			for _, to := range near(t, tables, maxSameName) {
				less := 0.0
				if inflected {
					less = inflection(words[at:at+size], to.words)
				}
				if p := f.refer(t, i, r, to, score-less, evidence, size < n || len(words) != len(r.entity)); p != nil {
					list = propose(list, p)
					found = true
				}
			}
			if at == 0 {
				break
			}
		}
		if found {
			break // the longest name is meant
		}
	}
	return list
}

// inflection returns what an inflected name scores less.
func inflection(a, b []string) float64 {
	x, y := join(a), join(b)
	if strings.HasPrefix(x, y) || strings.HasPrefix(y, x) {
		return lessEnding
	}
	return lessInflected
}

// byShortName looks for tables whose name the reading shortens.
func (f *finder) byShortName(t *table, i int, r reading, list []*proposal) []*proposal {
	if len(r.entity) == 0 || generic[phrase(r.entity)] && r.key == "" {
		return list
	}
	if exact, _ := f.names.named(r.entity); len(exact) > 0 {
		return list
	}
	if whole := join(r.entity); r.key != "" && (selfWords[whole] || personWords[whole]) {
		return list // a role, and no short name (codigo_pai, and a table paises)
	}
	p := phrase(r.entity)
	try := func(tables []*table, score float64, evidence string, role bool) {
		for _, to := range tables {
			if p := f.refer(t, i, r, to, score, evidence, role); p != nil {
				list = propose(list, p)
			}
		}
	}
	if r.key == "" {
		if tail := f.names.tail[p]; len(tail) == 1 {
			try(tail, scoreTail, "the column name is the end of the name of the table", false)
		}
		return list
	}
	try(f.names.abbreviated(r.entity), scoreAbbrev, "the column name abbreviates the name of the table", false)
	if tail := f.names.tail[p]; len(tail) <= maxTailName {
		try(tail, scoreTail, "the column name is the end of the name of the table", false)
	}
	if head := f.names.head[p]; len(head) <= maxTailName {
		try(head, scoreHead, "the column name is the start of the name of the table", false)
	}
	if len(list) > 0 {
		return list
	}
	if tables, likeness := f.names.similar(r.entity); likeness > 0 {
		try(tables, scoreSimilar+float64((likeness-0.75)/2), "the column name is similar to the name of the table", false)
	}
	for size := len(r.entity) - 1; size > 0 && len(list) == 0; size-- {
		words := r.entity[len(r.entity)-size:]
		if r.front {
			words = r.entity[:size]
		}
		try(f.names.abbreviated(words), scoreAbbrev-0.1, "the column name abbreviates the name of the table, with a role", true)
		if tables, likeness := f.names.similar(words); likeness > 0 && len(list) == 0 {
			try(tables, scoreSimilar+float64((likeness-0.75)/2)-0.05, "the column name is similar to the name of the table, with a role", true)
		}
	}
	return list
}

// refer returns the proposal that column i of t, read as r, refers to a key of to,
// or nil if to has no fitting key or is the table that the name describes itself.
func (f *finder) refer(t *table, i int, r reading, to *table, score float64, evidence string, role bool) *proposal {
	if to == t && (!role || i == t.key || slices.Contains(t.primary, i)) {
		return nil
	}
	if own := nameLevel(r.label, t); i == t.key && own > 0 && own >= nameLevel(r.label, to) {
		return nil
	}
	column, same := f.keyFor(r, &t.columns[i], to)
	if column < 0 || to == t && column == i {
		return nil
	}
	valued := false
	switch {
	case r.key == "" && !same:
		score -= lessNoKeyWord
		if c := &t.columns[i]; !c.kind.fits(to.columns[column].kind) {
			if !f.data || !c.numbersAsText(&to.columns[column]) {
				return nil // the name of a thing in place of a reference to it
			}
			valued = true
		}
	case r.key != "" && !same:
		score -= lessOtherKey
	}
	if r.key != "" {
		evidence += " with the key word " + quoted(r.key)
	}
	return &proposal{from: t, to: to, columns: []int{i}, targets: []int{column}, score: score, evidence: evidence, byName: true, valued: valued}
}

// longestNumber is how many characters a text that holds a key may have.
const longestNumber = 10

// numbersAsText reports whether a column may hold the numbers of a key as texts.
func (c *column) numbersAsText(key *column) bool {
	return c.kind == textual && key.kind.numeric() && c.longest > 0 && c.longest <= longestNumber
}

// keyFor returns the column of to that c refers to, or -1, and whether its name tells
// so: it has the key word of c, or the name of c.
func (f *finder) keyFor(r reading, c *column, to *table) (column int, same bool) {
	best, score := -1, 0
	for k := range to.columns {
		key := &to.columns[k]
		if k != to.key && (key.unique == no || key.unique == unknown && len(to.primary) > 1) {
			continue
		}
		if !key.kind.keyable() || key.kind == moment {
			continue
		}
		s := 0
		if key.hasName(c) && (k == to.key || c.kind.fits(key.kind)) {
			s = 4
		} else {
			for _, kr := range key.readings {
				if kr.key == "" || len(kr.entity) > 0 && nameLevel(kr.label, to) == 0 {
					continue
				}
				if kr.key == r.key {
					s = 3
				}
				break
			}
		}
		if k == to.key {
			switch {
			case s == 0 && r.key != "" && surrogate[r.key] && f.isSurrogate(key):
				s = 3
			case s == 0 && r.key == "":
				s = 2
			case s == 0:
				s = 1
			default:
				s++
			}
		} else if s == 0 {
			continue
		}
		if !c.kind.fits(key.kind) && s < 3 {
			s = min(s, 1)
		}
		if s > score {
			best, score = k, s
		}
	}
	return best, score >= 3
}

// isSurrogate reports whether the name of a key only says that it is one.
func (f *finder) isSurrogate(c *column) bool {
	return len(c.readings) > 0 && surrogate[c.readings[0].key]
}

// byKeyName looks for tables whose key has the name of the column, or the name with a
// role before it.
func (f *finder) byKeyName(t *table, i int, list []*proposal) []*proposal {
	c := &t.columns[i]
	if len(c.readings) == 0 || len(c.readings[0].entity) == 0 {
		return list
	}
	r := c.readings[0]
	if r.key != "" && (i == t.key || len(t.primary) == 0) && nameLevel(r.label, t) >= 0.9 {
		return list // its own key
	}
	before := len(list)
	for at := 0; at < len(c.plain); at++ {
		role := at > 0
		if role && (r.front || at > len(r.entity) || len(list) > before) {
			break
		}
		if at > 0 && at == len(r.entity) && len(c.plain)-at < 2 {
			break // only a key word is left
		}
		entity := r.entity
		if role {
			entity = entity[at:]
		}
		if name := c.tail(at); !generic[name] {
			list = f.byKeyOf(t, i, f.names.key[name], entity, role, list)
		}
	}
	if len(list) == before && c.unique != yes && r.key != "" {
		list = f.byKeyOf(t, i, f.names.other[c.joined], r.entity, false, list)
	}
	if len(list) == before {
		list = f.byKeyAtEnd(t, i, list)
	}
	return list
}

// byKeyAtEnd looks for tables whose key has the name that the last word of the column ends
// with, after a role that is written together with it (laskutusosoitetunnus, the key of
// osoitteet being osoitetunnus).
func (f *finder) byKeyAtEnd(t *table, i int, list []*proposal) []*proposal {
	plain := t.columns[i].plain
	last := plain[len(plain)-1]
	if len(last) > maxNameSize {
		return list
	}
	for at := range last {
		if utf8.RuneCountInString(last[:at]) < minLetters(last[:at])+1 || len(f.names.key[last[at:]]) == 0 {
			continue
		}
		if entity := f.withoutKeyWord(last[at:]); utf8.RuneCountInString(entity) >= tableLetters(entity) {
			return f.byKeyOf(t, i, f.names.key[last[at:]], []string{entity}, true, list)
		}
	}
	return list
}

// withoutKeyWord returns what stands before the key word that a word ends with, or
// nothing.
func (f *finder) withoutKeyWord(word string) string {
	for at := range word {
		if at > 0 && f.isKeyWord(word[at:]) && utf8.RuneCountInString(word[at:]) >= minLetters(word[at:]) {
			return word[:at]
		}
	}
	return ""
}

// byKeyOf proposes the keys that have the name of the column, or its last words. Of
// tables with equal keys, those that the name describes are meant.
func (f *finder) byKeyOf(t *table, i int, keys []target, words []string, role bool, list []*proposal) []*proposal {
	if len(keys) == 0 || len(keys) > 4*maxSameName {
		return list
	}
	entity := labelOf(words)
	meant, _ := f.names.named(words)
	if len(t.primary) > 0 && i != t.key {
		// properties.property_type_code is no key of its own table, where type_code is
		// a key word of the database.
		meant = slices.DeleteFunc(slices.Clone(meant), func(m *table) bool { return m == t })
	}
	best, n := 0.0, 0
	eligible := func(k target) bool {
		if k.table == t && (!role || k.column == i || slices.Contains(t.primary, i)) {
			return false
		}
		return (len(meant) == 0 || slices.Contains(meant, k.table))
	}
	for _, k := range keys {
		if eligible(k) {
			best = max(best, ownLevel(entity, k.table))
			n++
		}
	}
	if own := ownLevel(entity, t); i == t.key && own > 0 && own >= best {
		return list
	}
	for _, k := range keys {
		level := ownLevel(entity, k.table)
		if !eligible(k) || level < best {
			continue
		}
		score, evidence := scoreSameKey, "the column has the name of the key of the table"
		switch {
		case level > 0:
			score += 0.05 + level/10
		case n > 1 || i == t.key || k.column != k.table.key:
			score = scoreSharedKey
		}
		if t.columns[i].readings[0].key == "" {
			score -= lessNoKeyWord / 2
		}
		if role {
			score -= 0.08
			evidence += ", with a role"
		}
		list = propose(list, &proposal{from: t, to: k.table, columns: []int{i}, targets: []int{k.column}, score: score, evidence: evidence, byName: true})
	}
	return list
}

func quoted(w string) string { return `"` + w + `"` }
