package relate

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxWords bounds the words of one name that are looked at.
const maxWords = 12

// A class is what one character of a name counts as when the name is split.
type class int

const (
	separator class = iota
	lower           // a small letter, or a mark
	upper
	digit
	other // a letter without case, such as a Thai or an Arabic one
	han
	hiragana
	katakana
	hangul
)

func classOf(r rune) class {
	switch {
	case unicode.IsDigit(r):
		return digit
	case unicode.Is(unicode.Han, r):
		return han
	case unicode.Is(unicode.Katakana, r), r == 'ー':
		return katakana
	case unicode.Is(unicode.Hiragana, r):
		return hiragana
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.IsUpper(r):
		return upper
	case unicode.IsLower(r):
		return lower
	case unicode.IsLetter(r), unicode.IsMark(r):
		return other
	}
	return separator
}

// split returns the words of a name, folded. It splits at characters that are no
// letters, between a small and a capital letter (customerId), before the last
// capital of an acronym (XMLFile), between letters and digits, and between scripts
// (顧客ID).
func split(name string) []string {
	runes := []rune(strings.Map(visible, norm.NFKC.String(name)))
	var words []string
	start := 0
	end := func(i int) {
		if i > start && len(words) < maxWords {
			if w := fold(string(runes[start:i])); w != "" {
				words = append(words, w)
			}
		}
		start = i
	}
	for i, r := range runes {
		c := classOf(r)
		if c == separator {
			end(i)
			start = i + 1
			continue
		}
		if i == start || unicode.IsMark(r) {
			continue
		}
		before := classOf(runes[i-1])
		if unicode.IsMark(runes[i-1]) {
			before = c
		}
		switch {
		case before == lower && c == upper:
			end(i)
		case before == upper && c == lower && i-1 > start && (r != 's' || !lastOfWord(runes, i)):
			end(i - 1)
		case (before == digit) != (c == digit), script(before) != script(c):
			end(i)
		}
	}
	end(len(runes))
	return words
}

// visible drops what only shapes a word: joiners, marks of direction, and the stroke that
// makes an Arabic word longer.
func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) || r == 'ـ' {
		return -1
	}
	return r
}

// lastOfWord reports whether the character at i is the last one before a border, as
// the s of "customerIDs" and "IDs_old".
func lastOfWord(runes []rune, i int) bool {
	return i+1 == len(runes) || classOf(runes[i+1]) != lower
}

// script groups the classes between which a name is split. Hiragana continues a word
// of any Japanese script, because it writes the endings of words.
func script(c class) int {
	switch c {
	case lower, upper, digit:
		return 0
	case han, hiragana:
		return 1
	case katakana:
		return 2
	case hangul:
		return 3
	case separator, other:
		return 4
	}
	return 4
}

// letters are small letters that do not decompose into a letter and a mark, and letters of
// Persian and Urdu that are another form of an Arabic one.
var letters = strings.NewReplacer("ی", "ي", "ى", "ي", "ک", "ك", "ہ", "ه", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "æ", "ae", "œ", "oe", "ß", "ss", "ı", "i", "ς", "σ")

// fold returns the small letters of a word without the marks of scripts in which a
// letter with a mark is a variant of the letter. The marks of other scripts, such as
// vowel signs, are part of the word.
func fold(word string) string {
	var b strings.Builder
	variant := false
	for _, r := range norm.NFKD.String(strings.ToLower(word)) {
		if unicode.Is(unicode.Mn, r) && variant {
			continue
		}
		if !unicode.IsMark(r) {
			variant = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
		}
		b.WriteRune(r)
	}
	return norm.NFC.String(letters.Replace(b.String()))
}

// irregular are English plurals that no rule makes.
var irregular = map[string]string{
	"people": "person", "persons": "person", "children": "child", "men": "man", "women": "woman", "feet": "foot",
	"mice": "mouse", "indices": "index", "matrices": "matrix", "vertices": "vertex", "analyses": "analysis",
	"criteria": "criterion", "statuses": "status", "buses": "bus", "media": "medium", "movies": "movie", "series": "series",
	"aliases": "alias", "news": "news", "cookies": "cookie",
}

// singular returns the singular of an English noun, and other words as they are,
// except that a final s is lost, which does no harm because both sides lose it.
func singular(w string) string {
	if s, ok := irregular[w]; ok {
		return s
	}
	switch {
	case len(w) <= 3:
		return w
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case hasAnySuffix(w, "sses", "shes", "ches", "xes", "zes"),
		strings.HasSuffix(w, "uses") && !hasAnySuffix(w, "ouses", "auses", "cuses", "fuses"): // campuses, not houses
		return w[:len(w)-2]
	case hasAnySuffix(w, "ss", "us", "is"):
		return w
	case strings.HasSuffix(w, "s"):
		return w[:len(w)-1]
	}
	return w
}

func hasAnySuffix(w string, suffixes ...string) bool {
	for _, s := range suffixes {
		if strings.HasSuffix(w, s) {
			return true
		}
	}
	return false
}

// phrase returns the words in the form by which tables are looked up: in the
// singular, without borders, so that OrderItem, order_items and orderitem are equal.
func phrase(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(singular(w))
	}
	return b.String()
}

// join returns the words without borders. Names with equal joins are the same name
// in another style.
func join(words []string) string { return strings.Join(words, "") }
