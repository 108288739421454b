package bigquerydb

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/internal/probe"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	scriptHint = "see ktx doctor --role-script"
	// maxProbed is how many datasets, and how many tables of the connection's own, are
	// asked about.
	maxProbed = 20
	// checkFor is how long the answer about the role counts.
	checkFor = time.Minute
)

// Probe reports what the principal may do, how the connection is protected, and whether the
// service refuses a write. Each fact that it cannot find out is a warning. Only a
// connection that cannot be used is an error.
func (d *DB) Probe(ctx context.Context) (execution.ProbeReport, error) {
	p := prober{db: d}
	within, end := d.bounded(ctx)
	defer end()
	if err := p.report.Run(within, p.identity, p.connection, p.create, p.rights, p.reads); err != nil {
		return p.report.ProbeReport, d.ended(within, err)
	}
	p.report.RoleScript = p.roleScript()
	return p.report.ProbeReport, nil
}

// prober collects a report.
type prober struct {
	db     *DB
	report probe.Report
	access probe.Access
}

// identity finds out who the principal is, and compares the clocks.
func (p *prober) identity(ctx context.Context) error {
	p.report.Server = "BigQuery"
	start := time.Now()
	rows, err := p.db.ask(ctx, identitySQL)
	if err != nil {
		return err
	}
	if len(rows) != 1 || len(rows[0]) != 2 {
		return network.Untrusted("the service does not say who asks", nil)
	}
	p.report.Role = rows[0][0]
	now, err := strconv.ParseInt(rows[0][1], 10, 64)
	if err != nil {
		return network.Untrusted("the service has no time", err)
	}
	p.report.Clock(start.Add(-time.Second), time.Now(), time.Unix(now, 0))
	return nil
}

// connection reports how the connection to the service is protected.
func (p *prober) connection(context.Context) error {
	if v := p.db.client.TLS(); v != 0 {
		p.report.TLS, p.report.TLSVersion = true, tls.VersionName(v)
	}
	if p.db.target.weak != "" {
		p.report.Note(execution.TopicTransport, "", "%s: the endpoint is on this machine", p.db.target.weak)
	}
	return nil
}

// tried is the answer to a write that was tried as a dry run.
type tried uint8

const (
	untold  tried = iota // refused for another reason than a missing right
	refused              // the principal may not
	taken                // it may
)

func (d *DB) try(ctx context.Context, sql string) (tried, string, error) {
	_, err := d.dry(ctx, sql)
	e, ok := errors.AsType[*wire.ServiceError](err)
	switch {
	case err == nil:
		return taken, "", nil
	case !ok || e.Overload() || e.Status == http.StatusUnauthorized:
		return untold, "", err
	case e.Status == http.StatusForbidden:
		return refused, e.Message, nil
	default:
		return untold, e.Message, nil
	}
}

// create tries to make a table and a dataset, which must be refused.
func (p *prober) create(ctx context.Context) error {
	got, why, err := p.db.try(ctx, tryTableSQL(p.db.own()))
	if err != nil {
		return err
	}
	switch got {
	case taken:
		p.report.Warn(execution.TopicRole, "use a principal that can only read: "+scriptHint, "the principal may make tables in the dataset %s", p.db.target.dataset)
	case untold:
		p.report.Warn(execution.TopicRole, "", "whether the principal may make tables could not be found out: %s", why)
	case refused:
		p.report.ReadOnly = true
		p.report.Note(execution.TopicSession, "", "a write was tried as a dry run and the service refused it: %s. BigQuery has no read-only session: the rights of the principal, and the dry run of each statement, keep statements from writing", why)
	}
	got, why, err = p.db.try(ctx, tryDatasetSQL(p.db.target.project))
	if err != nil {
		return err
	}
	switch got {
	case taken:
		p.report.ReadOnly = false
		p.report.Warn(execution.TopicRole, "use a principal that can only read: "+scriptHint, "the principal may make datasets in the project %s", p.db.target.project)
	case untold:
		p.report.Note(execution.TopicRole, "", "whether the principal may make datasets could not be found out: %s", why)
	case refused:
	}
	return nil
}

