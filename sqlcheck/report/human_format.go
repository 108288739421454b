package report

import (
	"bytes"
	"fmt"
	"io"
)

// writeHuman writes every finding with its excerpt, for people.
func writeHuman(w io.Writer, c *Check) error {
	results := make([]Result, len(c.Files))
	for i := range c.Files {
		results[i] = Result{Name: c.Files[i].Path, Text: c.Files[i].Text}
		for _, f := range c.Files[i].Findings {
			if c.All || f.Counts() {
				f.Message += f.mark()
				if f.Severity != SeverityError {
					f.Message = string(f.Severity) + ": " + f.Message
				}
				results[i].Findings = append(results[i].Findings, f.Finding)
			}
		}
	}
	Human(w, results, Style{Color: c.Color})
	return nil
}

// writeCompact writes one line for each finding, as compilers do.
func writeCompact(w io.Writer, c *Check) error {
	var b bytes.Buffer
	c.shown(func(file *File, f *Finding) {
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s [%s]\n", shownPath(file.Path), f.Line, f.Column, f.Severity, quiet(printable(f.advice())), f.Code)
	})
	_, err := b.WriteTo(w)
	return err //nolint:wrapcheck // Write says what it did
}
