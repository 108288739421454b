package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ktxhq/ktx/corpus"
)

// Schema names the format of run files.
const Schema = "ktx-run/1"

// MaxFile is the most bytes of a run file.
const MaxFile = 256 << 20

// scored is a score as a run file has it.
type scored struct {
	Score
	Rates
}

// WriteFile writes the run file (ktx-run/1).
func WriteFile(w io.Writer, source map[string]any, guard Guard, results []Result) error {
	scores := []scored{}
	for _, s := range Scores(results) {
		scores = append(scores, scored{s, s.Rates()})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(struct {
		Schema  string            `json:"schema"`
		Corpus  map[string]any    `json:"corpus"`
		Guard   map[string]string `json:"guard"`
		Scores  []scored          `json:"scores"`
		Results []Result          `json:"results"`
	}{Schema, source, guard.Describe(), scores, results})
	if err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	return nil
}

// File is a stored run.
type File struct {
	Corpus  map[string]any    `json:"corpus"`
	Guard   map[string]string `json:"guard"`
	Results []Result          `json:"results"`
}

// ReadFile reads a run file. A result needs id, dialect, decision and expect.
// If it has no `met`, ReadFile derives that. It ignores unknown members. A file
// without results is an error, because nothing can be compared with it.
func ReadFile(r io.Reader) (*File, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("read run: longer than %d bytes", MaxFile)
	}
	var doc struct {
		Schema string `json:"schema"`
		File
		Results []struct {
			Result
			Met *bool `json:"met"`
		} `json:"results"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	if doc.Schema != Schema {
		return nil, fmt.Errorf("read run: schema is %q, not %q", doc.Schema, Schema)
	}
	if len(doc.Results) == 0 {
		return nil, errors.New("read run: no results")
	}
	f := &doc.File
	seen := map[string]bool{}
	for i, raw := range doc.Results {
		r := raw.Result
		switch {
		case r.ID == "" || r.Dialect == "":
			return nil, fmt.Errorf("read run: result %d has no id or no dialect", i+1)
		case seen[r.ID]:
			return nil, fmt.Errorf("read run: result %d: the id %q is already used", i+1, r.ID)
		case !slices.Contains([]Decision{Allow, Reject, Error}, r.Decision):
			return nil, fmt.Errorf("read run: result %d: decision is %q; it must be allow, reject or error", i+1, r.Decision)
		case !slices.Contains([]corpus.Expect{corpus.Reject, corpus.Allow, corpus.Policy}, r.Expect):
			return nil, fmt.Errorf("read run: result %d: expect is %q; it must be reject, allow or policy", i+1, r.Expect)
		case !slices.Contains([]Fault{"", Crash, TimeOut, BadReply}, r.Fault):
			return nil, fmt.Errorf("read run: result %d: fault is %q; it must be crash, timeout or bad_reply", i+1, r.Fault)
		}
		seen[r.ID] = true
		r.Met = meets(r.Decision, corpus.Case{Expect: r.Expect}, false)
		if raw.Met != nil {
			r.Met = *raw.Met
		}
		f.Results = append(f.Results, r)
	}
	return f, nil
}
