package execution

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// Gateway is the only way for a statement to reach a connection. It is safe for
// concurrent use.
type Gateway struct {
	log       audit.Log
	observer  Observer
	doors     atomic.Pointer[doors] // replaced as a whole by Reload
	reloading sync.Mutex

	mu          sync.Mutex // also held while a call enters and while doors is replaced
	inFlight    sync.WaitGroup
	draining    bool
	retiring    map[*door]struct{} // replaced or removed by Reload, with calls still running
	retirements sync.WaitGroup
	retireErrs  []error

	refusals refusals

	holds sync.WaitGroup // statements that are held after their answer
}

// NewGateway returns a gateway over conns that records in log. It opens no
// connection. It returns an error when two connections have the same id, when a
// policy is not valid, and when the log cannot be written.
func NewGateway(ctx context.Context, log audit.Log, conns ...Connection) (*Gateway, error) {
	if log == nil {
		return nil, errors.New("new gateway: no audit log")
	}
	all, err := newDoors(conns)
	if err != nil {
		return nil, fmt.Errorf("new gateway: %w", err)
	}
	g := &Gateway{log: log, observer: unobserved{}, retiring: map[*door]struct{}{}}
	g.doors.Store(all)
	if err := log.Append(ctx, audit.Event{Type: audit.GatewayStart, Process: all.process()}); err != nil {
		return nil, auditError(err)
	}
	return g, nil
}

// ConnectionInfo describes a connection to callers.
type ConnectionInfo struct {
	ID          string
	Name        string
	Description string
	Engine      string
	Dialect     string // "" without a reader
	Runs        bool   // statements can be run
	Limits      Limits
	Catalog     CatalogInfo
}

// Connections returns every connection that the actor of ctx may use, ordered
// by id.
func (g *Gateway) Connections(ctx context.Context) []ConnectionInfo {
	all := g.doors.Load()
	out := make([]ConnectionInfo, 0, len(all.ids))
	for _, id := range all.open(ctx) {
		out = append(out, all.byID[id].info())
	}
	return out
}

// open returns the ids that the actor of ctx may use, in order.
func (s *doors) open(ctx context.Context) []string {
	actor, _ := audit.ActorFrom(ctx)
	if actor.Connections == nil {
		return s.ids
	}
	return slices.DeleteFunc(slices.Clone(s.ids), func(id string) bool { return !slices.Contains(actor.Connections, id) })
}

func (d *door) info() ConnectionInfo {
	info := ConnectionInfo{ID: d.ID, Name: d.Name, Description: d.Description, Engine: d.Engine, Runs: d.Open != nil, Limits: d.Limits, Catalog: d.catalogInfo()}
	if d.Dialect != nil {
		info.Dialect = d.Dialect.Name()
	}
	return info
}

// Connection returns the connection with that id. When there is none, the error
// lists the ids that the actor of ctx may use.
func (g *Gateway) Connection(ctx context.Context, id string) (ConnectionInfo, error) {
	d, err := g.door(ctx, id)
	if err != nil {
		return ConnectionInfo{}, err
	}
	return d.info(), nil
}

// Readable says which relations and columns the rules of a connection permit to
// be read. It is for callers that show names or values from a source other than a
// statement. When there is no such connection, the error is that of
// [Gateway.Connection].
func (g *Gateway) Readable(ctx context.Context, id string) (sqlguard.Readable, error) {
	d, err := g.door(ctx, id)
	if err != nil {
		return sqlguard.Readable{}, err
	}
	return sqlguard.NewReadable(d.Dialect, d.Policy), nil
}

// door returns the door of a connection. It records a call for a connection that does
// not exist.
func (g *Gateway) door(ctx context.Context, id string) (*door, error) {
	d, err := g.find(ctx, id)
	if err != nil {
		g.Refused(ctx, Refusal{Code: CodeOf(err), ConnectionID: id})
	}
	return d, err
}

