package audit_test

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

// decided and ended are the two events of a statement.
func decided(id string, verdict string) audit.Event {
	return audit.Event{Type: audit.QueryDecision, QueryID: id, Principal: "p", Decision: audit.Decision{Verdict: verdict}}
}

func ended(id string, rows int64) audit.Event {
	return audit.Event{Type: audit.QueryFinished, QueryID: id, Result: audit.Result{Status: audit.StatusOK, Rows: rows}}
}

// numbered yields events with their numbers, the last one first when back is
// set.
func numbered(events []audit.Event, back bool) iter.Seq2[audit.Record, error] {
	events = slices.Clone(events)
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	if back {
		slices.Reverse(events)
	}
	return func(yield func(audit.Record, error) bool) {
		for _, e := range events {
			if !yield(audit.Record{Event: e}, nil) {
				return
			}
		}
	}
}

// joined renders each statement as the number of its decision, its id, its
// status and its rows.
func joined(t *testing.T, statements iter.Seq2[audit.Statement, error]) []string {
	t.Helper()
	var out []string
	for s, err := range statements {
		if err != nil {
			t.Fatal(err)
		}
		e := s.Event()
		out = append(out, fmt.Sprintf("%d %s %s %d", s.Decision.Seq, e.QueryID, s.Status(), e.Result.Rows))
	}
	return out
}

