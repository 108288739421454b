package rank

import (
	_ "embed"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/rank/packed"
)

// What a word is worth that says in another language what a word of a question says, and
// a word that has another word as a part of it.
const (
	conceptWeight  = 0.7
	compoundWeight = 0.8
)

// The letters of words that are looked up otherwise than as they are.
const (
	leastStart = 4   // of a word of the table with which another word begins
	startShare = 0.5 // of the other word
	leastPart  = 4   // of a part of a compound
	mostTerm   = 6   // of a term of a script without spaces
	mostPhrase = 3   // words of a term
)

// concepts.txt.gz has a concept in each line: the English words before the colon, and
// then the words of other languages for it, in any order. A term of several words has _
// between them. It is concepts.txt, packed.
//
//go:embed concepts.txt.gz
var packedConcepts []byte

// A concept is the number of a line of the table, and how well a word stands for it.
type concept struct {
	line   uint16
	weight float32
}

// A lexicon is the table of concepts.
type lexicon struct {
	stems      map[string][]concept // of the English words
	foreign    map[string][]concept // by folded word or phrase
	starts     []string             // the single words with at least leastStart letters that English lacks, sorted
	operations map[uint16]bool      // what is done with data
}

// table is the lexicon. It is made at the first use.
var table = sync.OnceValue(func() *lexicon {
	x := &lexicon{stems: map[string][]concept{}, foreign: map[string][]concept{}, operations: map[uint16]bool{}}
	line := uint16(0)
	for text := range strings.Lines(string(packed.Unpack(packedConcepts))) {
		english, others, _ := strings.Cut(text, ":")
		c := concept{line, 1}
		for term := range strings.FieldsSeq(english) {
			if !strings.Contains(term, "_") {
				x.stems[stem(term)] = addConcept(x.stems[stem(term)], c)
				x.operations[line] = x.operations[line] || operations[term]
			}
		}
		for term := range strings.FieldsSeq(others) {
			var words []string
			for word := range strings.SplitSeq(term, "_") {
				words = append(words, FoldCode(word))
			}
			folded := strings.Join(words, " ")
			if slices.Contains(x.stems[stem(folded)], c) {
				continue // the same in English
			}
			x.add(folded, len(words) == 1, c)
			if len(words) == 1 {
				for _, latin := range romanised(strings.ToLower(term)) {
					x.add(latin, true, c)
				}
			}
		}
		line++
	}
	x.starts = slices.DeleteFunc(x.starts, func(word string) bool { return x.stems[stem(word)] != nil }) // they begin English words too
	slices.Sort(x.starts)
	return x
})

// add adds a word of another language, or a phrase.
func (x *lexicon) add(folded string, single bool, c concept) {
	if x.foreign[folded] == nil && single && utf8.RuneCountInString(folded) >= leastStart {
		x.starts = append(x.starts, folded)
	}
	x.foreign[folded] = addConcept(x.foreign[folded], c)
}

// leastRomanised is how many Latin letters a Cyrillic word has at least, to be known in
// these. Shorter ones are too often words of other languages.
const leastRomanised = 5

// romanised returns a Cyrillic word in Latin letters, as names of tables have it, in two
// usual ways. Other words have none.
func romanised(word string) []string {
	if r, _ := utf8.DecodeRuneInString(word); !unicode.Is(unicode.Cyrillic, r) {
		return nil
	}
	var out []string
	for _, table := range []*strings.Replacer{romanisedLong, romanisedShort} {
		if latin := table.Replace(word); ascii(latin) && len(latin) >= leastRomanised && !slices.Contains(out, latin) {
			out = append(out, latin)
		}
	}
	return out
}

const romanisedAlike = "а a б b в v г g ґ g д d е e ё e ж zh з z и i і i к k л l м m н n о o п p р r с s т t у u ф f ч ch ш sh ы y э e "

var (
	romanisedLong  = strings.NewReplacer(append(strings.Fields(romanisedAlike+"й y х kh ц ts щ shch ю yu я ya є ye ї yi"), "ь", "", "ъ", "")...)
	romanisedShort = strings.NewReplacer(append(strings.Fields(romanisedAlike+"й j х h ц c щ sch ю ju я ja є je ї ji"), "ь", "", "ъ", "")...)
)

