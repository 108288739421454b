package sqlguard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Finding is one reason to refuse a statement, with its position.
type Finding struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Span, Line and Column say where; Line and Column are 1-based, in code
	// points. A dialect sets the Span only.
	Span   Span `json:"span"`
	Line   int  `json:"line"`
	Column int  `json:"column"`
	// Path leads to the construct, such as "with.x".
	Path string `json:"path,omitempty"`
	// Object is the relation, function, type or setting that the finding names.
	Object string `json:"object,omitempty"`
	// Retryable says whether a changed statement could pass.
	Retryable bool `json:"retryable"`
	// Reveal is the group of guard.reveal that would admit what the finding names.
	Reveal Group `json:"reveal,omitempty"`
	// Samples says that it shows values of tables; see [Revealed].
	Samples bool `json:"-"`
}

// Verdict is the whole answer for one text. Its JSON form is public and stable.
// Verdicts may share their slices: treat them as read-only.
type Verdict struct {
	Dialect    string `json:"dialect"`
	Parser     string `json:"parser"`
	Allowed    bool   `json:"allowed"`
	Statements int    `json:"statements"`
	Verb       Verb   `json:"verb,omitempty"`
	// Code is the primary code, empty when the text is allowed.
	Code Code `json:"code,omitempty"`
	// Findings are all reasons, in the order of their positions.
	Findings  []Finding         `json:"findings"`
	Relations []VerdictRelation `json:"relations"`
	// Functions are the resolved names of the functions called.
	Functions []string      `json:"functions"`
	Types     []VerdictType `json:"types"`
	// Columns are the names of the result columns, as far as the statement shows
	// them. There are none if a star stands for some of them.
	Columns []string `json:"columns"`
	// Normalized is the text with literals replaced and comments dropped.
	Normalized string `json:"normalized"`
	// Fingerprint is the SHA-256 of the normalised tokens, in hex.
	Fingerprint string `json:"fingerprint"`
}

// VerdictRelation is a relation that the text touches.
type VerdictRelation struct {
	Database string `json:"database,omitempty"`
	Schema   string `json:"schema,omitempty"`
	Name     string `json:"name"`
	Access   Access `json:"access"`
}

// VerdictType is a type that is not built in.
type VerdictType struct {
	Name     string `json:"name"`
	Resolved bool   `json:"resolved"`
}

// RejectedError is the error of [Guard.Approve]; it carries the whole verdict.
type RejectedError struct{ Verdict Verdict }

// Error returns the primary code and the messages of the findings.
func (e *RejectedError) Error() string {
	findings := make([]string, 0, len(e.Verdict.Findings))
	for _, f := range e.Verdict.Findings {
		findings = append(findings, fmt.Sprintf("%s (line %d, column %d)", f.Message, f.Line, f.Column))
	}
	return string(e.Verdict.Code) + ": " + strings.Join(findings, "; ")
}

// maxFindings bounds the findings of a verdict. Nobody corrects a statement by
// reading more than that.
const maxFindings = 100

// finish orders the findings, places them and picks the primary code.
func (v *Verdict) finish(sql string) {
	slices.SortStableFunc(v.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(b.Span.End, a.Span.End))
	})
	v.Findings = slices.CompactFunc(v.Findings, func(a, b Finding) bool {
		return a.Code == b.Code && a.Span == b.Span && a.Message == b.Message
	})
	if len(v.Findings) > maxFindings {
		v.Findings = v.Findings[:maxFindings:maxFindings]
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		f.Span.Start = min(max(f.Span.Start, 0), len(sql))
		f.Span.End = min(max(f.Span.End, f.Span.Start), len(sql))
		f.Line, f.Column = Position(sql, f.Span.Start)
		info, _ := LookupCode(f.Code)
		f.Retryable = info.Retryable
		if f.Hint == "" && f.Reveal == "" {
			f.Hint = info.hint
		}
		f.Hint = revealHint(f)
	}
	v.Allowed = len(v.Findings) == 0
	v.Code = v.primary()
}

// primary returns the code that represents all findings.
func (v *Verdict) primary() Code {
	switch {
	case len(v.Findings) == 0:
		return ""
	case slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Code == CodeMultipleStatements }):
		return CodeMultipleStatements
	default:
		return v.Findings[0].Code
	}
}

// Without returns the verdict without its findings of the given codes, if any other
// finding remains: a refused statement stays refused.
func (v Verdict) Without(codes ...Code) Verdict {
	remain := slices.DeleteFunc(slices.Clone(v.Findings), func(f Finding) bool { return slices.Contains(codes, f.Code) })
	if len(remain) > 0 {
		v.Findings = remain
		v.Code = v.primary()
	}
	return v
}
