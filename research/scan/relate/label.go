package relate

import "slices"

// label is a sequence of words in the forms in which names are compared.
type label struct {
	words  []string
	phrase string   // see phrase
	short  string   // phrase of all words but the last
	joined string   // see join, in the singular
	stem   string   // see stems
	broken []string // stems of the words with an Arabic plural in the singular
}

func labelOf(words []string) label {
	if len(words) == 0 {
		return label{}
	}
	return label{
		words: words, phrase: phrase(words), short: phrase(words[:len(words)-1]),
		joined: singular(join(words)), stem: stems(words), broken: brokenStems(words),
	}
}

// nameLevel returns how well a label names t: 1 the whole name, 0.9 its stems, 0.8
// an abbreviation, 0.7 its last words, 0.6 its first words, 0 not.
func nameLevel(l label, t *table) float64 {
	switch {
	case len(l.words) == 0 || len(t.words) == 0:
		return 0
	case l.phrase == t.label.phrase || l.joined == t.label.joined:
		return 1
	case l.stem == t.label.stem, slices.Contains(t.label.broken, l.stem):
		return 0.9
	case abbreviation(l.words, t.words), abbreviation(t.words, l.words), len(t.words) > 1 && t.initials == l.phrase:
		return 0.8
	case slices.Contains(t.tails, l.phrase):
		return 0.7
	case slices.Contains(t.heads, l.phrase):
		return 0.6
	}
	return 0
}

// ownLevel returns how well a label, or all of its words but the last, names t.
func ownLevel(l label, t *table) float64 {
	if level := nameLevel(l, t); level > 0 || len(l.words) < 2 {
		return level
	}
	if l.short == t.label.phrase {
		return 0.85
	}
	return 0
}
