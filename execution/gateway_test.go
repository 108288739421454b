package execution_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/sqlguard"
)

// wordDialect allows every statement that begins with SELECT and refuses all
// others. It replaces a real parser, so that these tests test only the gateway.
type wordDialect struct{}

func (wordDialect) Name() string                { return "words" }
func (wordDialect) Version() string             { return "1" }
func (wordDialect) Session() []sqlguard.Setting { return nil }
func (wordDialect) Lex(text string) sqlguard.Tokens {
	return sqlguard.Tokens{List: []sqlguard.Token{{Kind: sqlguard.TokenWord, End: len(text)}}}
}

func (wordDialect) Analyze(sql string) ([]sqlguard.Statement, error) {
	if strings.HasPrefix(sql, "SELECT") {
		return []sqlguard.Statement{{Verb: sqlguard.VerbSelect}}, nil
	}
	return []sqlguard.Statement{{Verb: "delete", Effects: []sqlguard.Finding{{Code: sqlguard.CodeWriteStatement, Message: "DELETE"}}}}, nil
}

// spy is a backend that records the statements that reach it. It runs nothing.
type spy struct {
	mu      sync.Mutex
	guard   sqlguard.ID
	sent    []string
	closed  bool
	catalog *sqlguard.Catalog
	report  execution.ProbeReport
	query   func(context.Context) (*execution.Result, error)
}

