package expr

import (
	"strings"
	"unicode"
)

// String returns the name as a text has it, quoted where it must be.
func (n Name) String() string {
	if n.Qualifier == "" {
		if reserved(n.Leaf) {
			return quoted(n.Leaf)
		}
		return part(n.Leaf)
	}
	return part(n.Qualifier) + "." + part(n.Leaf)
}

// part quotes a name that is not plain.
func part(s string) string {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return quoted(s)
		}
	}
	if s == "" {
		return quoted(s)
	}
	return s
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// reserved reports whether a word by itself is no name to the parser.
func reserved(word string) bool {
	e, err := Parse(word)
	return err != nil || e.Op != OpName
}
