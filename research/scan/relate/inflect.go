package relate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The endings that nouns take in the plural and in other cases, folded, by script.
// Longer endings precede shorter ones that they end with.
var (
	latinEndings    = []string{"ler", "lar", "ies", "ien", "nen", "ene", "er", "en", "es", "as", "os", "ov", "ow", "ar", "or", "ok", "ek", "ak", "s", "n", "e", "a", "o", "i", "y", "u"}
	cyrillicEndings = []string{"ами", "ями", "ого", "ому", "лар", "лер", "дар", "дер", "тар", "тер", "ов", "ев", "ей", "ой", "ий", "ия", "ии", "ие", "ам", "ям", "ах", "ях", "ых", "ые", "ая", "ы", "и", "а", "я", "у", "ю", "е", "о", "ь", "й"}
	greekEndings    = []string{"ους", "εις", "ων", "ες", "ης", "ας", "οσ", "ησ", "ασ", "εσ", "ουσ", "εισ", "οι", "ου", "η", "α", "ο", "ι", "υ", "σ", "ε"}
	hebrewEndings   = []string{"ים", "ות", "ת", "ה", "י"}
	arabicEndings   = []string{"هاي", "ها", "ات", "ين", "ون", "ة", "ه", "ي"}
	koreanEndings   = []string{"들"}
	georgianEndings = []string{"ები", "ი", "ა", "ო", "ე"}
	armenianEndings = []string{"ներ", "եր", "ը", "ի"}
)

// finnishPlurals are ends of Finnish nouns in the plural, with those of their singular,
// folded: tilaukset and tilaus, asiakkaat and asiakas, osoitteet and osoite, maat and maa.
var finnishPlurals = []struct{ plural, singular string }{{"kset", "s"}, {"kkaat", "kas"}, {"kkeet", "ke"}, {"tteet", "te"}, {"ppeet", "pe"}, {"aat", "aa"}}

// stem returns what is left of a word without the endings of its script. Forms of a
// noun mostly have one stem (клиент, клиента, клиенты; Kunde, Kunden). Different
// nouns sometimes have one stem too, so that an equal stem is less than an equal word.
func stem(w string) string {
	r, _ := utf8.DecodeRuneInString(w)
	var endings []string
	least := 3
	switch {
	case r < utf8.RuneSelf, unicode.Is(unicode.Latin, r):
		endings, least = latinEndings, 4
		for _, e := range finnishPlurals {
			if rest, ok := strings.CutSuffix(w, e.plural); ok {
				w = rest + e.singular
				break
			}
		}
	case unicode.Is(unicode.Cyrillic, r):
		endings = cyrillicEndings
	case unicode.Is(unicode.Greek, r):
		endings = greekEndings
	case unicode.Is(unicode.Hebrew, r):
		w = strings.TrimPrefix(w, "ה")
		endings, least = hebrewEndings, 2
	case unicode.Is(unicode.Arabic, r):
		w = strings.TrimPrefix(w, "ال")
		endings, least = arabicEndings, 2
	case unicode.Is(unicode.Hangul, r):
		endings, least = koreanEndings, 1
	case unicode.Is(unicode.Georgian, r):
		return shortStem(w, georgianEndings, "აეო", "ლმნრ")
	case unicode.Is(unicode.Armenian, r):
		return shortStem(w, armenianEndings, "իու", "բգդզթլխկհղմնպջրսվտրցքֆ")
	}
	if hasAnySuffix(w, "us", "ss", "is") {
		return w
	}
	for {
		i := slices.IndexFunc(endings, func(e string) bool {
			return strings.HasSuffix(w, e) && utf8.RuneCountInString(w)-utf8.RuneCountInString(e) >= least
		})
		if i < 0 {
			return w
		}
		w = strings.TrimSuffix(w, endings[i])
	}
}

// shortStem returns the stem of a noun in a language in which many nouns lose the last
// vowel of their stem in the plural (Georgian ქვეყანა, ქვეყნები; Armenian երկիր, երկրներ),
// so that the stem is without it. The vowel stands before one of the consonants.
func shortStem(w string, endings []string, vowels, consonants string) string {
	for _, e := range endings {
		if rest, found := strings.CutSuffix(w, e); found && utf8.RuneCountInString(rest) >= 3 {
			w = rest
			break
		}
	}
	r := []rune(w)
	n := len(r)
	if n > 3 && strings.ContainsRune(consonants, r[n-1]) && strings.ContainsRune(vowels, r[n-2]) {
		return string(append(r[:n-2], r[n-1]))
	}
	return w
}

// stems returns the stems of the words without borders.
func stems(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(stem(singular(w)))
	}
	return b.String()
}

// abbreviates reports whether short is an abbreviation of long: its first three or
// more letters (prod, product), or letters of it in order that are mostly
// consonants (dept, department; mgr, manager).
func abbreviates(short, long string) bool {
	a, b := []rune(short), []rune(long)
	if len(a) < 3 || len(a) >= len(b) || a[0] != b[0] || !alphabetic(a[0]) {
		return false
	}
	if strings.HasPrefix(long, short) {
		return true
	}
	vowels, rest := 0, b
	for _, r := range a {
		i := slices.Index(rest, r)
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
		if strings.ContainsRune("aeiouаеиоуыэюяαεηιουω", r) {
			vowels++
		}
	}
	return vowels <= 1
}

// alphabetic reports whether a letter belongs to an alphabet in which words are
// shortened letter by letter.
func alphabetic(r rune) bool { return unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) }

// similar returns how much of the longer word two words share at their start, or 0
// if they share less than 60 percent, less than three letters, or differ in more than
// three letters at an end. It finds the forms of a noun in languages whose endings are
// not listed.
func similar(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	longer := max(len(x), len(y))
	if n < 3 || longer-n > 4 || 10*n < 6*longer {
		return 0
	}
	return float64(n) / float64(longer)
}

// similarWords returns the smallest similarity of the words, one by one, or 0.
func similarWords(a, b []string) float64 {
	if len(a) != len(b) {
		return 0
	}
	least := 1.0
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if least = min(least, similar(a[i], b[i])); least == 0 {
			return 0
		}
	}
	return least
}

// abbreviation reports whether the words of a abbreviate those of b, one by one, and
// whether at least one is shorter.
func abbreviation(a, b []string) bool {
	if len(a) != len(b) || len(a) == 0 || a[0] == "" || b[0] == "" || a[0][0] != b[0][0] {
		return false
	}
	shorter := false
	for i := range a {
		x, y := singular(a[i]), singular(b[i])
		switch {
		case x == y:
		case abbreviates(x, y):
			shorter = true
		default:
			return false
		}
	}
	return shorter
}
