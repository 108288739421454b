// Package lexical has what the readers of dialects do alike with names, words and tokens.
package lexical

import (
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// Lower folds ASCII letters, as most engines do for names. Other characters stay.
func Lower(name string) string {
	for i := range len(name) {
		if !isUpper(name[i]) {
			continue
		}
		b := []byte(name)
		for j := i; j < len(b); j++ {
			if isUpper(b[j]) {
				b[j] += 'a' - 'A'
			}
		}
		return string(b)
	}
	return name
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// Set returns the words of lists that white space separates.
func Set(lists ...string) map[string]bool {
	m := make(map[string]bool)
	for _, list := range lists {
		for word := range strings.FieldsSeq(list) {
			m[word] = true
		}
	}
	return m
}

// Groups returns the group of each word of lists that white space separates.
func Groups[G comparable](lists map[G]string) map[string]G {
	m := make(map[string]G)
	for group, list := range lists {
		for word := range strings.FieldsSeq(list) {
			m[word] = group
		}
	}
	return m
}

// Begins returns the length of the character outside of ASCII that a text begins with, if
// it is one of a list, and else 0.
func Begins(text string, list []string) int {
	if text[0] < utf8.RuneSelf {
		return 0
	}
	for _, s := range list {
		if strings.HasPrefix(text, s) {
			return len(s)
		}
	}
	return 0
}

// Broken returns the error for the first token that no text of the dialect may have.
// invalid says why no token begins with a text.
func Broken(sql string, tokens []sqlguard.Token, invalid func(text string) string) error {
	for _, t := range tokens {
		switch t.Kind { //nolint:exhaustive // every other kind is for the grammar
		case sqlguard.TokenUnterminated:
			return &sqlguard.SyntaxError{Message: "a literal, quoted name or comment that starts here never ends", Offset: t.Start}
		case sqlguard.TokenInvalid:
			return &sqlguard.SyntaxError{Message: invalid(sql[t.Start:]), Offset: t.Start}
		}
	}
	return nil
}

// Content reports whether a token belongs to a statement: it is neither a comment nor the
// end of one.
func Content(t sqlguard.Token) bool {
	return t.Kind != sqlguard.TokenComment && t.Kind != sqlguard.TokenTerminator
}

// Span returns where the tokens that belong to a statement begin and end.
func Span(next func() (sqlguard.Token, bool)) sqlguard.Span {
	var at sqlguard.Span
	for first := true; ; {
		t, ok := next()
		switch {
		case !ok:
			return at
		case !Content(t):
			continue
		case first:
			at.Start, first = t.Start, false
		}
		at.End = t.End
	}
}
