package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

const (
	maxCompared   = 64   // characters of a name that are compared
	minSimilarity = 0.34 // below, a name is no suggestion
)

// similar is a name with its similarity to another.
type similar struct {
	position int
	score    float64
}

// nearestTables returns the tables whose names are most similar to a path.
func (s *Snapshot) nearestTables(path string) []*Table {
	parts, ok := split(path, anyQuotes)
	if !ok {
		parts = []string{path}
	}
	last, whole := newWords(parts[len(parts)-1]), newWords(strings.Join(parts, "."))
	var before *words // what may be the table of a column
	if n := len(parts); n > 1 {
		w := newWords(parts[n-2])
		before = &w
	}
	var found []similar
	for i, t := range s.tables {
		name := newWords(t.Name)
		score := last.similarity(name)
		if len(parts) > 1 {
			full := newWords(strings.Join(t.Ref().own(), "."))
			// A right name in a wrong schema is nearer than a wrong name.
			score = max(score*0.98, whole.similarity(full)*0.9)
			if before != nil {
				score = max(score, before.similarity(name)*0.8)
			}
		}
		if score >= minSimilarity {
			found = append(found, similar{i, score})
		}
	}
	out := make([]*Table, 0, MaxCandidates)
	for _, f := range best(found) {
		out = append(out, s.tables[f.position])
	}
	return out
}

// nearestColumns returns the names of the columns that are most similar to a name.
func nearestColumns(t *Table, name string) []string {
	if parts, ok := split(name, anyQuotes); ok {
		name = parts[len(parts)-1]
	}
	w := newWords(name)
	var found []similar
	for i := range t.Columns {
		if score := w.similarity(newWords(t.Columns[i].Name)); score >= minSimilarity {
			found = append(found, similar{i, score})
		}
	}
	out := make([]string, 0, MaxCandidates)
	for _, f := range best(found) {
		out = append(out, t.Columns[f.position].Name)
	}
	return out
}

// best returns the most similar names, in order. Equal ones keep the order of the
// tables.
func best(found []similar) []similar {
	slices.SortStableFunc(found, func(a, b similar) int { return cmp.Compare(b.score, a.score) })
	return found[:min(len(found), MaxCandidates)]
}

// words is a name prepared for comparison.
type words struct {
	letters []rune   // folded, without separators, at most maxCompared
	parts   []string // folded
}

func newWords(name string) words {
	var w words
	var part strings.Builder
	end := func() {
		if part.Len() > 0 {
			w.parts = append(w.parts, part.String())
			part.Reset()
		}
	}
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			lower = false
			continue
		}
		if unicode.IsUpper(r) && lower {
			end()
		}
		lower = unicode.IsLower(r)
		r = unicode.ToLower(r)
		part.WriteRune(r)
		if w.letters = append(w.letters, r); len(w.letters) == maxCompared {
			break
		}
	}
	end()
	return w
}

// similarity is from 0 to 1: the better one of how few letters differ and how many
// words are shared.
func (w words) similarity(other words) float64 {
	longest := max(len(w.letters), len(other.letters))
	if longest == 0 {
		return 0
	}
	score := 0.0
	if shortest := min(len(w.letters), len(other.letters)); float64(shortest) >= minSimilarity*float64(longest) {
		score = 1 - float64(distance(w.letters, other.letters))/float64(longest)
	}
	shared := 0
	for _, p := range w.parts {
		if slices.Contains(other.parts, p) {
			shared++
		}
	}
	union := len(w.parts) + len(other.parts) - shared
	// Half of a name's words is less than the same share of its letters in order.
	return max(score, 0.95*float64(min(shared, union))/float64(union))
}

// distance counts the letters to insert, delete or replace to turn a into b.
func distance(a, b []rune) int {
	var buffer [maxCompared + 1]int
	row := buffer[:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
