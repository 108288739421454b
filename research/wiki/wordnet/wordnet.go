// Package wordnet says which common English words are related, and how rare a word is.
// Both come from WordNet 3.0, by tools/wordnet. The table is unpacked at the first use.
// LICENSE is the licence of WordNet, which also begins the table.
package wordnet

import (
	_ "embed"
	"math"
	"strings"
	"sync"

	"github.com/ktxhq/ktx/research/rank/packed"
)

//go:embed wordnet.txt.gz
var table []byte

// Table returns the table as tools/wordnet wrote it.
func Table() []byte { return packed.Unpack(table) }

// A Relation is a word that is related to another.
type Relation struct {
	Word string
	// Association is how likely the words mean the same, from 0 to 1.
	Association float64
}

type entry struct {
	rarity  float64
	related []Relation
}

var entries = sync.OnceValue(func() map[string]*entry {
	out := map[string]*entry{}
	get := func(field string) (*entry, string, float64) {
		word, digit := field[:len(field)-1], float64(field[len(field)-1]-'0')
		e := out[word]
		if e == nil {
			e = &entry{rarity: 1}
			out[word] = e
		}
		return e, word, digit
	}
	for line := range strings.Lines(string(Table())) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		e, word, digit := get(fields[0])
		e.rarity = digit / 10
		if digit == 9 {
			e.rarity = 1
		}
		for _, field := range fields[1:] {
			other, name, digit := get(field)
			association := math.Pow(digit/10, 4)
			e.related = append(e.related, Relation{name, association})
			other.related = append(other.related, Relation{word, association})
		}
	}
	return out
})

// Known reports whether the table has a word, which is in lower case.
func Known(word string) bool { return entries()[word] != nil }

// Related returns the words that are related to a word, sorted. Nobody may change the
// list.
func Related(word string) []Relation {
	if e := entries()[word]; e != nil {
		return e.related
	}
	return nil
}

// Rarity is how much a word tells, from 0 to 1: 1 for a word that few explanations of
// other words have. A word that the table does not have is rare.
func Rarity(word string) float64 {
	if e := entries()[word]; e != nil {
		return e.rarity
	}
	return 1
}
