package dictionary

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The costs of a fuzzy match are the sum of what differs.
const (
	costTypo     = 2 // a letter too many, too few, wrong, or two exchanged
	costStem     = 2 // another ending, such as a plural
	costShort    = 3 // an abbreviation: Corp., Dept, J.
	costInitials = 2 // the initials of three words or more
	costPair     = 4 // the initials of two words
	costMore     = 1 // a word that only the value has
	costLess     = 4 // a word that only the query has
	costInside   = 4 // the query contains the value, in a script without spaces

	maxCost = 40
)

// fuzzy finds values that resemble a query: misspelt, abbreviated, in another order
// of words, with words too many or too few.
type fuzzy struct {
	query   phrase
	allowed int    // typos in the whole text
	anchors []word // of which a value has at least one, unless it is part of the query
	stems   []letters
	letters letters // of the query
	value   phrase  // that is compared, kept for its memory
	matched []int   // for each word of the value: the word of the query, or -1
}

// phrase is a folded text as words.
type phrase struct {
	runes    []rune // of all words, without what is between them
	words    []word
	letters  letters
	unspaced bool // it has letters of a script without spaces between words
}

// word is a word of a phrase.
type word struct {
	from, to int
	letters  letters
	allowed  int // typos
	digits   bool
}

func (w word) len() int { return w.to - w.from }

