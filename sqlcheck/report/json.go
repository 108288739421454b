package report

import (
	"bufio"
	"encoding/json"
	"io"
)

const schema = "ktx-check/1"

func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(escaping{w})
	e.SetEscapeHTML(false)
	return e
}

// writeJSON writes one document with the whole verdicts.
func writeJSON(w io.Writer, c *Check) error {
	e := encoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct { //nolint:wrapcheck // Write says what it did
		Schema  string  `json:"schema"`
		Summary Summary `json:"summary"`
		Files   []File  `json:"files"`
	}{schema, c.Summary, c.Files})
}

// writeJSONL writes a line for each finding, and a last line with the summary.
func writeJSONL(w io.Writer, c *Check) error {
	b := bufio.NewWriter(w)
	e := encoder(b)
	for i := range c.Files {
		file := &c.Files[i]
		for j := range file.Findings {
			f := &file.Findings[j]
			line := struct {
				Type    string `json:"type"`
				File    string `json:"file"`
				Dialect string `json:"dialect,omitempty"`
				*Finding
			}{"finding", file.Path, file.Dialect, f}
			if err := e.Encode(line); err != nil {
				return err //nolint:wrapcheck // Write says what it did
			}
		}
	}
	last := struct {
		Type   string `json:"type"`
		Schema string `json:"schema"`
		Summary
	}{"summary", schema, c.Summary}
	if err := e.Encode(last); err != nil {
		return err //nolint:wrapcheck // as above
	}
	return b.Flush() //nolint:wrapcheck // as above
}
