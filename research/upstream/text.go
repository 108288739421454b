package upstream

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of what is shown of a server's texts, in bytes.
const (
	maxName        = 128
	maxDescription = 4 << 10
	maxSummary     = 200
	maxMessage     = 500
)

// clean returns a text of a server without control, format and direction characters,
// with every run of white space as one space, and at most limit bytes long.
func clean(text string, limit int) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToValidUTF8(text, "") {
		if unicode.IsSpace(r) {
			gap = b.Len() > 0
			continue
		}
		if !printable(r) {
			continue
		}
		size := utf8.RuneLen(r)
		if gap {
			size++
		}
		if b.Len()+size > limit {
			return strings.TrimRight(cut(b.String(), limit-len("…")), " ") + "…"
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// printable reports whether a rune shows itself, and nothing else differently.
func printable(r rune) bool {
	if r == utf8.RuneError || unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
		return false
	}
	return !unicode.Is(unicode.Variation_Selector, r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// cut returns at most n bytes of s, and ends between runes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// firstSentence returns the begin of a clean text, up to the end of its first sentence.
func firstSentence(text string) string {
	for i := range len(text) {
		if text[i] != '.' && text[i] != '!' && text[i] != '?' {
			continue
		}
		if i+1 == len(text) {
			break
		}
		if text[i+1] == ' ' && !abbreviation(text[:i+1]) {
			return text[:i+1]
		}
	}
	return text
}

// abbreviation reports whether a text ends with a short form that has a dot.
func abbreviation(text string) bool {
	for _, short := range []string{"e.g.", "i.e.", "etc.", "vs.", "Dr.", "No."} {
		if strings.HasSuffix(text, short) {
			return true
		}
	}
	return false
}

func compareNames(a, b string) int { return strings.Compare(a, b) }