func TestStatements(t *testing.T) {
	t.Parallel()
	events := []audit.Event{
		decided("a", audit.VerdictAllow), small("x"), decided("b", audit.VerdictReject), ended("a", 7),
		decided("c", audit.VerdictAllow), decided("d", audit.VerdictAllow), ended("d", 1), ended("lost", 3),
		decided("e", audit.VerdictAllow),
		{Type: audit.QueryCancelled, QueryID: "e", Result: audit.Result{Status: audit.StatusCancelled}},
	}
	// An outcome without a decision is yielded when it is read.
	want := []string{"1 a ok 7", "3 b refused 0", "0 lost undecided 3", "5 c unfinished 0", "6 d ok 1", "9 e cancelled 0"}
	got := joined(t, audit.Statements(numbered(events, false)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	back := []string{"9 e cancelled 0", "6 d ok 1", "5 c unfinished 0", "3 b refused 0", "1 a ok 7", "0 lost undecided 3"}
	if diff := cmp.Diff(back, joined(t, audit.NewestStatements(numbered(events, true)))); diff != "" {
		t.Error(diff)
	}
}

// TestStatementsAgree: over random logs, both directions find the same
// statements, each in its own order. None is lost or invented.
func TestStatementsAgree(t *testing.T) {
	t.Parallel()
	for seed := range 200 {
		rng := rand.New(rand.NewPCG(uint64(seed), 2))
		var events []audit.Event
		var open []string
		statements := 0
		for range 400 {
			switch n := rng.IntN(10); {
			case n < 5:
				id := fmt.Sprintf("q%d", statements)
				statements++
				if rng.IntN(4) == 0 {
					events = append(events, decided(id, audit.VerdictReject))
					break
				}
				events = append(events, decided(id, audit.VerdictAllow))
				if rng.IntN(20) > 0 { // otherwise it never ends
					open = append(open, id)
				}
			case n < 9 && len(open) > 0:
				i := rng.IntN(len(open))
				events = append(events, ended(open[i], int64(i)))
				open = slices.Delete(open, i, i+1)
			default:
				events = append(events, small("x"))
			}
		}
		forth := joined(t, audit.Statements(numbered(events, false)))
		back := joined(t, audit.NewestStatements(numbered(events, true)))
		slices.Reverse(back)
		if diff := cmp.Diff(back, forth); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		if len(forth) != statements {
			t.Fatalf("seed %d: %d statements, want %d", seed, len(forth), statements)
		}
	}
}

// TestStatementsDoNotWait: a statement that does not end holds back at most
// 1,000 others. When it ends later, it is still joined with its outcome.
func TestStatementsDoNotWait(t *testing.T) {
	t.Parallel()
	events := []audit.Event{decided("never", audit.VerdictAllow), decided("late", audit.VerdictAllow)}
	for i := range 3000 {
		id := strconv.Itoa(i)
		events = append(events, decided(id, audit.VerdictAllow), ended(id, 0))
	}
	events = append(events, ended("late", 5))
	seen, when := 0, map[string]int{}
	for s, err := range audit.Statements(numbered(events, false)) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		when[s.Decision.QueryID+" "+s.Status()] = seen
	}
	if seen != 3002 || when["late ok"] != 3001 || when["never unfinished"] != 3002 || when["0 ok"] != 1 {
		t.Errorf("%d statements; late %d, never %d, 0 %d", seen, when["late ok"], when["never unfinished"], when["0 ok"])
	}
}

// TestStatementsAreBounded: a log without any outcome, and one without any
// decision, are read without holding all events.
func TestStatementsAreBounded(t *testing.T) {
	t.Parallel()
	const n = 60_000
	endless := func(event func(id string) audit.Event) iter.Seq2[audit.Record, error] {
		return func(yield func(audit.Record, error) bool) {
			for i := range n {
				e := event(strconv.Itoa(i))
				e.Seq = int64(i + 1)
				if !yield(audit.Record{Event: e}, nil) {
					return
				}
			}
		}
	}
	for name, c := range map[string]struct {
		statements iter.Seq2[audit.Statement, error]
		status     string
	}{
		"no end, forwards":       {audit.Statements(endless(func(id string) audit.Event { return decided(id, audit.VerdictAllow) })), audit.StatusUnfinished},
		"no decision, forwards":  {audit.Statements(endless(func(id string) audit.Event { return ended(id, 1) })), audit.StatusUndecided},
		"no decision, backwards": {audit.NewestStatements(endless(func(id string) audit.Event { return ended(id, 1) })), audit.StatusUndecided},
	} {
		count, ids := 0, map[string]bool{}
		for s, err := range c.statements {
			if err != nil {
				t.Fatal(err)
			}
			count++
			ids[s.Event().QueryID] = true
			if s.Status() != c.status {
				t.Fatalf("%s: %s", name, s.Status())
			}
		}
		if count != n || len(ids) != n {
			t.Errorf("%s: %d statements of %d ids, want %d", name, count, len(ids), n)
		}
	}
	// The same with a count of the statements held back: the first statement is
	// yielded long before the last event is read.
	read := 0
	counting := func(yield func(audit.Record, error) bool) {
		for rec, err := range endless(func(id string) audit.Event { return decided(id, audit.VerdictAllow) }) {
			read++
			if !yield(rec, err) {
				return
			}
		}
	}
	for _, err := range audit.Statements(counting) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if read > 11_500 {
		t.Errorf("%d events were read before the first statement came", read)
	}
}

func TestFilterStatements(t *testing.T) {
	t.Parallel()
	s := everyStatement()["ok"]
	s.Decision.SQL.Tables = []string{"public.Orders", "customers"}
	for name, c := range map[string]struct {
		filter audit.Filter
		want   bool
	}{
		"none":            {audit.Filter{}, true},
		"status":          {audit.Filter{Status: audit.StatusOK}, true},
		"other status":    {audit.Filter{Status: audit.StatusError}, false},
		"type, first":     {audit.Filter{Types: []audit.Type{audit.QueryDecision}}, true},
		"type, second":    {audit.Filter{Types: []audit.Type{audit.QueryFinished}}, true},
		"other type":      {audit.Filter{Types: []audit.Type{audit.SessionOpen}}, false},
		"first number":    {audit.Filter{Seq: 7}, true},
		"second number":   {audit.Filter{Seq: 8}, true},
		"other number":    {audit.Filter{Seq: 9}, false},
		"table":           {audit.Filter{Table: "orders"}, true},
		"qualified table": {audit.Filter{Table: "PUBLIC.orders"}, true},
		"end of a name":   {audit.Filter{Table: "rders"}, false},
		"other schema":    {audit.Filter{Table: "hr.customers"}, false},
		"function":        {audit.Filter{Function: "COUNT"}, true},
		"text":            {audit.Filter{Text: "from PUBLIC.orders"}, true},
		"other text":      {audit.Filter{Text: "from hr"}, false},
		"rows":            {audit.Filter{MinRows: 3}, true},
		"more rows":       {audit.Filter{MinRows: 4}, false},
		"time":            {audit.Filter{MinExecMS: 0.4}, true},
		"more time":       {audit.Filter{MinExecMS: 0.5}, false},
		"client":          {audit.Filter{Client: "claude-code", Session: "S1", Principal: "analyst"}, true},
		"kind":            {audit.Filter{Kind: "select", Fingerprint: s.Decision.SQL.Fingerprint}, true},
		"from":            {audit.Filter{Since: s.Decision.Time}, true},
		"from later":      {audit.Filter{Since: s.Outcome.Time}, false}, // the time of the decision counts
		"until":           {audit.Filter{Until: s.Decision.Time}, false},
	} {
		if got := c.filter.MatchStatement(s); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (audit.Filter{MinRows: 1}).MatchStatement(everyStatement()["unfinished"]) {
		t.Error("a statement without an end has a number of rows")
	}
}

// TestReadingIsBounded reads a log forwards and backwards, joins the events,
// and checks that the memory in use does not grow with the log.
// KTX_AUDIT_EVENTS sets the number of events.
func TestReadingIsBounded(t *testing.T) {
	n := 16_000
	if text := os.Getenv("KTX_AUDIT_EVENTS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "audit")
	log := openLog(t, dir, audit.Config{Sync: audit.SyncOff, RotateBytes: 8 << 20})
	for i := range n / 2 {
		id := strconv.Itoa(i)
		appendAll(t, log, decision(id), ended(id, 1))
	}
	closeLog(t, log)
	r, err := audit.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // nothing was written
	var report audit.Report
	for name, statements := range map[string]iter.Seq2[audit.Statement, error]{
		"forwards":  audit.Statements(r.All(t.Context())),
		"backwards": audit.NewestStatements(r.Newest(t.Context())),
		"checked":   audit.Statements(audit.Checked(t.Context(), dir, &report)),
	} {
		first, most, count := uint64(0), uint64(0), 0
		for _, err := range statements {
			if err != nil {
				t.Fatal(err)
			}
			if count++; count%(n/16) == 0 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				if first == 0 {
					first = m.HeapAlloc
				}
				most = max(most, m.HeapAlloc)
			}
		}
		if count != n/2 {
			t.Errorf("%s: %d statements, want %d", name, count, n/2)
		}
		t.Logf("%s: %d events, heap at first %d KiB, at most %d KiB", name, n, first>>10, most>>10)
		if most > first+2<<20 {
			t.Errorf("%s: the heap in use grew from %d to %d KiB", name, first>>10, most>>10)
		}
	}
	if !report.OK || report.Events < int64(n) {
		t.Errorf("the check found %v in %d events", report.Problems, report.Events)
	}
}

// TestNewestIsAllBackwards compares the two directions over logs with every
// kind of damage.
func TestNewestIsAllBackwards(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 17<<20) // longer than any event
	for name, damage := range map[string]func(data []byte) []byte{
		"none":         func(data []byte) []byte { return data },
		"empty":        func([]byte) []byte { return nil },
		"newline":      func([]byte) []byte { return []byte("\n") },
		"torn":         func(data []byte) []byte { return append(data, `{"chain":`...) },
		"only torn":    func([]byte) []byte { return []byte(`{"chain":`) },
		"empty lines":  func(data []byte) []byte { return append(append([]byte("\n\n"), data...), "\n\n"...) },
		"long first":   func(data []byte) []byte { return append([]byte(long+"\n"), data...) },
		"long last":    func(data []byte) []byte { return append(data, long+"\n"...) },
		"long torn":    func(data []byte) []byte { return append(data, long...) },
		"no event":     func(data []byte) []byte { return append(append([]byte("no event\n"), data...), "{}x\n"...) },
		"long between": func(data []byte) []byte { return append(append(slices.Clone(data), long+"\n"...), data...) },
	} {
		dir := filepath.Join(t.TempDir(), "log")
		fill(t, dir, audit.Config{RotateBytes: 4 << 10}, 40)
		paths := segmentFiles(t, dir)
		write(t, paths[len(paths)-1], damage(read(t, paths[len(paths)-1])))
		r, err := audit.OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		collect := func(seq iter.Seq2[audit.Record, error]) (out []string) {
			for rec, err := range seq {
				var line *audit.LineError
				switch {
				case errors.As(err, &line):
					out = append(out, fmt.Sprintf("%s %d bad", line.Segment, line.Line))
				case err != nil:
					t.Fatal(err)
				default:
					out = append(out, fmt.Sprintf("%s %d %s", rec.Segment, rec.Offset, rec.Raw))
				}
			}
			return out
		}
		forth, back := collect(r.All(t.Context())), collect(r.Newest(t.Context()))
		slices.Reverse(back)
		if diff := cmp.Diff(forth, back); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNewestOverWindows: lines of random lengths end at any offset of the bytes
// that one step reads.
func TestNewestOverWindows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for seed := range 12 {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		var data strings.Builder
		for data.Len() < 1<<20 {
			e := small("q")
			e.Reason = strings.Repeat("r", rng.IntN(1+rng.IntN(400<<10)))
			line, _, err := audit.Line(e, audit.Hash{}, false)
			if err != nil {
				t.Fatal(err)
			}
			data.Write(line)
		}
		write(t, filepath.Join(dir, "audit-000001.jsonl"), []byte(data.String()))
		r, err := audit.OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		var back []string
		for rec, err := range r.Newest(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			back = append(back, string(rec.Raw)+"\n")
		}
		slices.Reverse(back)
		if strings.Join(back, "") != data.String() {
			t.Errorf("seed %d: the lines read backwards are not those of the file", seed)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCheckedStops: a caller may end the iteration. When the iteration ends by
// itself, it reports the whole log.
func TestCheckedStops(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, audit.Config{RotateBytes: 4 << 10}, 40)
	var report audit.Report
	seen := 0
	for _, err := range audit.Checked(t.Context(), dir, &report) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 5 {
			break
		}
	}
	if report.Events != 5 || report.LastSeq != 5 || report.OK {
		t.Errorf("after 5 events: %+v", report)
	}
	seen = 0
	for _, err := range audit.Checked(t.Context(), dir, &report) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
	}
	if want := sound(t, dir); !report.OK || int64(seen) != want.Events || report.LastHash != want.LastHash {
		t.Errorf("%d events; %+v", seen, report)
	}
	for _, err := range audit.Checked(t.Context(), filepath.Join(dir, "nosuch"), &report) {
		if err == nil {
			t.Error("a log that is not there has events")
		}
	}
}