func (s *spy) Query(ctx context.Context, stmt sqlguard.Approved, _ execution.Limits) (*execution.Result, error) {
	s.mu.Lock()
	text, err := stmt.SQLFor(s.guard)
	if err == nil {
		s.sent = append(s.sent, text)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if s.query != nil {
		return s.query(ctx)
	}
	return &execution.Result{}, nil
}

func (s *spy) Catalog(context.Context) (*sqlguard.Catalog, error) { return s.catalog, nil }

func (s *spy) SetGuard(id sqlguard.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guard = id
}

func (s *spy) Probe(context.Context) (execution.ProbeReport, error) { return s.report, nil }

func (s *spy) Close() error {
	s.closed = true
	return nil
}

func (s *spy) connection(change ...func(*execution.Connection)) execution.Connection {
	c := execution.Connection{
		ID: "shop", Engine: "WORDS", Dialect: wordDialect{},
		Open: func(_ context.Context, guard sqlguard.ID) (execution.Backend, error) {
			s.guard = guard
			return s, nil
		},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func newGateway(t *testing.T, log audit.Log, conns ...execution.Connection) *execution.Gateway {
	t.Helper()
	g, err := execution.NewGateway(t.Context(), log, conns...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func query(ctx context.Context, g *execution.Gateway, sql string) (*execution.Result, error) {
	return g.Query(ctx, execution.Request{ConnectionID: "shop", SQL: sql})
}

func events(log *audittest.Log) string {
	var out []string
	for _, e := range log.Events() {
		out = append(out, eventText(e))
	}
	return strings.Join(out, " ")
}

func eventText(e audit.Event) string {
	text := string(e.Type)
	if e.Decision.Verdict != "" {
		text += ":" + e.Decision.Verdict
	}
	if e.Result.Status != "" {
		text += ":" + e.Result.Status
	}
	if e.Result.Code != "" {
		text += ":" + e.Result.Code
	}
	return text
}

func TestDecisionIsRecordedBeforeTheStatementRuns(t *testing.T) {
	log, backend := &audittest.Log{}, &spy{catalog: &sqlguard.Catalog{Major: 15}}
	var before string
	backend.query = func(context.Context) (*execution.Result, error) {
		before = events(log)
		return &execution.Result{Rows: [][]execution.Value{nil, nil}}, nil
	}
	g := newGateway(t, log, backend.connection())
	if _, err := query(t.Context(), g, "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	if want := "gateway.start query.decision:allow"; before != want {
		t.Errorf("while running: %q, want %q", before, want)
	}
	if _, err := query(t.Context(), g, "DELETE"); execution.CodeOf(err) != sqlguard.CodeWriteStatement {
		t.Errorf("err = %v", err)
	}
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := events(log), "gateway.start query.decision:allow query.finished:ok query.decision:reject gateway.stop"; got != want {
		t.Errorf("events %q, want %q", got, want)
	}
	if !slices.Equal(backend.sent, []string{"SELECT 1"}) || !backend.closed {
		t.Errorf("sent %q, closed %v", backend.sent, backend.closed)
	}
}

func TestNothingRunsThatIsNotRecorded(t *testing.T) {
	log, backend := &audittest.Log{}, &spy{}
	g := newGateway(t, log, backend.connection())
	log.Fail(errors.New("no space left on device"))
	for _, sql := range []string{"SELECT 1", "DELETE"} {
		if _, err := query(t.Context(), g, sql); execution.CodeOf(err) != sqlguard.CodeAuditUnavailable {
			t.Errorf("%s: err = %v, want audit_unavailable", sql, err)
		}
	}
	if len(backend.sent) != 0 {
		t.Errorf("sent %q", backend.sent)
	}
	log.Fail(nil)
	if _, err := query(t.Context(), g, "SELECT 2"); err != nil {
		t.Errorf("after recovery: %v", err)
	}
	if _, err := execution.NewGateway(t.Context(), failing(), backend.connection()); execution.CodeOf(err) != sqlguard.CodeAuditUnavailable {
		t.Errorf("NewGateway = %v", err)
	}
}

func failing() audit.Log {
	log := &audittest.Log{}
	log.Fail(errors.New("read-only file system"))
	return log
}

func TestARefusedStatementOpensNoConnection(t *testing.T) {
	opened := 0
	backend := &spy{}
	g := newGateway(t, &audittest.Log{}, backend.connection(func(c *execution.Connection) {
		open := c.Open
		c.Open = func(ctx context.Context, id sqlguard.ID) (execution.Backend, error) {
			opened++
			return open(ctx, id)
		}
	}))
	if _, err := query(t.Context(), g, "DELETE"); err == nil || opened != 0 {
		t.Errorf("err %v, opened %d", err, opened)
	}
	for range 3 {
		if _, err := query(t.Context(), g, "SELECT 1"); err != nil {
			t.Fatal(err)
		}
	}
	if opened != 1 {
		t.Errorf("opened %d times", opened)
	}
}

func TestTheServerSettlesWhatNamesMean(t *testing.T) {
	for path, want := range map[string]sqlguard.Code{"public": "", "hr": sqlguard.CodeRelationNotAllowed} {
		backend := &spy{catalog: &sqlguard.Catalog{SearchPath: []string{path}, Database: "shop"}}
		g := newGateway(t, &audittest.Log{}, backend.connection(func(c *execution.Connection) {
			c.Dialect = tableDialect{}
			c.Policy.Schemas.Deny = []string{"hr"}
		}))
		if _, err := query(t.Context(), g, "SELECT t"); execution.CodeOf(err) != want {
			t.Errorf("search path %s: %v, want %q", path, err, want)
		}
	}
}

// tableDialect reads every statement as a query of shop's table t, without a
// schema.
type tableDialect struct{ wordDialect }

func (tableDialect) Analyze(string) ([]sqlguard.Statement, error) {
	r := sqlguard.Relation{Database: "shop", Name: "t", Access: sqlguard.AccessRead, Ruling: sqlguard.Ruling{Allowed: true}}
	return []sqlguard.Statement{{Verb: sqlguard.VerbSelect, Relations: []sqlguard.Relation{r}}}, nil
}

// writeDialect reads every statement as a write to a table without a schema.
type writeDialect struct{ tableDialect }

func (d writeDialect) Analyze(sql string) ([]sqlguard.Statement, error) {
	statements, err := d.tableDialect.Analyze(sql)
	statements[0].Effects = []sqlguard.Finding{{Code: sqlguard.CodeWriteStatement, Span: sqlguard.Span{Start: 0, End: len(sql)}}}
	return statements, err
}

func TestARefusalBeforeTheServerWasAskedSaysWhatHoldsForEveryServer(t *testing.T) {
	log := &audittest.Log{}
	backend := &spy{catalog: &sqlguard.Catalog{SearchPath: []string{"public"}, Database: "shop"}}
	g := newGateway(t, log, backend.connection(func(c *execution.Connection) {
		c.Dialect = writeDialect{}
		c.Policy.Schemas.Deny = []string{"hr"}
	}))
	_, err := query(t.Context(), g, "DELETE t")
	rejected, ok := errors.AsType[*sqlguard.RejectedError](err)
	if !ok || rejected.Verdict.Code != sqlguard.CodeWriteStatement || len(rejected.Verdict.Findings) != 1 {
		t.Errorf("%v", err)
	}
	if events := log.Events(audit.QueryDecision); len(events) == 0 || len(events[len(events)-1].Decision.Codes) != 1 {
		t.Errorf("events in the log: %+v", events)
	}
}

func TestOpeningThatFails(t *testing.T) {
	log := &audittest.Log{}
	fail := true
	backend := &spy{}
	g := newGateway(t, log, backend.connection(func(c *execution.Connection) {
		open := c.Open
		c.Open = func(ctx context.Context, id sqlguard.ID) (execution.Backend, error) {
			if fail {
				return nil, errors.New("connection refused")
			}
			return open(ctx, id)
		}
	}))
	if _, err := query(t.Context(), g, "SELECT 1"); execution.CodeOf(err) != sqlguard.CodeConnectionLost {
		t.Errorf("err = %v", err)
	}
	if want := "gateway.start query.decision:allow query.finished:error:connection_lost"; events(log) != want {
		t.Errorf("events %q", events(log))
	}
	fail = false
	if _, err := query(t.Context(), g, "SELECT 1"); err != nil {
		t.Errorf("the connection does not recover: %v", err)
	}
}

func TestUnknownAndUnavailableConnections(t *testing.T) {
	backend := &spy{}
	g := newGateway(t, &audittest.Log{}, backend.connection(), execution.Connection{
		ID: "lake", Engine: "BIGQUERY", Unavailable: execution.NewError(sqlguard.CodeNoBackend, "artifacts only", nil),
	})
	_, err := g.Query(t.Context(), execution.Request{ConnectionID: "shp", SQL: "SELECT 1"})
	if e, ok := errors.AsType[*execution.Error](err); !ok || e.Code != sqlguard.CodeUnknownConnection || !strings.Contains(e.Message, "lake, shop") || !strings.Contains(e.Hint, `"shop"`) {
		t.Errorf("err = %+v", err)
	}
	if _, err := g.Query(t.Context(), execution.Request{ConnectionID: "lake", SQL: "SELECT 1"}); execution.CodeOf(err) != sqlguard.CodeNoBackend {
		t.Errorf("err = %v", err)
	}
	for _, bad := range [][]execution.Connection{
		{backend.connection(), backend.connection()},
		{backend.connection(func(c *execution.Connection) { c.ID = "a b" })},
		{backend.connection(func(c *execution.Connection) { c.ID = "" })},
		{backend.connection(func(c *execution.Connection) { c.Dialect = nil })},
		{backend.connection(func(c *execution.Connection) { c.Open = nil })},
		{backend.connection(func(c *execution.Connection) { c.Policy.MaxBytes = -1 })},
	} {
		if _, err := execution.NewGateway(t.Context(), &audittest.Log{}, bad...); err == nil {
			t.Errorf("NewGateway accepted %+v", bad)
		}
	}
}

func TestRoleThatCanWrite(t *testing.T) {
	warned := execution.ProbeReport{Findings: []execution.ProbeFinding{{Level: "note", Message: "fine"}, {Level: "warning", Message: "may write"}}}
	for _, refuse := range []bool{false, true} {
		backend := &spy{report: warned}
		var told atomic.Int32
		g := newGateway(t, &audittest.Log{}, backend.connection(func(c *execution.Connection) {
			c.RefuseWritableRole = refuse
			c.OnProbe = func(string, execution.ProbeReport) { told.Add(1) }
		}))
		_, err := query(t.Context(), g, "SELECT 1")
		if refused := execution.CodeOf(err) == sqlguard.CodeNotConfigured; refused != refuse || told.Load() != 1 {
			t.Errorf("refuse %v: err %v, told %d", refuse, err, told.Load())
		}
	}
}

func TestPanicIsAnError(t *testing.T) {
	log, backend := &audittest.Log{}, &spy{}
	backend.query = func(context.Context) (*execution.Result, error) { panic("secret") }
	g := newGateway(t, log, backend.connection(func(c *execution.Connection) { c.Concurrency = 1 }))
	for range 3 { // a panic gives its slot back
		if _, err := query(t.Context(), g, "SELECT 1"); execution.CodeOf(err) != sqlguard.CodeInternalError || strings.Contains(err.Error(), "secret") {
			t.Errorf("err = %v", err)
		}
	}
	if got := strings.Count(events(log), "query.finished:error:internal_error"); got != 3 {
		t.Errorf("%d outcomes recorded: %s", got, events(log))
	}
}

func TestStages(t *testing.T) {
	g := newGateway(t, &audittest.Log{}, (&spy{}).connection())
	for sql, want := range map[string][]execution.Stage{
		"SELECT 1": {execution.StageValidating, execution.StageExecuting},
		"DELETE":   {execution.StageValidating},
	} {
		var got []execution.Stage
		_, _ = g.Query(t.Context(), execution.Request{ConnectionID: "shop", SQL: sql, OnStage: func(s execution.Stage) { got = append(got, s) }})
		if !slices.Equal(got, want) {
			t.Errorf("%s: stages %v, want %v", sql, got, want)
		}
	}
}

func TestQueueIsFairAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &spy{}
		release := make(chan struct{})
		backend.query = func(ctx context.Context) (*execution.Result, error) {
			select {
			case <-release:
				return &execution.Result{}, nil
			case <-ctx.Done():
				return nil, execution.NewError(sqlguard.CodeCancelled, "cancelled", nil)
			}
		}
		g := newGateway(t, &audittest.Log{}, backend.connection(func(c *execution.Connection) { c.Concurrency, c.Queue = 1, 3 }))
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan string, 4)
		for i := range 4 {
			go func() {
				callCtx := t.Context()
				if i == 2 {
					callCtx = ctx
				}
				_, err := query(callCtx, g, fmt.Sprintf("SELECT %d", i))
				results <- fmt.Sprintf("%d %s", i, execution.CodeOf(err))
			}()
			synctest.Wait()
		}
		_, err := query(t.Context(), g, "SELECT 4")
		if e, ok := errors.AsType[*execution.Error](err); !ok || e.Code != sqlguard.CodeBusy || e.RetryAfter <= 0 || !e.Retryable {
			t.Errorf("err = %+v, want busy with a time", err)
		}
		cancel()
		synctest.Wait()
		if got := <-results; got != "2 cancelled" {
			t.Errorf("first to end: %s", got)
		}
		for _, want := range []string{"0 ", "1 ", "3 "} {
			release <- struct{}{}
			if got := <-results; got != want {
				t.Errorf("ended %q, want %q", got, want)
			}
			synctest.Wait()
		}
		if want := []string{"SELECT 0", "SELECT 1", "SELECT 3"}; !slices.Equal(backend.sent, want) {
			t.Errorf("sent %q, want %q", backend.sent, want)
		}
	})
}

func TestWaitingEndsAtTheTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &spy{}
		release := make(chan struct{})
		backend.query = func(context.Context) (*execution.Result, error) {
			<-release
			return &execution.Result{}, nil
		}
		g := newGateway(t, &audittest.Log{}, backend.connection(func(c *execution.Connection) { c.Concurrency = 1 }))
		go func() { _, _ = query(t.Context(), g, "SELECT 1") }()
		synctest.Wait()
		_, err := g.Query(t.Context(), execution.Request{ConnectionID: "shop", SQL: "SELECT 2", Limits: execution.Limits{Timeout: time.Second}})
		if execution.CodeOf(err) != sqlguard.CodeTimeout {
			t.Errorf("err = %v", err)
		}
		close(release)
	})
}

func TestCloseDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &spy{}
		release := make(chan struct{})
		backend.query = func(context.Context) (*execution.Result, error) {
			<-release
			return &execution.Result{}, nil
		}
		g := newGateway(t, &audittest.Log{}, backend.connection())
		ended := make(chan error, 2)
		go func() {
			_, err := query(t.Context(), g, "SELECT 1")
			ended <- err
		}()
		synctest.Wait()
		go func() { ended <- g.Close(t.Context()) }()
		synctest.Wait()
		if _, err := query(t.Context(), g, "SELECT 2"); execution.CodeOf(err) != sqlguard.CodeDraining {
			t.Errorf("err = %v, want draining", err)
		}
		close(release)
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestLimitsAreCutToTheConnection(t *testing.T) {
	ceiling := execution.Limits{Rows: 50, Timeout: time.Second}
	got := execution.Limits{Rows: 100, Bytes: 10}.Within(ceiling)
	want := execution.Limits{
		Rows: 50, Bytes: 10, CellBytes: execution.DefaultCellBytes, Columns: execution.DefaultColumns,
		Timeout: time.Second, LockTimeout: execution.DefaultLockTimeout, Temp: execution.DefaultTemp, ScanBytes: execution.DefaultScanBytes,
	}
	if got != want {
		t.Errorf("Within = %+v, want %+v", got, want)
	}
}
