package wiki

import (
	_ "embed"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/rank/packed"
	"github.com/ktxhq/ktx/research/wiki/wordnet"
)

// synonymWeight is what a synonym of a term is worth, beside the term itself. A term of
// several lines has several meanings: its synonyms are worth a little less, by the
// eighth root of the number of lines.
const (
	synonymWeight  = 0.7
	meaningsWeight = 0.125
)

// relatedWeight is what the word is worth that WordNet relates most closely, and
// associationPower how much less a word counts that it relates less closely.
const (
	relatedWeight    = 0.4
	associationPower = 0.25
)

// longestTerm is how many words a phrase of the thesaurus has at most.
const longestTerm = 3

// thesaurus has the lines of thesaurus.txt, everyday.txt, spoken.txt and trades.txt, packed.
//
//go:embed thesaurus.txt.gz
var thesaurus []byte

// Thesaurus returns the lines of all lists of synonyms. A phrase has _ between its words.
func Thesaurus() string { return string(packed.Unpack(thesaurus)) }

// groups are the lines of the thesaurus in which a term is.
var groups = sync.OnceValue(func() map[string][][]string {
	out := map[string][][]string{}
	for line := range strings.Lines(Thesaurus()) {
		var terms []string
		for term := range strings.FieldsSeq(rank.Fold(line)) {
			terms = append(terms, strings.ReplaceAll(term, "_", " "))
		}
		for _, t := range terms {
			out[t] = append(out[t], terms)
		}
	}
	return out
})

// phraseWords are the words with which phrases of the thesaurus begin.
var phraseWords = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for term := range groups() {
		if first, _, phrase := strings.Cut(term, " "); phrase {
			out[first] = true
		}
	}
	return out
})

