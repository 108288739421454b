package sqlguard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MentionsName reports whether a name stands in SQL of the catalogue, in whatever quotes
// and letters. It is for backends that list the columns in the expression of a computed
// column. It also finds a name that is part of a literal or a comment.
func MentionsName(text, name string) bool {
	text = strings.ToLower(text)
	for _, quote := range []string{"", "`", `"`, "]"} {
		spelling := strings.ToLower(name)
		if quote != "" {
			spelling = strings.ReplaceAll(spelling, quote, quote+quote)
		}
		for from := 0; spelling != ""; {
			i := strings.Index(text[from:], spelling)
			if i < 0 {
				break
			}
			before, _ := utf8.DecodeLastRuneInString(text[:from+i])
			after, _ := utf8.DecodeRuneInString(text[from+i+len(spelling):])
			if !partOfName(before) && !partOfName(after) {
				return true
			}
			from += i + 1
		}
	}
	return false
}

// partOfName reports whether a character can stand in a name without quotes.
func partOfName(r rune) bool {
	return r == '_' || r == '$' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