// find returns the door of a connection. A connection that the actor of ctx may
// not use is unknown to that actor.
func (g *Gateway) find(ctx context.Context, id string) (*door, error) {
	all := g.doors.Load()
	known := all.open(ctx)
	if d := all.byID[id]; d != nil && slices.Contains(known, id) {
		return d, nil
	}
	e := NewError(sqlguard.CodeUnknownConnection, fmt.Sprintf("no connection has the id %q; configured: %s", id, cmp.Or(strings.Join(known, ", "), "none")), nil)
	if near := Nearest(id, known); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, e
}

// Check judges sql as Query would, without running it. Before the first use of
// a connection, the guard does not know its server's version and search path.
func (g *Gateway) Check(ctx context.Context, connectionID, sql string) (sqlguard.Verdict, error) {
	d, err := g.door(ctx, connectionID)
	if err != nil {
		return sqlguard.Verdict{}, err
	}
	guard := d.state.Load().guard
	if guard == nil {
		return sqlguard.Verdict{}, d.Unavailable
	}
	return guard.Check(sql), nil
}

// GuardID returns the identity of the guard that judges the connection's statements.
// Guards with equal identities give equal verdicts. The error is that of
// [Gateway.Connection], or says why the connection has no guard.
func (g *Gateway) GuardID(ctx context.Context, connectionID string) (sqlguard.ID, error) {
	d, err := g.door(ctx, connectionID)
	if err != nil {
		return sqlguard.ID{}, err
	}
	guard := d.state.Load().guard
	if guard == nil {
		return sqlguard.ID{}, d.Unavailable
	}
	return guard.ID(), nil
}

// Probe opens the connection and reports what its role may do.
func (g *Gateway) Probe(ctx context.Context, connectionID string) (ProbeReport, error) {
	d, done, err := g.enter(ctx, connectionID)
	if err != nil {
		return ProbeReport{}, err
	}
	defer done()
	s, err := d.ready(ctx, g.log)
	if err != nil {
		return ProbeReport{}, err
	}
	return s.backend.Probe(ctx)
}

// Query judges one statement, records the decision, runs the statement
// read-only within the limits and records the outcome. The error for a refused
// statement is a *sqlguard.RejectedError, and an *[Error] for every other
// failure. Query is the only caller of the guard's approval.
func (g *Gateway) Query(ctx context.Context, req Request) (res *Result, err error) {
	d, done, err := g.enter(ctx, req.ConnectionID)
	if err != nil {
		return nil, err
	}
	defer done()
	c := &call{gateway: g, door: d, request: req, limits: req.Limits.Within(d.Limits), id: rand.Text()}
	defer func() {
		if r := recover(); r != nil {
			res, err = nil, NewError(sqlguard.CodeInternalError, "the gateway met a fault of its own; query "+c.id, fmt.Errorf("panic: %v", r))
			if c.decided {
				c.finish(ctx, nil, err)
			}
		}
	}()
	return c.run(ctx)
}

// enter finds a connection and counts a call in, unless the gateway is
// stopping. It holds the same lock as Reload, so that a door that Reload took
// out of use gets no new calls.
func (g *Gateway) enter(ctx context.Context, id string) (d *door, done func(), err error) {
	defer func() {
		if err != nil { // recorded without the lock
			g.Refused(ctx, Refusal{Code: CodeOf(err), ConnectionID: id})
		}
	}()
	g.mu.Lock()
	defer g.mu.Unlock()
	if d, err = g.find(ctx, id); err != nil {
		return nil, nil, err
	}
	if g.draining {
		return nil, nil, drainingError()
	}
	g.inFlight.Add(1)
	d.calls.Add(1)
	return d, func() { d.calls.Done(); g.inFlight.Done() }, nil
}

func (g *Gateway) stopping() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.draining
}

func drainingError() error {
	return NewError(sqlguard.CodeDraining, "the gateway is stopping and takes no new statements", nil)
}

