package relate

import (
	"slices"
	"unicode/utf8"
)

// reading is one way to understand the name of a column: what it refers to, and the
// word that says that it is a key.
type reading struct {
	entity []string // may be empty, as in "id"
	label  label    // of entity
	key    string   // "" if the name has no key word
	front  bool     // the key word precedes the entity, as in id_cliente
}

// read returns the readings of a column, the most natural one first.
func (f *finder) read(c *column) []reading {
	list := f.readWords(c.plain)
	if len(c.plain) != len(c.words) {
		list = append(list, f.readWords(c.words)...)
	}
	for i := range list {
		list[i].label = labelOf(list[i].entity)
	}
	return list
}

func (f *finder) readWords(words []string) []reading {
	words, marked := f.unmark(words)
	if len(words) == 0 {
		return []reading{{key: marked}}
	}
	if entity, key := f.cutBack(words); key != "" {
		list := append([]reading{{entity: entity, key: key}}, f.cutRole(entity, key, false)...)
		if len(entity) > 1 && f.isKeyWord(entity[0]) { // code_client_id
			list = append(list, reading{entity: entity[1:], key: key})
		}
		return list
	}
	if entity, key := f.cutFront(words); key != "" {
		return append([]reading{{entity: entity, key: key, front: true}}, f.cutRole(entity, key, true)...)
	}
	list := f.cutWord(words)
	if len(list) == 0 || marked != "" {
		list = append(list, reading{entity: words, key: marked})
	}
	return list
}

// unmark removes words such as fk from both ends.
func (f *finder) unmark(words []string) (rest []string, marker string) {
	for len(words) > 1 && markers[words[0]] {
		words, marker = words[1:], words[0]
	}
	for len(words) > 1 && markers[words[len(words)-1]] {
		words, marker = words[:len(words)-1], words[len(words)-1]
	}
	return words, marker
}

func (f *finder) isKeyWord(w string) bool { return keyWords[w] || f.affixes[w] }

// cutBack removes the key word at the end. An affix may have several words.
func (f *finder) cutBack(words []string) (entity []string, key string) {
	n := len(words)
	for i := max(0, n-3); i < n; i++ {
		if k := join(words[i:]); f.isKeyWord(k) && (i > 0 || n == 1) {
			return words[:i], k
		}
	}
	if n > 1 && f.isKeyWord(words[n-1]) {
		return words[:n-1], words[n-1]
	}
	// team_id_1: a number after the key word tells two references apart.
	if n > 2 && isNumber(words[n-1]) && f.isKeyWord(words[n-2]) {
		return words[:n-2], words[n-2]
	}
	return nil, ""
}

func (f *finder) cutFront(words []string) (entity []string, key string) {
	for i := min(3, len(words)-1); i > 0; i-- {
		if k := join(words[:i]); f.isKeyWord(k) {
			return words[i:], k
		}
	}
	return nil, ""
}

// cutRole splits a role from the name of a table that it is written together with, if
// the words name no table.
func (f *finder) cutRole(entity []string, key string, front bool) []reading {
	n := len(entity) - 1
	if n < 0 || f.names.known(entity) || len(entity[0]) > maxNameSize || len(entity[n]) > maxNameSize {
		return nil
	}
	if list, _ := f.names.named(entity[n:]); len(list) > 0 {
		return nil
	}
	if at := f.tableAtStart(entity[0]); at > 0 && front {
		return []reading{{entity: append([]string{entity[0][:at], entity[0][at:]}, entity[1:]...), key: key, front: true}}
	}
	if at := f.tableAtEnd(entity[n]); at > 0 {
		return []reading{{entity: append(slices.Clone(entity[:n]), entity[n][:at], entity[n][at:]), key: key, front: front}}
	}
	return nil
}

// cutWord splits a key word from the word that it is written together with, as in
// customerid, 顧客番号 and รหัสลูกค้า. It does so only where the rest names a table.
func (f *finder) cutWord(words []string) []reading {
	var list []reading
	n := len(words) - 1
	first, last := words[0], words[n]
	if len(last) > maxNameSize || len(first) > maxNameSize {
		return nil
	}
	for i := range last {
		if i == 0 || !f.isKeyWord(last[i:]) || utf8.RuneCountInString(last[i:]) < minLetters(last[i:]) {
			continue
		}
		if f.names.known([]string{last[:i]}) || f.names.known(append(slices.Clone(words[:n]), last[:i])) {
			list = append(list, reading{entity: append(slices.Clone(words[:n]), last[:i]), key: last[i:]})
		} else if at := f.tableAtEnd(last[:i]); at > 0 {
			list = append(list, reading{entity: append(slices.Clone(words[:n]), last[:at], last[at:i]), key: last[i:]})
		}
	}
	for i := range first {
		if i == 0 || !f.isKeyWord(first[:i]) || utf8.RuneCountInString(first[:i]) < minLetters(first[:i]) {
			continue
		}
		rest := first[i:]
		if f.names.known([]string{rest}) || f.names.known(append([]string{rest}, words[1:]...)) {
			list = append(list, reading{entity: append([]string{rest}, words[1:]...), key: first[:i], front: true})
		} else if at := f.tableAtStart(rest); at > 0 {
			list = append(list, reading{entity: append([]string{rest[:at], rest[at:]}, words[1:]...), key: first[:i], front: true})
		} else if at := f.tableAtEnd(rest); at > 0 {
			list = append(list, reading{entity: append([]string{rest[:at], rest[at:]}, words[1:]...), key: first[:i], front: true})
		}
	}
	return list
}

// tableAtEnd returns where the name of a table begins that a word ends with, after a
// role that is written together with it (billingaddress, 請求先住所), or 0.
func (f *finder) tableAtEnd(word string) int {
	for i := range word {
		if i == 0 || utf8.RuneCountInString(word[:i]) < minLetters(word[:i]) {
			continue
		}
		if utf8.RuneCountInString(word[i:]) < tableLetters(word[i:]) {
			break
		}
		if list, _ := f.names.named([]string{word[i:]}); len(list) > 0 {
			return i
		}
	}
	return 0
}

// tableAtStart returns where the name of a table ends that a word begins with, before
// a role, or 0.
func (f *finder) tableAtStart(word string) int {
	best := 0
	for i := range word {
		if i == 0 || utf8.RuneCountInString(word[:i]) < tableLetters(word[:i]) || utf8.RuneCountInString(word[i:]) < minLetters(word[i:]) {
			continue
		}
		if len(f.names.exact[phrase([]string{word[:i]})]) > 0 {
			best = i
		}
	}
	return best
}

// tableLetters returns how many letters the name of a table has at least that is part
// of a longer word.
func tableLetters(w string) int {
	if minLetters(w) == 1 {
		return 1
	}
	return 4
}

func isNumber(w string) bool {
	for _, r := range w {
		if classOf(r) != digit {
			return false
		}
	}
	return w != ""
}
