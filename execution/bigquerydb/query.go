package bigquerydb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	// waitFor is how long the service may hold a request for a job that runs.
	waitFor = 10 * time.Second
	// maxPage is the most rows that one request asks for. The service also ends a page
	// at 10 MB.
	maxPage = 10_000
	// spareTime is how much later than the backend the service itself ends a job.
	spareTime = time.Second
)

// Query asks the service what stmt is, runs it, and returns its rows within lim.
func (d *DB) Query(ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
	id := *d.guard.Load()
	text, err := stmt.SQLFor(id)
	seen, err2 := stmt.RelationsFor(id)
	if err = errors.Join(err, err2); err != nil {
		return nil, execution.NewError(sqlguard.CodeInternalError, "the statement is not one that this connection's guard approved", err)
	}
	return d.run(ctx, statement{text: text, seen: seen}, lim.WithDefaults())
}

// statement is one SQL text, and the relations that the guard saw in it.
type statement struct {
	text string
	seen []sqlguard.VerdictRelation
	own  bool // of the package's own, whose tables are not compared
}

// run runs a statement on a slot of the pool.
func (d *DB) run(ctx context.Context, s statement, lim execution.Limits) (*execution.Result, error) {
	if ctx.Err() != nil {
		return nil, pool.Ended(context.Cause(ctx), nil, lim.Timeout)
	}
	lease, err := d.pool.Acquire(ctx, lim.Timeout)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer d.pool.OnClose(func() { cancel(pool.ErrClosing) })()
	ctx, end := context.WithTimeoutCause(ctx, lim.Timeout, pool.ErrTimeLimit)
	defer end()

	x := &job{db: d, statement: s, lim: lim}
	res, err := x.run(ctx)
	if err == nil {
		d.pool.Release(lease)
		res.Elapsed = x.elapsed()
		return res, nil
	}
	e := x.failed(ctx, err)
	e.Elapsed = x.elapsed()
	if x.mayRun {
		lease.Conn.job = x.ref
		if context.Cause(ctx) == nil { // the service was lost
			e.Held = d.pool.HoldLost(lease)
		} else {
			e.Held = d.pool.Hold(lease)
		}
	} else {
		d.pool.Release(lease)
	}
	return nil, e
}

// job is one statement on its way.
type job struct {
	db *DB
	statement
	lim execution.Limits

	ref    wire.Reference
	sent   time.Time // when the job was sent; zero before
	mayRun bool      // the job may run at the service
}

func (x *job) elapsed() time.Duration {
	if x.sent.IsZero() {
		return 0
	}
	return time.Since(x.sent)
}

// run asks about the statement, runs it and reads its rows.
func (x *job) run(ctx context.Context) (*execution.Result, error) {
	if !x.own {
		if err := x.db.recheck(ctx); err != nil {
			return nil, err
		}
	}
	if err := x.plan(ctx); err != nil {
		return nil, err
	}
	if err := x.insert(ctx); err != nil {
		return nil, err
	}
	schema, err := x.wait(ctx)
	if err != nil {
		return nil, err
	}
	return x.rows(ctx, schema)
}

// configuration returns how the statement is sent.
func (x *job) configuration() *wire.Configuration {
	t := x.db.target
	return &wire.Configuration{
		Query: wire.Query{
			SQL: x.text, Dataset: &wire.Dataset{Project: t.project, Dataset: t.dataset}, Billed: strconv.FormatInt(x.lim.ScanBytes, 10),
		},
		Labels: map[string]string{"application": "ktx"},
	}
}