// Close takes no new statements, waits until ctx ends for those that run,
// closes every connection and records the stop. It does not close the log.
func (g *Gateway) Close(ctx context.Context) error {
	g.mu.Lock()
	already := g.draining
	g.draining = true
	g.mu.Unlock()
	if already {
		return nil
	}
	idle := make(chan struct{})
	go func() {
		g.inFlight.Wait()
		close(idle)
	}()
	var errs []error
	select {
	case <-idle:
	case <-ctx.Done(): // closing the backends ends the statements that still run
		errs = g.closeDoors(errs)
	}
	<-idle
	g.retirements.Wait()
	errs = append(g.closeDoors(errs), g.retireErrs...)
	g.holds.Wait()
	g.refusals.recording.Lock()
	defer g.refusals.recording.Unlock()
	g.refusals.stopped = true
	if n := g.refusals.rest(); n > 0 {
		if err := g.log.Append(ctx, audit.Event{Type: audit.CallRefused, Reason: "unrecorded", Unrecorded: n}); err != nil {
			errs = append(errs, auditError(err))
		}
	}
	if err := g.log.Append(ctx, audit.Event{Type: audit.GatewayStop}); err != nil {
		errs = append(errs, auditError(err))
	}
	return errors.Join(errs...)
}

// closeDoors closes every connection, including those out of use.
func (g *Gateway) closeDoors(errs []error) []error {
	g.mu.Lock()
	all := slices.AppendSeq(slices.Collect(maps.Values(g.doors.Load().byID)), maps.Keys(g.retiring))
	g.mu.Unlock()
	for _, d := range all {
		if err := d.close(); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", d.ID, err))
		}
	}
	return errs
}

// call is one statement on its way through the gateway.
type call struct {
	gateway *Gateway
	door    *door
	request Request
	limits  Limits
	id      string
	decided bool      // the decision is recorded, so an outcome is owed
	started time.Time // start of execution, which includes waiting; zero before it
}

func (c *call) run(ctx context.Context) (*Result, error) {
	state := c.door.state.Load()
	if state.guard == nil {
		return nil, c.door.Unavailable
	}
	c.request.stage(StageValidating)
	var openErr error
	if state.backend != nil {
		state, openErr = c.ready(ctx, state)
	}
	approved, verdict, latency, refusal := c.judge(state.guard)
	judged := state
	switch {
	case openErr != nil:
	case state.backend == nil && (refusal == nil || c.catalogDecides(verdict)):
		// A statement that the guard refuses whatever the server says about
		// itself opens no connection.
		state, openErr = c.ready(ctx, state)
	case state.backend != nil && refusal != nil && unresolved(verdict):
		state = c.renew(ctx, state)
	}
	if state.guard.ID() != judged.guard.ID() {
		// The server's answer has changed the guard.
		approved, verdict, latency, refusal = c.judge(state.guard)
	}
	if state.backend == nil && refusal != nil && !c.catalogDecides(verdict) {
		// The gateway has not asked the server, so findings that its answer
		// could lift are not given as reasons.
		verdict = verdict.Without(pathDecides...)
		refusal = &sqlguard.RejectedError{Verdict: verdict}
	}
	if err := c.decide(ctx, state.guard, verdict, latency); err != nil {
		return nil, err
	}
	switch {
	case openErr != nil && (refusal == nil || c.catalogDecides(verdict)):
		if refusal == nil {
			c.finish(ctx, nil, openErr)
		}
		return nil, openErr
	case refusal != nil:
		return nil, refusal
	}
	c.started = time.Now()
	res, err := c.execute(ctx, state, approved)
	if code := CodeOf(err); code == sqlguard.CodeConnectionLost || code == sqlguard.CodeServerRestarted {
		c.door.doubt()
	} else if code == sqlguard.CodeNotConfigured {
		c.door.expire() // a new connection's role was refused
	}
	c.finish(ctx, res, err)
	if err != nil {
		return nil, err
	}
	return res, nil
}

