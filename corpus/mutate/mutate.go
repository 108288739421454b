package mutate

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/corpus"
)

// Kind is a kind of change that makes a mutant.
type Kind string

// The kinds, in the order of [Kinds].
const (
	Case    Kind = "case"    // the letter case, where it has no meaning
	Gaps    Kind = "gaps"    // comments where white space is or may be
	Quote   Kind = "quote"   // names in the dialect's quotes
	Qualify Kind = "qualify" // names with the schema in which they are found
	Derived Kind = "derived" // SELECT * FROM (…) AS q
	CTE     Kind = "cte"     // WITH q AS (…) SELECT * FROM q
	Scalar  Kind = "scalar"  // SELECT (…), for a query that returns one row and column
	Explain Kind = "explain" // EXPLAIN of an allow case, EXPLAIN ANALYZE of a reject case
)

// Kinds returns the kinds of mutants.
func Kinds() []Kind { return []Kind{Case, Gaps, Quote, Qualify, Derived, CTE, Scalar, Explain} }

// title describes a mutant of each kind.
var title = map[Kind]string{
	Case: "in other letters", Gaps: "with comments in its gaps", Quote: "with names in quotes", Qualify: "with schemas",
	Derived: "in a derived table", CTE: "in WITH", Scalar: "as a scalar sub-query", Explain: "under EXPLAIN",
}

// maxText is the most bytes of a mutant. Guards refuse long texts because of
// their length.
const maxText = 32 << 10

// untouched are the classes whose cases depend on single bytes, lines or
// lengths.
var untouched = []string{"raw-text", "limits", "client-command"}

// unwrapped are the classes whose cases cannot be part of another statement:
// they are not a single statement, must be at the top level, or use EXPLAIN
// already.
var unwrapped = []string{"multiple-statements", "parameter", "select-into", "explain", "access-policy"}

// Of returns the mutants of a case, of the given kinds or of all kinds. There
// is no mutant of a kind if it is not certain that it does the same.
//
// Two more codes explain why a guard refuses a mutant of kind [Explain]: that
// EXPLAIN runs the statement, and that EXPLAIN may not be used with it.
//
// A mutant has the class, dialect, flavour, demand, codes, policy, effect,
// engine, sources and version of its case. It has no evidence, because that is
// about the text of the case, and it has no twin.
func Of(c corpus.Case, kinds ...Kind) []corpus.Case {
	if len(kinds) == 0 {
		kinds = Kinds()
	}
	if slices.Contains(untouched, c.Class) {
		return nil
	}
	tokens := lex(c.Dialect, c.SQL)
	if len(tokens) == 0 {
		return nil
	}
	var mutants []corpus.Case
	for _, k := range Kinds() {
		if !slices.Contains(kinds, k) {
			continue
		}
		t := &text{Case: c, tokens: slices.Clone(tokens)}
		sql, ok := t.write(k)
		if !ok || sql == c.SQL || len(sql) > maxText {
			continue
		}
		m := c
		m.ID += "~" + string(k)
		m.Title += ", " + title[k]
		m.SQL, m.Evidence, m.BenignTwin = sql, nil, ""
		if k == Explain && c.Expect == corpus.Reject {
			m.Codes = append(slices.Clone(c.Codes), "explain_executes", "statement_not_allowed")
		}
		mutants = append(mutants, m)
	}
	return mutants
}

// All returns the mutants of cases, in the order of the cases.
func All(cases []corpus.Case, kinds ...Kind) []corpus.Case {
	var mutants []corpus.Case
	for _, c := range cases {
		mutants = append(mutants, Of(c, kinds...)...)
	}
	return mutants
}

// text is the statement of a case, as tokens.
type text struct {
	corpus.Case
	tokens []token
}

func (t *text) write(k Kind) (string, bool) {
	switch k {
	case Case:
		t.letters()
	case Gaps:
		t.gaps()
	case Quote:
		t.quote()
	case Qualify:
		t.qualify()
	case Derived:
		return t.wrapped("SELECT * FROM (", ") AS q")
	case CTE:
		return t.wrapped("WITH q AS (", ") SELECT * FROM q")
	case Scalar:
		return t.scalar()
	case Explain:
		return t.explained()
	default:
		return "", false
	}
	return t.String(), true
}

// String returns the current text.
func (t *text) String() string {
	var b strings.Builder
	for _, part := range t.tokens {
		b.WriteString(part.text)
	}
	return b.String()
}

// beside returns the next token in a direction that is neither white space nor
// a comment, or the zero token.
func (t *text) beside(i, step int) token {
	for i += step; i >= 0 && i < len(t.tokens); i += step {
		if k := t.tokens[i].kind; k != space && k != comment {
			return t.tokens[i]
		}
	}
	return token{}
}

func (t *text) before(i int) token { return t.beside(i, -1) }
func (t *text) after(i int) token  { return t.beside(i, +1) }

// has reports whether the text has one of these symbols or words.
func (t *text) has(texts ...string) bool {
	return slices.ContainsFunc(t.tokens, func(part token) bool {
		return slices.ContainsFunc(texts, part.is)
	})
}
