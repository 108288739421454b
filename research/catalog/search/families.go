package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// findFamilies finds tables of one schema that have the same columns, and names that
// differ in digits only, such as events_2023 and events_2024. It returns the family of
// each table, and the members of each family, the latest first.
func findFamilies(tables []*catalog.Table) (members []uint32, families [][]uint32) {
	members = make([]uint32, len(tables))
	byKey := map[string]uint32{}
	for i, t := range tables {
		members[i] = none
		bare, digits := withoutDigits(t.Name)
		if !digits {
			continue
		}
		key := familyKey(t, bare)
		n, ok := byKey[key]
		if !ok {
			n = uint32(len(families)) //nolint:gosec // there are fewer than 2^32 in memory
			byKey[key] = n
			families = append(families, nil)
		}
		families[n] = append(families[n], uint32(i))
	}
	kept := families[:0]
	for _, family := range families {
		if len(family) < 2 {
			continue
		}
		slices.SortFunc(family, func(a, b uint32) int {
			return cmp.Or(natural(tables[b].Name, tables[a].Name), cmp.Compare(a, b))
		})
		for _, t := range family {
			members[t] = uint32(len(kept)) //nolint:gosec // there are fewer than 2^32 in memory
		}
		kept = append(kept, family)
	}
	return members, kept
}

// withoutDigits returns the name with one mark for each run of digits.
func withoutDigits(name string) (bare string, digits bool) {
	var b strings.Builder
	in := false
	for i := range len(name) {
		if c := name[i]; c < '0' || c > '9' {
			b.WriteByte(c)
			in = false
			continue
		}
		if !in {
			b.WriteByte(0)
		}
		in, digits = true, true
	}
	return b.String(), digits
}

// familyKey is equal for the tables of a family.
func familyKey(t *catalog.Table, bare string) string {
	ref := t.Ref()
	names := make([]string, len(t.Columns))
	for i := range t.Columns {
		names[i] = t.Columns[i].Name
	}
	slices.Sort(names)
	return ref.Catalog + "\x01" + ref.DB + "\x01" + bare + "\x01" + strings.Join(names, "\x01")
}

// natural compares two names, and takes runs of digits as numbers.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns the number of digits that the text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// numbersOf returns the runs of digits of a name, without leading zeros.
func numbersOf(name string) []string {
	var out []string
	for i := 0; i < len(name); {
		n := digits(name[i:])
		if n == 0 {
			i++
			continue
		}
		out = append(out, strings.TrimLeft(name[i:i+n], "0"))
		i += n
	}
	return out
}