// synonyms returns the synonyms of a term of the thesaurus, sorted, and how many lines
// have the term. The term may be in any of its forms.
func synonyms(words []string) (out []string, lines int) {
	for _, form := range termForms(words, forms) {
		for _, group := range groups()[form] {
			out = append(out, group...)
			lines++
		}
		if lines > 0 {
			break
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	regular := termForms(words, regularForms)
	return slices.DeleteFunc(out, func(s string) bool { return slices.Contains(regular, s) }), lines
}

// termForms returns the forms of a word, or of a phrase whose first word begins a
// phrase of the thesaurus.
func termForms(words []string, forms func(string) []string) []string {
	list := forms(words[0])
	if len(words) == 1 {
		return list
	}
	list = slices.DeleteFunc(list, func(w string) bool { return !phraseWords()[w] })
	for _, w := range words[1:] {
		var longer []string
		for _, start := range list {
			for _, form := range forms(w) {
				longer = append(longer, start+" "+form)
			}
		}
		list = longer
	}
	return list
}

// vocabulary adds the terms of a text to known, in all their forms, as far as the
// thesaurus has them.
func vocabulary(known map[string]bool, text string) {
	all := plainWords(text)
	for i := range all {
		for n := 1; n <= longestTerm && i+n <= len(all); n++ {
			for _, form := range termForms(all[i:i+n], forms) {
				if groups()[form] != nil || n == 1 && wordnet.Known(form) {
					known[form] = true
				}
			}
		}
	}
}

// plainWords returns the words of a text, folded.
func plainWords(text string) []string {
	return strings.FieldsFunc(rank.Fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// forms returns a word and what its base form may be.
func forms(word string) []string {
	out := regularForms(word)
	if base := irregular()[word]; base != "" {
		out = append(out, base)
	}
	return out
}

// irregular has the base forms of words whose forms no ending tells.
var irregular = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(irregularWords) {
		words := strings.Fields(line)
		for _, w := range words {
			if w != words[0] {
				out[w] = words[0]
			}
		}
	}
	return out
})

// irregularWords has a base form in each line, and then its other forms.
const irregularWords = `
buy bought
sell sold
pay paid
send sent
leave left
give gave given
get got gotten
make made
keep kept
lose lost
win won
spend spent
hold held
build built
grow grew grown
rise rose risen
fall fell fallen
write wrote written
choose chose chosen
take took taken
bring brought
break broke broken
begin began begun
come came
go went gone
see saw seen
find found
speak spoke spoken
drive drove driven
fly flew flown
eat ate eaten
drink drank drunk
teach taught
mean meant
meet met
lend lent
withdraw withdrew withdrawn
forbid forbade forbidden
hide hid hidden
steal stole stolen
show shown
throw threw thrown
wear wore worn
person people
child children
man men
woman women
foot feet
hear heard
say said
tell told
think thought
know knew known
feel felt
catch caught
stick stuck
lead led
sleep slept
stand stood
sit sat
run ran
ride rode ridden
become became
forget forgot forgotten
freeze froze frozen
wake woke woken
tear tore torn
bear bore born borne
feed fed
fight fought
seek sought
shrink shrank shrunk
sink sank sunk
strike struck
bend bent
bind bound
burn burnt
deal dealt
lay laid
light lit
ring rang rung
sing sang sung
spoil spoilt
learn learnt
hang hung
draw drew drawn
swim swam swum
understand understood
die dying
lie lying
half halves
life lives
shelf shelves
loaf loaves
thief thieves
mouse mice
tooth teeth
medium media
index indices
matrix matrices
good better best
bad worse worst
far further furthest
analysis analyses
criterion criteria
`

// endings are what may be cut off a word, and what may then be missing from its base
// form.
var endings = []struct{ suffix, base string }{
	{"ies", "y"},
	{"es", ""},
	{"s", ""},
	{"ied", "y"},
	{"ed", "e"},
	{"ed", ""},
	{"ing", "e"},
	{"ing", ""},
	{"ment", ""},
	{"er", ""},
	{"er", "e"},
	{"ly", ""},
	{"ation", "e"},
	{"ation", ""},
	{"ion", "e"},
	{"ion", ""},
	{"al", ""},
	{"al", "e"},
	{"ance", ""},
	{"or", ""},
	{"or", "e"},
	{"ility", "le"},
	{"ity", ""},
	{"ity", "e"},
	{"ness", ""},
	{"iness", "y"},
	{"ily", "y"},
	{"able", ""},
	{"able", "e"},
	{"ive", ""},
	{"ive", "e"},
	{"age", ""},
	{"ful", ""},
	{"est", ""},
	{"est", "e"},
	{"iest", "y"},
	{"ier", "y"},
	{"y", ""},
	{"y", "e"},
}

// regularForms returns a word and what its base form may be by its ending.
func regularForms(word string) []string {
	out := []string{word}
	for _, ending := range endings {
		if stem, ok := strings.CutSuffix(word, ending.suffix); ok && len(stem) > 2 {
			out = append(out, stem+ending.base)
			if n := len(stem); ending.base == "" && n > 3 && stem[n-1] == stem[n-2] { // cancelled, shipping
				out = append(out, stem[:n-1])
			}
		}
	}
	return out
}

// related returns the words that WordNet relates to a word in any of its forms.
func related(word string) map[string]worth {
	out := map[string]worth{}
	own := forms(word)
	for _, form := range own {
		for _, r := range wordnet.Related(form) {
			if !slices.Contains(own, r.Word) && r.Association > out[r.Word].mass {
				out[r.Word] = worth{relatedWeight * math.Pow(r.Association, associationPower), r.Association}
			}
		}
	}
	return out
}

// letterWeight is how much a single letter or digit tells, such as a part of e-mail or of
// 2FA, and vagueWeight a vague word, beside another as rare.
const (
	letterWeight = 0.2
	vagueWeight  = 0.7
)

// vague are words that questions have whatever they are about.
var vague = func() map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(`
someone somebody anyone anybody everyone everybody nobody none else person people guy folk thing something anything everything nothing stuff
way kind sort type bit lot ok okay happen want need like likely possible able allow
use go goes gone come put take make become get have give
still already yet ever never always often usually sometimes again really actually just even also maybe perhaps instead rather
much many few several enough one two three some any every each all both either other another same different
mean meaning tell say ask think know look see try wonder understand explain help belong let
`) {
		out[word] = true
	}
	return out
}()

// rarity is how much a word tells, from 0 to 1: little if it is common in English or in
// questions.
func rarity(word string) float64 {
	if len(word) == 1 {
		return letterWeight
	}
	own, factor := forms(word), 1.0
	if slices.ContainsFunc(own, func(form string) bool { return vague[form] }) {
		factor = vagueWeight
	}
	for _, form := range own {
		if wordnet.Known(form) {
			return factor * wordnet.Rarity(form)
		}
	}
	return factor
}

// weigh makes the common words of English in a query count less.
func weigh(q *rank.Query) *rank.Query { return q.Weigh(rarity) }

// expansion is a term of a query with its synonyms.
type expansion struct {
	term     *rank.Query
	synonyms []synonym
}

// synonym is a term that stands for another.
type synonym struct {
	query *rank.Query
	worth worth
}

// worth is what a synonym is worth beside the term that it stands for.
type worth struct {
	score float64
	mass  float64 // how much of the term it covers; see [Hit.Mass]
}

// maxExpansions is how many terms of a query have synonyms.
const maxExpansions = 32

// expand returns the terms of a query that have synonyms among the known terms. Quoted
// texts and identifiers have none. The words of a phrase have synonyms of their own too.
func expand(a *rank.Analyzer, q *rank.Query, known map[string]bool) []expansion {
	text := q.Text()
	for _, name := range q.Names() {
		text = strings.ReplaceAll(text, name, " ")
	}
	var out []expansion
	seen := map[string]bool{}
	all := plainWords(text)
	for i := range all {
		for n := min(longestTerm, len(all)-i); n > 0; n-- {
			term := strings.Join(all[i:i+n], " ")
			if seen[term] || len(out) == maxExpansions {
				continue
			}
			seen[term] = true
			found := map[string]worth{}
			if n == 1 {
				found = related(term)
			}
			list, lines := synonyms(all[i : i+n])
			weight := synonymWeight / math.Pow(float64(lines), meaningsWeight)
			for _, s := range list {
				found[s] = worth{weight, weight}
			}
			e := expansion{term: weigh(a.Query(term))}
			for _, s := range slices.Sorted(maps.Keys(found)) {
				// A word that no page has would be taken for one that resembles it.
				if known[s] {
					w, r := found[s], rarity(term)
					e.synonyms = append(e.synonyms, synonym{a.Query(s), worth{w.score * r, w.mass * r}})
				}
			}
			if len(e.synonyms) > 0 {
				out = append(out, e)
			}
		}
	}
	return out
}

// together returns queries that find a synonym in a text: one of all words, and one of
// each phrase.
func together(a *rank.Analyzer, expansions []expansion) []*rank.Query {
	var words []string
	var out []*rank.Query
	for _, e := range expansions {
		for _, s := range e.synonyms {
			if strings.Contains(s.query.Text(), " ") {
				out = append(out, s.query)
			} else {
				words = append(words, s.query.Text())
			}
		}
	}
	if len(words) > 0 {
		out = append(out, a.Query(strings.Join(words, " ")))
	}
	return out
}

// add gives the documents that have a synonym of a term, and not the term, a part of
// what the synonym is worth.
func (e expansion) add(indexes []*rank.Index, sums []*rank.Scores, fields [][]uint8) {
	own := rank.Score(e.term, indexes...)
	all := make([][]*rank.Scores, len(e.synonyms))
	for k, s := range e.synonyms {
		all[k] = rank.Score(s.query, indexes...)
	}
	for n := range indexes {
		gain := map[uint32]float64{}
		mass := map[uint32]float64{}
		field := map[uint32]int{}
		for k, scores := range all {
			found := scores[n]
			words, w := float64(found.Words()), e.synonyms[k].worth
			for _, doc := range complete(found) {
				if score := w.score*found.Score[doc]/words - own[n].Score[doc]; score > gain[doc] {
					gain[doc], field[doc] = score, found.Field(int(doc))
				}
				mass[doc] = max(mass[doc], w.mass*found.Mass[doc]/words-own[n].Mass[doc])
			}
		}
		for doc, score := range gain {
			if sums[n].Score[doc] == 0 {
				sums[n].Docs = append(sums[n].Docs, doc)
				fields[n][doc] = uint8(field[doc]) //nolint:gosec // there are five fields
			}
			sums[n].Score[doc] += score
			sums[n].Mass[doc] += mass[doc]
		}
	}
	for _, scores := range append(all, own) {
		for _, s := range scores {
			s.Release()
		}
	}
}

// complete returns the documents that have all words of a query. A phrase counts as one
// word, so it has to be there as a whole.
func complete(s *rank.Scores) []uint32 {
	if s.Words() < 2 {
		return s.Docs
	}
	count := map[uint32]int{}
	for w := range s.Words() {
		for _, doc := range s.With(w) {
			count[doc]++
		}
	}
	return slices.DeleteFunc(slices.Clone(s.Docs), func(doc uint32) bool { return count[doc] < s.Words() })
}
