package catalog

import (
	"cmp"
	"slices"
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
	last, whole := newWords(parts[len(parts)-1]), newWords(parts...)
	var before words // what may be the table of a column
	if n := len(parts); n > 1 {
		before = newWords(parts[n-2])
	}
	var found []similar
	var name, full words // used again for each table
	for i, t := range s.tables {
		name.read(t.Name)
		score := last.similarity(&name)
		if len(parts) > 1 {
			full.read(text(t.Catalog), text(t.DB), t.Name)
			// A right name in a wrong schema is nearer than a wrong name.
			score = max(score*0.98, whole.similarity(&full)*0.9, before.similarity(&name)*0.8)
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
	var other words
	for i := range t.Columns {
		other.read(t.Columns[i].Name)
		if score := w.similarity(&other); score >= minSimilarity {
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
	letters []rune // folded, without separators, at most maxCompared
	ends    []int  // of the words in letters
}

func newWords(names ...string) words {
	var w words
	w.read(names...)
	return w
}

// read replaces w by the words of names.
func (w *words) read(names ...string) {
	w.letters, w.ends = w.letters[:0], w.ends[:0]
	for _, name := range names {
		lower := false
		for _, r := range name {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				w.end()
				lower = false
				continue
			}
			if unicode.IsUpper(r) && lower {
				w.end()
			}
			if len(w.letters) == maxCompared {
				break
			}
			lower = unicode.IsLower(r)
			w.letters = append(w.letters, unicode.ToLower(r))
		}
		w.end()
	}
}

// end ends a word, unless it is empty.
func (w *words) end() {
	if n := len(w.letters); n > 0 && (len(w.ends) == 0 || w.ends[len(w.ends)-1] < n) {
		w.ends = append(w.ends, n)
	}
}

// word returns the i-th word.
func (w *words) word(i int) []rune {
	start := 0
	if i > 0 {
		start = w.ends[i-1]
	}
	return w.letters[start:w.ends[i]]
}

// similarity is from 0 to 1: the better one of how few letters differ and how many
// words are shared.
func (w *words) similarity(other *words) float64 {
	longest := max(len(w.letters), len(other.letters))
	if longest == 0 {
		return 0
	}
	shared := 0
	for i := range w.ends {
		for j := range other.ends {
			if slices.Equal(w.word(i), other.word(j)) {
				shared++
				break
			}
		}
	}
	union := max(len(w.ends)+len(other.ends)-shared, shared)
	// Half of a name's words is less than the same share of its letters in order.
	score := 0.95 * float64(shared) / float64(union)
	if shortest := min(len(w.letters), len(other.letters)); float64(shortest) > score*float64(longest) {
		score = max(score, 1-float64(distance(w.letters, other.letters))/float64(longest))
	}
	return score
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
