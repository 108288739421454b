package sqlcheck

import (
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// lineIndex finds lines and columns of offsets in one text. It needs one pass
// over the text if the offsets are asked for in rising order.
type lineIndex struct {
	text string
	// The last offset that was asked for, and its position. The zero value is
	// the start of the text.
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
	// The next count can start here unless here is inside a character or inside
	// CR LF.
	middle := offset < len(x.text) && (!utf8.RuneStart(x.text[offset]) || x.text[offset] == '\n')
	if !middle {
		x.offset, x.lines, x.columns = offset, line-1, column-1
	}
	return line, column
}
