package wiki

import (
	"strings"
	"unicode"
)

// The size of a passage, in words. A passage ends at a border of the text between
// these sizes if there is one.
const (
	passageLeast = 160
	passageMost  = 320
)

// A passage is a part of a body that is searched as one text.
type passage struct {
	start, end int    // byte offsets in the body
	heading    string // the headings above its start, the outermost first
}

// passages divides a body into passages of 160 to 320 words. It prefers to divide
// before a heading, then between paragraphs, then between lines, then between
// words. A body without a word has one passage.
func passages(body string) []passage {
	d := &divider{body: body}
	for _, b := range blocks(body) {
		d.add(b)
	}
	d.flush()
	if n := len(d.out); n > 1 && d.sizes[n-1] < passageLeast && d.sizes[n-1]+d.sizes[n-2] <= passageMost {
		d.out[n-2].end = d.out[n-1].end
		d.out = d.out[:n-1]
	}
	if len(d.out) == 0 {
		return []passage{{end: len(body)}}
	}
	d.out[0].start, d.out[len(d.out)-1].end = 0, len(body)
	return d.out
}

// divider collects blocks into passages.
type divider struct {
	body  string
	out   []passage
	sizes []int // words of each passage

	open  passage // under construction
	words int
	above [6]string // the headings by level
}

func (d *divider) add(b block) {
	if b.level > 0 && d.words >= passageLeast || d.words > 0 && d.words+b.words > passageMost {
		d.flush()
	}
	if b.level > 0 {
		d.above[b.level-1] = b.name
		for i := b.level; i < len(d.above); i++ {
			d.above[i] = ""
		}
	}
	for b.words > passageMost {
		at := afterWords(d.body[b.start:b.end], (passageLeast+passageMost)/2)
		if at <= 0 || at >= b.end-b.start {
			break
		}
		rest := b
		rest.start, rest.words = b.start+at, countWords(d.body[b.start+at:b.end])
		b.end, b.words = b.start+at, b.words-rest.words
		d.append(b)
		d.flush()
		b = rest
	}
	d.append(b)
}

func (d *divider) append(b block) {
	if d.words == 0 && d.open.end == 0 {
		d.open = passage{start: b.start, heading: d.headings()}
	}
	d.open.end = b.end
	d.words += b.words
}

func (d *divider) headings() string {
	var names []string
	for _, name := range d.above {
		if name != "" {
			names = append(names, name)
		}
	}
	return cut(strings.Join(names, " "), maxSummary)
}

func (d *divider) flush() {
	if d.words > 0 {
		d.out, d.sizes = append(d.out, d.open), append(d.sizes, d.words)
	}
	d.open, d.words = passage{}, 0
}

// A block is a heading, a paragraph, or a fenced block of code.
type block struct {
	start, end int
	words      int
	level      int // of a heading, else 0
	name       string
}

func blocks(body string) []block {
	var out []block
	open := false // the last block takes further lines
	fenced := false
	for l := range lines(body) {
		level, name := 0, ""
		if !l.code {
			level, name = heading(l.text)
		}
		n := countWords(l.text)
		switch {
		case level > 0:
			out, open = append(out, block{l.start, l.end, n, level, name}), false
		case !l.code && strings.TrimSpace(l.text) == "":
			open = false
			if len(out) > 0 {
				out[len(out)-1].end = l.end
			}
		case open && fenced == l.code && out[len(out)-1].words+n <= passageMost:
			last := &out[len(out)-1]
			last.end, last.words = l.end, last.words+n
		default:
			out, open = append(out, block{start: l.start, end: l.end, words: n}), true
		}
		fenced = l.code
	}
	return out
}

// countWords counts words. Two letters of a script that writes no spaces count as a
// word.
func countWords(text string) int {
	n := 0
	eachWord(text, func(int) bool { n++; return true })
	return n
}

// afterWords returns the offset after the first n words of a text.
func afterWords(text string, n int) int {
	at := len(text)
	eachWord(text, func(end int) bool {
		n--
		at = end
		return n > 0
	})
	return at
}

// eachWord calls yield with the end of each word, until yield returns false.
func eachWord(text string, yield func(end int) bool) {
	in, dense := false, 0
	for i, r := range text {
		switch {
		case unspaced(r):
			if in && !yield(i) {
				return
			}
			in = false
			if dense++; dense == 2 {
				dense = 0
				if !yield(i + len(string(r))) {
					return
				}
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			in = true
		default:
			if in && !yield(i) {
				return
			}
			in = false
		}
	}
	if in {
		yield(len(text))
	}
}

// unspaced reports whether a letter belongs to a script that writes no spaces
// between words.
func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
