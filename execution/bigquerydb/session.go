package bigquerydb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/sqlguard"
)

// This file and session_probe.go contain every statement of the package's own that the
// service gets. They are constants, except for quoted names that the service gave.

// ownLimits bound the answers to the package's own statements.
var ownLimits = execution.Limits{Rows: 2_000_000, Bytes: 512 << 20, Timeout: time.Minute}.WithDefaults()

// columnsSQL lists the columns of a dataset that the principal may see.
func columnsSQL(d wire.Dataset) string {
	return "SELECT table_schema, table_name, column_name FROM " + rowset.Backquoted(d.Project) + "." + rowset.Backquoted(d.Dataset) + ".INFORMATION_SCHEMA.COLUMNS ORDER BY table_name, ordinal_position"
}

// routinesSQL lists the functions of a dataset.
func routinesSQL(d wire.Dataset) string {
	return "SELECT routine_name FROM " + rowset.Backquoted(d.Project) + "." + rowset.Backquoted(d.Dataset) + ".INFORMATION_SCHEMA.ROUTINES WHERE routine_type IN ('FUNCTION', 'TABLE FUNCTION') ORDER BY routine_name"
}

// wholeSQL reads a view. It is sent as a dry run only.
func wholeSQL(t wire.Table) string {
	return "SELECT * FROM " + rowset.Backquoted(t.Project) + "." + rowset.Backquoted(t.Dataset) + "." + rowset.Backquoted(t.Name)
}

// newID returns an identifier that no other job has.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return "ktx_" + hex.EncodeToString(b[:])
}

// ask runs a statement of the package's own and returns its rows as texts; NULL is "".
func (d *DB) ask(ctx context.Context, sql string) ([][]string, error) {
	res, err := d.run(ctx, statement{text: sql, own: true}, ownLimits)
	if err != nil {
		return nil, err
	}
	if res.Truncated {
		return nil, execution.NewError(sqlguard.CodeDatabaseError, "the catalogue of the project is too large", nil)
	}
	return rowset.Texts(res.Rows), nil
}

// location returns where jobs run: where the URL says, or where the connection's dataset is.
// "" lets the service choose.
func (d *DB) location(ctx context.Context) (string, error) {
	if d.target.location != "" {
		return d.target.location, nil
	}
	d.mu.Lock()
	place := d.place
	d.mu.Unlock()
	if place != nil {
		return *place, nil
	}
	name, err := d.client.Location(ctx, d.own())
	if e, ok := errors.AsType[*wire.ServiceError](err); err != nil && (!ok || e.Overload() || e.Status == http.StatusUnauthorized) {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.place = &name
	return name, nil
}

// dry asks the service what it makes of a statement, without running it.
func (d *DB) dry(ctx context.Context, sql string) (*wire.Job, error) {
	x := &job{db: d, statement: statement{text: sql}, lim: ownLimits}
	place, err := d.location(ctx)
	if err != nil {
		return nil, err
	}
	c := x.configuration()
	c.DryRun, c.Query.Billed = true, "" // a limit on bytes has a better message of our own
	return d.client.SendJob(ctx, wire.Job{Reference: &wire.Reference{Project: d.target.project, Location: place}, Configuration: c})
}

// view is what the service said about a table that may be a view.
type view struct {
	reads []wire.Table
	asked time.Time
}

const (
	// viewFor is how long the answer about a view counts.
	viewFor = time.Minute
	// maxViews is how many answers are kept.
	maxViews = 1000
)

// behind returns the tables that a view reads. The service lists them for a statement, and
// not the view. A table reads none, and neither does what is not there.
func (d *DB) behind(ctx context.Context, t wire.Table) ([]wire.Table, error) {
	d.mu.Lock()
	known, ok := d.views[t]
	d.mu.Unlock()
	if ok && time.Since(known.asked) < viewFor {
		return known.reads, nil
	}
	v := view{asked: time.Now()}
	info, err := d.client.Table(ctx, t)
	if err == nil && strings.HasSuffix(info.Type, "VIEW") {
		var said *wire.Job
		said, err = d.dry(ctx, wholeSQL(t))
		if err == nil && said.Statistics != nil && said.Statistics.Query != nil && len(said.Statistics.Query.Tables) < maxTables {
			v.reads = said.Statistics.Query.Tables
		}
	}
	if e, failed := errors.AsType[*wire.ServiceError](err); err != nil && (!failed || e.Overload() || ctx.Err() != nil) {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.views) >= maxViews {
		clear(d.views)
	}
	d.views[t] = v
	return v.reads, nil
}
