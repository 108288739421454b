package mysql

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
	"sync"

	"github.com/ktxhq/ktx/sqlguard"
)

// ledger holds the tokens of a text without its comments, and records which of
// them the walk over the tree met. The trees have no positions. So the ledger
// assigns a name or literal of the tree to the first unmet token with its
// spelling after the token that was met last, or else from the start of the text.
// The walk follows the order of the text, so this is nearly always the right
// token; otherwise it is one with the same spelling.
type ledger struct {
	sql     string
	items   []item
	buckets []bucket
	mask    uint64
	cursor  int // after the item met last
}

// item is one token.
type item struct {
	sqlguard.Token
	class class
	word  wordClass // of an unquoted word
	met   bool
	text  string // decoded; of a number, its canonical form
	hash  uint64
	next  int32 // the next one of the bucket, -1 at its end
}

// class says what a token can be in a tree, with one bit for each possibility.
type class uint8

const (
	classMark   class = 0         // punctuation and what the screen refuses
	classWord   class = 1 << iota // unquoted
	classKey                      // an unquoted word that cannot be a name at its position
	classQuoted                   // a quoted name
	classString                   // adjacent strings are one literal
	classJoined                   // the second and later ones of these
	classNumber
	classBinary // bits and hexadecimal digits, the bytes decoded

	className = classWord | classQuoted
	classCall = className | classKey // the name of a function may be reserved
	classAny  = classWord | classKey
)

// bucket is the list of the items whose hashes fall into it.
type bucket struct {
	head   int32
	first  int32 // the first that was not met
	last   int32 // the end of the list
	recent int32 // the one met last
}

// maxSteps bounds the search for a token behind the cursor.
const maxSteps = 64

var hashSeed = maphash.MakeSeed()

var ledgers = sync.Pool{New: func() any { return new(ledger) }}

// newLedger reads a statement. The caller returns the ledger to the pool with release.
func newLedger(sql string, tokens []sqlguard.Token) *ledger {
	l, ok := ledgers.Get().(*ledger)
	if !ok {
		l = new(ledger)
	}
	l.sql, l.cursor = sql, 0
	l.items = l.items[:0]
	for _, t := range tokens {
		if t.Kind != sqlguard.TokenComment {
			l.add(t)
		}
	}
	size := 16
	for size < len(l.items) {
		size *= 2
	}
	if cap(l.buckets) < size {
		l.buckets = make([]bucket, size)
	}
	l.buckets, l.mask = l.buckets[:size], uint64(size)-1
	for i := range l.items {
		if l.items[i].class == classString {
			l.join(i)
		}
	}
	l.file()
	return l
}

// reset marks all items as unmet.
func (l *ledger) reset() {
	l.cursor = 0
	for i := range l.items {
		l.items[i].met, l.items[i].next = false, -1
	}
	l.file()
}

// file puts all items into their buckets.
func (l *ledger) file() {
	for i := range l.buckets {
		l.buckets[i] = bucket{head: -1, first: -1, last: -1, recent: -1}
	}
	for i := range l.items {
		if c := l.items[i].class; c != classMark && c != classJoined {
			l.put(i)
		}
	}
}

// release returns the ledger to the pool. The caller must not use it afterwards.
func (l *ledger) release() {
	if cap(l.items) > 1<<14 {
		return // a list for a large statement is not kept
	}
	clear(l.items)
	l.sql = ""
	ledgers.Put(l)
}

// add appends a token, decoded.
func (l *ledger) add(t sqlguard.Token) {
	it := item{Token: t, next: -1}
	text := t.Text(l.sql)
	switch t.Kind { //nolint:exhaustive // all others are punctuation here
	case sqlguard.TokenWord:
		it.class, it.text = classWord, text
	case sqlguard.TokenQuotedName:
		it.class, it.text = classQuoted, decodeName(text)
	case sqlguard.TokenString:
		switch text[0] {
		case 'x', 'X', 'b', 'B':
			it.class, it.text = classBinary, decodeBinary(text)
		default:
			it.class, it.text = classString, decodeString(text)
			if n := len(l.items); n > 0 && (l.items[n-1].class == classString || l.items[n-1].class == classJoined) {
				it.class = classJoined
			}
		}
	case sqlguard.TokenNumber:
		if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0b") {
			it.class, it.text = classBinary, decodeBinary(text)
		} else {
			it.class, it.text = classNumber, canonicalNumber(text)
		}
	}
	l.items = append(l.items, it)
}