// set reads a folded text.
func (p *phrase) set(folded []byte) {
	p.runes, p.words, p.letters, p.unspaced = p.runes[:0], p.words[:0], 0, false
	inside := false
	for i := 0; i < len(folded); {
		r, size := rune(folded[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(folded[i:])
		}
		i += size
		bit := letterBit(r)
		switch {
		case bit == 0 && r == '\'': // O'Brien is one word
			continue
		case bit == 0:
			inside = false
			continue
		case !inside:
			p.words = append(p.words, word{from: len(p.runes), digits: true})
			inside = true
		}
		p.runes = append(p.runes, r)
		w := &p.words[len(p.words)-1]
		w.to = len(p.runes)
		w.letters |= bit
		w.digits = w.digits && unicode.IsDigit(r)
		p.letters |= bit
		p.unspaced = p.unspaced || isUnspaced(r)
	}
}

func (p *phrase) of(w word) []rune { return p.runes[w.from:w.to] }

// isUnspaced reports whether the script of r has no spaces between words.
func isUnspaced(r rune) bool {
	switch {
	case r < 0x0E00, 0xAC00 <= r && r <= 0xD7A3: // Korean has spaces
		return false
	case 0x3040 <= r && r <= 0x9FFF:
		return true
	default:
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	}
}

// typos returns how many typos a text of n runes may have.
func typos(n int, digits bool) int {
	switch {
	case n < 4 || digits && n < 6:
		return 0
	case n < 9 || digits:
		return 1
	case n < 18:
		return 2
	default:
		return 3
	}
}

func newFuzzy(q *query) *fuzzy {
	f := &fuzzy{}
	f.query.set([]byte(q.folded))
	digits, longest := 0, 0
	for i := range f.query.words {
		w := &f.query.words[i]
		w.allowed = min(typos(w.len(), w.digits), 2)
		longest = max(longest, w.len())
		for _, r := range f.query.of(*w) {
			if unicode.IsDigit(r) {
				digits++
			}
		}
	}
	f.letters = f.query.letters
	f.allowed = typos(len(f.query.runes), 2*digits > len(f.query.runes))
	for _, w := range f.query.words {
		if w.len() >= min(longest, 4) {
			f.anchors = append(f.anchors, w)
			f.stems = append(f.stems, f.query.stem(w))
		}
	}
	return f
}

// resemble calls found for the values that resemble the query, in their order.
func (s *Set) resemble(f *fuzzy, found func(value, cost int)) {
	if len(f.query.runes) < 2 {
		return
	}
	for i, set := range s.letters {
		if !f.possible(set) {
			continue
		}
		if cost, ok := f.compare(s.value(i)); ok {
			found(i, min(cost, maxCost))
		}
	}
}

// possible reports whether a value with these letters can resemble the query. It is
// quick, and rules out most values.
func (f *fuzzy) possible(value letters) bool {
	if value == 0 {
		return false
	}
	if value&^f.letters == 0 { // the query may contain or spell out the value
		return true
	}
	for i, w := range f.anchors {
		if missing(w.letters, value) <= w.allowed || f.stems[i]&^value == 0 {
			return true
		}
	}
	return missing(f.letters, value) <= f.allowed
}

// compare returns what the differences between the query and a folded value cost,
// and whether the value resembles the query at all.
func (f *fuzzy) compare(folded []byte) (int, bool) {
	q, v := &f.query, &f.value
	v.set(folded)
	if len(v.runes) == 0 {
		return 0, false
	}
	cost, ok := maxCost+1, false
	add := func(c int, matches bool) {
		if matches && c < cost {
			cost, ok = c, true
		}
	}
	if len(q.runes)-len(v.runes) <= f.allowed && len(v.runes)-len(q.runes) <= f.allowed {
		d := distance(q.runes, v.runes, f.allowed)
		add(d*costTypo, d <= f.allowed && plausible(q.runes, v.runes))
	}
	add(f.align())
	add(initials(q, v))
	add(initials(v, q))
	if q.unspaced && v.unspaced {
		add(inside(q, v))
	}
	add(costMore, part(q, v))
	return cost, ok
}

// Words with a common beginning of at least leastStem letters, and of this share of
// the longer one, are taken for forms of one word.
const (
	leastStem = 4
	stemOf    = 3
	stemShare = 5
)

// stem returns the letters that every form of a word has.
func (p *phrase) stem(w word) letters {
	if w.len() < leastStem {
		return w.letters
	}
	var set letters
	for _, r := range p.of(w)[:max(leastStem, (w.len()*stemOf+stemShare-1)/stemShare)] {
		set |= letterBit(r)
	}
	return set
}

// plausible reports whether two texts within the distance may be the same: short
// ones have to begin alike.
func plausible(a, b []rune) bool { return len(a) > 4 && len(b) > 3 || a[0] == b[0] }

// align pairs the words of the query with words of the value.
func (f *fuzzy) align() (int, bool) {
	q, v := &f.query, &f.value
	f.matched = f.matched[:0]
	for range v.words {
		f.matched = append(f.matched, -1)
	}
	cost, alike, covered, coveredValue := 0, 0, 0, 0
	for i, a := range q.words {
		best, at := maxCost, -1
		for j, b := range v.words {
			if f.matched[j] >= 0 {
				continue
			}
			if c, ok := words(q.of(a), a, v.of(b), b); ok && c < best {
				best, at = c, j
			}
		}
		if at < 0 {
			continue
		}
		f.matched[at] = i
		cost += best
		covered += a.len()
		coveredValue += v.words[at].len()
		if best < costShort {
			alike += a.len()
		}
	}
	pairs, more := 0, 0
	for _, i := range f.matched {
		if i >= 0 {
			pairs++
		} else {
			more++
		}
	}
	less := len(q.words) - pairs
	cost += less*costLess + min(more, 4)*costMore
	switch {
	case pairs == 0, alike == 0 && (less+more > 0 || pairs > 1 || min(covered, coveredValue) < 4):
		return 0, false // an abbreviation needs a word beside it that is written out, or four letters
	case less == 0: // the value has all words
		return cost, alike >= 3 || more == 0
	case more == 0: // the query has all words of the value, and more
		return cost, 5*covered >= 2*len(q.runes) && alike >= 3
	default:
		return cost, alike >= 3 && 3*covered >= 2*len(q.runes) && 3*coveredValue >= 2*len(v.runes)
	}
}

// words returns what the difference of two words costs, and whether they may be the
// same.
func words(a []rune, wa word, b []rune, wb word) (int, bool) {
	if wa.letters == wb.letters && slices.Equal(a, b) {
		return 0, true
	}
	if isArabicArticle(a) != isArabicArticle(b) {
		long, short := a, b
		if isArabicArticle(b) {
			long, short = b, a
		}
		allowed := typos(len(short), false)
		if d := distance(long[2:], short, allowed); d <= allowed {
			return d * costTypo, true
		}
	}
	if wa.digits != wb.digits {
		return 0, false
	}
	allowed := wa.allowed
	if missing(wa.letters, wb.letters) <= allowed && missing(wb.letters, wa.letters) <= allowed &&
		len(a)-len(b) <= allowed && len(b)-len(a) <= allowed && plausible(a, b) {
		if d := distance(a, b, allowed); d <= allowed {
			return d * costTypo, true
		}
	}
	if wa.digits || a[0] != b[0] {
		return 0, false
	}
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	same := 0
	for same < len(short) && short[same] == long[same] {
		same++
	}
	switch {
	case same >= leastStem && stemShare*same >= stemOf*len(long):
		return costStem, true
	case abbreviates(short, long, same):
		return costShort, true
	default:
		return 0, false
	}
}

func missing(a, b letters) int { return bits.OnesCount64(uint64(a &^ b)) }

// abbreviates reports whether short may stand for long: its beginning, or some of
// its letters in order, of which the first is the first and the last is the last,
// or which are all consonants. Same is the length of their common beginning.
func abbreviates(short, long []rune, same int) bool {
	if len(long) < len(short)+2 {
		return false
	}
	if same == len(short) {
		return true
	}
	if len(short) < 2 || len(short) > 6 {
		return false
	}
	consonants := true
	at := 0
	for i, r := range short {
		n := slices.Index(long[at:], r)
		if n < 0 {
			return false
		}
		at += n + 1
		consonants = consonants && (i == 0 || !strings.ContainsRune("aeiou", r))
	}
	return short[len(short)-1] == long[len(long)-1] || consonants
}

// isArabicArticle reports whether a word begins with the article, which is written
// together with it.
func isArabicArticle(word []rune) bool {
	return len(word) > 4 && word[0] == 'ا' && word[1] == 'ل'
}

// joining words are left out of initials: USA, BnF.
var joining = map[string]bool{
	"of": true, "the": true, "and": true, "for": true, "de": true, "la": true, "le": true, "du": true, "des": true, "del": true,
	"und": true, "der": true, "die": true, "das": true, "et": true, "y": true, "e": true, "do": true, "da": true, "dos": true,
}

// initials reports whether short has the initials of the words of long. One more word
// may follow, such as Inc.
func initials(short, long *phrase) (int, bool) {
	n := len(short.runes)
	if n < 2 || n > 8 || len(long.words) < n || len(long.runes) < 3*n || len(short.words) > 1 && len(short.words) != n {
		return 0, false
	}
	all, some := 0, 0 // how many words begin as short says, with joining words and without
	okAll, okSome := true, true
	more := 0
	for _, w := range long.words {
		first := long.runes[w.from]
		okAll = okAll && (all >= n || short.runes[all] == first)
		all++
		if w.len() <= 3 && joining[string(long.of(w))] {
			continue
		}
		okSome = okSome && (some >= n || short.runes[some] == first)
		some++
	}
	switch {
	case okAll && all == n, okSome && some == n:
	case n >= 3 && (okAll && all == n+1 || okSome && some == n+1):
		more = costMore
	default:
		return 0, false
	}
	if n == 2 {
		return costPair, true
	}
	return costInitials + more, true
}

// part reports whether the value has the letters of the query in a row, with other
// punctuation. A short query has to begin and end with words of the value.
func part(q, v *phrase) bool {
	n := len(q.runes)
	if n < 3 || n >= len(v.runes) {
		return false
	}
	if n >= 4 {
		return contains(v.runes, q.runes)
	}
	for _, from := range v.words {
		for _, to := range v.words {
			if to.to-from.from == n && slices.Equal(v.runes[from.from:to.to], q.runes) {
				return true
			}
		}
	}
	return false
}

// inside reports whether one text of a script without spaces contains the other,
// or most of it with a typo.
func inside(q, v *phrase) (int, bool) {
	short, long := v.runes, q.runes
	cost := costInside
	if len(short) > len(long) {
		short, long = long, short
		cost = costMore
	}
	if len(short) >= 2 && 2*len(short) >= len(long) && contains(long, short) {
		return cost + len(long) - len(short), true
	}
	if len(short) < 5 {
		return 0, false
	}
	// The same with one typo: try each place.
	for from := 0; from+len(short) <= len(long); from++ {
		if d := distance(short, long[from:from+len(short)], 1); d <= 1 {
			return cost + costTypo + min(len(long)-len(short), 6), 2*len(short) >= len(long)
		}
	}
	return 0, false
}

func contains(long, short []rune) bool {
	for i := 0; i+len(short) <= len(long); i++ {
		if slices.Equal(long[i:i+len(short)], short) {
			return true
		}
	}
	return false
}
