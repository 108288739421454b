package sqlguard

import (
	"strconv"
	"strings"
)

// padding returns how many bytes a format may add: its widest width, and what the numbers
// among the arguments say when it takes widths from there. A format that the statement
// computes may have any width when it has a digit.
func (m *meter) padding(start, end int, of operand, numbers float64) (most float64) {
	if of.end > of.start {
		start, end = of.start, of.end
	}
	stop := end
	first := true
	m.split(start, end, func(_, end int) {
		if first {
			stop, first = end, false
		}
	})
	computed, texts := false, 0
	for i := start; i < stop; i++ {
		switch t := m.tokens[i]; t.Kind { //nolint:exhaustive // the others are no text
		case TokenString:
			text := m.text(i)
			texts++
			most = max(most, widest(text))
			if strings.Contains(text, "*") || nested(text) {
				most += numbers
			}
		case TokenOperator:
			computed = computed || m.text(i) == "||"
		case TokenOpen:
			computed = computed || i > start && m.isName(i-1) && !expressionWord(m.word(i-1))
		case TokenWord, TokenQuotedName:
			a := m.named(m.name(i))
			computed = computed || a.text && a.num > 0
			most = max(most, a.num)
		}
	}
	switch {
	case computed && most > 0:
		return boundless
	case texts == 0:
		return most + numbers
	default:
		return most
	}
}

// refers reports whether a format can name its arguments by number, as %1$s and {0} do. One
// that is not written as a string can.
func (m *meter) refers(start, end int, of operand) bool {
	if of.end > of.start {
		start, end = of.start, of.end
	}
	if start+1 < end && m.tokens[start+1].Kind != TokenComma || m.tokens[start].Kind != TokenString {
		return true
	}
	return strings.ContainsAny(strings.TrimLeft(m.text(start), "$"), "${")
}

// nested reports whether a format has braces within braces, which take a width from an
// argument.
func nested(text string) bool {
	depth := 0
	for i := range len(text) {
		switch {
		case text[i] == '{' && depth == 1 && text[i-1] != '{':
			return true
		case text[i] == '{' && depth == 0:
			depth = 1
		case text[i] == '{' || text[i] == '}':
			depth = 0
		}
	}
	return false
}

// widest returns the largest number in a text: a width or a precision of a format.
func widest(text string) (most float64) {
	n := 0.0
	for i := range len(text) {
		if c := text[i]; c >= '0' && c <= '9' {
			n = min(n*10+float64(c-'0'), boundless)
			most = max(most, n)
		} else {
			n = 0
		}
	}
	return most
}

// count writes a number of bytes.
func count(n float64) string {
	if n >= 1e15 {
		return "very many"
	}
	return strconv.FormatInt(int64(n), 10)
}
