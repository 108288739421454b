package model

import (
	"cmp"
	"slices"
	"strings"
)

// maxNear is how many near names a message has.
const maxNear = 3

// nearest returns up to three of the known names that may have been meant, the nearest
// first.
func nearest(name string, known []string) []string {
	type near struct {
		name  string
		score int // smaller is nearer
	}
	const maxLength = 64
	folded := strings.ToLower(name)
	if len(folded) > maxLength {
		folded = folded[:maxLength]
	}
	if folded == "" {
		return nil
	}
	var list []near
	for _, k := range known {
		other := strings.ToLower(k)
		leaf := other[strings.LastIndexByte(other, '.')+1:]
		whole := folded[strings.LastIndexByte(folded, '.')+1:]
		d := 2 * distance(folded, other)
		if len(whole) > 2 && len(leaf) > 2 && (strings.Contains(leaf, whole) || strings.Contains(whole, leaf)) {
			d = min(d, 2+d/8) // one of the two is a part of the other
		}
		if d <= 2*max(1, len(folded)/3) {
			list = append(list, near{k, d})
		}
	}
	slices.SortFunc(list, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, n := range list[:min(maxNear, len(list))] {
		out = append(out, n.name)
	}
	return out
}

// distance returns how many letters must be changed, added, left out, or swapped with
// their neighbour to make one name of the other. Names that differ in length by more
// than their half are as far as the longer one is long.
func distance(a, b string) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > len(b)/2 {
		return len(b)
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}

// didYouMean writes near names as a hint; empty if there are none.
func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}
