package prove

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// State is the state of a server or a session: a map from names ("rows
// public.orders", "setting work_mem") to values or hashes.
type State map[string]string

// Changed returns the names that differ between s and after, sorted.
func (s State) Changed(after State) []string {
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if content, ok := after[name]; !ok || content != s[name] {
			changed = append(changed, name)
		}
	}
	for name := range after {
		if _, ok := s[name]; !ok {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}

// digest returns a hash of rows that does not depend on their order.
func digest(rows [][]string) string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.Join(row, "\x1f")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\x1e")))
	return hex.EncodeToString(sum[:])
}
