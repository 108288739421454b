package probe_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/probe"
)

func TestSkew(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(1_000_000 + int64(ms)) }
	for _, v := range []struct{ before, after, server, want int }{
		{0, 10, 5, 0},
		{0, 10, 0, 0},
		{0, 10, 10, 0},
		{0, 10, 6010, 6000},
		{0, 10, -7000, -7000},
		{0, 10_000, 9_000, 0},
		{0, 1000, 0, 0},
		{0, 1000, 1000, 0},
		{0, 1000, 2000, 1000},
		{0, 1000, -1000, -1000},
	} {
		if got := probe.Skew(at(v.before), at(v.after), at(v.server)); got != time.Duration(v.want)*time.Millisecond {
			t.Errorf("%+v: %s", v, got)
		}
	}
}

func TestClock(t *testing.T) {
	now := time.Now()
	for _, v := range []struct {
		server time.Duration
		want   string
	}{
		{0, ""},
		{4 * time.Second, ""},
		{-4 * time.Second, ""},
		{90 * time.Second, "the server's clock is at least 1m30s ahead of this machine's: times in the audit log and in the server's logs do not match"},
		{-90 * time.Second, "the server's clock is at least 1m30s behind this machine's: times in the audit log and in the server's logs do not match"},
	} {
		var r probe.Report
		r.Clock(now, now, now.Add(v.server))
		var got string
		for _, f := range r.Findings {
			got += f.Message
		}
		if got != v.want || r.ClockSkewMS != v.server.Milliseconds() {
			t.Errorf("%s: %q, %d ms", v.server, got, r.ClockSkewMS)
		}
	}
}

// Steps run in order up to the first that fails; warnings come before notes.
func TestRun(t *testing.T) {
	var r probe.Report
	note := func(context.Context) error { r.Note(execution.TopicRole, "", "a note of %d", 1); return nil }
	warn := func(context.Context) error { r.Warn(execution.TopicRole, "mend it", "a warning"); return nil }
	if err := r.Run(t.Context(), note, warn, note); err != nil {
		t.Fatal(err)
	}
	want := []execution.ProbeFinding{
		{Level: execution.ProbeWarning, Topic: execution.TopicRole, Message: "a warning", Fix: "mend it"},
		{Level: execution.ProbeNote, Topic: execution.TopicRole, Message: "a note of 1"},
		{Level: execution.ProbeNote, Topic: execution.TopicRole, Message: "a note of 1"},
	}
	if !slices.Equal(r.Findings, want) {
		t.Errorf("%+v", r.Findings)
	}
	broken := errors.New("broken")
	if err := r.Run(t.Context(), func(context.Context) error { return broken }, warn); !errors.Is(err, broken) || r.Findings == nil || len(r.Findings) != 0 {
		t.Errorf("%v, %+v", err, r.Findings)
	}
}
