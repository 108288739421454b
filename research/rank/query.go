package rank

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is used of a question.
const (
	maxQueryWords = 1000
	maxQuerySpans = 4000 // parts of words, and words that have parts
	maxQueryNames = 200  // different ones
)

// What the variants of a word of a question are worth, beside the word itself.
const (
	stemWeight   = 0.8
	shortWeight  = 0.7
	joinedWeight = 0.9
	fuzzyWeight  = 0.5 // at most

	operationWeight = 0.5 // of a word such as total, beside other words
)

// A Query is a question, made of words. It is immutable.
type Query struct {
	analyzer *Analyzer
	text     string
	words    []queryWord
	names    []string
	foreign  bool                 // in another language than English
	mass     []float64            // of each word; nil before Within
	found    map[*Index][]finding // what Within found
}

// A queryWord is one word of a question. Words with the same stem are one.
type queryWord struct {
	word, stem string
	short      []string // stems of what the word abbreviates or is abbreviated to
	joined     []string // the word and a neighbour of it, written as one
	gram       bool
	relatives  bool // words that begin alike stand for it
	exact      bool // a part of a quoted text or of an identifier
	concepts   []concept
	far        bool    // the concepts count only where an index has nothing else
	term       bool    // only the concepts count
	weight     float64 // of the word, compared to others as rare
}

// Query makes a question of a text. The first 1,000 words count. Control characters
// are spaces. Words that say nothing (the, of, show, which, and their like in the language
// of the question) do not count, except in quotes and in identifiers, or if the question
// has no others.
func (a *Analyzer) Query(text string) *Query {
	text = strings.ToValidUTF8(text, " ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	text = firstWords(text, maxQueryWords)
	q := &Query{analyzer: a, text: text}
	quoted, named := quotes(text), identifiers(text)
	names := slices.Concat(quoted, named)
	slices.SortStableFunc(names, func(a, b area) int { return cmp.Compare(a.start, b.start) })
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n.text] && len(seen) < maxQueryNames {
			seen[n.text] = true
			q.names = append(q.names, n.text)
		}
	}
	var all []span
	split(text, func(s span) {
		if len(all) < maxQuerySpans {
			all = append(all, s)
		}
	})
	fixed := func(s span) bool { return inside(quoted, s) || inside(named, s) }
	l := languageOf(all, fixed)
	q.foreign = l != nil
	skip := func(s span) bool { return !fixed(s) && (stopWords[s.word] || l != nil && l.words[s.word]) }
	q.words = a.words(all, fixed, skip)
	if len(q.words) == 0 {
		q.words = a.words(all, fixed, func(span) bool { return false })
	}
	q.words = a.means(q.words, all, text, q.foreign, fixed)
	for i := range q.words {
		w := &q.words[i]
		w.relatives = !w.exact && !w.term && !w.gram && (l != nil && l.inflects || !ascii(w.word))
	}
	return q
}

// words makes the words of a question from its spans. It leaves out those to skip.
func (a *Analyzer) words(all []span, exact, skip func(span) bool) []queryWord {
	var out []queryWord
	at := map[string]int{}
	previous := -1
	previousWord := ""
	for _, s := range all {
		if s.whole {
			// The parts carry the words. The whole form is a variant of each of them.
			for i := range out {
				if strings.Contains(s.word, out[i].word) {
					out[i].joined = appendNew(out[i].joined, s.word)
				}
			}
			continue
		}
		fixed := exact(s)
		if skip(s) {
			previous = -1
			continue
		}
		w := queryWord{word: s.word, stem: s.word, gram: s.gram, exact: fixed, weight: 1}
		if !fixed && operations[s.word] {
			w.weight = operationWeight
		}
		if !s.gram {
			w.stem = stem(s.word)
		}
		i, ok := at[w.stem]
		if !ok {
			i = len(out)
			at[w.stem] = i
			out = append(out, w)
			if !s.gram {
				out[i].short = a.expand(w.word, w.stem)
			}
		} else if fixed {
			out[i].exact = true
		}
		if previous >= 0 && previous != i && !s.gram && !out[previous].gram {
			joined := previousWord + s.word
			out[previous].joined = appendNew(out[previous].joined, joined)
			out[i].joined = appendNew(out[i].joined, joined)
		}
		previous, previousWord = i, s.word
	}
	return out
}

