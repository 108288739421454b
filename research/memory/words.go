package memory

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ktxhq/ktx/research/rank"
)

var (
	headingLine = lazily(`^ {0,3}#{1,6}\s+(.*?[^\s#].*?)\s*#*\s*$`)
	listItem    = lazily(`^([-*+]|\d{1,3}[.)])\s+`)
	// subject is what a sentence defines, of at most eight words.
	subject = lazily(`(?i)^["'` + "`" + `*_“„«]*((?:[^\s.,;:!?]+\s+){0,7}?[^\s.,;:!?]+?)["'` + "`" + `*_”“»]*\s+(?:means|is defined as|are defined as|stands for|is short for|refers to|denotes|is calculated as|is computed as|is|are|bedeutet|steht für|ist|sind|signifie|significa)\s+\S`)
)

// The limits of what a page is linked to.
const (
	maxTags    = 8
	maxSources = 20
)

// words are the words of a text, folded.
type words struct {
	set  map[string]bool // words, and names with dots or _ with their parts
	text string          // all words, with one space between and around them
}

func wordsOf(content string) words {
	w := words{set: map[string]bool{}}
	var b strings.Builder
	b.WriteByte(' ')
	for _, word := range strings.FieldsFunc(content, func(r rune) bool {
		return !letter(r) && !unicode.IsMark(r) && r != '_' && r != '.' && r != '-' && r != '$'
	}) {
		word = strings.Trim(rank.Fold(word), ".-")
		if word == "" {
			continue
		}
		w.set[word] = true
		parts := strings.Split(word, ".")
		for i := range parts { // a.b.c may be a table with its schema, or a column with its table
			w.set[parts[i]] = true
			w.set[strings.Join(parts[i:], ".")] = true
			w.set[strings.Join(parts[:i+1], ".")] = true
		}
		b.WriteString(spaced.Replace(word))
		b.WriteByte(' ')
	}
	w.text = b.String()
	return w
}

// spaced replaces what divides the words of a name.
var spaced = strings.NewReplacer("_", " ", "-", " ", ".", " ")

// named returns the names that the text has as whole words, sorted, at most n. A
// name with less than three letters is not looked for.
func (w words) named(names []string, n int) []string {
	var out []string
	for _, name := range names {
		if folded := rank.Fold(name); len(folded) >= 3 && w.set[folded] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(n, len(out))]
}

// topics returns the tags of which the text has all words in order, sorted, at most
// n.
func (w words) topics(tags []string, n int) []string {
	var out []string
	for _, tag := range tags {
		if folded := strings.Join(strings.Fields(spaced.Replace(rank.Fold(tag))), " "); len(folded) >= 3 && strings.Contains(w.text, " "+folded+" ") {
			out = append(out, tag)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(n, len(out))]
}

// vocabulary returns the tags of the wiki, sorted.
func (s *Store) vocabulary() ([]string, error) {
	snapshot, err := s.options.Wiki.Snapshot()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range snapshot.Pages() {
		if p.Searchable() {
			out = append(out, p.Tags...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
