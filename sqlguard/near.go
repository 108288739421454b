package sqlguard

import "strings"

// near returns a hint with the existing name that is most similar to a name that does
// not exist, or "". It searches for only a few names of a statement, because each
// search is linear in the number of names.
func (q *inquiry) near(name string, known func(yield func(name, full string) bool)) string {
	const asked = 3
	if q.inside || q.nearby >= asked || len(name) > maxNameBytes {
		return ""
	}
	q.nearby++
	best, distance := "", 1+len(name)/3
	lower := strings.ToLower(name)
	for n, full := range known {
		if d := editDistance(lower, strings.ToLower(n), distance); d < distance || d == distance && best == "" {
			if best, distance = full, d; d == 0 {
				break
			}
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

// relationNames yields the relations that the policy permits: the name, and the name
// as a statement would write it.
func (o *objects) relationNames(g *Guard, schema string) func(yield func(name, full string) bool) {
	return func(yield func(string, string) bool) {
		for i := range o.Relations {
			n := o.Relations[i].CatalogName
			if schema != "" && n.Schema != schema || !g.policy.permitsIn(n.Schema, n.Name, g.traits) {
				continue
			}
			full := n.String()
			if schema == "" && o.path != nil && o.searched(n.Schema) {
				full = n.Name
			}
			if !yield(n.Name, full) {
				return
			}
		}
	}
}

// functionNames yields the functions that the policy allows.
func (o *objects) functionNames(g *Guard) func(yield func(name, full string) bool) {
	return func(yield func(string, string) bool) {
		q := inquiry{g: g, objects: o}
		for i := range o.Functions {
			n := o.Functions[i].CatalogName
			if q.allowsFunction(n) && !q.deniesFunction(n) && !yield(n.Name, n.String()) {
				return
			}
		}
	}
}

// editDistance returns how many bytes must be changed, added, removed or swapped
// with their neighbour to turn a into b. When that is more than most, it returns any
// number above most.
func editDistance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			least = min(least, row[j+1])
		}
		if least > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
