package relate

import (
	"unicode/utf8"
)

// minAffixColumns is how many columns must share an affix, each with the name of
// another table, before the affix counts as a key word.
const minAffixColumns = 3

// affix counts the columns whose name is the name of a table with an affix.
type affix struct {
	entities map[string]bool // tables that it stands with
	keys     int             // columns that are the key of the table whose name they hold
	others   int             // columns that are in the table whose name they hold and not its key
	fits     int             // columns in other tables whose type is that of the key
	misfits  int             // columns in other tables with another type
}

// findAffixes learns the words that this database uses for keys: an affix that at
// least three columns share, that stands with the names of tables, and whose columns
// are keys or have the type of keys. "customer_name" has the type of no key.
func (f *finder) findAffixes() {
	found := map[string]*affix{}
	for _, t := range f.tables {
		for i := range t.columns {
			c := &t.columns[i]
			if t.key == i {
				ownAffix(t, c.plain, func(rest string) {
					if keyWords[rest] || generic[rest] {
						return
					}
					if found[rest] == nil {
						found[rest] = &affix{entities: map[string]bool{}}
					}
					found[rest].keys++
					found[rest].entities[t.label.stem] = true
				})
				continue
			}
			f.eachAffix(c.plain, func(rest string, entity *table) {
				if keyWords[rest] || generic[rest] {
					return
				}
				a := found[rest]
				if a == nil {
					a = &affix{entities: map[string]bool{}}
					found[rest] = a
				}
				name := entity.label.stem
				switch {
				case entity.label.phrase == t.label.phrase || name == t.label.stem:
					a.others++
				case entity.key >= 0 && entity.columns[entity.key].kind == c.kind && c.kind.keyable() && c.kind != fraction && c.kind != moment:
					a.fits++
				default:
					a.misfits++
				}
				a.entities[name] = true
			})
		}
	}
	for name, a := range found {
		if len(a.entities) < minAffixColumns && a.keys < minAffixColumns || a.others > a.keys || a.misfits > a.fits+a.keys {
			continue
		}
		if a.keys >= 2 || a.fits >= minAffixColumns {
			f.affixes[name] = true
		}
	}
}

// ownAffix calls found with what precedes or follows the name of the table in the name
// of its key.
func ownAffix(t *table, words []string, found func(rest string)) {
	names := func(part []string) bool {
		return nameLevel(labelOf(part), t) > 0 || similarWords(part, t.words) > 0
	}
	for i := 1; i < len(words); i++ {
		if names(words[:i]) {
			found(join(words[i:]))
			return
		}
		if names(words[i:]) {
			found(join(words[:i]))
			return
		}
	}
	if len(words) != 1 || len(words[0]) > maxNameSize {
		return
	}
	for i := range words[0] {
		before, after := words[0][:i], words[0][i:]
		if i == 0 || utf8.RuneCountInString(before) < minLetters(before) || utf8.RuneCountInString(after) < minLetters(after) {
			continue
		}
		if nameLevel(labelOf([]string{before}), t) >= 0.9 {
			found(after)
			return
		}
		if nameLevel(labelOf([]string{after}), t) >= 0.9 {
			found(before)
			return
		}
	}
}

// eachAffix calls found for each way in which words are the name of a table with
// something before or after it.
func (f *finder) eachAffix(words []string, found func(rest string, entity *table)) {
	for i := 1; i < len(words); i++ {
		if list, _ := f.names.named(words[:i]); len(list) > 0 {
			found(join(words[i:]), list[0])
		}
		if list, _ := f.names.named(words[i:]); len(list) > 0 {
			found(join(words[:i]), list[0])
		}
	}
	if len(words) != 1 || len(words[0]) > maxNameSize {
		return
	}
	for i := range words[0] {
		before, after := words[0][:i], words[0][i:]
		if i == 0 || utf8.RuneCountInString(before) < minLetters(before) || utf8.RuneCountInString(after) < minLetters(after) {
			continue
		}
		if list := f.names.exact[before]; len(list) > 0 {
			found(after, list[0])
		}
		if list := f.names.exact[after]; len(list) > 0 {
			found(before, list[0])
		}
	}
}

// minLetters returns how many letters a part of an unspaced word has at least: an
// ideograph is a word, a letter is not.
func minLetters(w string) int {
	if r, _ := utf8.DecodeRuneInString(w); classOf(r) >= han {
		return 1
	}
	return 2
}
