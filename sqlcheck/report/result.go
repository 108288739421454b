package report

import "github.com/ktxhq/ktx/sqlguard"

// Severity says how bad a finding of a check is.
type Severity string

// The severities, the worst first.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// State says why a finding does not count, or is empty when it does.
type State string

// The states of findings that do not count.
const (
	StateSuppressed State = "suppressed" // a comment in the file permits it
	StateBaseline   State = "baseline"   // it was there before
)

// Finding is one finding of a check, with its place in a file.
type Finding struct {
	sqlguard.Finding
	Severity Severity `json:"severity"`
	// EndLine and EndColumn are the place behind the last character.
	EndLine   int `json:"endLine"`
	EndColumn int `json:"endColumn"`
	// Fingerprint is that of the statement; empty where there is none.
	Fingerprint string       `json:"fingerprint,omitempty"`
	State       State        `json:"state,omitempty"`
	Suppression *Suppression `json:"suppression,omitempty"`
	// Statement is the number of the statement in its file, from 0, or -1.
	Statement int `json:"-"`
}

// Counts reports whether nobody has permitted the finding.
func (f *Finding) Counts() bool { return f.State == "" }

// Suppression is the comment that permits a finding.
type Suppression struct {
	Reason string `json:"reason"`
	Until  string `json:"until"` // the last day, such as 2027-01-31
	Line   int    `json:"line"`
}

// File is the judgement of one file.
type File struct {
	// Path is separated by slashes on every system.
	Path    string `json:"path"`
	Dialect string `json:"dialect,omitempty"`
	// Statements are all statements with the verdicts of the guard, where they
	// were asked for.
	Statements []Statement `json:"statements"`
	// Findings are what the check makes of the verdicts, and what there is to
	// say of the file itself, ordered by place.
	Findings []Finding `json:"findings"`
	// Judged and Refused count statements, those that are not kept included.
	Judged  int `json:"-"`
	Refused int `json:"-"`
	// Text is the text of a file that has findings, for excerpts.
	Text string `json:"-"`
}

// Statement is one statement of a file; all positions lie in the file.
type Statement struct {
	Span sqlguard.Span `json:"span"`
	sqlguard.Verdict
}

// Unchecked reports whether the file, or a part of it, could not be judged.
func (f *File) Unchecked() bool {
	for i := range f.Findings {
		if Unchecked(f.Findings[i].Code) {
			return true
		}
	}
	return false
}

// Unchecked reports whether a finding of that code says that something was not
// judged.
func Unchecked(code sqlguard.Code) bool {
	return code == sqlguard.CodeNotChecked || code == sqlguard.CodeDialectUnknown
}

// Summary counts a check.
type Summary struct {
	Files      int `json:"files"`
	Statements int `json:"statements"`
	// Refused counts the statements that the guard refuses, permitted or not.
	Refused int `json:"refused"`
	// NotChecked counts the files of which something was not judged.
	NotChecked int `json:"notChecked"`
	// The findings that count, by severity.
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notes    int `json:"notes"`
	// The findings that do not.
	Suppressed int `json:"suppressed"`
	Baseline   int `json:"baseline"`
}

// Summarize counts files.
func Summarize(files []File) Summary {
	s := Summary{Files: len(files)}
	for i := range files {
		f := &files[i]
		s.Statements += f.Judged
		s.Refused += f.Refused
		if f.Unchecked() {
			s.NotChecked++
		}
		for j := range f.Findings {
			switch found := &f.Findings[j]; {
			case found.State == StateSuppressed:
				s.Suppressed++
			case found.State == StateBaseline:
				s.Baseline++
			case found.Severity == SeverityError:
				s.Errors++
			case found.Severity == SeverityWarning:
				s.Warnings++
			default:
				s.Notes++
			}
		}
	}
	return s
}