// ready returns a state to judge with. It waits at most as long as a statement
// may take. With an error, it returns s.
func (c *call) ready(ctx context.Context, s *doorState) (*doorState, error) {
	if c.door.fresh(s) {
		return s, nil
	}
	waiting, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	next, err := c.door.ready(waiting, c.gateway.log)
	if err != nil {
		return s, err
	}
	return next, nil
}

// renew returns a state that may know objects that s does not know.
func (c *call) renew(ctx context.Context, s *doorState) *doorState {
	waiting, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	return c.door.renew(waiting, c.gateway.log, s)
}

// catalogDecides reports whether every finding against a statement may be due
// to a server that has not yet told its search path, its database and its
// objects.
func (c *call) catalogDecides(v sqlguard.Verdict) bool {
	return !slices.ContainsFunc(v.Findings, func(f sqlguard.Finding) bool {
		return !slices.Contains(pathDecides, f.Code) && (!c.door.Objects || !slices.Contains(objectsDecide, f.Code))
	})
}

// pathDecides are the findings that a server's search path and database may
// lift. objectsDecide are those that its objects may lift, for example because
// a column has the name of a function.
var (
	pathDecides   = []sqlguard.Code{sqlguard.CodeUnresolvedObject, sqlguard.CodeExternalRelation}
	objectsDecide = []sqlguard.Code{
		sqlguard.CodeFunctionNotAllowed, sqlguard.CodeFunctionSideEffect, sqlguard.CodeFunctionFileAccess, sqlguard.CodeFunctionNetworkAccess,
		sqlguard.CodeFunctionAdmin, sqlguard.CodeFunctionSleep,
		sqlguard.CodeOperatorNotAllowed, sqlguard.CodeTypeNotAllowed, sqlguard.CodeColumnNotAllowed,
	}
)

// unresolved reports whether a statement names an object that the guard does
// not know.
func unresolved(v sqlguard.Verdict) bool {
	return slices.ContainsFunc(v.Findings, func(f sqlguard.Finding) bool { return f.Code == sqlguard.CodeUnresolvedObject })
}

func (c *call) judge(guard *sqlguard.Guard) (sqlguard.Approved, sqlguard.Verdict, time.Duration, error) {
	start := time.Now()
	approved, verdict, err := guard.Judge(c.request.SQL)
	latency := time.Since(start)
	c.took(StepJudge, start)
	return approved, verdict, latency, err
}

// took reports a step that began at start, with its duration, to the observer.
func (c *call) took(step string, start time.Time) {
	c.gateway.observer.Took(c.door.ID, step, time.Since(start))
}

func (c *call) execute(ctx context.Context, state *doorState, approved sqlguard.Approved) (*Result, error) {
	start := time.Now()
	leave, err := c.turn(ctx)
	if err != nil {
		return nil, err
	}
	c.took(StepWait, start)
	var held *Held
	defer func() {
		if held == nil {
			leave()
		}
	}()
	if ctx.Err() != nil {
		return nil, contextError(ctx, "before it was sent")
	}
	c.request.stage(StageExecuting)
	defer c.took(StepRun, time.Now())
	res, err := c.send(ctx, state, approved)
	if held = heldBy(res, err); held != nil {
		c.hold(ctx, held, leave)
	}
	return res, err
}

// turn waits for room for the answer and for a turn, at most as long as a statement may
// take. Most calls need not wait, and set no timer.
func (c *call) turn(ctx context.Context) (leave func(), err error) {
	actor, _ := audit.ActorFrom(ctx)
	share := ShareFrom(ctx)
	if share.TakeNow(c.limits.Bytes) {
		if leave = c.door.queue.enterNow(actor.Principal); leave != nil {
			return leave, nil
		}
	}
	waiting, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	if err := share.Take(waiting, c.limits.Bytes); err != nil {
		return nil, err
	}
	return c.door.queue.enter(waiting, actor.Principal)
}

// heldBy returns the statement that the server may still be running, or nil.
func heldBy(res *Result, err error) *Held {
	if res != nil {
		return res.Held
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Held
	}
	return nil
}

