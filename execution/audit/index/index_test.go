package index_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
)

// world is a log that grows, and its index.
type world struct {
	dir, path string
	log       *audit.Writer
	x         *index.Index
	ids       int
	running   []string
	start     time.Time
}

func newWorld(t *rapid.T, dir string, rotate int64) *world {
	w := &world{dir: filepath.Join(dir, "audit"), path: filepath.Join(dir, "index.db"), start: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	w.openLog(t, rotate)
	x, err := index.Open(context.Background(), w.dir, w.path)
	if err != nil {
		t.Fatal(err)
	}
	w.x = x
	return w
}

func (w *world) openLog(t *rapid.T, rotate int64) {
	log, err := audit.Open(w.dir, audit.Config{Sync: audit.SyncOff, RotateBytes: rotate}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.log = log
}

func (w *world) close(t *rapid.T) {
	if err := w.log.Close(); err != nil {
		t.Error(err)
	}
	if err := w.x.Close(); err != nil {
		t.Error(err)
	}
}

// The values that events and filters draw from.
var (
	principals  = []string{"", "ada", "bob", "Ürsula"}
	clients     = []string{"", "claude-code", "cursor"}
	addresses   = []string{"", "10.0.0.1:5000", "10.0.0.1:5001", "[::1]:80", "10.0.0.10:1"}
	connections = []string{"warehouse", "shop"}
	sessions    = []string{"", "s1", "s2", "s3"}
	codes       = []string{"write_statement", "table_denied", "timeout", "function_unlisted"}
	kinds       = []string{"", "select", "insert"}
	tables      = []string{"orders", "public.orders", "public.Customers", "a.b.orders", "x"}
	functions   = []string{"count", "pg_catalog.count", "SUM"}
	texts       = []string{
		"", "SELECT ?", "select * from orders where a = ?", `SELECT "ÄÖ İx" FROM t`, "SELECT a\x00b FROM k", "SELECT \u212A FROM t",
		"DELETE FROM Orders WHERE x = ?", `select "a""b" from t`, "SELECT 😀 FROM émoji",
	}
	words = []string{"", "", "", "select", "ORDERS", "from orders", "?", "äö", "kelvin", "k", "K FROM", "i̇x", `a""b`, "b FROM", "😀 f", "nothing like it", "\x00b "}
)

func some[T any](t *rapid.T, list []T) T { return rapid.SampledFrom(list).Draw(t, "one") }

func subset(t *rapid.T, list []string) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(list), 0, 2, rapid.ID).Draw(t, "some")
}

func (w *world) time(t *rapid.T) time.Time {
	return w.start.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "second")) * time.Second)
}

// append adds one random event.
func (w *world) append(t *rapid.T) {
	e := audit.Event{
		Time: w.time(t), Principal: some(t, principals), Session: some(t, sessions), Client: audit.Client{Name: some(t, clients), Address: some(t, addresses)},
		Connection: audit.Connection{ID: some(t, connections), Dialect: "postgres"},
	}
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0, 1, 2, 3, 4:
		w.ids++
		e.Type, e.QueryID = audit.QueryDecision, fmt.Sprintf("q-%d", w.ids)
		e.SQL = audit.SQL{
			Fingerprint: some(t, []string{"", "f1", "f2"}), Normalized: some(t, texts), Kind: some(t, kinds), Tables: subset(t, tables), Functions: subset(t, functions),
		}
		e.Decision = audit.Decision{Verdict: audit.VerdictAllow, LatencyUS: rapid.SampledFrom([]int64{0, 7, 40, 41, 300, 1<<16 - 1, 1 << 16, 1 << 40, -3}).Draw(t, "latency")}
		if rapid.IntRange(0, 2).Draw(t, "refused") == 0 {
			e.Decision.Verdict, e.Decision.Codes = audit.VerdictReject, subset(t, codes)
		} else {
			w.running = append(w.running, e.QueryID)
		}
	case 5, 6, 7:
		e.Type, e.QueryID = audit.QueryFinished, fmt.Sprintf("lost-%d", w.ids)
		if n := len(w.running); n > 0 && rapid.IntRange(0, 9).Draw(t, "alone") > 0 {
			i := rapid.IntRange(0, n-1).Draw(t, "which")
			e.QueryID = w.running[i]
			w.running = slices.Delete(w.running, i, i+1)
		} else {
			w.ids++
		}
		e.Result = audit.Result{
			Status: some(t, []string{audit.StatusOK, audit.StatusError}), Rows: int64(rapid.IntRange(0, 20).Draw(t, "rows")),
			ExecMS: float64(rapid.IntRange(0, 40).Draw(t, "ms")) / 4, Code: some(t, append([]string{""}, codes...)),
		}
		if rapid.Bool().Draw(t, "cancelled") {
			e.Type, e.Result.Status = audit.QueryCancelled, audit.StatusCancelled
		}
	case 8:
		e.Type, e.Reason = audit.CallRefused, "unknown_connection"
	case 9:
		e.Type = audit.SessionOpen
	}
	if err := w.log.Append(context.Background(), e); err != nil {
		t.Fatal(err)
	}
}

