package prove

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/corpus"
)

// Summary counts the reports of one engine. The counts are about the cases that
// a guard must or may refuse, except those for twins.
type Summary struct {
	Engine, Version string
	Ran, Skipped    int
	Executed        int // as administrator, outside of a read-only transaction
	Refused         int // as administrator, by the engine
	TimedOut        int
	Crashed         int
	Changed         int // as administrator, and the state changed
	Contained       int // executed as administrator, and refused inside a read-only transaction
	ReaderExecuted  int // as the role that may only read, outside of a read-only transaction
	ReaderChanged   int
	Twins           int
	TwinsExecuted   int // as administrator, inside a read-only transaction
	// Contradictions are differences between the corpus and the reports. Notes
	// are claims of the corpus that no report shows.
	Contradictions []string
	Notes          []string
}

// Add counts one report.
func (s *Summary) Add(r Report) {
	if r.Skipped != "" {
		s.Skipped++
		s.Notes = append(s.Notes, r.Case.ID+": not run: "+r.Skipped)
		return
	}
	if len(r.Observations) != 4 {
		return
	}
	plain, contained, reader := r.Observations[0].Outcome, r.Observations[1].Outcome, r.Observations[2].Outcome
	if r.Case.Expect == corpus.Allow {
		s.twin(r, contained)
		return
	}
	s.Ran++
	switch plain.Result {
	case Executed:
		s.Executed++
	case Failed:
		s.Refused++
	case TimedOut:
		s.TimedOut++
	case Crashed:
		s.Crashed++
	}
	if len(plain.Changed) > 0 {
		s.Changed++
	}
	if reader.Result == Executed || reader.Result == TimedOut {
		s.ReaderExecuted++
	}
	if len(reader.Changed) > 0 {
		s.ReaderChanged++
	}
	if seen := seenContained(plain, contained); seen != nil && *seen {
		s.Contained++
	}
	s.compare(r.Case, plain, contained)
}

func (s *Summary) twin(r Report, o Outcome) {
	s.Twins++
	if o.Result == Executed {
		s.TwinsExecuted++
	} else if r.Case.Engine == nil || len(r.Case.Engine.Needs) == 0 {
		s.Contradictions = append(s.Contradictions, fmt.Sprintf("%s: must pass, and %s in a read-only transaction", r.Case.ID, o.Text()))
	}
	for _, seen := range r.Observations {
		if len(seen.Outcome.Changed) > 0 {
			s.Contradictions = append(s.Contradictions, fmt.Sprintf("%s: must pass, and as %s, transaction %s, changed %s",
				r.Case.ID, seen.Attempt.Role, seen.Attempt.Tx(), strings.Join(seen.Outcome.Changed, ", ")))
			return
		}
	}
}

// seenContained reports whether a read-only transaction alone stopped what the
// statement does without one. It is nil if the two outcomes do not tell: the
// statement fails in both, or it runs in both and only the plain run left a
// trace.
func seenContained(plain, readOnly Outcome) *bool {
	yes, no := true, false
	switch {
	case plain.Result == Failed:
		return nil
	case readOnly.Code == limitReached:
		return nil // a limit of this program stopped it
	case readOnly.Result == Failed && len(readOnly.Changed) == 0:
		return &yes
	case readOnly.Result == Failed:
		return &no // it failed and still left a trace
	case len(plain.Changed) > 0 && len(readOnly.Changed) == 0:
		return nil
	}
	return &no
}

// traces are the effects that a probe can see.
var traces = []string{
	"data_write", "schema_write", "privilege_change", "transaction_end", "session_change", "notification", "lock", "sequence", "file_write",
}

func (s *Summary) compare(c corpus.Case, plain, readOnly Outcome) {
	if c.Effect == nil {
		return
	}
	if said, seen := c.Effect.ContainedByReadOnlyTx, seenContained(plain, readOnly); said != nil && seen != nil && *said != *seen && (*said || !s.loose(c)) {
		s.Contradictions = append(s.Contradictions, fmt.Sprintf("%s: contained_by_read_only_tx is %t; plain: %s, read only: %s", c.ID, *said, shownOutcome(plain), shownOutcome(readOnly)))
	}
	switch {
	case plain.Result == Failed && len(plain.Changed) == 0 && c.Effect.Kind != "none":
		s.Notes = append(s.Notes, fmt.Sprintf("%s: %s was not seen: %s", c.ID, c.Effect.Kind, plain.Text()))
	case plain.Result == Executed && c.Effect.Kind == "none" && len(plain.Changed) > 0:
		s.Contradictions = append(s.Contradictions, fmt.Sprintf("%s: effect is none; plain: %s", c.ID, shownOutcome(plain)))
	case plain.Result == Executed && len(plain.Changed) == 0 && slices.Contains(traces, c.Effect.Kind):
		s.Notes = append(s.Notes, fmt.Sprintf("%s: %s was not seen: it executed and left no trace", c.ID, c.Effect.Kind))
	}
}

// loose reports whether another version of the engine, or the other server of
// the family, ran the case inside a read-only transaction. Then the effect is
// not contained, whatever this engine does.
func (s *Summary) loose(c corpus.Case) bool {
	return slices.ContainsFunc(c.Evidence, func(e corpus.Evidence) bool {
		other := e.Engine != s.Engine || major(e.Engine, e.Version) != major(s.Engine, s.Version)
		ran := e.Outcome == string(Executed) || e.Outcome == string(TimedOut)
		return other && ran && slices.Contains(strings.Split(e.Tx, together), "read_only")
	})
}

func shownOutcome(o Outcome) string {
	if probe := o.Probe(); probe != "" {
		return o.Text() + " (" + probe + ")"
	}
	return o.Text()
}

// Print writes the summary as text.
func (s *Summary) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %d cases ran, %d were not run\n", s.Engine, s.Version, s.Ran, s.Skipped)
	fmt.Fprintf(&b, "  administrator: %d executed, %d refused by the engine, %d stopped at the time limit, %d crashed the server; %d changed state; %d contained by a read-only transaction\n",
		s.Executed, s.Refused, s.TimedOut, s.Crashed, s.Changed, s.Contained)
	fmt.Fprintf(&b, "  role that may only read: %d executed or were stopped at the time limit; %d changed state\n", s.ReaderExecuted, s.ReaderChanged)
	fmt.Fprintf(&b, "  benign twins: %d of %d executed in a read-only transaction\n", s.TwinsExecuted, s.Twins)
	for _, line := range s.Notes {
		b.WriteString("  note: " + line + "\n")
	}
	for _, line := range s.Contradictions {
		b.WriteString("  contradiction: " + line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