// hold keeps the slot of a statement until it is over, and records when that was.
func (c *call) hold(ctx context.Context, h *Held, leave func()) {
	ctx = context.WithoutCancel(ctx)
	release := c.door.queue.hold(h)
	c.gateway.holds.Go(func() {
		<-h.Over()
		release()
		leave()
		e := audit.Event{Type: audit.QueryEnded, QueryID: c.id, Connection: c.connection()}
		e.Result = audit.Result{Ended: audit.EndedUnconfirmed, HeldMS: milliseconds(time.Since(h.Since()))}
		if h.Confirmed() {
			e.Result.Ended = audit.EndedConfirmed
		}
		_ = c.gateway.log.Append(ctx, e)
	})
}

// milliseconds returns d as the log has it.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// connection names the connection in the log.
func (c *call) connection() audit.Connection {
	out := audit.Connection{ID: c.door.ID}
	if c.door.Dialect != nil {
		out.Dialect = c.door.Dialect.Name()
	}
	return out
}

// send hands the statement to the backend. The backend refuses a statement that
// was approved by a guard other than the one in force. When the reason is that
// the guard was replaced in the meantime, send asks the new guard and records
// its decision too.
func (c *call) send(ctx context.Context, state *doorState, approved sqlguard.Approved) (*Result, error) {
	for {
		res, err := state.backend.Query(ctx, approved, c.limits)
		if !errors.Is(err, sqlguard.ErrNotApproved) {
			return res, err
		}
		next := c.door.settled(state)
		if next == state || next.backend != state.backend {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, contextError(ctx, "before it was sent")
		}
		same := next.guard.ID() == state.guard.ID()
		state = next
		if same {
			continue // replaced by a guard with the same ID
		}
		again, verdict, latency, refusal := c.judge(state.guard)
		if err := c.decide(ctx, state.guard, verdict, latency); err != nil {
			return nil, err
		}
		if refusal != nil {
			return nil, refusal
		}
		approved = again
	}
}

// decide records the decision. The statement does not run until the decision is
// recorded.
func (c *call) decide(ctx context.Context, guard *sqlguard.Guard, v sqlguard.Verdict, latency time.Duration) error {
	e := audit.Event{
		Type: audit.QueryDecision, QueryID: c.id,
		Connection: audit.Connection{ID: c.door.ID, Dialect: v.Dialect},
		Limits: audit.Limits{
			Rows: int64(c.limits.Rows), Bytes: c.limits.Bytes, CellBytes: c.limits.CellBytes, Columns: int64(c.limits.Columns),
			TimeoutMS: c.limits.Timeout.Milliseconds(), LockTimeoutMS: c.limits.LockTimeout.Milliseconds(),
		},
	}
	e.SQL, e.Decision = Described(v)
	e.SQL.HMAC, e.SQL.Text, e.SQL.Bytes = c.gateway.log.HMAC(c.request.SQL), c.request.SQL, int64(len(c.request.SQL))
	e.Decision.Policy, e.Decision.LatencyUS = guard.ID().String(), latency.Microseconds()
	start := time.Now()
	if err := c.gateway.log.Append(ctx, e); err != nil {
		return auditError(err)
	}
	c.took(StepRecord, start)
	c.gateway.observer.Decided(c.door.ID, v.Code)
	c.decided = c.decided || v.Allowed
	return nil
}

// Described returns what the log keeps of a verdict. The statement itself, and the guard
// and its time, are for the caller to add.
func Described(v sqlguard.Verdict) (audit.SQL, audit.Decision) {
	sql := audit.SQL{Fingerprint: v.Fingerprint, Normalized: v.Normalized, Kind: string(v.Verb), Functions: v.Functions}
	decision := audit.Decision{Verdict: audit.VerdictReject, Parser: v.Parser}
	for _, r := range v.Relations {
		name := r.Name
		if r.Schema != "" {
			name = r.Schema + "." + name
		}
		sql.Tables = append(sql.Tables, name)
	}
	if v.Allowed {
		decision.Verdict = audit.VerdictAllow
		return sql, decision
	}
	decision.Codes = append(decision.Codes, string(v.Code))
	for _, f := range v.Findings {
		if !slices.Contains(decision.Codes, string(f.Code)) {
			decision.Codes = append(decision.Codes, string(f.Code))
		}
	}
	return sql, decision
}

