package duckdb

import (
	"slices"
	"strings"

	"github.com/sqlc-dev/darkwing/token"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// ledger counts how often the walk met a name or the text of a literal. Names count
// folded.
type ledger struct {
	names, texts map[string]int
}

// word counts a name.
func (l *ledger) word(name string) {
	if name == "" {
		return
	}
	if l.names == nil {
		l.names = make(map[string]int, 16)
	}
	l.names[lexical.Lower(name)]++
}

func (l *ledger) words(names []string) {
	for _, n := range names {
		l.word(n)
	}
}

// text counts the text of a literal.
func (l *ledger) text(text string) {
	if l.texts == nil {
		l.texts = make(map[string]int, 8)
	}
	l.texts[text]++
}

// complete checks that the walk over the tree met every name that is no keyword, every
// quoted name and every text literal of the statement at least as often as it is written.
// The only exceptions are units of time and methods of sampling, which the tree has in
// another form.
func (w *walker) complete(tokens []sqlguard.Token) error {
	repeated := w.repeatedGroups(tokens)
	for i, t := range tokens {
		if repeated != nil && repeated[i] {
			continue
		}
		text := t.Text(w.sql)
		var counts map[string]int
		var key string
		switch t.Kind { //nolint:exhaustive // the others are syntax, numbers or refused
		case sqlguard.TokenQuotedName:
			counts, key = w.met.names, lexical.Lower(strings.ReplaceAll(text[1:len(text)-1], `""`, `"`))
		case sqlguard.TokenWord:
			key = lexical.Lower(text)
			if token.IsKeyword(key) || units[key] {
				continue
			}
			counts = w.met.names
		case sqlguard.TokenString:
			counts, key = w.met.texts, literal(text)
		default:
			continue
		}
		if counts[key] > 0 {
			counts[key]--
			continue
		}
		if t.Kind != sqlguard.TokenString && w.namesWindow(tokens, i) {
			continue
		}
		// A literal can be written for a name, and a name for a text.
		other := w.met.names
		if t.Kind != sqlguard.TokenString {
			other = w.met.texts
		} else {
			key = lexical.Lower(key)
		}
		if other[key] > 0 {
			other[key]--
			continue
		}
		return &sqlguard.SyntaxError{Message: "the parser skipped this part of the statement", Offset: t.Start}
	}
	return nil
}

// repeatedGroups says which tokens belong to an expression that stands in the same GROUP BY
// before, word for word, as in GROUPING SETS ((a, b), (a)). The tree has it once. It is nil
// when there are none.
func (w *walker) repeatedGroups(all []sqlguard.Token) (out []bool) {
	if !slices.ContainsFunc(all, func(t sqlguard.Token) bool {
		return t.End-t.Start == len("group") && strings.EqualFold(t.Text(w.sql), "group")
	}) {
		return nil
	}
	tokens, places := make([]sqlguard.Token, 0, len(all)), make([]int, 0, len(all))
	for i, t := range all {
		if t.Kind != sqlguard.TokenComment {
			tokens, places = append(tokens, t), append(places, i)
		}
	}
	word := func(i int) string {
		if i < len(tokens) && tokens[i].Kind == sqlguard.TokenWord {
			return lexical.Lower(tokens[i].Text(w.sql))
		}
		return ""
	}
	var list func(i int, seen map[string]bool) int
	// list reads expressions with commas between, up to a bracket that closes or the next
	// clause, and returns where they end.
	list = func(i int, seen map[string]bool) int {
		for i < len(tokens) {
			switch {
			case word(i) == "grouping" && word(i+1) == "sets":
				i++
			case word(i) == "rollup", word(i) == "cube":
			default:
				i--
			}
			if i++; i < len(tokens) && tokens[i].Kind == sqlguard.TokenOpen && tokens[i].Text(w.sql) == "(" {
				if i = list(i+1, seen) + 1; i < len(tokens) && tokens[i].Kind == sqlguard.TokenComma {
					i++
					continue
				}
				return i
			}
			start, depth := i, 0
			var text strings.Builder
			for ; i < len(tokens); i++ {
				switch t := tokens[i]; {
				case t.Kind == sqlguard.TokenOpen:
					depth++
				case t.Kind == sqlguard.TokenClose && depth > 0:
					depth--
				case t.Kind == sqlguard.TokenClose, depth == 0 && (t.Kind == sqlguard.TokenComma || afterGroups[word(i)]):
					depth = -1
				}
				if depth < 0 {
					break
				}
				part := tokens[i].Text(w.sql)
				if tokens[i].Kind == sqlguard.TokenWord {
					part = lexical.Lower(part)
				}
				text.WriteString(part)
				text.WriteByte(0)
			}
			if key := text.String(); seen[key] {
				if out == nil {
					out = make([]bool, len(all))
				}
				for j := start; j < i; j++ {
					out[places[j]] = true
				}
			} else {
				seen[key] = true
			}
			if i >= len(tokens) || tokens[i].Kind != sqlguard.TokenComma {
				return i
			}
			i++
		}
		return i
	}
	for i := range tokens {
		if word(i) == "group" && word(i+1) == "by" {
			list(i+2, map[string]bool{})
		}
	}
	return out
}

// afterGroups are words that can follow the list of GROUP BY.
var afterGroups = lexical.Set("having window qualify order limit offset union except intersect using sample fetch")

// namesWindow reports whether the name at i is one of a window: behind OVER, or in the
// clause WINDOW. The tree has the window in its place.
func (w *walker) namesWindow(tokens []sqlguard.Token, i int) bool {
	word := func(i int) string {
		if i < 0 || i >= len(tokens) {
			return ""
		}
		return lexical.Lower(tokens[i].Text(w.sql))
	}
	switch before := word(i - 1); before {
	case "over":
		return true
	case "window", ",":
		return word(i+1) == "as" && word(i+2) == "("
	case "(":
		return word(i-2) == "as" || word(i-2) == "over"
	default:
		return false
	}
}

// units are the words for parts of a time, in every spelling, and methods of sampling.
var units = lexical.Set(`microsecond microseconds us usec usecs usecond useconds millisecond milliseconds ms msec msecs msecond mseconds second seconds s sec secs
	minute minutes m min mins hour hours h hr hrs day days d dayofmonth week weeks w weekofyear month months mon mons quarter quarters year years y yr yrs
	decade decades dec decs century centuries cent c millennium millennia mil mils millenium dow isodow dayofweek weekday doy dayofyear epoch era isoyear yearweek julian timezone
	timezone_hour timezone_minute reservoir bernoulli system percent rows`)

// literal returns the text of a literal without its quotes and escapes.
func literal(text string) string {
	switch text[0] {
	case '$':
		n := strings.IndexByte(text[1:], '$') + 2
		return text[n : len(text)-n]
	case '\'':
		return strings.ReplaceAll(text[1:len(text)-1], "''", "'")
	case 'e', 'E':
		return unescape(text[2 : len(text)-1])
	default:
		return strings.ReplaceAll(text[2:len(text)-1], "''", "'")
	}
}

// unescape returns what the text of an E'…' literal spells.
func unescape(text string) string {
	if !strings.ContainsAny(text, `\'`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\'' && i+1 < len(text):
			i++
			out.WriteByte('\'')
		case c == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case 'n':
				out.WriteByte('\n')
			case 't':
				out.WriteByte('\t')
			case 'r':
				out.WriteByte('\r')
			case 'b':
				out.WriteByte('\b')
			case 'f':
				out.WriteByte('\f')
			default:
				out.WriteByte(text[i])
			}
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}
