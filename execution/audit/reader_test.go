package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

// patience is how long a test waits for an event that must come.
const patience = 2 * time.Minute

func openReader(t *testing.T, dir string) *audit.Reader {
	t.Helper()
	r, err := audit.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestReaderPlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, audit.Config{RotateBytes: 4 << 10}, 50)
	for i, rec := range records(t, dir) {
		if rec.Event.Seq != int64(i+1) {
			t.Fatalf("event %d is at %d", rec.Event.Seq, i+1)
		}
		data := read(t, filepath.Join(dir, rec.Segment))
		line := splitLines(data)[rec.Line-1]
		if !bytes.Equal(line, append(bytes.Clone(rec.Raw), '\n')) || !bytes.HasPrefix(data[rec.Offset:], line) {
			t.Fatalf("event %d is not at line %d, byte %d of %s", rec.Event.Seq, rec.Line, rec.Offset, rec.Segment)
		}
	}
}

func TestReaderGoesOnAfterABadLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, audit.Config{}, 3)
	path := segmentFiles(t, dir)[0]
	lines := splitLines(read(t, path))
	lines[1] = []byte("not json\n")
	lines = append(lines, bytes.Repeat([]byte("x"), 17<<20), []byte("\n"), []byte(`{"torn`))
	write(t, path, bytes.Join(lines, nil))
	var got []string
	for rec, err := range openReader(t, dir).All(t.Context()) {
		var bad *audit.LineError
		switch {
		case errors.As(err, &bad):
			got = append(got, fmt.Sprintf("bad %d", bad.Line))
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, fmt.Sprint(rec.Event.Seq))
		}
	}
	if diff := cmp.Diff([]string{"1", "bad 2", "3", "bad 4"}, got); diff != "" {
		t.Error(diff)
	}
	summary, err := audit.Summarize(t.Context(), dir, audit.Filter{})
	if err != nil || summary.Events != 2 || summary.BadLines != 2 {
		t.Errorf("summary %+v, %v", summary, err)
	}
}

func TestReaderErrors(t *testing.T) {
	t.Parallel()
	if _, err := audit.OpenReader(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	dir := t.TempDir()
	fill(t, dir, audit.Config{}, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range openReader(t, dir).All(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	if _, err := audit.Verify(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled verify: %v", err)
	}
	for _, err := range openReader(t, dir).All(t.Context()) {
		if err != nil {
			t.Error(err)
		}
		break // a caller may stop the iteration
	}
}

func tail(t *testing.T, dir string, n int, filter audit.Filter) []int64 {
	t.Helper()
	var got []int64
	for rec, err := range openReader(t, dir).Tail(t.Context(), n, false, filter) {
		if err != nil {
			t.Fatal(err)
		}
		data := read(t, filepath.Join(dir, rec.Segment))
		if line := splitLines(data)[rec.Line-1]; !bytes.Equal(bytes.TrimSuffix(line, []byte("\n")), rec.Raw) {
			t.Fatalf("event %d is not at line %d of %s", rec.Event.Seq, rec.Line, rec.Segment)
		}
		got = append(got, rec.Event.Seq)
	}
	return got
}

func TestTail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, audit.Config{RotateBytes: 4 << 10}, 50)
	all := records(t, dir)
	for n := -1; n <= len(all)+1; n++ {
		count := min(n, len(all))
		if n < 0 {
			count = len(all)
		}
		var want []int64
		for _, rec := range all[len(all)-count:] {
			want = append(want, rec.Event.Seq)
		}
		if diff := cmp.Diff(want, tail(t, dir, n, audit.Filter{})); diff != "" {
			t.Fatalf("tail %d:\n%s", n, diff)
		}
		var seals []int64
		for _, rec := range all {
			if rec.Event.Type == audit.SegmentSeal {
				seals = append(seals, rec.Event.Seq)
			}
		}
		if n >= 0 && n < len(seals) {
			seals = seals[len(seals)-n:]
		}
		if n == 0 {
			seals = nil
		}
		if diff := cmp.Diff(seals, tail(t, dir, n, audit.Filter{Types: []audit.Type{audit.SegmentSeal}})); diff != "" {
			t.Fatalf("tail %d of the seals:\n%s", n, diff)
		}
	}
	if got := tail(t, t.TempDir(), 5, audit.Filter{}); got != nil {
		t.Errorf("an empty directory has the events %v", got)
	}
}

// TestFollow reads new events while the log is written and rotated.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := audit.Config{RotateBytes: 4 << 10}
	fill(t, dir, cfg, 10)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan string, 1000)
	done := make(chan struct{})
	r := openReader(t, dir)
	go func() {
		defer close(done)
		for rec, err := range r.Tail(ctx, 2, true, audit.Filter{Types: []audit.Type{audit.SessionOpen}}) {
			if err != nil {
				got <- err.Error()
				return
			}
			got <- rec.Event.QueryID
		}
	}()
	for _, want := range []string{name(8), name(9)} {
		if id := <-got; id != want {
			t.Fatalf("got %s of the past, want %s", id, want)
		}
	}
	log := openLog(t, dir, cfg)
	for i := range 60 {
		appendAll(t, log, small(fmt.Sprintf("new-%d", i)))
		if i%20 == 19 { // let the reader see the events in parts
			time.Sleep(250 * time.Millisecond)
		}
	}
	for i := range 60 {
		if id, want := <-got, fmt.Sprintf("new-%d", i); id != want {
			t.Fatalf("got %s, want %s", id, want)
		}
	}
	cancel()
	<-done
	if len(got) != 0 {
		t.Errorf("after the end came %s", <-got)
	}
}

