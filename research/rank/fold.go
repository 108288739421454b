package rank

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// folder maps texts that differ only in case to one text. It has no state.
var folder = cases.Fold()

// Fold returns the form that equal values have in common. It folds case (ß is ss, ς
// is σ, İ and ı are i), compatibility forms (ﬁ is fi, full-width letters are plain),
// diacritics (é is e), letters with strokes and ligatures (ø is o, æ is ae), digits of all
// scripts (٣ is 3), Katakana (カ is か) and the Persian forms of Arabic letters (ی is ي).
// The stroke that makes an Arabic word longer is left out. All dashes are one. A run of white space is one space, and none is left at the ends.
// Control characters count as white space.
//
// A mark that is a letter of its script stays: the vowel signs of Devanagari and Thai,
// and the voicing marks of kana. Without them, different words would be equal.
func Fold(s string) string {
	if folded, ok := foldASCII(s); ok {
		return folded
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strip(norm.NFKD.String(s))
	s = strip(norm.NFKD.String(folder.String(s)))
	return collapse(norm.NFC.String(s))
}

// FoldCode returns Fold without punctuation and white space, so that codes such as
// "AB-12/3" and "ab 123" are equal. It is "" for a text of nothing else, which equals
// no code.
func FoldCode(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, Fold(s))
}

// foldASCII folds a text of ASCII alone.
func foldASCII(s string) (string, bool) {
	clean := true
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			return "", false
		case c < ' ' || c == 0x7f || 'A' <= c && c <= 'Z':
			clean = false
		case c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' '):
			clean = false
		}
	}
	if clean {
		return s, true
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		switch {
		case c <= ' ' || c == 0x7f:
			if len(out) > 0 && out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
		case 'A' <= c && c <= 'Z':
			out = append(out, c+'a'-'A')
		default:
			out = append(out, c)
		}
	}
	if len(out) > 0 && out[len(out)-1] == ' ' {
		out = out[:len(out)-1]
	}
	return string(out), true
}

// strip removes diacritics from decomposed text, and replaces the letters that do not
// decompose.
func strip(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r)) //nolint:gosec // an ASCII letter
			continue
		}
		if diacritic(r) {
			continue
		}
		if plain, ok := letters[r]; ok {
			b.WriteString(plain)
			continue
		}
		b.WriteRune(same(r))
	}
	return b.String()
}

// same returns the character that stands for all that are only another way to write it: a
// digit of ASCII for those of every script, Hiragana for Katakana, letters of Arabic for
// their forms in Persian and Urdu, and small letters of Cherokee for its capitals.
func same(r rune) rune {
	switch {
	case 'ァ' <= r && r <= 'ヶ':
		return r - 'ァ' + 'ぁ'
	case 'ヽ' <= r && r <= 'ヾ': // the mark of repetition
		return r - 'ヽ' + 'ゝ'
	case r == 'ی', r == 'ى':
		return 'ي'
	case r == 'ک':
		return 'ك'
	case r == 'ہ', r == 'ھ', r == 'ە':
		return 'ه'
	case unicode.Is(unicode.Cherokee, r): // its small letters are folded to capitals, and the folder makes small ones of those
		return unicode.ToLower(r)
	case unicode.Is(unicode.Nd, r):
		return digitOf(r)
	}
	return r
}

// digitOf returns the digit of ASCII for one of another script. The ten digits of each
// script follow each other from 0.
func digitOf(r rune) rune {
	for _, block := range unicode.Nd.R16 {
		if rune(block.Lo) <= r && r <= rune(block.Hi) {
			return '0' + (r-rune(block.Lo))%10
		}
	}
	for _, block := range unicode.Nd.R32 {
		if first, last := rune(block.Lo), rune(block.Hi); first <= r && r <= last { //nolint:gosec // characters end at 0x10FFFF
			return '0' + (r-first)%10
		}
	}
	return r
}

// collapse makes all dashes one and every run of white space one space.
func collapse(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Zs, r):
			gap = b.Len() > 0
			continue
		case unicode.Is(unicode.Cf, r), r == 'ـ': // soft hyphens, joiners, direction marks, the stroke within Arabic words
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		if dash(r) {
			r = '-'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// dash reports whether the rune is a kind of hyphen, dash or minus.
func dash(r rune) bool {
	return unicode.Is(unicode.Pd, r) || r == '\u2212' || r == '\u2043' || r == '\u02d7'
}

// diacritic reports whether the rune is a mark that readers leave out.
func diacritic(r rune) bool {
	if !unicode.In(r, unicode.Mn, unicode.Me) {
		return false
	}
	return r != '\u3099' && r != '\u309a' && !unicode.In(r, spelled...)
}

// spelled are the scripts whose marks spell vowels.
var spelled = []*unicode.RangeTable{
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Myanmar, unicode.Khmer,
}

// letters are the letters with no decomposition in Unicode that readers take for others.
var letters = map[rune]string{
	'ø': "o", 'Ø': "o", 'ł': "l", 'Ł': "l", 'đ': "d", 'Đ': "d", 'ð': "d", 'Ð': "d", 'þ': "th", 'Þ': "th",
	'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ß': "ss", 'ẞ': "ss", 'ħ': "h", 'Ħ': "h", 'ŧ': "t", 'Ŧ': "t",
	'ı': "i", 'ȷ': "j", 'ŋ': "n", 'Ŋ': "n", 'ĸ': "k", 'ƀ': "b", 'ɨ': "i", 'ʉ': "u", 'ə': "e", 'Ə': "e",
	'ɓ': "b", 'ɗ': "d", 'ƙ': "k", 'ς': "σ", 'ʻ': "'", 'ʼ': "'", '’': "'", '‘': "'", '“': "\"", '”': "\"",
}
