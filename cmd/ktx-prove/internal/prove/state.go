package prove

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// State is what a server or a session holds: the name of a thing ("rows
// public.orders", "setting work_mem") and what stands for its content.
type State map[string]string

// Changed returns the names of what differs between s and after, sorted.
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

// digest stands for rows whose order says nothing.
func digest(rows [][]string) string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.Join(row, "\x1f")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\x1e")))
	return hex.EncodeToString(sum[:])
}
