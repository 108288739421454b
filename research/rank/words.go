package rank

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A span is a part of a text that becomes one word.
type span struct {
	start, end int    // bytes in the text
	word       string // folded, never empty
	whole      bool   // an identifier of several parts, which have spans of their own
	gram       bool   // two letters of a script that has no spaces
}

// stem returns the stem of the word, or "" for a span that is only found as it is.
func (s span) stem() string {
	if s.gram || s.whole {
		return ""
	}
	return stem(s.word)
}

// The limits of one text. What is beyond them is not searched.
const (
	maxTextBytes = 1 << 20
	maxWordBytes = 128 // of a folded word; a longer word is cut
)

// class is what splitting asks of a rune.
type class uint8

const (
	gap class = iota
	joiner
	lower
	upper
	digit
	mark
	dense // a letter of a script without spaces between words
)

// classify returns the class of the rune.
func classify(r rune) class {
	if r < utf8.RuneSelf {
		switch {
		case 'a' <= r && r <= 'z':
			return lower
		case 'A' <= r && r <= 'Z':
			return upper
		case '0' <= r && r <= '9':
			return digit
		case r == '_' || r == '-':
			return joiner
		}
		return gap
	}
	switch {
	case unicode.Is(unicode.M, r), unicode.Is(unicode.Cf, r):
		return mark
	case unicode.In(r, unspaced...):
		return dense
	case unicode.IsUpper(r), unicode.IsTitle(r):
		return upper
	case unicode.IsLetter(r):
		return lower
	case unicode.IsNumber(r):
		return digit
	case dash(r):
		return joiner
	}
	return gap
}

// unspaced are the scripts whose words are not told apart by spaces, and Hangul, where
// particles are part of the word.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	{R16: []unicode.Range16{{Lo: 0x30fc, Hi: 0x30fc, Stride: 1}}}, // the long vowel of Katakana
}

// A part is a run of runes within an identifier.
type part struct {
	start, end int
	dense      bool
}

// split calls yield for each span of the text, in the order of their ends. It splits at
// everything that is not a letter or a digit, between a lower and an upper letter,
// before the last letter of an acronym, and between letters and digits. An identifier
// of several parts is also yielded whole, after its parts.
func split(text string, yield func(span)) {
	if len(text) > maxTextBytes {
		text = text[:maxTextBytes]
	}
	parts := make([]part, 0, 16)
	flush := func() {
		words := 0
		for _, p := range parts {
			if p.dense {
				grams(text, p, yield)
				continue
			}
			words++
			emit(text, p.start, p.end, false, yield)
		}
		if words > 1 {
			emit(text, parts[0].start, parts[len(parts)-1].end, true, yield)
		}
		parts = parts[:0]
	}
	start := -1 // of the part that is being read
	var last, before class
	lastStart := 0
	end := func(at int) {
		if start >= 0 {
			parts = append(parts, part{start: start, end: at, dense: last == dense})
			start = -1
		}
	}
	for i, r := range text {
		c := classify(r)
		switch c { //nolint:exhaustive // the other classes are parts of words
		case mark: // belongs to the rune before it
			if start >= 0 {
				continue
			}
			c = gap
			fallthrough
		case gap:
			end(i)
			flush()
			if r == '\'' || r == '’' {
				before, last, lastStart = last, gap, i
				continue
			}
		case joiner:
			end(i)
		default:
			switch {
			case start < 0:
				start = i
			case border(before, last, c):
				end(i)
				start = i
			case last == upper && c == lower && before == upper:
				// The last upper letter begins the word: HTTPServer is HTTP and Server.
				at := lastStart
				if at > start {
					end(at)
					start = at
				}
			}
		}
		before, last, lastStart = last, c, i
	}
	end(len(text))
	flush()
}

// border reports whether a part ends between two runes of an identifier.
func border(_, last, next class) bool {
	switch {
	case last == next:
		return false
	case last == upper && next == lower:
		return false
	case last == gap, last == joiner:
		return false
	}
	return true
}

// emit yields the folded word at a place, unless nothing is left of it.
func emit(text string, start, end int, whole bool, yield func(span)) {
	word, ok := foldIdentifier(text[start:end])
	if !ok {
		word = FoldCode(text[start:end])
	}
	if word == "" {
		return
	}
	if len(word) > maxWordBytes {
		word = cut(word, maxWordBytes)
	}
	yield(span{start: start, end: end, word: word, whole: whole})
}

// foldIdentifier is FoldCode for a text of letters and digits of ASCII, underscores and
// dashes alone. Most names are such texts.
func foldIdentifier(s string) (string, bool) {
	folded := true
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case 'A' <= c && c <= 'Z' || c == '_' || c == '-':
			folded = false
		default:
			return "", false
		}
	}
	if folded {
		return s, true
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case 'A' <= c && c <= 'Z':
			out = append(out, c+'a'-'A')
		case c != '_' && c != '-':
			out = append(out, c)
		}
	}
	return string(out), true
}

// cut returns at most n bytes of s, and ends between runes.
func cut(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// grams yields each two neighbouring letters of a run of a script without spaces, and
// the letter of a run of one.
func grams(text string, p part, yield func(span)) {
	first := -1
	seen := 0
	var it norm.Iter
	it.InitString(norm.NFC, text[p.start:p.end])
	for !it.Done() {
		at := it.Pos()
		it.Next()
		stop := it.Pos()
		if first >= 0 {
			emitGram(text, p.start+first, p.start+stop, yield)
		}
		first = at
		seen++
	}
	if seen == 1 {
		emitGram(text, p.start, p.end, yield)
	}
}

func emitGram(text string, start, end int, yield func(span)) {
	emit(text, start, end, false, func(s span) {
		s.gram = true
		yield(s)
	})
}