// filter draws conditions.
func (w *world) filter(t *rapid.T) audit.Filter {
	var f audit.Filter
	for range rapid.IntRange(0, 3).Draw(t, "conditions") {
		switch rapid.IntRange(0, 17).Draw(t, "condition") {
		case 0:
			f.Principal = some(t, append(principals, "nobody"))
		case 1:
			f.Session = some(t, sessions)
		case 2:
			f.Client = some(t, clients)
		case 3:
			f.Address = some(t, append(addresses, "10.0.0.1", "::1", "10.0.0"))
		case 4:
			f.Connection = some(t, append(connections, "none"))
		case 5:
			f.Verdict = some(t, []string{audit.VerdictAllow, audit.VerdictReject})
		case 6:
			f.Code = some(t, append(codes, "no_such_code"))
		case 7:
			f.Status = some(t, []string{
				audit.StatusOK, audit.StatusError, audit.StatusCancelled, audit.StatusCrashed, audit.StatusRefused, audit.StatusUnfinished, audit.StatusUndecided,
			})
		case 8:
			f.Fingerprint = some(t, []string{"f1", "f2", "f3"})
		case 9:
			f.Kind = some(t, kinds)
		case 10:
			f.Table = some(t, []string{"orders", "ORDERS", "b.orders", "public.orders", "customers", "rders", "nope"})
		case 11:
			f.Function = some(t, []string{"count", "sum", "pg_catalog.COUNT", "nope"})
		case 12:
			f.Text = some(t, words)
		case 13:
			f.MinRows = int64(rapid.IntRange(0, 15).Draw(t, "rows"))
		case 14:
			f.MinExecMS = float64(rapid.IntRange(0, 8).Draw(t, "ms"))
		case 15:
			f.Since = w.time(t)
		case 16:
			f.Until = w.time(t)
		case 17:
			switch rapid.IntRange(0, 2).Draw(t, "exact") {
			case 0:
				f.QueryID = fmt.Sprintf("q-%d", rapid.IntRange(1, w.ids+1).Draw(t, "id"))
			case 1:
				f.Seq = int64(rapid.IntRange(1, w.ids+2).Draw(t, "seq"))
			case 2:
				f.Types = []audit.Type{some(t, []audit.Type{audit.QueryDecision, audit.QueryFinished, audit.GatewayCrashed, audit.SessionOpen})}
			}
		}
	}
	return f
}

// number is the place of a statement in the order of the index.
func number(s audit.Statement) int64 {
	if s.Decision.Type == "" {
		return s.Outcome.Seq
	}
	return s.Decision.Seq
}

