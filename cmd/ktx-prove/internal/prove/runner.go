package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/corpus"
)

// Observation is the result of one attempt.
type Observation struct {
	Attempt Attempt
	Outcome Outcome
}

// Report is the result of one case on one engine.
type Report struct {
	Case         corpus.Case
	Skipped      string // why it did not run; empty if it ran
	Observations []Observation
}

// runner runs cases on one engine, one after the other.
type runner struct {
	engine engine
	before State // the state of the fixture; nil if it must be read
}

// run runs a case in all four ways. After an error, the engine cannot be used
// any more.
func (r *runner) run(ctx context.Context, c corpus.Case) (Report, error) {
	report := Report{Case: c, Skipped: r.skip(c)}
	if report.Skipped != "" {
		return report, nil
	}
	for _, role := range r.engine.roles() {
		for _, readOnly := range []bool{false, true} {
			a := Attempt{Role: role, ReadOnly: readOnly}
			o, err := r.attempt(ctx, a, c)
			if failed, ok := errors.AsType[*setupError](err); ok {
				report.Skipped, report.Observations = "this engine cannot "+failed.Error(), nil
				r.before = nil
				return report, r.engine.reset(ctx)
			}
			if err != nil {
				return report, fmt.Errorf("%s as %s, transaction %s: %w", c.ID, a.Role, a.Tx(), err)
			}
			report.Observations = append(report.Observations, Observation{a, o})
		}
	}
	return report, nil
}

func (r *runner) skip(c corpus.Case) string {
	if reason := never[c.ID]; reason != "" {
		return reason
	}
	if remote[c.ID] && !alone.own {
		return "connects to another machine, and this program has no network of its own"
	}
	if c.Engine != nil && c.Engine.Name != "" && c.Engine.Name != r.engine.name() {
		return "is about " + c.Engine.Name
	}
	if c.Engine != nil && !within(r.engine.version(), c.Engine.Min, c.Engine.Max) {
		return "is about other versions"
	}
	if _, shell := r.engine.(*liteShell); shell && (c.Engine == nil || len(c.Engine.Needs) == 0) {
		return "needs no shell"
	}
	if _, shell := r.engine.(*client); shell && c.Class != "client-command" {
		return "is no command of a client"
	}
	if path := occupied(namedPaths(c.SQL)); path != "" {
		return "names " + path + ", where something lies already"
	}
	return ""
}

// within reports whether a version is between first and last. Both may be
// empty. last may be shorter: 5.7 includes 5.7.44.
func within(version, first, last string) bool {
	v, lo, hi := numbers(version), numbers(first), numbers(last)
	return (first == "" || slices.Compare(v, lo) >= 0) && (last == "" || slices.Compare(v[:min(len(v), len(hi))], hi) <= 0)
}

// numbers returns the numbers of a version, up to the first part that is not a
// number.
func numbers(version string) (list []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		list = append(list, n)
	}
	return list
}

// crashed reports whether the log of a server says that a signal ended one of
// its processes. It knows the messages of PostgreSQL, MariaDB and MySQL.
func crashed(log string) bool {
	return strings.Contains(log, "was terminated by signal") || strings.Contains(log, "got signal ")
}

func (r *runner) attempt(ctx context.Context, a Attempt, c corpus.Case) (Outcome, error) {
	prepared, err := r.engine.prepare(ctx, c)
	if err != nil {
		return Outcome{}, fmt.Errorf("prepare: %w", err)
	}
	if prepared {
		r.before = nil
	}
	if r.before == nil {
		if r.before, err = r.engine.snapshot(ctx); err != nil {
			return Outcome{}, fmt.Errorf("probe before: %w", err)
		}
	}
	made := there(namedPaths(c.SQL))
	logged := len(r.engine.log())
	alone.take()
	o, err := r.engine.try(ctx, a, c)
	if err != nil {
		return o, err
	}
	ran := o.Result == Executed || o.Result == TimedOut
	o.Slow = ran && o.took >= slow && c.Effect != nil && c.Effect.Kind == "resource"
	o.Changed = append(o.Changed, alone.take()...)
	written, err := takeFiles(namedPaths(c.SQL))
	if err != nil {
		return o, fmt.Errorf("remove what the statement wrote: %w", err)
	}
	written = slices.DeleteFunc(written, func(name string) bool { return slices.Contains(made, name) })
	after, probeErr := r.engine.snapshot(ctx)
	lasting := r.before.Changed(after)
	if len(lasting) > 1 {
		lasting = slices.DeleteFunc(lasting, func(name string) bool { return name == fileContent })
	}
	if probeErr != nil {
		// The effects of the statement cannot be seen, because the server or
		// its sessions are gone.
		lasting = []string{"server"}
	}
	if log := r.engine.log(); crashed(log[min(logged, len(log)):]) {
		o.Result, o.Code = Crashed, ""
	}
	o.Changed = slices.Compact(slices.Sorted(slices.Values(slices.Concat(o.Changed, written, lasting))))
	if prepared || len(lasting) > 0 || o.Result == Crashed || slices.Contains(o.Changed, runsOn) {
		r.before = nil
		if err := r.engine.reset(ctx); err != nil {
			return o, errors.Join(fmt.Errorf("put the server back: %w", err), probeErr)
		}
	}
	return o, nil
}