// TestFollowOverARepair: when lines that the reader has passed are cut off, the
// reader still sees the lines that are written in their place.
func TestFollowOverARepair(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, audit.Config{}, 1)
	path := segmentFiles(t, dir)[0]
	write(t, path, append(read(t, path), bytes.Repeat([]byte("garbage\n"), 500)...))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var seen []int64
	for rec, err := range openReader(t, dir).Tail(ctx, 1, true, audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, rec.Event.Seq)
		switch rec.Event.Seq {
		case 1:
			fill(t, dir, audit.Config{}, 1) // repairs, and appends events 2 and 3
		case 3:
			if diff := cmp.Diff([]int64{1, 2, 3}, seen); diff != "" {
				t.Error(diff)
			}
			return
		}
	}
	t.Errorf("saw the events %v, want 1, 2, 3", seen)
}

func TestFollowFromNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openReader(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	log := openLog(t, t.TempDir(), audit.Config{})
	closeLog(t, log)
	var writer sync.WaitGroup
	defer writer.Wait() // the writer uses dir until its log is closed
	writer.Go(func() {
		log, err := audit.Open(dir, audit.Config{}, nil)
		if err == nil {
			err = errors.Join(log.Append(t.Context(), small("first")), log.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
	for rec, err := range r.Tail(ctx, 10, true, audit.Filter{}) {
		if err != nil || rec.Event.QueryID != "first" {
			t.Errorf("got %v, %v", rec.Event, err)
		}
		return
	}
	t.Error("the first event never came")
}

func TestFilter(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	e := decision("q1")
	e.Seq, e.Time, e.Principal = 7, at, "analyst"
	e.Decision.Verdict, e.Decision.Codes = audit.VerdictReject, []string{"write_in_cte", "write_statement"}
	e.Result.Code = "timeout"
	for _, f := range []audit.Filter{
		{},
		{Types: []audit.Type{audit.SessionOpen, audit.QueryDecision}},
		{Seq: 7},
		{QueryID: "q1"},
		{Principal: "analyst"},
		{Connection: "warehouse"},
		{Verdict: "reject"},
		{Code: "write_statement"},
		{Code: "timeout"},
		{Since: at},
		{Until: at.Add(1)},
	} {
		if !f.Match(e) {
			t.Errorf("%+v does not match", f)
		}
	}
	for _, f := range []audit.Filter{
		{Types: []audit.Type{audit.SessionOpen}},
		{Seq: 8},
		{QueryID: "q"},
		{Principal: "x"},
		{Connection: "x"},
		{Verdict: "allow"},
		{Code: "write"},
		{Since: at.Add(1)},
		{Until: at},
		{QueryID: "q1", Principal: "x"},
	} {
		if f.Match(e) {
			t.Errorf("%+v matches", f)
		}
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := openLog(t, dir, audit.Config{})
	ctx := analyst(t.Context())
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	put := func(e audit.Event) {
		t.Helper()
		if err := log.Append(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		id := fmt.Sprintf("q%d", i)
		e := decision(id)
		e.Time = start.Add(time.Duration(i) * time.Second)
		e.Decision.LatencyUS = int64(100 - i)
		if i%10 == 0 {
			e.Decision.Verdict, e.Decision.Codes = audit.VerdictReject, []string{"write_statement", "ddl_statement"}
			e.Connection.ID = "demo"
			put(e)
			continue
		}
		put(e)
		end := audit.Event{Type: audit.QueryFinished, QueryID: id, Time: e.Time, Result: audit.Result{Status: audit.StatusOK, ExecMS: float64(i) / 2}}
		switch i {
		case 98:
			continue // never ends
		case 99:
			end.Type, end.Result.Status, end.Result.Code = audit.QueryCancelled, audit.StatusCancelled, "timeout"
		}
		put(end)
	}
	closeLog(t, log)
	var size int64
	for _, path := range segmentFiles(t, dir) {
		size += int64(len(read(t, path)))
	}
	got, err := audit.Summarize(t.Context(), dir, audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	want := audit.Summary{
		Events: 189, Bytes: size, First: start, Last: start.Add(99 * time.Second),
		Types:       map[audit.Type]int64{audit.QueryDecision: 100, audit.QueryFinished: 88, audit.QueryCancelled: 1},
		Verdicts:    map[string]int64{"allow": 90, "reject": 10},
		Codes:       map[string]int64{"write_statement": 10, "ddl_statement": 10, "timeout": 1},
		Connections: map[string]int64{"warehouse": 90, "demo": 10},
		Principals:  map[string]int64{"analyst": 100},
		LatencyUS:   audit.Quantiles{Count: 100, P50: 50, P95: 95, Max: 100},
		ExecMS:      audit.Quantiles{Count: 89, P50: 24.5, P95: 47, Max: 49.5},
		Unfinished:  1, OpenQueries: []string{"q98"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, err = audit.Summarize(t.Context(), dir, audit.Filter{Types: []audit.Type{audit.QueryDecision}, Since: start.Add(50 * time.Second)})
	if err != nil || got.Events != 50 || got.Unfinished != 1 {
		t.Errorf("decisions of the second half: %+v, %v", got, err)
	}
	if _, err := audit.Summarize(t.Context(), filepath.Join(dir, "none"), audit.Filter{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

func TestProblemText(t *testing.T) {
	t.Parallel()
	p := audit.Problem{Kind: audit.ProblemEdited, Segment: "audit-000002.jsonl", Line: 3, Seq: 17, Detail: "why"}
	if got, want := p.String(), "audit-000002.jsonl line 3 (event 17): edited: why"; got != want {
		t.Errorf("got %q", got)
	}
	p.Line = 0
	if got := p.String(); !strings.HasPrefix(got, "audit-000002.jsonl: edited") {
		t.Errorf("got %q", got)
	}
	p.Segment = ""
	if got, want := p.String(), "edited: why"; got != want {
		t.Errorf("got %q", got)
	}
}