// finish records the outcome. When recording fails, the caller still gets the
// answer: the decision is in the log, and the gateway refuses the next
// statement.
func (c *call) finish(ctx context.Context, res *Result, failure error) {
	e := audit.Event{Type: audit.QueryFinished, QueryID: c.id, Connection: c.connection()}
	if failure == nil {
		c.gateway.observer.Finished(c.door.ID, "", int64(len(res.Rows)), res.Bytes)
	} else {
		c.gateway.observer.Finished(c.door.ID, cmp.Or(CodeOf(failure), sqlguard.CodeInternalError), 0, 0)
	}
	switch code := CodeOf(failure); {
	case failure == nil:
		e.Result = audit.Result{
			Status: audit.StatusOK, Rows: int64(len(res.Rows)), Bytes: res.Bytes, TruncatedBy: string(res.TruncatedBy),
		}
	case code == sqlguard.CodeCancelled:
		e.Type = audit.QueryCancelled
		e.Result = audit.Result{Status: audit.StatusCancelled, Code: string(code)}
	default:
		e.Result = audit.Result{Status: audit.StatusError, Code: string(cmp.Or(code, sqlguard.CodeInternalError))}
		if known, ok := errors.AsType[*Error](failure); ok {
			e.Result.SQLState = known.SQLState
		}
	}
	if !c.started.IsZero() {
		ran := elapsed(res, failure)
		e.Result.ExecMS = milliseconds(ran)
		e.Result.QueueMS = milliseconds(max(time.Since(c.started)-ran, 0))
		e.Result.Ended = endedHow(res, failure, ran)
	}
	_ = c.gateway.log.Append(ctx, e)
}

// elapsed returns how long a statement ran at its server.
func elapsed(res *Result, failure error) time.Duration {
	if failure == nil {
		return res.Elapsed
	}
	if e, ok := errors.AsType[*Error](failure); ok {
		return e.Elapsed
	}
	return 0
}

// endedHow says whether the server confirmed the end of a statement that was
// ended early. It returns "" for a statement that ended by itself or was not
// sent.
func endedHow(res *Result, failure error, ran time.Duration) string {
	code := CodeOf(failure)
	switch {
	case heldBy(res, failure) != nil:
		return audit.EndedUnconfirmed
	case ran > 0 && (code == sqlguard.CodeTimeout || code == sqlguard.CodeCancelled):
		return audit.EndedConfirmed
	default:
		return ""
	}
}

func auditError(err error) error {
	return AuditUnavailable("the audit log cannot be written, so nothing runs", err)
}

// AuditUnavailable returns the error for a fault of the audit log. It says what is
// wrong when the cause shows it.
func AuditUnavailable(message string, err error) *Error {
	e := NewError(sqlguard.CodeAuditUnavailable, message, err)
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		e.Message += ": this process has no file descriptor left"
		e.Hint = "tell the operator: the limit of open files (ulimit -n) is reached"
	case errors.Is(err, audit.ErrLocked):
		e.Message += ": another process keeps its lock"
		e.Hint = "tell the operator: another process keeps the lock of the audit log"
	case errors.Is(err, syscall.ENOSPC):
		e.Message += ": its disk is full"
		e.Hint = "tell the operator: the audit log's disk is full"
	}
	return e
}

// contextError turns the end of ctx into an [Error].
func contextError(ctx context.Context, when string) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return NewError(sqlguard.CodeTimeout, "the time limit was reached "+when, ctx.Err())
	}
	return NewError(sqlguard.CodeCancelled, "cancelled "+when, ctx.Err())
}
