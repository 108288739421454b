package relate

import (
	"slices"
	"unicode/utf8"
)

// reading is one way to understand the name of a column: what it refers to, and the
// word that says that it is a key.
type reading struct {
	entity []string // may be empty, as in "id"
	key    string   // "" if the name has no key word
	front  bool     // the key word precedes the entity, as in id_cliente
}

// read returns the readings of a column, the most natural one first.
func (f *finder) read(c *column) []reading {
	list := f.readWords(c.plain)
	if len(c.plain) != len(c.words) {
		list = append(list, f.readWords(c.words)...)
	}
	return list
}

func (f *finder) readWords(words []string) []reading {
	words, marked := f.unmark(words)
	if len(words) == 0 {
		return []reading{{key: marked}}
	}
	if entity, key := f.cutBack(words); key != "" {
		list := []reading{{entity: entity, key: key}}
		if len(entity) > 1 && f.isKeyWord(entity[0]) { // code_client_id
			list = append(list, reading{entity: entity[1:], key: key})
		}
		return list
	}
	if entity, key := f.cutFront(words); key != "" {
		return []reading{{entity: entity, key: key, front: true}}
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

// cutWord splits a key word from the word that it is written together with, as in
// customerid, 顧客番号 and รหัสลูกค้า. It does so only where the rest names a table.
func (f *finder) cutWord(words []string) []reading {
	var list []reading
	last := words[len(words)-1]
	if len(last) > maxNameSize || len(words[0]) > maxNameSize {
		return nil
	}
	for i := range last {
		if i == 0 || !f.isKeyWord(last[i:]) {
			continue
		}
		if utf8.RuneCountInString(last[i:]) < 2 && last[i] < utf8.RuneSelf {
			continue
		}
		entity := append(slices.Clone(words[:len(words)-1]), last[:i])
		if f.names.known(entity) || len(entity) > 1 && f.names.known(entity[len(entity)-1:]) {
			list = append(list, reading{entity: entity, key: last[i:]})
		}
	}
	first := words[0]
	for i := range first {
		if i == 0 || !f.isKeyWord(first[:i]) {
			continue
		}
		entity := append([]string{first[i:]}, words[1:]...)
		if f.names.known(entity) || len(entity) > 1 && f.names.known(entity[:1]) {
			list = append(list, reading{entity: entity, key: first[:i], front: true})
		}
	}
	return list
}

func isNumber(w string) bool {
	for _, r := range w {
		if classOf(r) != digit {
			return false
		}
	}
	return w != ""
}
