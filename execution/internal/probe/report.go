// Package probe collects what a backend finds out about its role, its session
// and its server.
package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
)

// maxSkew is the clock difference above which the report warns: the audit log
// has this machine's times, the server's logs have the server's times.
const maxSkew = 5 * time.Second

// Report is a report in the making.
type Report struct{ execution.ProbeReport }

// Run runs the steps in order, up to the first that fails, and sorts their
// findings.
func (r *Report) Run(ctx context.Context, steps ...func(context.Context) error) error {
	r.Findings = []execution.ProbeFinding{}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b execution.ProbeFinding) int {
		return strings.Compare(string(b.Level), string(a.Level)) // warnings before notes
	})
	return nil
}

// Warn adds a warning. fix says what the operator can do. message is a format
// string.
func (r *Report) Warn(topic execution.ProbeTopic, fix, message string, args ...any) {
	r.Add(execution.ProbeWarning, topic, fix, message, args...)
}

// Note adds a note.
func (r *Report) Note(topic execution.ProbeTopic, fix, message string, args ...any) {
	r.Add(execution.ProbeNote, topic, fix, message, args...)
}

// Add adds a finding.
func (r *Report) Add(level execution.ProbeLevel, topic execution.ProbeTopic, fix, message string, args ...any) {
	r.Findings = append(r.Findings, execution.ProbeFinding{
		Level: level, Topic: topic, Message: fmt.Sprintf(message, args...), Fix: fix,
	})
}

// Clock compares this machine's clock with the server's clock, which read
// server at some time between before and after.
func (r *Report) Clock(before, after, server time.Time) {
	ahead := Skew(before, after, server)
	r.ClockSkewMS = ahead.Milliseconds()
	if ahead.Abs() <= maxSkew {
		return
	}
	way := "ahead of"
	if ahead < 0 {
		way = "behind"
	}
	r.Warn(execution.TopicServer, "synchronise both clocks", "the server's clock is at least %s %s this machine's: times in the audit log and in the server's logs do not match", ahead.Abs().Round(time.Second), way)
}

// Skew returns by how much a clock is certainly ahead that read server at some
// time between before and after. It is negative for a clock that is behind, and
// 0 for a clock that may be right.
func Skew(before, after, server time.Time) time.Duration {
	switch {
	case server.Before(before):
		return server.Sub(before)
	case server.After(after):
		return server.Sub(after)
	default:
		return 0
	}
}
