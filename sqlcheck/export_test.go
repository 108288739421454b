package sqlcheck

import (
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// LinePositions returns the positions of offsets, one after the other.
func LinePositions(text string, offsets []int) [][2]int {
	x := lineIndex{text: text}
	out := make([][2]int, len(offsets))
	for i, offset := range offsets {
		out[i][0], out[i][1] = x.position(offset)
	}
	return out
}

// Statements splits a text in windows of a size, with a limit for statements.
// It returns how many bytes were split.
func Statements(d sqlguard.Dialect, text string, window, limit int) (spans []sqlguard.Span, done int) {
	done = splitter{dialect: d, window: window, limit: limit}.split(text, func(s sqlguard.Span) bool {
		spans = append(spans, s)
		return true
	}, nil)
	return spans, done
}

// OnOpen calls f with each file that the checker opens to judge it.
func (c *Checker) OnOpen(f func(path string)) { c.opened = f }

// Settled reports whether a file that was changed then has settled since.
func Settled(changed, since time.Time) bool {
	return identity{Changed: changed.UnixNano()}.settled(since)
}
