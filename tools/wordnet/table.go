package main

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/tools/wordnet/database"
)

// What the table has.
const (
	leastUses        = 5     // of a word that has related words
	leastAssociation = 0.001 // of two words
	relatedShare     = 0.5   // of a meaning that is related to another, beside the same one
	plainRarity      = 7.0   // logarithm from which a word counts in full
)

// table writes the licence as comments, and then a line for each word: the word with
// its rarity as a digit, and its related words that come later in the alphabet, each
// with the fourth root of the association as a digit.
func table(d *database.Database) []byte {
	related := associations(d)
	rarities := rarities(d)
	names := slices.Sorted(maps.Keys(d.Words))
	var out bytes.Buffer
	out.WriteString("# Made by tools/wordnet of WordNet 3.0, whose licence follows; not to be edited.\n#\n")
	for line := range strings.Lines(strings.TrimSpace(d.Licence)) {
		out.WriteString(strings.TrimRight("# "+strings.TrimSpace(line), " ") + "\n")
	}
	linked := map[string]bool{}
	for a, others := range related {
		linked[a] = true
		for b := range others {
			linked[b] = true
		}
	}
	for _, name := range names {
		rarity, common := rarities[name]
		if !common && !linked[name] {
			continue
		}
		if !common {
			rarity = 9
		}
		fmt.Fprintf(&out, "%s%d", name, rarity)
		for _, other := range slices.Sorted(maps.Keys(related[name])) {
			fmt.Fprintf(&out, " %s%d", other, digit(math.Pow(related[name][other], 0.25)))
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// digit is a tenth of a number from 0 to 1, rounded, from 1 to 9.
func digit(share float64) int { return min(9, max(1, int(math.Round(10*share)))) }

// plain reports whether a name is one word of letters.
func plain(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == ""
}

// rarities are the digits of words that are too common to count in full.
func rarities(d *database.Database) map[string]int {
	out := map[string]int{}
	for name, n := range d.Explained() {
		if !plain(name) {
			continue
		}
		if r := int(math.Round(10 * math.Log(float64(len(d.Meanings))/float64(1+n)) / plainRarity)); r < 10 {
			out[name] = max(r, 1)
		}
	}
	return out
}

// associations are how likely two words mean the same: the sum, over the meanings of
// one, of the share that the meaning has in the uses of both words. A related meaning
// counts half. Each pair is there once.
func associations(d *database.Database) map[string]map[string]float64 {
	common := func(name string) bool { return plain(name) && d.Words[name] != nil && d.Words[name].Uses >= leastUses }
	out := map[string]map[string]float64{}
	for name, w := range d.Words {
		if !common(name) {
			continue
		}
		sums := map[string]float64{}
		for _, id := range w.Meanings {
			here := d.Share(name, id)
			weights := map[string]float64{}
			for _, other := range d.Meanings[id].Related {
				weights[other] = relatedShare
			}
			weights[id] = 1
			for _, target := range slices.Sorted(maps.Keys(weights)) {
				words := slices.Sorted(slices.Values(d.Meanings[target].Words))
				for _, other := range slices.Compact(words) {
					if other != name && common(other) {
						sums[other] += float64(weights[target] * here * d.Share(other, target))
					}
				}
			}
		}
		for other, sum := range sums {
			a, b := min(name, other), max(name, other)
			if sum < leastAssociation || sum < out[a][b] {
				continue
			}
			if out[a] == nil {
				out[a] = map[string]float64{}
			}
			out[a][b] = sum
		}
	}
	return out
}