// addConcept adds a concept, or raises its weight.
func addConcept(list []concept, c concept) []concept {
	for i := range list {
		if list[i].line == c.line {
			list[i].weight = max(list[i].weight, c.weight)
			return list
		}
	}
	return append(list, c)
}

// concepts returns what a folded word means: a word of the table, one of its forms, or a
// compound of such words.
func (x *lexicon) concepts(word string) []concept {
	if found := x.foreign[word]; found != nil {
		return found
	}
	n := utf8.RuneCountInString(word)
	if n < leastStart {
		return nil
	}
	for _, article := range arabicStarts {
		if rest, ok := strings.CutPrefix(word, article); ok && x.foreign[rest] != nil {
			return x.foreign[rest]
		}
	}
	if found := x.compound(word); found != nil {
		return found
	}
	// The words that share the most with it.
	prefix := string([]rune(word)[:leastStart])
	var out []concept
	most := 0
	for i := sort.SearchStrings(x.starts, prefix); i < len(x.starts) && strings.HasPrefix(x.starts[i], prefix); i++ {
		other := x.starts[i]
		m := utf8.RuneCountInString(other)
		shared := sharedStart(word, other)
		if !relative(word, other) && (shared < m || float64(m) < float64(startShare*float64(n))) {
			continue
		}
		// The nearest word shares the most, and has the least that is not shared.
		if score := 2*shared - m; score > most || out == nil {
			out, most = nil, score
		} else if score < most {
			continue
		}
		for _, c := range x.foreign[other] {
			out = addConcept(out, concept{c.line, relativeWeight})
		}
	}
	return out
}

// arabicStarts are the article and the particles that Arabic writes together with a word.
var arabicStarts = []string{"وال", "بال", "لل", "ال", "و", "ب", "ل"}

// links are the letters between the parts of a compound.
var links = []string{"", "s", "es", "n", "en", "e"}

// compound returns the concepts of a word of two parts that are words of the table. The
// letters between them count as a part of neither.
func (x *lexicon) compound(word string) []concept {
	for at := leastPart; at <= len(word)-leastPart; at++ {
		first := x.foreign[word[:at]]
		if first == nil {
			continue
		}
		for _, link := range links {
			rest, ok := strings.CutPrefix(word[at:], link)
			if !ok || len(rest) < leastPart {
				continue
			}
			second := x.foreign[rest]
			if second == nil && len(rest) > leastPart {
				second = x.foreign[rest[:len(rest)-1]]
			}
			if second == nil {
				continue
			}
			var out []concept
			for _, c := range slices.Concat(first, second) {
				out = addConcept(out, concept{c.line, c.weight * compoundWeight})
			}
			return out
		}
	}
	return nil
}

// sharedStart returns how many letters two words share at their beginning.
func sharedStart(a, b string) int {
	n := 0
	for a != "" && b != "" {
		r, size := utf8.DecodeRuneInString(a)
		if q, _ := utf8.DecodeRuneInString(b); r != q {
			break
		}
		a, b, n = a[size:], b[size:], n+1
	}
	return n
}

// meanings returns the concepts of a word of an index or of a text, whose language nobody
// knows.
func (a *Analyzer) meanings(word string) []concept {
	x := table()
	out := slices.Clone(x.concepts(word))
	if !ascii(word) {
		return out
	}
	stemmed := stem(word)
	for _, c := range x.stems[stemmed] {
		out = addConcept(out, c)
	}
	for _, long := range a.expand(word, stemmed) {
		for _, c := range x.stems[long] {
			out = addConcept(out, concept{c.line, shortWeight})
		}
	}
	return out
}

// A sayer is a word of an index that stands for a concept.
type sayer struct {
	variant
	english bool
}