// plan sends the dry run and compares what the service says with what the guard saw.
func (x *job) plan(ctx context.Context) error {
	said, err := x.db.dry(ctx, x.text)
	if err != nil {
		return err
	}
	if said.Statistics == nil || said.Statistics.Query == nil {
		return mismatch("the service does not say what the statement is", "")
	}
	q := said.Statistics.Query
	if q.Type != "SELECT" {
		return mismatch(fmt.Sprintf("the service reads the statement as %s, and not as SELECT", shown(q.Type)), "write one SELECT")
	}
	size := q.Bytes
	if size == "" {
		size = said.Statistics.Bytes
	}
	bytes, err := strconv.ParseInt(size, 10, 64)
	if err != nil || bytes < 0 {
		return mismatch("the service does not say how many bytes the statement reads", "")
	}
	if !x.own {
		if err := x.db.compare(ctx, x.seen, q.Tables); err != nil {
			return err
		}
	}
	if bytes > x.lim.ScanBytes {
		e := execution.NewError(sqlguard.CodeDatabaseError, fmt.Sprintf("the statement was not run: it would read %s, more than the %s that limits.scanBytes permits", sizeText(bytes), sizeText(x.lim.ScanBytes)), nil)
		e.SQLState = reasonBytes
		e.Hint = "select fewer columns, not *; add a condition on the partition or cluster column; LIMIT does not make a query read less. The operator can raise limits.scanBytes of the connection"
		return e
	}
	place, err := x.db.location(ctx)
	if err != nil {
		return err
	}
	x.ref = wire.Reference{Project: x.db.target.project, ID: newID(), Location: place}
	if said.Reference != nil && said.Reference.Location != "" {
		x.ref.Location = said.Reference.Location
	}
	return nil
}

// shown returns a word of the service for a message.
func shown(word string) string {
	if word == "" {
		return "something without a name"
	}
	if len(word) > 64 || strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return "something unknown"
	}
	return word
}

// sizeText returns a number of bytes with a unit that suits it.
func sizeText(n int64) string {
	exact := strconv.FormatInt(n, 10) + " bytes"
	for i, unit := range []string{"TiB", "GiB", "MiB"} {
		if one := int64(1) << (40 - 10*i); n >= one {
			return fmt.Sprintf("%s (%s %s)", exact, strings.TrimSuffix(strconv.FormatFloat(float64(n)/float64(one), 'f', 1, 64), ".0"), unit)
		}
	}
	return exact
}

// insert sends the job. When the caller leaves meanwhile, the answer is awaited for a while,
// because a job that is not known cannot be ended.
func (x *job) insert(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c := x.configuration()
	c.Timeout = strconv.FormatInt((x.lim.Timeout + spareTime).Milliseconds(), 10)
	within, end := outlive(ctx, endFor)
	defer end()
	x.sent, x.mayRun = time.Now(), true
	made, err := x.db.client.SendJob(within, wire.Job{Reference: &x.ref, Configuration: c})
	if e, ok := errors.AsType[*wire.ServiceError](err); ok && !e.Overload() {
		x.mayRun = false // it was refused
	}
	if err != nil {
		return err
	}
	if made.Reference != nil && made.Reference.Location != "" {
		x.ref.Location = made.Reference.Location
	}
	return ctx.Err()
}

// outlive returns a context that ends some time after ctx.
func outlive(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	within, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(by):
			cancel()
		case <-within.Done():
		}
	})
	return within, func() { stop(); cancel() }
}

// wait waits until the job is over, and returns its columns.
func (x *job) wait(ctx context.Context) (*wire.Schema, error) {
	for {
		got, err := x.db.client.Wait(ctx, x.ref, waitFor)
		if e, ok := errors.AsType[*wire.ServiceError](err); ok && !e.Overload() {
			x.mayRun = false // the error of a job is what it ended with
		}
		switch {
		case err != nil:
			return nil, err
		case !got.Complete:
			continue
		}
		x.mayRun = false
		if got.Schema == nil || len(got.Schema.Fields) == 0 {
			return nil, network.Untrusted("the statement returned no columns, so it was no query", nil)
		}
		return got.Schema, nil
	}
}

// rows reads the pages.
func (x *job) rows(ctx context.Context, schema *wire.Schema) (*execution.Result, error) {
	set := &rowset.Set{Limits: x.lim, Syntax: &syntax}
	set.Describe(len(schema.Fields))
	for i := range set.Columns {
		f := &schema.Fields[i]
		set.Column(i, execution.Column{Name: execution.NameText(f.Name), Type: execution.NameText(nameOf(f))}, kindOf(f))
	}
	left, token := x.lim.Rows+1, ""
	for {
		p := page{rows: set, fields: schema.Fields, text: []byte{}}
		body, err := x.db.client.Page(ctx, x.ref, token, min(left, maxPage))
		if err != nil {
			return nil, err
		}
		p.r = readerOf(body)
		err = p.read()
		if err == nil { // so that the connection can be used again
			_, err = io.Copy(io.Discard, io.LimitReader(p.r, maxName))
		}
		_ = body.Close() // it was read, or nothing more is needed
		switch {
		case errors.Is(err, errEnough):
			return set.Result(), nil
		case err != nil:
			return nil, err
		case p.token == "":
			return set.Result(), nil
		case p.token == token:
			return nil, fmt.Errorf("%w: a page that comes again", wire.ErrMalformed)
		}
		left, token = max(left-p.count, 1), p.token
	}
}

