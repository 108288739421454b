package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Outcome says how a statement of the log fares today.
type Outcome string

// The outcomes.
const (
	// Same: the guard gives the verdict of then.
	Same Outcome = "same"
	// NowRefused and NowAllowed: the verdict is another one.
	NowRefused Outcome = "now_refused"
	NowAllowed Outcome = "now_allowed"
	// Unknown: the log does not have enough of the statement to judge it again.
	Unknown Outcome = "unknown"
)

// Again is a statement of the log that was judged again.
type Again struct {
	Outcome Outcome
	// Text is the text that was judged, and Verdict what the guard said of it. They are
	// blank when Outcome is [Unknown].
	Text    string
	Verdict sqlguard.Verdict
	// Exact says that Text is the statement as it was sent. Otherwise each literal is a
	// stand-in, because the log has no literals.
	Exact bool
}

// standIns are texts in place of a literal. A grammar takes one of them in most places.
var standIns = []string{"'1'", "1"}

// ofLiterals are codes of findings that a literal decides.
var ofLiterals = map[sqlguard.Code]bool{
	sqlguard.CodeParseError: true, sqlguard.CodeSettingNotAllowed: true, sqlguard.CodeParameterNotAllowed: true, sqlguard.CodeTypeNotAllowed: true,
	sqlguard.CodeDynamicSQL: true, sqlguard.CodeInputTooLarge: true, sqlguard.CodeInvalidCharacters: true, sqlguard.CodeExecutableComment: true,
}

// Rejudge judges a decision of the log again with the guard of today. An outcome that a
// literal could change is [Unknown] unless the log has the text of the statement.
func Rejudge(decision Event, check func(sql string) (sqlguard.Verdict, error)) (Again, error) {
	then := decision.Decision.Verdict
	if then != VerdictAllow && then != VerdictReject {
		return Again{Outcome: Unknown}, nil
	}
	texts, exact := []string{decision.SQL.Text}, decision.SQL.Text != ""
	if !exact {
		if text := decision.SQL.Normalized; text == "" || strings.Contains(text, `"?"`) { // in SQLite that can have been a name
			return Again{Outcome: Unknown}, nil
		}
		texts = nil
		for _, s := range standIns {
			texts = append(texts, strings.ReplaceAll(decision.SQL.Normalized, "?", s))
		}
	}
	for _, text := range texts {
		v, err := check(text)
		if err != nil {
			return Again{}, err
		}
		now := Again{Text: text, Verdict: v, Exact: exact, Outcome: Same}
		switch {
		case v.Allowed && then == VerdictReject:
			now.Outcome = NowAllowed
		case !v.Allowed && then == VerdictAllow:
			now.Outcome = NowRefused
		}
		if exact || now.certain(decision.Decision.Codes) {
			return now, nil
		}
	}
	return Again{Outcome: Unknown}, nil
}

// certain reports whether the literals that are not known cannot have decided the
// verdict, of now or of then.
func (a *Again) certain(then []string) bool {
	if a.Outcome == NowAllowed {
		for _, code := range then {
			if ofLiterals[sqlguard.Code(code)] {
				return false
			}
		}
	}
	for _, f := range a.Verdict.Findings {
		if ofLiterals[f.Code] {
			return false
		}
	}
	return true
}

// Review is what today's policy says of many statements.
type Review struct {
	Statements int       `json:"statements"`
	Same       int       `json:"same"`
	NowRefused int       `json:"nowRefused"`
	NowAllowed int       `json:"nowAllowed"`
	Unknown    int       `json:"unknown"`
	Changed    []Changed `json:"changed"` // the most frequent first
}

// Changed is a form of statements whose verdict would change.
type Changed struct {
	Outcome     Outcome  `json:"outcome"`
	Connection  string   `json:"connection"`
	Statements  int      `json:"statements"`
	Then        []string `json:"then"` // codes; none when it was allowed
	Now         []string `json:"now"`
	SQL         string   `json:"sql"`
	LastQueryID string   `json:"lastQueryId"` // of the newest
	Principals  []string `json:"principals"`
}

// Reviewer judges many statements again. Statements that have the same text on the same
// connection, and had the same verdict, are judged once.
type Reviewer struct {
	check  func(decision Event) (func(sql string) (sqlguard.Verdict, error), error)
	review Review
	known  map[form]Again
	groups map[form]*Changed
}

// form is what statements have in common that fare alike.
type form struct{ connection, text, verdict string }

// NewReviewer returns a reviewer. check returns how the statements of a decision's
// connection are judged, and nil when they cannot be.
func NewReviewer(check func(decision Event) (func(sql string) (sqlguard.Verdict, error), error)) *Reviewer {
	return &Reviewer{check: check, known: map[form]Again{}, groups: map[form]*Changed{}}
}

// Take judges a statement again. The newest come first. A statement whose decision is
// not in the log is left out.
func (r *Reviewer) Take(s Statement) error {
	d := s.Decision
	if d.Seq == 0 {
		return nil
	}
	key := form{d.Connection.ID, cmp.Or(d.SQL.Text, d.SQL.Normalized), d.Decision.Verdict + " " + strings.Join(d.Decision.Codes, " ")}
	again, have := r.known[key]
	if !have {
		check, err := r.check(d)
		if err != nil {
			return err
		}
		again = Again{Outcome: Unknown}
		if check != nil {
			if again, err = Rejudge(d, check); err != nil {
				return err
			}
		}
		r.known[key] = again
	}
	r.review.Statements++
	switch again.Outcome {
	case Same:
		r.review.Same++
		return nil
	case Unknown:
		r.review.Unknown++
		return nil
	case NowRefused:
		r.review.NowRefused++
	case NowAllowed:
		r.review.NowAllowed++
	}
	g := r.groups[key]
	if g == nil {
		g = &Changed{
			Outcome: again.Outcome, Connection: d.Connection.ID, Then: append([]string{}, d.Decision.Codes...), Now: []string{},
			SQL: d.SQL.Normalized, LastQueryID: d.QueryID, Principals: []string{},
		}
		for _, finding := range again.Verdict.Findings {
			if !slices.Contains(g.Now, string(finding.Code)) {
				g.Now = append(g.Now, string(finding.Code))
			}
		}
		r.groups[key] = g
	}
	g.Statements++
	if !slices.Contains(g.Principals, d.Principal) {
		g.Principals = append(g.Principals, d.Principal)
	}
	return nil
}

// Statements returns how many statements were taken.
func (r *Reviewer) Statements() int { return r.review.Statements }

// Review returns what was found.
func (r *Reviewer) Review() Review {
	out := r.review
	out.Changed = []Changed{}
	for _, g := range slices.SortedFunc(maps.Values(r.groups), func(a, b *Changed) int {
		return cmp.Or(cmp.Compare(b.Statements, a.Statements), cmp.Compare(a.SQL, b.SQL), cmp.Compare(a.Connection, b.Connection))
	}) {
		out.Changed = append(out.Changed, *g)
	}
	return out
}
