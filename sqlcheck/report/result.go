package report

import "github.com/ktxhq/ktx/sqlguard"

// Severity is how serious a finding is.
type Severity string

// The severities, the most serious first.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// State says why a finding does not count. It is empty if the finding counts.
type State string

// The states of findings that do not count.
const (
	StateSuppressed State = "suppressed" // a comment in the file suppresses it
	StateBaseline   State = "baseline"   // the baseline contains it
)

// Finding is one finding of a check, with its position in a file.
type Finding struct {
	sqlguard.Finding
	Severity Severity `json:"severity"`
	// EndLine and EndColumn are the position after the last character.
	EndLine   int `json:"endLine"`
	EndColumn int `json:"endColumn"`
	// Fingerprint identifies the statement; it is empty if there is none.
	Fingerprint string       `json:"fingerprint,omitempty"`
	State       State        `json:"state,omitempty"`
	Suppression *Suppression `json:"suppression,omitempty"`
	// Statement is the number of the statement in its file, from 0, or -1.
	Statement int `json:"-"`
	// Quoted, if set, is what reports show of the file, which then needs no Text.
	Quoted *Quoted `json:"-"`
}

// Counts reports whether the finding is neither suppressed nor in the baseline.
func (f *Finding) Counts() bool { return f.State == "" }

// Suppression is the comment that suppresses a finding.
type Suppression struct {
	Reason string `json:"reason"`
	Until  string `json:"until"` // the last day on which it is valid, such as 2027-01-31
	Line   int    `json:"line"`
}

// File is the result for one file.
type File struct {
	// Path is separated by slashes on every system.
	Path    string `json:"path"`
	Dialect string `json:"dialect,omitempty"`
	// Skipped is the engine of a file that is not judged, because its dialect
	// cannot be read.
	Skipped string `json:"skipped,omitempty"`
	// Statements are all statements with their verdicts, if the check keeps
	// them.
	Statements []Statement `json:"statements"`
	// Findings are the findings about the statements and about the file itself,
	// ordered by position.
	Findings []Finding `json:"findings"`
	// Judged and Refused count the statements, including those that Statements
	// does not have.
	Judged  int `json:"-"`
	Refused int `json:"-"`
	// Text is the text of a file that has findings. Excerpts are taken from it.
	Text string `json:"-"`
	// Spooled, if set, are the statements, which a Spool keeps.
	Spooled *Spooled `json:"-"`
}

// Statement is one statement of a file. All positions are in the file.
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

// Unchecked reports whether a finding with that code means that something was
// not judged.
func Unchecked(code sqlguard.Code) bool {
	return code == sqlguard.CodeNotChecked || code == sqlguard.CodeDialectUnknown
}

// Summary counts the results of a check.
type Summary struct {
	Files      int `json:"files"`
	Statements int `json:"statements"`
	// Refused counts the statements that the guard refuses, including those
	// whose findings are suppressed or in the baseline.
	Refused int `json:"refused"`
	// NotChecked counts the files that could not be judged, or not completely.
	NotChecked int `json:"notChecked"`
	// Skipped counts the files of engines whose dialect cannot be read.
	Skipped int `json:"skipped"`
	// Engines counts those files by engine.
	Engines map[string]int `json:"-"`
	// The findings that count, by severity.
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notes    int `json:"notes"`
	// Holes counts those of them that are about a part of a statement which a
	// program fills in, so that the statement can be anything.
	Holes int `json:"holes"`
	// The findings that do not count.
	Suppressed int `json:"suppressed"`
	Baseline   int `json:"baseline"`
}

// Summarize counts the results of files.
func Summarize(files []File) Summary {
	s := Summary{Files: len(files)}
	for i := range files {
		f := &files[i]
		s.Statements += f.Judged
		s.Refused += f.Refused
		if f.Skipped != "" {
			s.Skipped++
			if s.Engines == nil {
				s.Engines = map[string]int{}
			}
			s.Engines[f.Skipped]++
		}
		if f.Unchecked() {
			s.NotChecked++
		}
		for j := range f.Findings {
			found := &f.Findings[j]
			if found.Counts() && found.Code == sqlguard.CodeDynamicSQLUnprovable {
				s.Holes++
			}
			switch {
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
