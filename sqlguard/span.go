package sqlguard

import "unicode/utf8"

// Span is a half-open range of byte offsets into the statement as the caller gave it.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Position returns the 1-based line and column of a byte offset, the column
// in code points. LF, CR LF and a lone CR each end a line. An offset beyond
// the text counts as its end.
func Position(text string, offset int) (line, column int) {
	offset = min(max(offset, 0), len(text))
	line, column = 1, 1
	for i := 0; i < offset; {
		switch c := text[i]; {
		case c == '\n':
			line, column = line+1, 1
			i++
		case c == '\r':
			i++
			if i < len(text) && text[i] == '\n' && i < offset {
				i++
			}
			line, column = line+1, 1
		case c < utf8.RuneSelf:
			column++
			i++
		default:
			_, n := utf8.DecodeRuneInString(text[i:])
			column++
			i += n
		}
	}
	return line, column
}
