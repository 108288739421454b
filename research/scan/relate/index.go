package relate

import (
	"slices"
	"unicode/utf8"
)

// Limits of the look-up of tables by name. A name that more tables have says little,
// and looking at all of them would take too long in a wide schema.
const (
	maxSameName = 8 // tables of one name, those of the own schema first
	maxTailName = 3 // tables whose name ends or begins with the words
	maxNameSize = 64
)

// index finds tables by the words of their names.
type index struct {
	exact map[string][]*table // by phrase of the whole name
	stem  map[string][]*table // by stems of the whole name
	tail  map[string][]*table // by phrase of the last words
	head  map[string][]*table // by phrase of the first words
	start map[start][]*table  // by first letter and number of words, for abbreviations
	short map[string][]*table // found abbreviations, by phrase
	key   map[string][]target // single-column keys by the name of their column
	other map[string][]target // columns that are unique beside the key, by name
	alike map[string][]*table // found similar names, by phrase

	natural map[string][]target // texts that are unique beside the key, by name
}

type start struct {
	letter rune
	words  int
}

// target is a column by which the rows of a table may be referred to.
type target struct {
	table  *table
	column int
}

func newIndex(tables []*table) *index {
	x := &index{
		exact: map[string][]*table{}, stem: map[string][]*table{}, tail: map[string][]*table{}, head: map[string][]*table{},
		start: map[start][]*table{}, short: map[string][]*table{}, key: map[string][]target{}, other: map[string][]target{}, alike: map[string][]*table{}, natural: map[string][]target{},
	}
	for _, t := range tables {
		if len(t.words) == 0 {
			continue
		}
		for _, p := range t.phrases() {
			add(x.exact, p, t)
		}
		add(x.stem, t.label.stem, t)
		for _, broken := range t.label.broken {
			add(x.stem, broken, t)
		}
		for i := range t.tails {
			add(x.tail, t.tails[i], t)
			add(x.head, t.heads[i], t)
		}
		letter, _ := utf8.DecodeRuneInString(t.words[0])
		s := start{letter, len(t.words)}
		x.start[s] = append(x.start[s], t)
	}
	return x
}

// phrases returns the forms of the whole name: without layers, without layers and
// with the words as they are, and the name as it is written.
func (t *table) phrases() []string {
	words := split(t.Name)
	list := []string{phrase(t.words), singular(join(t.words)), phrase(words), singular(join(words))}
	slices.Sort(list)
	return slices.Compact(list)
}

func add(m map[string][]*table, key string, t *table) {
	if list := m[key]; len(list) == 0 || list[len(list)-1] != t {
		m[key] = append(list, t)
	}
}

// near returns at most limit tables of the list. Those of the schema of t come first.
func near(t *table, list []*table, limit int) []*table {
	if len(list) <= limit {
		return list
	}
	var found []*table
	for _, same := range []bool{true, false} {
		for _, other := range list {
			if (other.ref.DB == t.ref.DB && other.ref.Catalog == t.ref.Catalog) == same {
				if found = append(found, other); len(found) == limit {
					return found
				}
			}
		}
	}
	return found
}

// named returns the tables whose whole name the words are, and whether only the
// stems are equal.
func (x *index) named(words []string) (list []*table, inflected bool) {
	if len(words) == 0 {
		return nil, false
	}
	if list = x.exact[phrase(words)]; len(list) == 0 {
		list = x.exact[singular(join(words))]
	}
	if len(list) > 0 {
		return list, false
	}
	return x.stem[stems(words)], true
}

// abbreviated returns the tables whose name the words abbreviate, or the other way
// round. Words of two letters are the initials of a name of two words.
func (x *index) abbreviated(words []string) []*table {
	if len(words) == 0 {
		return nil
	}
	p := phrase(words)
	if list, ok := x.short[p]; ok {
		return list
	}
	var found []*table
	letter, _ := utf8.DecodeRuneInString(words[0])
	for _, t := range x.start[start{letter, len(words)}] {
		if abbreviation(words, t.words) || abbreviation(t.words, words) {
			found = append(found, t)
		}
	}
	if w := []rune(words[0]); len(words) == 1 && len(w) >= 2 && len(w) <= 4 {
		for _, t := range x.start[start{letter, len(w)}] {
			if t.initials == words[0] {
				found = append(found, t)
			}
		}
	}
	if len(found) > maxSameName {
		found = nil
	}
	x.short[p] = found
	return found
}

// similar returns the tables whose names are the most similar to the words.
func (x *index) similar(words []string) (list []*table, likeness float64) {
	if len(words) == 0 {
		return nil, 0
	}
	p := phrase(words)
	found, ok := x.alike[p]
	if !ok {
		letter, _ := utf8.DecodeRuneInString(words[0])
		for _, t := range x.start[start{letter, len(words)}] {
			switch l := similarWords(words, t.words); {
			case l == 0 || l < likeness:
			case l > likeness:
				found, likeness = []*table{t}, l
			default:
				found = append(found, t)
			}
		}
		if len(found) > maxTailName {
			found = nil
		}
		x.alike[p] = found
	}
	if len(found) == 0 {
		return nil, 0
	}
	return found, similarWords(words, found[0].words)
}

func initials(words []string) string {
	var b []rune
	for _, w := range words {
		r, _ := utf8.DecodeRuneInString(w)
		b = append(b, r)
	}
	return string(b)
}

// known reports whether the words name a table in any way, or a role.
func (x *index) known(words []string) bool {
	if list, _ := x.named(words); len(list) > 0 || len(x.abbreviated(words)) > 0 {
		return true
	}
	whole := join(words)
	return selfWords[whole] || personWords[whole] || joinedRoles[whole]
}