// expand returns the stems of the words that a word may stand for, sorted.
func (a *Analyzer) expand(word, stemmed string) []string {
	var out []string
	for _, form := range []string{word, stemmed, singular(word)} {
		for _, other := range a.short[form] {
			if s := stem(other); s != stemmed {
				out = appendNew(out, s)
			}
		}
	}
	sort.Strings(out)
	return out
}

// singular takes a plural s from a word.
func singular(word string) string {
	switch {
	case len(word) > 4 && strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss"):
		return word[:len(word)-1]
	}
	return word
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// Foreign reports whether the question seems to be in another language than English.
func (q *Query) Foreign() bool { return q.foreign }

// Empty reports whether the question has no word to search for.
func (q *Query) Empty() bool { return len(q.words) == 0 }

// Text returns the part of the question that is used.
func (q *Query) Text() string { return q.text }

// Names returns what the question quotes, and its words with a dot or an underscore
// within: texts that may be the name of an object. Each is there once.
func (q *Query) Names() []string { return q.names }

// Within returns the same question, whose masses are those of the words in all of these
// indexes. Hits of different searches are comparable by mass if the searches used one
// such question.
func (q *Query) Within(indexes ...*Index) *Query {
	out := *q
	out.mass = make([]float64, len(q.words))
	total := 0
	for _, x := range indexes {
		total += x.docs
	}
	out.found = nil // a query is immutable, so nothing is added to what q found
	out.found = out.findings(indexes)
	for w, found := range out.postings(indexes, out.found, true) {
		df := 0
		for _, list := range found {
			df += len(list.docs)
		}
		if df > 0 {
			out.mass[w] = idf(total, df) * q.words[w].weight
		}
	}
	return &out
}

// Weigh returns the same question, whose words count by the factor of each. Words of
// quoted texts and of identifiers count as before. Masses of [Query.Within] stay.
func (q *Query) Weigh(factor func(word string) float64) *Query {
	out := *q
	out.words = slices.Clone(q.words)
	for i := range out.words {
		if w := &out.words[i]; !w.exact {
			w.weight *= factor(w.word)
		}
	}
	return &out
}

// Mass returns the sum of the masses of the words that one of the texts holds. Before
// [Query.Within], each word has mass 1, and one that names an operation less.
func (q *Query) Mass(texts ...string) float64 {
	held := make([]bool, len(q.words))
	for _, text := range texts {
		split(text, func(s span) {
			stemmed := s.stem()
			for i := range q.words {
				held[i] = held[i] || q.words[i].matches(q.analyzer, s, stemmed)
			}
		})
	}
	sum := 0.0
	for i, ok := range held {
		switch {
		case !ok:
		case q.mass == nil:
			sum += q.words[i].weight
		default:
			sum += q.mass[i]
		}
	}
	return sum
}

// Find returns the first place in the text that holds a word of the question, as byte
// offsets between runes. It prefers the word itself and its inflections to
// abbreviations and similar words.
func (q *Query) Find(text string) (start, end int, ok bool) {
	var loose span
	found, near := span{}, false
	split(text, func(s span) {
		if ok {
			return
		}
		stemmed := s.stem()
		for i := range q.words {
			w := &q.words[i]
			if w.matches(q.analyzer, s, stemmed) {
				found, ok = s, true
				return
			}
			if !near && w.resembles(q.analyzer, s) {
				loose, near = s, true
			}
		}
	})
	switch {
	case ok:
		return found.start, found.end, true
	case near:
		return loose.start, loose.end, true
	}
	return 0, 0, false
}

// matches reports whether the span is the word, an inflection, an abbreviation or a
// joined form of it. The stem is that of the span.
func (w *queryWord) matches(a *Analyzer, s span, stemmed string) bool {
	if w.term {
		return w.shares(a, s.word)
	}
	if s.word == w.word {
		return true
	}
	if slices.Contains(w.joined, s.word) {
		return true
	}
	if s.gram || w.gram || s.whole {
		return false
	}
	if stemmed == w.stem {
		return true
	}
	return slices.Contains(w.short, stemmed) || w.relatives && relative(w.word, s.word) || !w.far && w.shares(a, s.word)
}

// resembles reports whether the span is similar enough to the word to be a variant of
// it, if no document had the word itself.
func (w *queryWord) resembles(a *Analyzer, s span) bool {
	return !w.gram && !w.term && !s.whole && (!s.gram && similarity(w.word, s.word) > 0 || w.far && w.shares(a, s.word))
}

// firstWords returns the text up to the end of its n-th word.
func firstWords(text string, n int) string {
	in := false
	for i, r := range text {
		if unicode.IsSpace(r) {
			in = false
			continue
		}
		if !in {
			if n == 0 {
				return text[:i]
			}
			n--
			in = true
		}
	}
	return text
}

// An area is a part of a question.
type area struct {
	start, end int
	text       string
}

// closing are the quotes that open a text, with those that close it.
var closing = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '[': ']', '“': '”', '‘': '’', '«': '»'}