// expected reads the log.
func (w *world) expected(t *rapid.T, f audit.Filter) []audit.Statement {
	r, err := audit.OpenReader(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // nothing was written
	list := []audit.Statement{}
	for s, err := range audit.NewestStatements(r.Newest(context.Background())) {
		if err != nil {
			t.Fatal(err)
		}
		if f.MatchStatement(s) {
			list = append(list, s)
		}
	}
	// Reading backwards, a statement without a decision comes when the beginning is
	// reached; the index has it where its outcome is.
	slices.SortStableFunc(list, func(a, b audit.Statement) int { return cmp.Compare(number(b), number(a)) })
	return list
}

func (w *world) compare(t *rapid.T) {
	f := w.filter(t)
	want := w.expected(t, f)
	p := index.Page{Limit: rapid.IntRange(1, 40).Draw(t, "page"), Oldest: rapid.Bool().Draw(t, "oldest")}
	if p.Oldest {
		slices.Reverse(want)
	}
	got := []audit.Statement{}
	for {
		page, err := w.x.Statements(context.Background(), f, p)
		if err != nil {
			t.Fatal(err)
		}
		if !page.State.Report.OK {
			t.Fatalf("a log that nobody touched is broken: %v", page.State.Report.Problems)
		}
		got = append(got, page.Statements...)
		if p.After = page.Next; p.After == 0 {
			break
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("%+v: the index says something else than the log (-log +index)\n%s", f, diff)
	}
}

// crash lets the process of the log end without a stop: its statements have no end
// until another one opens the log.
func (w *world) crash(t *rapid.T, rotate int64) {
	var run string
	r, err := audit.OpenReader(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	for rec, err := range r.Newest(context.Background()) {
		if err == nil && rec.Event.Process.Run != "" && rec.Event.Type == audit.QueryDecision {
			run = rec.Event.Process.Run
			break
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	if run != "" { // the file that a killed process leaves
		if err := os.WriteFile(filepath.Join(w.dir, "run-"+run+"-4711"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		w.running = nil
	}
	w.openLog(t, rotate)
}

// TestTheIndexSaysWhatTheLogSays lets a log grow, be archived and lose its process,
// and asks the index and the log the same questions in between.
func TestTheIndexSaysWhatTheLogSays(t *testing.T) {
	t.Cleanup(index.SetSizes(8, 5))
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "ktx-index-") //nolint:usetesting // a folder for each try
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
		rotate := int64(rapid.SampledFrom([]int{4 << 10, 1 << 20}).Draw(t, "rotate"))
		w := newWorld(t, dir, rotate)
		defer func() { w.close(t) }()
		archived := 0
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			for range rapid.IntRange(0, 30).Draw(t, "events") {
				w.append(t)
			}
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				w.crash(t, rotate)
			case 1:
				archived++
				to := filepath.Join(dir, fmt.Sprintf("archive-%d", archived))
				if _, err := audit.Archive(context.Background(), w.dir, audit.Config{Sync: audit.SyncOff}, to, w.start.Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
			case 2: // another process asks
				if err := w.x.Close(); err != nil {
					t.Fatal(err)
				}
				if w.x, err = index.Open(context.Background(), w.dir, w.path); err != nil {
					t.Fatal(err)
				}
			}
			w.compareSummaries(t)
			w.compareReports(t)
			for range 4 {
				w.compare(t)
				w.compareCounts(t)
				w.compareActivity(t)
			}
		}
	})
}

func (w *world) compareSummaries(t *rapid.T) {
	var f audit.Filter
	if rapid.Bool().Draw(t, "bounded") {
		f.Since, f.Until = w.time(t), w.time(t)
	}
	want, err := audit.Summarize(context.Background(), w.dir, f)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := w.x.Summarize(context.Background(), f.Since, f.Until)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("%v to %v: (-log +index)\n%s", f.Since, f.Until, diff)
	}
}

// compareReports compares what the index says of the chain with what the log says. The
// writer moves the anchor by itself, so what the log says counts when it says it twice.
func (w *world) compareReports(t *rapid.T) {
	verify := func() audit.Report {
		report, err := audit.Verify(context.Background(), w.dir)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	for want := verify(); ; {
		got, err := w.x.State(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		again := verify()
		if gocmp.Equal(want, again) {
			if diff := gocmp.Diff(want, got.Report); diff != "" {
				t.Fatalf("the check of the index and that of the log (-log +index)\n%s", diff)
			}
			return
		}
		want = again
	}
}

func (w *world) compareCounts(t *rapid.T) {
	f := w.filter(t)
	got, err := w.x.Count(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]int64{}
	add := func(by, value string) {
		if value == "" {
			return
		}
		if want[by] == nil {
			want[by] = map[string]int64{}
		}
		want[by][value]++
	}
	var statements, refused, rows, inTime int64
	var latency, ms []float64
	all := w.expected(t, f)
	for _, s := range all {
		e := s.Event()
		latency = append(latency, float64(s.Decision.Decision.LatencyUS))
		if s.Outcome.Type != "" {
			ms = append(ms, s.Outcome.Result.ExecMS)
		}
		statements++
		rows += e.Result.Rows
		if s.Status() == audit.StatusRefused {
			refused++
		}
		add("status", s.Status())
		add("principal", e.Principal)
		add("client", e.Client.Name)
		add("connection", e.Connection.ID)
		add("kind", e.SQL.Kind)
		for _, code := range slices.Compact(slices.Sorted(slices.Values(append([]string{e.Result.Code}, e.Decision.Codes...)))) {
			add("code", code)
		}
		for _, table := range e.SQL.Tables {
			add("table", table)
		}
		for _, function := range e.SQL.Functions {
			add("function", function)
		}
	}
	for by, list := range got.By {
		for _, c := range list {
			if want[by][c.Value] != c.Statements {
				t.Fatalf("%+v: %d statements with %s %s, want %d", f, c.Statements, by, c.Value, want[by][c.Value])
			}
		}
		if len(list) != len(want[by]) {
			t.Fatalf("%+v: %d values of %s, want %d", f, len(list), by, len(want[by]))
		}
	}
	for i, p := range got.Timeline {
		inTime += p.Allowed + p.Refused
		in, rowsIn := int64(0), int64(0)
		var latencyIn, msIn []float64
		codesIn := map[string]int64{}
		for _, s := range all {
			e := s.Event()
			if e.Time.Before(p.From) || !e.Time.Before(p.Until) {
				continue
			}
			in++
			rowsIn += e.Result.Rows
			latencyIn = append(latencyIn, float64(s.Decision.Decision.LatencyUS))
			if s.Outcome.Type != "" {
				msIn = append(msIn, s.Outcome.Result.ExecMS)
			}
			if s.Status() == audit.StatusRefused && len(e.Decision.Codes) > 0 {
				codesIn[e.Decision.Codes[0]]++
			}
		}
		for _, c := range p.Codes {
			if codesIn[c.Value] != c.Statements {
				t.Fatalf("%+v: period %d has %d statements refused with %s, want %d", f, i, c.Statements, c.Value, codesIn[c.Value])
			}
		}
		if p.Rows != rowsIn || len(p.Codes) != len(codesIn) || !near(p.LatencyUS, latencyIn) || !near(p.ExecMS, msIn) {
			t.Fatalf("%+v: period %d is %+v, want %d rows, codes %v, of %v µs and %v ms", f, i, p, rowsIn, codesIn, latencyIn, msIn)
		}
		if in != p.Allowed+p.Refused || i > 0 && !p.From.Equal(got.Timeline[i-1].Until) || len(got.Timeline) > 61 {
			t.Fatalf("%+v: period %d of %d has %d statements, want %d", f, i, len(got.Timeline), p.Allowed+p.Refused, in)
		}
	}
	if diff := gocmp.Diff([]audit.Quantiles{audit.NewQuantiles(latency), audit.NewQuantiles(ms)}, []audit.Quantiles{got.LatencyUS, got.ExecMS}); diff != "" {
		t.Fatalf("%+v: times (-log +index)\n%s", f, diff)
	}
	if got.Statements != statements || got.Refused != refused || got.Rows != rows || inTime != statements {
		t.Fatalf("%+v: %d statements, %d refused, %d rows, %d in time; want %d, %d, %d", f, got.Statements, got.Refused, got.Rows, inTime, statements, refused, rows)
	}
}

// near reports whether quantiles are those of values, within 2 percent. What is below 0 is
// counted as 0.
func near(got index.Middle, values []float64) bool {
	want := audit.NewQuantiles(values)
	is := func(got, want float64) bool { return math.Abs(got-max(want, 0)) <= 0.02*max(want, 0) }
	return is(got.P50, want.P50) && is(got.P95, want.P95)
}

// compareActivity holds what a principal did in a session, or since a time, to what the
// log says of it.
func (w *world) compareActivity(t *rapid.T) {
	subject := index.Subject{Principal: some(t, principals), Since: w.time(t)}
	if rapid.Bool().Draw(t, "of a session") {
		subject.Session = some(t, sessions)
	}
	got, err := w.x.Activity(context.Background(), subject)
	if err != nil {
		t.Fatal(err)
	}
	var all []audit.Statement
	if subject.Session != "" && subject.Principal == "" {
		if of := w.expected(t, audit.Filter{Session: subject.Session}); len(of) > 0 {
			subject.Principal = of[0].Event().Principal
		}
	}
	if subject.Principal != "" {
		all = w.expected(t, audit.Filter{Principal: subject.Principal})
	}
	slices.Reverse(all)
	var statements, refused, rows, longest int64
	known, fresh, counts, run := map[string]bool{}, map[string]bool{}, map[string]int64{}, map[string]int64{}
	others := map[string]bool{}
	for _, s := range all {
		e := s.Event()
		inside := !e.Time.Before(subject.Since)
		if subject.Session != "" {
			inside = e.Session == subject.Session
		}
		was := s.Status() == audit.StatusRefused
		for _, table := range e.SQL.Tables {
			if inside {
				fresh[table] = fresh[table] || !known[table]
				counts[table]++
			}
			known[table] = true
		}
		if !inside || !was {
			run[e.Session] = 0
		}
		if !inside {
			if e.Session != "" {
				others[e.Session] = true
			}
			continue
		}
		statements, rows = statements+1, rows+e.Result.Rows
		if was {
			refused++
			run[e.Session]++
			longest = max(longest, run[e.Session])
		}
	}
	if got.Statements != statements || got.Refused != refused || got.Rows != rows || got.Longest != longest {
		t.Fatalf("%+v: %d statements, %d refused, %d rows, %d in a row; want %d, %d, %d, %d", subject, got.Statements, got.Refused, got.Rows, got.Longest, statements, refused, rows, longest)
	}
	if len(got.Tables) != len(counts) {
		t.Fatalf("%+v: %d tables, want %d", subject, len(got.Tables), len(counts))
	}
	for _, table := range got.Tables {
		if table.New != fresh[table.Name] || table.Statements != counts[table.Name] {
			t.Fatalf("%+v: %+v, want new %t and %d statements", subject, table, fresh[table.Name], counts[table.Name])
		}
	}
	if subject.Session != "" && statements > 0 && got.Usual.Statements.Count != int64(len(others)) {
		t.Fatalf("%+v: %d other sessions, want %d", subject, got.Usual.Statements.Count, len(others))
	}
}

// TestQuestionsTakeTurns lets many ask at a time: all get their answer. One who leaves
// does not wait any longer.
func TestQuestionsTakeTurns(t *testing.T) {
	_, _, x := filled(t, 50)
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			c, err := x.Count(t.Context(), audit.Filter{})
			page, pageErr := x.Statements(t.Context(), audit.Filter{Principal: "ada"}, index.Page{Limit: 100})
			if err != nil || pageErr != nil || c.Statements != 50 || len(page.Statements) != 50 {
				t.Errorf("%d and %d statements, errors %v and %v", c.Statements, len(page.Statements), err, pageErr)
			}
		})
	}
	wg.Wait()
	leave, err := x.Occupy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := x.Count(ctx, audit.Filter{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with all places taken: %v", err)
	}
	leave()
	whole(t, x, 50)
}
