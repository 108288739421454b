package wiki

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns at most n of the known names that are like name, the nearest
// first. Names are compared without case. They are alike if a part of the letters
// differs, or if they share words.
func Nearest(name string, known []string, n int) []string {
	type near struct {
		name  string
		score float64
	}
	name = cut(strings.ToLower(name), MaxKey)
	words := strings.FieldsFunc(name, divides)
	var list []near
	for _, k := range known {
		other := cut(strings.ToLower(k), MaxKey)
		longest := max(len(name), len(other), 1)
		score := 1 - float64(distance(name, other))/float64(longest)
		if score < 0.6 {
			score = 0.9 * overlap(words, strings.FieldsFunc(other, divides))
		}
		if score >= 0.3 {
			list = append(list, near{k, score})
		}
	}
	slices.SortFunc(list, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, l := range list[:min(n, len(list))] {
		out = append(out, l.name)
	}
	return out
}

func divides(r rune) bool { return r == '-' || r == '_' || r == ' ' || r == '.' }

// overlap returns the share of the words of the shorter list that the other has,
// with a discount for the words that the other has in addition.
func overlap(a, b []string) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 0
	}
	shared := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			shared++
		}
	}
	return float64(shared) / float64(len(a)) * (0.5 + 0.5*float64(len(a))/float64(len(b)))
}

// distance returns the least number of bytes to insert, delete or replace between
// two texts.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			now := before
			if a[i] != b[j] {
				now = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], now
		}
	}
	return row[len(b)]
}
