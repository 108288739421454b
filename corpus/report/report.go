package report

import (
	"fmt"
	"io"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/sqlguard"
)

// Report is what a page tells. No text in it is trusted.
type Report struct {
	// Source says where the cases are from, as in a run file.
	Source map[string]any
	// Guard describes the guard that answered, as in a run file.
	Guard map[string]string
	// Cases are the cases that are told of, with unique ids.
	Cases []corpus.Case
	// Results are the answers. One whose id no case has is counted and left
	// out.
	Results []run.Result
	// Before is an earlier run to compare with, or nil.
	Before *run.File
	// Read returns what the guard read in the text of a case, where that can be
	// known; nil says that it cannot for any.
	Read func(c corpus.Case) (Reading, bool)
}

// Reading is what a guard found in one text.
type Reading struct {
	Verdict sqlguard.Verdict
	// Nodes are the statements of the text as the parser has them, or, with
	// Facts, as the dialect states them; none where nothing was parsed.
	Nodes []sqlguard.Node
	Facts bool
}

// Write writes the page.
func Write(w io.Writer, r Report) error {
	page, err := newPage(r)
	if err != nil {
		return fmt.Errorf("corpus report: %w", err)
	}
	if err := layout.Execute(w, page); err != nil {
		return fmt.Errorf("corpus report: %w", err)
	}
	return nil
}