// join makes one literal of the strings from i on.
func (l *ledger) join(i int) {
	end := i + 1
	for end < len(l.items) && l.items[end].class == classJoined {
		end++
	}
	if end == i+1 {
		return
	}
	var b strings.Builder
	for j := i; j < end; j++ {
		b.WriteString(l.items[j].text)
	}
	l.items[i].text = b.String()
}

// put puts an item into its bucket.
func (l *ledger) put(i int) {
	it := &l.items[i]
	if it.hash == 0 {
		it.hash = foldedHash(it.text)
		if it.class == classWord {
			it.word = classOf(it.text, it.hash)
			if it.word == wordReserved && l.kind(i-1) != sqlguard.TokenDot {
				it.class = classKey
			}
		}
	}
	b := &l.buckets[it.hash&l.mask]
	if b.first < 0 {
		b.head, b.first = int32(i), int32(i) //nolint:gosec // a text has 50,000 tokens at most
	} else {
		l.items[b.last].next = int32(i) //nolint:gosec // as above
	}
	b.last = int32(i) //nolint:gosec // as above
}

// foldedHash is a hash that ignores the case of ASCII letters.
func foldedHash(text string) uint64 {
	var buf [64]byte
	if len(text) > len(buf) {
		return maphash.String(hashSeed, foldName(text))
	}
	for i := range len(text) {
		c := text[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return maphash.Bytes(hashSeed, buf[:len(text)])
}

// meet notes that the tree has a name or literal of one of the classes. It returns the
// index of its token, or -1 when no unmet token matches.
func (l *ledger) meet(text string, classes class) int {
	hash := foldedHash(text)
	b := &l.buckets[hash&l.mask]
	fits := func(i int32) bool {
		it := &l.items[i]
		return !it.met && it.hash == hash && it.class&classes != 0 && sameText(it, text)
	}
	found := int32(-1)
	i := b.first
	if b.recent >= 0 && int(b.recent) < l.cursor {
		i = l.items[b.recent].next
	}
	for steps := 0; i >= 0 && steps < maxSteps; i, steps = l.items[i].next, steps+1 {
		if int(i) >= l.cursor && fits(i) {
			found = i
			break
		}
	}
	for b.first >= 0 && l.items[b.first].met {
		b.first = l.items[b.first].next
	}
	for i = b.first; found < 0 && i >= 0; i = l.items[i].next {
		if fits(i) {
			found = i
		}
	}
	if found < 0 {
		return -1
	}
	l.items[found].met = true
	b.recent = found
	l.cursor = int(found) + 1
	return int(found)
}

// sameText compares names without regard to the case of ASCII letters, and
// literals to the letter.
func sameText(it *item, text string) bool {
	if it.class&classCall != 0 {
		return strings.EqualFold(it.text, text)
	}
	return it.text == text
}

// span returns the span of an item. Without an item it returns the span of the
// item that was met last.
func (l *ledger) span(i int) sqlguard.Span {
	if i < 0 {
		i = l.cursor - 1
	}
	if i < 0 || i >= len(l.items) {
		return sqlguard.Span{}
	}
	return sqlguard.Span{Start: l.items[i].Start, End: l.items[i].End}
}

// find returns the span of consecutive words. It searches from the cursor on, and then
// from the start.
func (l *ledger) find(words ...string) (sqlguard.Span, bool) {
	at := func(from, to int) int {
		for i := l.first(words[0]); i >= 0; i = l.after(i, words[0]) {
			if i >= from && i+len(words) <= to && l.follow(i, words) {
				return i
			}
		}
		return -1
	}
	i := at(l.cursor, len(l.items))
	if i < 0 {
		i = at(0, min(l.cursor+len(words), len(l.items)))
	}
	if i < 0 {
		return sqlguard.Span{}, false
	}
	return sqlguard.Span{Start: l.items[i].Start, End: l.items[i+len(words)-1].End}, true
}

// first returns the first item of a word, given in lower case, -1 where there
// is none; after the one behind an item.
func (l *ledger) first(word string) int { return l.firstOf(word, foldedHash(word)) }

func (l *ledger) firstOf(word string, hash uint64) int {
	return l.wordFrom(int(l.buckets[hash&l.mask].head), word)
}

func (l *ledger) after(i int, word string) int { return l.wordFrom(int(l.items[i].next), word) }

func (l *ledger) wordFrom(i int, word string) int {
	for i >= 0 && !l.word(i, word) {
		i = int(l.items[i].next)
	}
	return i
}

// follow reports whether the items from an index on are these words.
func (l *ledger) follow(i int, words []string) bool {
	for j, word := range words {
		if !l.word(i+j, word) {
			return false
		}
	}
	return true
}

// word reports whether an item is an unquoted word, given in lower case.
func (l *ledger) word(i int, word string) bool {
	return i >= 0 && i < len(l.items) && l.items[i].class&classAny != 0 && len(l.items[i].text) == len(word) && strings.EqualFold(l.items[i].text, word)
}

// kind returns the kind of an item, or that of a terminator outside of the statement.
func (l *ledger) kind(i int) sqlguard.TokenKind {
	if i < 0 || i >= len(l.items) {
		return sqlguard.TokenTerminator
	}
	return l.items[i].Kind
}

const (
	// maxDigits bounds the length of a number. The servers compute with 65 digits.
	maxDigits = 80
	// maxStrings bounds the number of adjacent strings in one literal, because TiDB's
	// parser copies the literal for each string.
	maxStrings = 2_000
)

// excess returns an error when a statement asks too much of a parser, else nil.
func (l *ledger) excess() error {
	run := 0
	for i := range l.items {
		it := &l.items[i]
		if it.class == classNumber && it.End-it.Start > maxDigits {
			return &sqlguard.SyntaxError{Message: fmt.Sprintf("a number of more than %d digits", maxDigits), Offset: it.Start}
		}
		if it.class != classJoined {
			run = 0
		} else if run++; run >= maxStrings {
			return &sqlguard.SyntaxError{Message: fmt.Sprintf("more than %d literals side by side", maxStrings), Offset: it.Start}
		}
	}
	return nil
}

// decodeName returns the name that a quoted name spells.
func decodeName(raw string) string {
	body := raw[1:max(len(raw)-1, 1)]
	if !strings.Contains(body, "`") {
		return body
	}
	return strings.ReplaceAll(body, "``", "`")
}

// decodeString returns the value that a string literal spells (Reference Manual,
// section 9.1.1).
func decodeString(raw string) string {
	if raw[0] == 'n' || raw[0] == 'N' {
		raw = raw[1:]
	}
	quote, body := raw[0], raw[1:max(len(raw)-1, 1)]
	if strings.IndexByte(body, quote) < 0 && strings.IndexByte(body, '\\') < 0 {
		return body
	}
	var b strings.Builder
	b.Grow(len(body))
	for i := 0; i < len(body); i++ {
		c := body[i]
		if (c == quote || c == '\\') && i+1 < len(body) {
			i++
			if c == '\\' {
				switch body[i] {
				case '%', '_':
					b.WriteByte('\\')
				}
				b.WriteByte(unescaped(body[i]))
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// unescaped returns the character that an escape sequence means.
func unescaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'Z':
		return 26
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return c
	}
}

// decodeBinary returns the bytes of x'…', b'…', 0x… and 0b….
func decodeBinary(raw string) string {
	digits, perByte, base := raw[2:], 2, 16
	if raw[1] == '\'' {
		digits = raw[2:max(len(raw)-1, 2)]
	}
	if raw[0] == 'b' || raw[0] == 'B' || raw[1] == 'b' {
		perByte, base = 8, 2
	}
	var b strings.Builder
	for len(digits) > 0 {
		n := len(digits) % perByte
		if n == 0 {
			n = perByte
		}
		v, err := strconv.ParseUint(digits[:n], base, 8)
		if err != nil {
			return raw // no literal of a tree has this value
		}
		b.WriteByte(byte(v))
		digits = digits[n:]
	}
	return b.String()
}

// canonicalNumber returns the form in which a number is compared: without
// leading zeros, with a digit before the point, and a floating one as its value.
func canonicalNumber(raw string) string {
	if strings.ContainsAny(raw, "eE") {
		v, err := strconv.ParseFloat(raw, 64)
		if err != nil {
			return raw
		}
		return canonicalFloat(v)
	}
	whole, fraction, _ := strings.Cut(raw, ".")
	whole = strings.TrimLeft(whole, "0")
	switch {
	case whole == "" && fraction == "":
		return "0"
	case whole == "":
		return "0." + fraction
	case fraction == "":
		return whole
	case len(whole)+1+len(fraction) == len(raw):
		return raw
	default:
		return whole + "." + fraction
	}
}

func canonicalFloat(v float64) string { return strconv.FormatFloat(v, 'e', -1, 64) }
