package mysql

import (
	"fmt"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// refusedHint reports whether an optimizer hint changes more than the plan:
// SET_VAR sets a variable for the statement, MAX_EXECUTION_TIME lifts the limit
// of the session.
func refusedHint(name string) bool {
	switch foldName(name) {
	case "set_var", "max_execution_time":
		return true
	default:
		return false
	}
}

// hint refuses a hint of the tree, unless judgeHints already refused it.
func (w *walker) hint(name string) {
	for _, f := range w.st.Effects {
		if f.Code == sqlguard.CodeHintNotAllowed {
			return
		}
	}
	w.effect(hintFinding(name, sqlguard.Span{}))
}

func hintFinding(name string, at sqlguard.Span) sqlguard.Finding {
	name = strings.ToUpper(name)
	return sqlguard.Finding{
		Code: sqlguard.CodeHintNotAllowed, Span: at, Object: name,
		Message: fmt.Sprintf("the hint %s changes a setting of the session for this statement", name),
	}
}

// judgeHints reads every hint comment of a statement for names of refused hints.
// The parsers drop a hint that they do not know, and what follows it, and the
// servers read hints in more places.
func (w *walker) judgeHints(tokens []sqlguard.Token) {
	for _, t := range tokens {
		if t.Kind != sqlguard.TokenComment || t.Start < w.st.Span.Start || t.End > w.st.Span.End {
			continue
		}
		text := t.Text(w.sql)
		if !strings.HasPrefix(text, "/*+") {
			continue
		}
		for i := 3; i < len(text); {
			if !isName(text[i]) {
				i++
				continue
			}
			end := i
			for end < len(text) && isName(text[end]) {
				end++
			}
			if refusedHint(text[i:end]) {
				w.effect(hintFinding(text[i:end], sqlguard.Span{Start: t.Start + i, End: t.Start + end}))
			}
			i = end
		}
	}
}
