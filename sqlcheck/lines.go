package sqlcheck

import (
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// lineIndex finds lines and columns of offsets in one text. Offsets that are
// asked for in rising order are found in one pass over it.
type lineIndex struct {
	text string
	// The last offset that was found, and its place. The zero value stands
	// for the start of the text.
	offset, lines, columns int
}

// position returns what [sqlguard.Position] returns for the text.
func (x *lineIndex) position(offset int) (line, column int) {
	offset = min(max(offset, 0), len(x.text))
	if offset < x.offset {
		x.offset, x.lines, x.columns = 0, 0, 0
	}
	line, column = sqlguard.Position(x.text[x.offset:], offset-x.offset)
	if line == 1 {
		column += x.columns
	}
	line += x.lines
	// Counting can go on from here unless here is the middle of a character
	// or of a CR LF.
	middle := offset < len(x.text) && (!utf8.RuneStart(x.text[offset]) || x.text[offset] == '\n')
	if !middle {
		x.offset, x.lines, x.columns = offset, line-1, column-1
	}
	return line, column
}
