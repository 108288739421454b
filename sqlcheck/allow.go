package sqlcheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// allowMark begins a comment that suppresses findings.
const allowMark = "ktx:allow"

// maxAllow is how many days ahead a suppression may end.
const maxAllow = 180

// allow is a suppression, which is written as a comment on a statement:
//
//	-- ktx:allow CODE until=2027-01-31 reason="…"
//
// It suppresses the findings with that code until the end of that day. More
// codes may stand between the first code and until.
type allow struct {
	// Statement and Last are the numbers of the first and the last statement
	// that the suppression applies to, or -1 if there is none.
	Statement, Last int
	Holes           []int // the numbers of texts that are filled in elsewhere
	Codes           []sqlguard.Code
	Reason          string
	Until           string
	Span            sqlguard.Span // of the comment, in the file
	Line            int
	Column          int
	EndLine         int
	EndColumn       int
	Quoted          *report.Quoted // set in the cache
	// Fault says why the comment is not a valid suppression.
	Fault string
}

// parseAllow reads a comment, including its comment marks. ok is false if the
// comment is not meant as a suppression.
func parseAllow(comment string) (a allow, ok bool) {
	body := strings.TrimSpace(strings.TrimSuffix(strings.TrimLeft(comment, "-#/* \t"), "*/"))
	rest, ok := strings.CutPrefix(body, allowMark)
	if !ok || rest != "" && !strings.ContainsAny(rest[:1], " \t\r\n:") {
		return allow{}, false
	}
	a.Statement, a.Last = -1, -1
	fault := func(format string, args ...any) (allow, bool) {
		a.Fault = fmt.Sprintf(format, args...)
		return a, true
	}
	for rest = strings.TrimLeft(rest, ": \t\r\n,"); rest != ""; rest = strings.TrimLeft(rest, " \t\r\n,") {
		if value, found := strings.CutPrefix(rest, "reason="); found {
			text, tail, closed := quoted(value)
			switch {
			case !closed:
				return fault("the reason is not in double quotes")
			case a.Reason != "":
				return fault("it has two reasons")
			}
			a.Reason, rest = strings.Join(strings.Fields(text), " "), tail
			continue
		}
		word := rest
		if i := strings.IndexAny(rest, " \t\r\n,"); i >= 0 {
			word = rest[:i]
		}
		rest = rest[len(word):]
		if value, found := strings.CutPrefix(word, "until="); found {
			if _, err := time.Parse(time.DateOnly, value); err != nil {
				return fault("%s is not a date such as 2027-01-31", value)
			}
			if a.Until != "" {
				return fault("it has two dates")
			}
			a.Until = value
			continue
		}
		code := sqlguard.Code(word)
		info, known := report.LookupCode(code)
		switch {
		case strings.Contains(word, "="):
			return fault("%s is neither a code, nor until=, nor reason=", word)
		case !known:
			return fault("%s is no code; ktx explain lists them", word)
		case !report.Suppressible(info):
			return fault("findings of %s cannot be suppressed", word)
		}
		if !slices.Contains(a.Codes, code) {
			a.Codes = append(a.Codes, code)
		}
	}
	switch {
	case len(a.Codes) == 0:
		return fault("it names no code")
	case a.Until == "":
		return fault("it has no until=DATE, the last day on which it is valid")
	case a.Reason == "":
		return fault("it has no reason=\"…\"")
	}
	return a, true
}

// quoted returns the text in double quotes at the start of s, and the rest of
// s.
func quoted(s string) (text, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	text, rest, ok = strings.Cut(s[1:], `"`)
	return text, rest, ok
}

// settle applies the suppressions of a file to its findings on the day today,
// and adds findings about the suppressions themselves.
func settle(file *report.File, allows []allow, today time.Time) {
	for i := range allows {
		a := &allows[i]
		code, severity, message := a.apply(file.Findings, today)
		if message == "" {
			continue
		}
		info, _ := report.LookupCode(code)
		file.Findings = append(file.Findings, report.Finding{
			Finding:  sqlguard.Finding{Code: code, Message: message, Hint: sqlguard.HintFor(code), Span: a.Span, Line: a.Line, Column: a.Column, Retryable: info.Retryable},
			Severity: severity, EndLine: a.EndLine, EndColumn: a.EndColumn, Statement: -1, Quoted: a.Quoted,
		})
	}
	slices.SortStableFunc(file.Findings, func(x, y report.Finding) int { return x.Span.Start - y.Span.Start })
}

// on reports whether the suppression applies to the statement with a number.
func (a *allow) on(number int) bool {
	return number >= 0 && number >= a.Statement && number <= a.Last || slices.Contains(a.Holes, number)
}

// apply marks the findings that a suppresses. It returns a finding about a
// itself, or an empty message if there is none.
func (a *allow) apply(findings []report.Finding, today time.Time) (sqlguard.Code, report.Severity, string) {
	if a.Fault != "" {
		return sqlguard.CodeSuppressionInvalid, report.SeverityError, "the suppression has no effect: " + a.Fault
	}
	until, err := time.Parse(time.DateOnly, a.Until)
	day := time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, time.UTC)
	switch {
	case err != nil:
		return sqlguard.CodeSuppressionInvalid, report.SeverityError, "the suppression has no effect: its date cannot be read"
	case until.Before(day):
		return sqlguard.CodeSuppressionExpired, report.SeverityError, "the suppression expired after " + a.Until
	case until.After(day.AddDate(0, 0, maxAllow)):
		return sqlguard.CodeSuppressionInvalid, report.SeverityError, fmt.Sprintf("the suppression has no effect: %s is more than %d days ahead", a.Until, maxAllow)
	}
	var unused []string
	for _, code := range a.Codes {
		used := false
		for i := range findings {
			if f := &findings[i]; a.on(f.Statement) && f.Code == code {
				f.State, used = report.StateSuppressed, true
				f.Suppression = &report.Suppression{Reason: a.Reason, Until: a.Until, Line: a.Line}
			}
		}
		if !used {
			unused = append(unused, string(code))
		}
	}
	if len(unused) == 0 {
		return "", "", ""
	}
	return sqlguard.CodeSuppressionUnused, report.SeverityWarning, "the statement has no finding " + strings.Join(unused, " or ")
}