// quotes finds the texts in quotes: "…", '…', `…`, […], “…”. An apostrophe within a
// word opens nothing.
func quotes(text string) []area {
	var out []area
	previous := ' '
	missing := map[rune]bool{} // closing quotes of which the rest of the text has none
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		last, opens := closing[r]
		if opens && !missing[last] && !unicode.IsLetter(previous) && !unicode.IsDigit(previous) {
			from := i + size
			n := closed(text[from:], last)
			if n > 0 {
				out = append(out, area{start: from, end: from + n, text: strings.TrimSpace(text[from : from+n])})
				i = from + n + utf8.RuneLen(last)
				previous = ' '
				continue
			}
			missing[last] = true
		}
		previous = r
		i += size
	}
	return out
}

// closed returns the length of the text before the closing quote, or 0. A single quote
// closes only before something that is not a letter.
func closed(text string, last rune) int {
	for i, r := range text {
		if r != last || i == 0 {
			continue
		}
		if last == '\'' || last == '’' {
			next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(last):])
			if unicode.IsLetter(next) || unicode.IsDigit(next) {
				continue
			}
		}
		return i
	}
	return 0
}

// identifiers returns the words with an underscore or with a dot between two letters or
// digits.
func identifiers(text string) []area {
	var out []area
	word := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || r == '_' || r == '.' || r == '$' || r == '"' || r == '`'
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !word(r) {
			i += size
			continue
		}
		end := i
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if !word(r) {
				break
			}
			end += size
		}
		name := strings.Trim(text[i:end], ".")
		at := i + strings.Index(text[i:end], name)
		if strings.ContainsAny(name, "_.") && strings.IndexFunc(name, unicode.IsLetter) >= 0 {
			out = append(out, area{start: at, end: at + len(name), text: name})
		}
		i = end
	}
	return out
}

// inside reports whether the span lies in one of the areas, which follow each other.
func inside(areas []area, s span) bool {
	i := sort.Search(len(areas), func(i int) bool { return areas[i].start > s.start })
	return i > 0 && s.end <= areas[i-1].end
}

// operations are words that often name what is done with the data.
var operations = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`number count counts total average mean sum maximum max minimum min most least highest lowest largest smallest biggest greatest
larger smaller greater less least higher lower fewer fewest distinct different unique order ordered sorted sort descending ascending alphabetical alphabetically top bottom first
percentage ratio difference exactly information details`) {
		set[w] = true
	}
	return set
}()

// stopWords do not count in questions.
var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`a about above after again all also am an and any are as at be been before being below between both but by can
could did do does doing done down during each either else ever every for from further get gets give given gives had has have having he her here
hers him his how i if in into is it its itself just know let like list lists many may me might mine more most much must my neither no nor not of off on
once only or other our ours out over own please retrieve return returned s same see shall she should show showing shows so some such t tell than
that the their theirs them then there these they this those through to too under until up upon very want was we were what whatever when
where whether which while who whole whom whose why will with within without would you your yours find display`) {
		set[w] = true
	}
	return set
}()
