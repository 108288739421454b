package mutate

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/corpus"
)

// Kind is a way to write a statement otherwise.
type Kind string

// The kinds, in the order of [Kinds].
const (
	Case    Kind = "case"    // the case of letters, where it means nothing
	Gaps    Kind = "gaps"    // comments where white space stands or may stand
	Quote   Kind = "quote"   // names in the dialect's quotes
	Qualify Kind = "qualify" // names with the schema that they were found in
	Derived Kind = "derived" // SELECT * FROM (…) AS q
	CTE     Kind = "cte"     // WITH q AS (…) SELECT * FROM q
	Scalar  Kind = "scalar"  // SELECT (…), of a query of one row and column
	Explain Kind = "explain" // EXPLAIN of what must pass, EXPLAIN ANALYZE of what must be refused
)

// Kinds returns the kinds of mutants.
func Kinds() []Kind { return []Kind{Case, Gaps, Quote, Qualify, Derived, CTE, Scalar, Explain} }

// title says what a mutant of the kind is.
var title = map[Kind]string{
	Case: "in other letters", Gaps: "with comments in its gaps", Quote: "with names in quotes", Qualify: "with schemas",
	Derived: "in a derived table", CTE: "in WITH", Scalar: "as a scalar sub-query", Explain: "under EXPLAIN",
}

// maxText is the length in bytes that a mutant does not pass: guards refuse
// long texts as such.
const maxText = 32 << 10

// untouched are classes whose cases are about single bytes, lines or lengths.
var untouched = []string{"raw-text", "limits", "client-command"}

// unwrapped are classes whose cases another statement must not stand around:
// they are no single statement, depend on standing at the top, or are about
// EXPLAIN already.
var unwrapped = []string{"multiple-statements", "parameter", "select-into", "explain", "access-policy"}

// Of returns the mutants of a case, of these kinds or of all. A case has none of
// a kind where none is certain to do the same.
//
// Under EXPLAIN two more codes explain a refusal: that it runs its statement, and
// that it is about something that it may not be about.
//
// What a mutant has of its case: class, dialect, flavour, demand, codes, policy,
// effect, engine, sources and version. It has no evidence, which is of the
// case's text, and no twin.
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

// text is a case's statement, in tokens.
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

// String returns the text as it is now.
func (t *text) String() string {
	var b strings.Builder
	for _, part := range t.tokens {
		b.WriteString(part.text)
	}
	return b.String()
}

// beside returns the next token in a direction that is neither white space nor
// comment, or none.
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

// has reports whether the text holds one of these symbols or words.
func (t *text) has(texts ...string) bool {
	return slices.ContainsFunc(t.tokens, func(part token) bool {
		return slices.ContainsFunc(texts, part.is)
	})
}