// failed ends a job that has not ended, and returns the error for the caller.
func (x *job) failed(ctx context.Context, err error) *execution.Error {
	reason := context.Cause(ctx)
	if x.mayRun {
		x.end(ctx)
	}
	if e, ok := errors.AsType[*execution.Error](err); ok {
		return e
	}
	switch {
	case reason == nil:
	case x.mayRun:
		return pool.Unconfirmed(reason, err, x.lim.Timeout)
	default:
		return pool.Ended(reason, err, x.lim.Timeout)
	}
	if e, ok := errors.AsType[*wire.ServiceError](err); ok && e.Reason == reasonStopped {
		if strings.Contains(e.Message, "timed out") {
			return pool.Ended(pool.ErrTimeLimit, e, x.lim.Timeout)
		}
		return execution.NewError(sqlguard.CodeCancelled, "the statement was cancelled at the server", e)
	}
	return x.db.broken(err, x.text)
}

// mismatch returns the error for a statement that the service reads in another way than the
// guard.
func mismatch(what, hint string) *execution.Error {
	out := execution.NewError(sqlguard.CodeSessionModeMismatch, "the statement was not run: "+what, nil)
	out.Hint, out.Retryable = hint, false
	if hint == "" {
		out.Hint = "tell the operator: the service does not behave as its API is documented"
	}
	return out
}

// maxTables is how many tables the service lists. It once left out those beyond the
// fiftieth, so a list of that length may not be whole.
const maxTables = 50

// compare fails unless every table that the service says is read is one that the guard saw,
// or one that a view reads that the guard saw.
func (d *DB) compare(ctx context.Context, seen []sqlguard.VerdictRelation, read []wire.Table) error {
	if len(read) >= maxTables {
		return mismatch(fmt.Sprintf("it reads %d tables, and the service may not list more", len(read)), "read fewer tables in one statement")
	}
	other := slices.DeleteFunc(slices.Clone(read), func(t wire.Table) bool { return d.among(seen, t) })
	if len(other) == 0 {
		return nil
	}
	for _, r := range seen {
		t := d.tableOf(r)
		if r.Schema == informationSchema || strings.HasSuffix(t.Name, "*") || slices.Contains(read, t) {
			continue
		}
		behind, err := d.behind(ctx, t)
		if err != nil {
			return err
		}
		other = slices.DeleteFunc(other, func(t wire.Table) bool { return slices.Contains(behind, t) })
		if len(other) == 0 {
			return nil
		}
	}
	return mismatch(fmt.Sprintf("the service says that it reads %s, which the guard did not see in it", other[0]), "name the tables that it reads directly, without a function or procedure in between")
}

// tableOf returns the table that a relation names.
func (d *DB) tableOf(r sqlguard.VerdictRelation) wire.Table {
	t := wire.Table{Project: r.Database, Dataset: r.Schema, Name: r.Name}
	if t.Project == "" {
		t.Project = d.target.project
	}
	if t.Dataset == "" {
		t.Dataset = d.target.dataset
	}
	return t
}

const informationSchema = "INFORMATION_SCHEMA"

// among reports whether a table is one of those that the guard saw.
func (d *DB) among(seen []sqlguard.VerdictRelation, t wire.Table) bool {
	return slices.ContainsFunc(seen, func(r sqlguard.VerdictRelation) bool {
		if r.Schema == informationSchema {
			// The service has the dataset or region before it, and the view behind it.
			whole := strings.ToUpper("." + t.Dataset + "." + t.Name)
			return strings.HasSuffix(whole, "."+informationSchema+"."+strings.ToUpper(r.Name))
		}
		s := d.tableOf(r)
		if s == t {
			return true
		}
		prefix, wild := strings.CutSuffix(s.Name, "*")
		return wild && s.Project == t.Project && s.Dataset == t.Dataset && strings.HasPrefix(t.Name, prefix)
	})
}
