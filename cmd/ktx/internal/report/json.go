package report

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ktxhq/ktx/sqlguard"
)

// File is the judgement of one file, for JSON.
type File struct {
	// Path is separated by slashes on every system.
	Path       string      `json:"path"`
	Dialect    string      `json:"dialect,omitempty"`
	Statements []Statement `json:"statements"`
	// Findings are those of the file itself, such as not_checked.
	Findings []sqlguard.Finding `json:"findings"`
	// Judged and Refused count statements, those that are not kept included.
	Judged  int `json:"-"`
	Refused int `json:"-"`
	// Refusals are the findings of statements that are not kept.
	Refusals []sqlguard.Finding `json:"-"`
}

// Statement is one statement of a file; all positions lie in the file.
type Statement struct {
	Span sqlguard.Span `json:"span"`
	sqlguard.Verdict
}

// Summary counts a check.
type Summary struct {
	Files      int `json:"files"`
	Statements int `json:"statements"`
	Refused    int `json:"refused"`
	NotChecked int `json:"notChecked"`
}

// JSON returns the whole check as one document with a line end.
func JSON(files []File, summary Summary) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Schema  string  `json:"schema"`
		Summary Summary `json:"summary"`
		Files   []File  `json:"files"`
	}{"ktx-check/1", summary, files})
	if err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return b.Bytes(), nil
}
