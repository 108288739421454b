package expr

import (
	"cmp"
	"slices"
	"strings"
)

// Near returns up to three of the names that may have been meant by a word, the nearest
// first: those that differ by case alone, then by few letters, then those that begin
// with the word or that the word begins with.
func Near(word string, among []string) []string {
	type found struct {
		name string
		cost int
	}
	lower := []rune(strings.ToLower(word))
	if len(lower) == 0 || len(lower) > 200 {
		return nil
	}
	allowed := 1 + len(lower)/4
	var list []found
	for _, name := range among {
		other := []rune(strings.ToLower(name))
		if len(other) == 0 || len(other) > 200 {
			continue
		}
		cost := allowed + 1
		if len(other) <= len(lower)+allowed && len(lower) <= len(other)+allowed {
			cost = distance(lower, other)
		}
		if cost > allowed {
			short, long := string(lower), string(other)
			if len(short) > len(long) {
				short, long = long, short
			}
			if len(short) < 3 || !strings.HasPrefix(long, short) && !strings.HasSuffix(long, short) {
				continue
			}
			cost = 100 + len(long) - len(short)
		}
		list = append(list, found{name, cost})
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, f := range list {
		if len(names) < 3 && !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
	}
	return names
}

// distance counts the letters to insert, delete, replace, or exchange with their
// neighbour.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
