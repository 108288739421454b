package report

import (
	"fmt"
	"io"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/sqlguard"
)

// Report is the content of a page. No text in it is trusted.
type Report struct {
	// Source says where the cases are from, as in a run file.
	Source map[string]any
	// Guard describes the guard that answered, as in a run file.
	Guard map[string]string
	// Cases are the cases on the page. Their ids are unique.
	Cases []corpus.Case
	// Results are the answers. A result whose id no case has is counted, but
	// not shown.
	Results []run.Result
	// Before is an earlier run to compare with, or nil.
	Before *run.File
	// Read returns what the guard found in the statement of a case, if that is
	// known. It may be nil.
	Read func(c corpus.Case) (Reading, bool)
	// Address returns the address of a case's page, for a report whose cases have pages of
	// their own. It is nil for one page.
	Address func(id string) string
}

// Reading is what a guard found in one text.
type Reading struct {
	Verdict sqlguard.Verdict
	// Nodes are the syntax trees of the statements. If Facts is set, they are
	// the facts that the dialect states. They are empty if the text was not
	// parsed.
	Nodes []sqlguard.Node
	Facts bool
}

// Write writes the page.
func Write(w io.Writer, r Report) error {
	page, err := newPage(r)
	if err != nil {
		return fmt.Errorf("corpus report: %w", err)
	}
	if _, err := io.WriteString(w, page.write()); err != nil {
		return fmt.Errorf("corpus report: %w", err)
	}
	return nil
}
