package relate

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// brokenPlurals are the forms of Arabic plurals that change the inside of a word: in each
// line the plural and the singulars that it may have. A digit is a letter of the root,
// the same one in both. Letters are as folding leaves them: أ is ا, ئ and ى are ي, ؤ is و.
const brokenPlurals = `
ا12ا3 123
ا1وا2 1ا2
ا12اء ا12 12ء 12ي2
ا123اء 12ي3
ا123ة 12ا3 12ي3
ا12ية 12اء
ا123 123
12و3 123
12ا3 123 1ا23
123 12ا3 12ي3 12ي3ة 123ة
123ة 1ا23
123ي 12ي3
123اء 12ي3 1ا23
1وا23 1ا23 1ا23ة
1وا2ي3 1ا2و3 1ا2و3ة 1ا2ي3
12اي3 12ي3ة 12ا3ة 12و3ة
12ايا 12ية
12ا34 1234 1234ة
12ا3ي4 123و4 123و4ة 123ا4 123ي4 123ي4ة
`

// A brokenPlural is a line of brokenPlurals.
type brokenPlural struct {
	plural    []rune
	singulars [][]rune
}

var brokenForms = sync.OnceValue(func() []brokenPlural {
	var out []brokenPlural
	for line := range strings.Lines(strings.TrimSpace(brokenPlurals)) {
		forms := strings.Fields(line)
		b := brokenPlural{plural: []rune(forms[0])}
		for _, form := range forms[1:] {
			b.singulars = append(b.singulars, []rune(form))
		}
		out = append(out, b)
	}
	return out
})

// unbroken returns the words of which an Arabic word may be a broken plural, without
// their article.
func unbroken(word string) []string {
	if r, _ := utf8.DecodeRuneInString(word); !unicode.Is(unicode.Arabic, r) {
		return nil
	}
	letters := []rune(strings.TrimPrefix(word, "ال"))
	var out []string
	for _, b := range brokenForms() {
		if root, ok := b.root(letters); ok {
			for _, s := range b.singulars {
				out = append(out, fill(s, root))
			}
		}
	}
	return out
}

// root returns the letters of the root, by their digit, of a word in the form of b.
func (b brokenPlural) root(letters []rune) (root [5]rune, ok bool) {
	if len(letters) != len(b.plural) {
		return root, false
	}
	for i, r := range b.plural {
		switch {
		case '1' <= r && r <= '4' && letters[i] != 'ا' && unicode.IsLetter(letters[i]): // no root has ا
			root[r-'0'] = letters[i]
		case r != letters[i]:
			return root, false
		}
	}
	return root, true
}

// fill puts the letters of a root into a form.
func fill(form []rune, root [5]rune) string {
	out := make([]rune, len(form))
	for i, r := range form {
		if out[i] = r; '1' <= r && r <= '4' {
			out[i] = root[r-'0']
		}
	}
	return string(out)
}

// brokenStems returns the stems of words of which one is replaced by a singular of which
// it may be a broken plural.
func brokenStems(words []string) []string {
	var out []string
	for i, w := range words {
		for _, s := range unbroken(w) {
			replaced := append(append([]string{}, words[:i]...), s)
			out = append(out, stems(append(replaced, words[i+1:]...)))
		}
	}
	return out
}
