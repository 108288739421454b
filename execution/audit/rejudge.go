package audit

import (
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