// concepts returns the words of the index by what they mean.
func (x *Index) concepts() map[uint16][]sayer {
	x.conceptsOnce.Do(func() {
		x.byConcept = map[uint16][]sayer{}
		for i, word := range x.words {
			if x.kinds[i]&kindWord == 0 || len(word) > maxFuzzyBytes || numeric(word) {
				continue
			}
			english := table().stems[stem(word)] != nil
			for _, c := range x.analyzer.meanings(word) {
				v := variant{uint32(i), float64(c.weight)}
				x.byConcept[c.line] = append(x.byConcept[c.line], sayer{v, english})
			}
		}
	})
	return x.byConcept
}

// means adds the concepts of the words of a question, and a word for each term that
// has several words, or that stands in a text without spaces.
func (a *Analyzer) means(words []queryWord, all []span, text string, foreign bool, fixed func(span) bool) []queryWord {
	x := table()
	var terms []queryWord
	inTerm := map[int]bool{} // the start of a span that is a part of a term
	add := func(term string, found []concept) {
		for i := range terms {
			if terms[i].word == term {
				return
			}
		}
		terms = append(terms, queryWord{word: term, stem: term, term: true, concepts: found, weight: x.weight(found)})
	}
	var parts []span
	for _, s := range all {
		if !s.whole && !s.gram {
			parts = append(parts, s)
		}
	}
	for i := 0; i < len(parts); i++ {
		for n := min(mostPhrase, len(parts)-i); n > 1; n-- {
			if fixed(parts[i]) {
				break
			}
			var phrase []string
			for _, s := range parts[i : i+n] {
				phrase = append(phrase, s.word)
			}
			term := strings.Join(phrase, " ")
			if found := x.foreign[term]; found != nil {
				add(term, found)
				for _, s := range parts[i : i+n] {
					inTerm[s.start] = true
				}
				i += n - 1
				break
			}
		}
	}
	eachTerm(text, func(term string) bool {
		found := x.foreign[term]
		if found != nil {
			add(term, found)
		}
		return found != nil
	})
	foreign = foreign || !x.speaksEnglish(parts)
	consumed := map[string]bool{}
	for _, s := range parts {
		if inTerm[s.start] {
			consumed[s.word] = true
		}
	}
	for i := range words {
		w := &words[i]
		if w.gram || w.exact || numeric(w.word) || consumed[w.word] {
			continue
		}
		w.far = !foreign && ascii(w.word)
		if w.far {
			w.concepts = a.meanings(w.word)
			continue
		}
		if w.concepts = x.concepts(w.word); w.concepts == nil {
			w.concepts = x.stems[w.stem]
		}
		if w.weight == 1 {
			w.weight = x.weight(w.concepts)
		}
	}
	return append(words, terms...)
}

// speaksEnglish reports whether a question without function words of another language seems
// to be in English: it has a function word or a word of the table that is English, or no
// longer word of another language.
func (x *lexicon) speaksEnglish(parts []span) bool {
	other := false
	for _, s := range parts {
		if stopWords[s.word] || x.stems[stem(s.word)] != nil {
			return true
		}
		other = other || len(s.word) > leastStart && x.concepts(s.word) != nil
	}
	return !other
}

// weight returns the weight of a word with these concepts, compared to others as rare.
func (x *lexicon) weight(found []concept) float64 {
	for _, c := range found {
		if !x.operations[c.line] {
			return 1
		}
	}
	if len(found) == 0 {
		return 1
	}
	return operationWeight
}

// eachTerm calls found with the beginnings of the runs of letters of scripts without
// spaces, the longest first, and goes on behind one for which found returns true.
func eachTerm(text string, found func(term string) bool) {
	runes := []rune(text)
	for i := 0; i < len(runes); {
		n := 0
		for n < mostTerm && i+n < len(runes) && classify(runes[i+n]) == dense {
			n++
		}
		for ; n > 0; n-- {
			if found(FoldCode(string(runes[i : i+n]))) {
				break
			}
		}
		i += max(n, 1)
	}
}

// shares reports whether a word of a text means what the word of the question means.
func (w *queryWord) shares(a *Analyzer, word string) bool {
	if len(w.concepts) == 0 {
		return false
	}
	for _, c := range a.meanings(word) {
		for _, d := range w.concepts {
			if c.line == d.line {
				return true
			}
		}
	}
	return false
}