// rights asks which permissions beyond reading the principal has on tables, and whether it
// may make tables in other datasets.
func (p *prober) rights(ctx context.Context) error {
	d := p.db
	tables, err := d.client.Tables(ctx, d.own(), maxListed)
	if err != nil && !errors.Is(err, wire.ErrTooMany) {
		return err
	}
	var found []string
	for _, t := range tables[:min(len(tables), maxProbed)] {
		have, err := d.client.Permitted(ctx, t.Table, writes)
		if err := p.unknown(err, "what the principal may do with "+t.Table.String()); err != nil {
			return err
		}
		for _, name := range have {
			found = append(found, name+" on "+t.Table.Dataset+"."+t.Table.Name)
		}
	}
	if len(tables) > maxProbed {
		p.report.Note(execution.TopicRole, "", "the rights on the first %d of %d tables of %s were looked at", maxProbed, len(tables), d.target.dataset)
	}
	if found != nil {
		p.report.ReadOnly = false
		slices.Sort(found)
		p.report.Warn(execution.TopicRole, "use a principal that can only read: "+scriptHint, "the principal has rights beyond reading: %s", probe.Named(found))
	}
	return p.others(ctx)
}

// others tries to make tables in other datasets of the project.
func (p *prober) others(ctx context.Context) error {
	d := p.db
	names, err := d.client.Datasets(ctx, maxDatasets)
	if err := p.unknown(err, "which datasets there are"); err != nil {
		return err
	}
	var writable []string
	asked := 0
	for _, name := range names {
		if name == d.target.dataset || asked == maxProbed {
			continue
		}
		asked++
		got, _, err := d.try(ctx, tryTableSQL(wire.Dataset{Project: d.target.project, Dataset: name}))
		if err != nil {
			return err
		}
		if got == taken {
			writable = append(writable, name)
		}
	}
	if writable != nil {
		p.report.ReadOnly = false
		p.report.Warn(execution.TopicRole, "use a principal that can only read: "+scriptHint, "the principal may make tables in other datasets: %s", probe.Named(writable))
	}
	if len(names) > maxProbed+1 {
		p.report.Note(execution.TopicRole, "", "%d of %d datasets of the project were looked at", maxProbed+1, len(names))
	}
	return nil
}

// unknown adds a warning when the service refuses to say something.
func (p *prober) unknown(err error, what string) error {
	e, ok := errors.AsType[*wire.ServiceError](err)
	if !ok || e.Overload() || e.Status == http.StatusUnauthorized {
		return err
	}
	p.report.Warn(execution.TopicRole, "", "%s could not be found out: %s", what, e.Message)
	return nil
}

// recheck fails when the principal can do more than read. It asks at most once a minute.
func (d *DB) recheck(ctx context.Context) error {
	d.mu.Lock()
	due := d.checks.Load() && time.Since(d.checked) >= checkFor
	d.mu.Unlock()
	if !due {
		return nil
	}
	got, _, err := d.try(ctx, tryTableSQL(d.own()))
	if err != nil {
		return err
	}
	if got == taken {
		return execution.CheckedRole("it may make tables in the dataset " + d.target.dataset)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.checked = time.Now()
	return nil
}

// relations lists the tables of a dataset with their columns.
func (d *DB) relations(ctx context.Context, set wire.Dataset) ([]sqlguard.InventoryRelation, error) {
	rows, err := d.ask(ctx, columnsSQL(set))
	if err != nil {
		return nil, err
	}
	return rowset.Relations(rows), nil
}

// reads compares what the principal may read with the rules of the connection.
func (p *prober) reads(ctx context.Context) error {
	d := p.db
	if !d.access.Restricts() {
		return nil
	}
	sets, err := d.datasets(ctx)
	if err != nil {
		return err
	}
	for _, set := range sets {
		relations, err := d.relations(ctx, set)
		if e, ok := errors.AsType[*execution.Error](err); ok && ctx.Err() == nil && e.Code == sqlguard.CodeDatabaseError && e.SQLState != "" {
			p.report.Warn(execution.TopicAccess, "", "what the principal may read in %s could not be compared with the rules of this connection: %s", set.Dataset, e.Message)
			continue
		}
		if err != nil {
			return err
		}
		for _, r := range relations {
			p.access.Relations = append(p.access.Relations, probe.Relation{CatalogName: r.CatalogName, Columns: r.Columns, Readable: r.Columns, Rows: true})
		}
	}
	c, err := d.Catalog(ctx)
	if err != nil {
		return err
	}
	p.access.Rules = d.access
	for i := range p.access.Relations {
		p.access.Relations[i].View = slices.Contains(c.Views, p.access.Relations[i].CatalogName)
	}
	p.access.Excess(&p.report, func(r probe.Revocation) string {
		if r.Columns != nil {
			return "give the principal a view without the columns instead of the table, or set policy tags on them"
		}
		return "REVOKE `roles/bigquery.dataViewer` ON TABLE " + rowset.Backquoted(r.Schema) + "." + rowset.Backquoted(r.Name) + " FROM \"…\", or a grant on its dataset or project"
	})
	return nil
}
