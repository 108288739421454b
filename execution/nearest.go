package execution

import "strings"

// Nearest returns the candidate that differs least from name, or "" when none
// is close enough to be a misspelling: at most a third of the letters of name
// may differ.
func Nearest(name string, candidates []string) string {
	best, limit := "", max(1, len(name)/3)
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(name), strings.ToLower(c)); d <= limit {
			best, limit = c, d-1
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements of bytes that
// turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
