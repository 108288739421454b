package catalog

import (
	"cmp"
	"strings"
)

// compareRefs orders tables by catalog, db and name.
func compareRefs(a, b Ref) int {
	return cmp.Or(strings.Compare(a.Catalog, b.Catalog), strings.Compare(a.DB, b.DB), strings.Compare(a.Name, b.Name))
}

// compareNatural orders texts like people: numbers in them by value. Texts that
// differ in leading zeros only are ordered by their bytes.
func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := digits(x), digits(y)
		if n > 0 && m > 0 {
			p, q := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[n:], y[m:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// digits returns how many digits begin s.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
