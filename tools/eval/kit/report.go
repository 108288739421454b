package kit

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// A Report is what was measured.
type Report struct {
	Version int      `json:"version"` // of this form
	Figures []Figure `json:"figures"`
	// Notes say what was not measured, and why.
	Notes []string `json:"notes"`
}

// A Figure is one measured value.
type Figure struct {
	Data     string   `json:"data"`     // the data set
	Question string   `json:"question"` // what was asked for
	Measure  string   `json:"measure"`  // such as recall@10
	Value    float64  `json:"value"`
	Count    int      `json:"count"`         // questions, tables or relationships
	Bar      *float64 `json:"bar,omitempty"` // what is required, if anything is
	Result   string   `json:"result"`        // met or missed; "" without a bar
}

// reportVersion is the version of the JSON form.
const reportVersion = 1

// The results of a figure.
const (
	met    = "met"
	missed = "missed"
)

// figure adds a figure without a bar.
func (r *Report) figure(data, question, measure string, value float64, count int) {
	r.Figures = append(r.Figures, Figure{Data: data, Question: question, Measure: measure, Value: value, Count: count})
}

// atLeast adds a figure which a bar requires to be as great as it. A bar of 0 is none.
func (r *Report) atLeast(bar float64, data, question, measure string, value float64, count int) {
	r.figure(data, question, measure, value, count)
	if bar > 0 {
		r.judge(bar, value >= bar)
	}
}

// none adds a figure that has to be 0.
func (r *Report) none(data, question, measure string, value, count int) {
	r.figure(data, question, measure, float64(value), count)
	r.judge(0, value == 0)
}

// judge sets the bar of the last figure.
func (r *Report) judge(bar float64, ok bool) {
	f := &r.Figures[len(r.Figures)-1]
	f.Bar, f.Result = &bar, missed
	if ok {
		f.Result = met
	}
}

// writeJSON writes the report as JSON.
func (r *Report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// writeTable writes the report as a table with a line for each figure.
func (r *Report) writeTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "DATA\tQUESTION\tMEASURE\tBAR\tFIGURE\tCOUNT\tRESULT")
	for _, f := range r.Figures {
		bar := "-"
		if f.Bar != nil {
			bar = fmt.Sprintf("%.2f", *f.Bar)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.3f\t%d\t%s\n", f.Data, f.Question, f.Measure, bar, f.Value, f.Count, f.Result)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, n := range r.Notes {
		if _, err := fmt.Fprintln(w, n); err != nil {
			return err
		}
	}
	return nil
}
