package corpusrun

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/sqlguard"
)

// Decision is what a guard answered.
type Decision string

// The decisions. Error stands for no answer: no reader, a crash, a time-out.
const (
	Allow  Decision = "allow"
	Reject Decision = "reject"
	Error  Decision = "error"
)

// Result is the answer to one case.
type Result struct {
	ID        string        `json:"id"`
	Dialect   string        `json:"dialect"`
	Class     string        `json:"class,omitempty"`
	Decision  Decision      `json:"decision"`
	Code      sqlguard.Code `json:"code,omitempty"`
	Expect    corpus.Expect `json:"expect"`
	LatencyUS int64         `json:"latency_us"`
	// Met says that the decision is the one expected; for policy cases, the
	// default that the case names.
	Met bool `json:"met"`
	// Agrees says that the code is one that the case lists.
	Agrees bool `json:"agrees"`
}

// Guard answers cases.
type Guard interface {
	// Describe names the guard and its version.
	Describe() map[string]string
	// Decide answers one text.
	Decide(ctx context.Context, dialect, sql string) (Decision, sqlguard.Code)
}

// Builtin is the product's own guard with the policy of a configuration that
// says nothing.
type Builtin struct {
	version string
	guards  map[string]*sqlguard.Guard
}

// NewBuiltin returns the guard over the given dialects.
func NewBuiltin(version string, dialects []sqlguard.Dialect) (*Builtin, error) {
	b := &Builtin{version: version, guards: map[string]*sqlguard.Guard{}}
	for _, d := range dialects {
		g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
		if err != nil {
			return nil, fmt.Errorf("corpus run: %w", err)
		}
		b.guards[d.Name()] = g
	}
	return b, nil
}

// Describe implements Guard.
func (b *Builtin) Describe() map[string]string {
	out := map[string]string{"name": "builtin", "version": b.version}
	for name, g := range b.guards {
		out[name] = g.Dialect().Version()
	}
	return out
}

// Decide implements Guard.
func (b *Builtin) Decide(_ context.Context, dialect, sql string) (Decision, sqlguard.Code) {
	g := b.guards[dialect]
	if g == nil {
		return Error, sqlguard.CodeUnsupportedDialect
	}
	if v := g.Check(sql); !v.Allowed {
		return Reject, v.Code
	}
	return Allow, ""
}

// Run puts every case to the guard, in order, until ctx ends. onCase, when not
// nil, is called after each.
func Run(ctx context.Context, guard Guard, cases []corpus.Case, onCase func()) ([]Result, error) {
	results := make([]Result, 0, len(cases))
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return results, fmt.Errorf("corpus run: %w", err)
		}
		start := time.Now()
		decision, code := guard.Decide(ctx, c.Dialect, c.SQL)
		r := Result{
			ID: c.ID, Dialect: c.Dialect, Class: c.Class, Decision: decision, Code: code, Expect: c.Expect,
			LatencyUS: time.Since(start).Microseconds(),
		}
		want := Decision(c.Expect)
		if c.Expect == corpus.Policy && c.Policy != nil {
			want = Decision(c.Policy.Default)
		}
		r.Met = decision == want || c.Expect == corpus.Policy && c.Policy == nil && decision != Error
		r.Agrees = decision == Reject && slices.Contains(c.Codes, string(code))
		results = append(results, r)
		if onCase != nil {
			onCase()
		}
	}
	return results, nil
}

// Score counts the answers of one dialect and class.
type Score struct {
	Dialect      string `json:"dialect"`
	Class        string `json:"class"` // "" over all classes
	Rejects      int    `json:"rejects"`
	Bypasses     int    `json:"bypasses"`
	Allows       int    `json:"allows"`
	FalseRejects int    `json:"falseRejects"`
	Errors       int    `json:"errors"`
	Agreements   int    `json:"agreements"` // refusals whose code the case lists
	P50US        int64  `json:"p50_us"`
	P95US        int64  `json:"p95_us"`
}

// Scores sums up results, by dialect over all classes and then by class.
func Scores(results []Result) []Score {
	type key struct{ dialect, class string }
	sums := map[key]*Score{}
	times := map[key][]int64{}
	for _, r := range results {
		keys := []key{{r.Dialect, ""}}
		if r.Class != "" {
			keys = append(keys, key{r.Dialect, r.Class})
		}
		for _, k := range keys {
			s := sums[k]
			if s == nil {
				s = &Score{Dialect: k.dialect, Class: k.class}
				sums[k] = s
			}
			s.count(r)
			times[k] = append(times[k], r.LatencyUS)
		}
	}
	out := make([]Score, 0, len(sums))
	for k, s := range sums {
		slices.Sort(times[k])
		s.P50US, s.P95US = times[k][len(times[k])/2], times[k][len(times[k])*95/100]
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Score) int {
		return cmp.Or(cmp.Compare(a.Dialect, b.Dialect), cmp.Compare(a.Class, b.Class))
	})
	return out
}

func (s *Score) count(r Result) {
	switch r.Expect {
	case corpus.Reject:
		s.Rejects++
		if r.Decision == Allow {
			s.Bypasses++
		}
	case corpus.Allow:
		s.Allows++
		if r.Decision == Reject {
			s.FalseRejects++
		}
	case corpus.Policy:
	}
	if r.Decision == Error {
		s.Errors++
	}
	if r.Agrees {
		s.Agreements++
	}
}

// WriteFile writes the run file (ktx-run/1).
func WriteFile(w io.Writer, source map[string]any, guard Guard, results []Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(struct {
		Schema  string            `json:"schema"`
		Corpus  map[string]any    `json:"corpus"`
		Guard   map[string]string `json:"guard"`
		Scores  []Score           `json:"scores"`
		Results []Result          `json:"results"`
	}{"ktx-run/1", source, guard.Describe(), Scores(results), results})
	if err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	return nil
}
