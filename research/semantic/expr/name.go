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
	if Plain(s) {
		return s
	}
	return quoted(s)
}

// Plain reports whether a name needs no quotes behind a qualifier.
func Plain(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

func quoted(s string) string {
	var b strings.Builder
	quote(&b, s, '"')
	return b.String()
}

// reserved reports whether a word by itself is no name to the parser.
func reserved(word string) bool {
	e, err := Parse(word)
	return err != nil || e.Op != OpName
}
