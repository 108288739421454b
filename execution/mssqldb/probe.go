package mssqldb

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/internal/probe"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/sqlguard"
)

// The versions that the dialect's lists cover: SQL Server 2016 to 2025.
const (
	oldestVersion = 13
	newestVersion = 17
)

// Editions of SERVERPROPERTY('EngineEdition') that are cloud services. Their
// version number stays at 12, but they have the features of the newest server.
const (
	editionAzure    = 5
	editionSynapse  = 6
	editionInstance = 8
	editionEdge     = 9
	editionPool     = 11
)

// Probe connects and reports what the role may do, how the connection is
// protected, and whether the server refused the write that the probe tried. No
// session of SQL Server keeps a role from writing. So ReadOnly says that the
// server refused the write, and that the probe found no right beyond reading.
// Each fact that Probe cannot find out is a warning. Only a connection that
// cannot be used is an error.
func (d *DB) Probe(ctx context.Context) (execution.ProbeReport, error) {
	p := prober{db: d}
	if err := p.report.Run(ctx, p.identity, p.connection, p.session, p.clock, p.rights, p.surroundings, p.schemasToRead, p.reads); err != nil {
		return p.report.ProbeReport, err
	}
	if slices.ContainsFunc(p.report.Findings, execution.ProbeFinding.Writable) {
		p.report.ReadOnly, p.report.Refused = false, p.report.ReadOnly
	}
	p.report.RoleScript = p.roleScript()
	return p.report.ProbeReport, nil
}

// prober collects a report.
type prober struct {
	db        *DB
	report    probe.Report
	user      string
	database  string
	sysadmin  bool
	service   bool // a service of Azure
	contained bool // a service whose connections reach one database with users of its own
	schemas   []string
	access    probe.Access
}

// ask runs one query about what. If the connection works but the server does
// not answer the query, ask adds a warning of that topic, because the answer
// might have been one.
func (p *prober) ask(ctx context.Context, topic execution.ProbeTopic, what, sql string, columns int) ([][]string, error) {
	res, err := p.db.run(ctx, statement{text: sql}, ownLimits)
	if err == nil {
		if len(res.Columns) != columns {
			return nil, network.Untrusted("the server answers another question", nil)
		}
		if res.Truncated {
			p.report.Warn(topic, "", "%s could not be found out: there is more of it than is looked at", what)
		}
		return rowset.Texts(res.Rows), nil
	}
	e, ok := errors.AsType[*execution.Error](err)
	if ctx.Err() != nil || !ok || e.Code != sqlguard.CodeDatabaseError && e.Code != sqlguard.CodeTimeout || e.SQLState == "" && e.Code != sqlguard.CodeTimeout {
		return nil, err
	}
	p.report.Warn(topic, "let the role read the server's catalogue views, as every role may by default", "%s could not be found out: %s", what, e.Message)
	return nil, nil
}

// identity finds out whose session it is, and the server's version.
func (p *prober) identity(ctx context.Context) error {
	rows, err := p.db.ask(ctx, identitySQL)
	if err != nil {
		return err
	}
	if len(rows) != 1 || len(rows[0]) != 7 || rows[0][0] == "" || rows[0][2] == "" {
		return network.Untrusted("the server does not know the session's role", nil)
	}
	row := rows[0]
	version, edition := row[3], row[4]
	p.user, p.database, p.sysadmin = row[1], row[2], row[6] == "1"
	p.report.Server, p.report.Role = "SQL Server "+version, row[0]
	p.report.Replica = row[5] == "READ_ONLY"
	number, err := strconv.Atoi(edition)
	if err != nil {
		return network.Untrusted("the server has no edition", err)
	}
	major, err := strconv.Atoi(before(version, "."))
	if err != nil {
		return network.Untrusted("the server has no version", err)
	}
	p.contained = number == editionAzure
	switch p.service = slices.Contains([]int{editionAzure, editionSynapse, editionInstance, editionEdge, editionPool}, number); {
	case p.service:
		p.report.Server = "Azure SQL " + version
	case major < oldestVersion:
		p.report.Warn(execution.TopicServer, "use a server that is maintained", "the server's version is older than %d (SQL Server 2016)", oldestVersion)
	case major > newestVersion:
		p.report.Note(execution.TopicServer, "", "the server's version is newer than %d (SQL Server 2025): its functions are judged by the list of that version", newestVersion)
	}
	if p.report.Replica {
		p.report.Note(execution.TopicServer, "", "the database is read-only here (a readable secondary, or set so): it takes no writes at all")
	}
	return nil
}

// connection reports how the connection to the server is protected.
func (p *prober) connection(ctx context.Context) error {
	lease, err := p.db.pool.Acquire(ctx, ownLimits.Timeout)
	if err != nil {
		return err
	}
	facts := lease.Conn.wire.Facts()
	p.db.pool.Release(lease)
	p.report.TLS, p.report.TLSVersion = facts.TLS != "", facts.TLS
	if p.db.target.weak != "" {
		p.report.Warn(execution.TopicTransport, "use encrypt=true, with certificate when the certificate authority is a private one", "%s", p.db.target.weak)
	}
	return nil
}

// session tries a write, which must be refused. SQL Server has no read-only
// session. The role must stop the write, or the database must be read-only.
func (p *prober) session(ctx context.Context) error {
	_, err := p.db.run(ctx, statement{text: tryWriteSQL}, ownLimits)
	e, ok := errors.AsType[*execution.Error](err)
	switch {
	case err == nil, ok && e.Code == sqlguard.CodeDatabaseError && e.SQLState == "":
		p.report.Warn(execution.TopicSession, "use a role that can only read: "+scriptHint, "SQL Server has no read-only transaction, and the role may create a table; what was created was rolled back")
	case !ok || e.SQLState == "":
		return err
	case slices.Contains(refusals, e.SQLState):
		p.report.ReadOnly = true
		p.report.Note(execution.TopicSession, "", "SQL Server has no read-only transaction: only the guard and the rights of the role keep a statement from writing. A write was tried and the server refused it: %s", e.Message)
	default:
		p.report.Warn(execution.TopicSession, "", "a write was tried and failed for another reason than the rights of the role: %s", e.Message)
	}
	return nil
}

// refusals are the errors of a write that was refused: CREATE TABLE was not
// granted (262), the schema may not be altered (2760), the object may not be
// changed (229, 1088), the database is read-only (3906).
var refusals = []string{"262", "2760", "229", "1088", "3906"}

const scriptHint = "see ktx doctor --role-script"

// clock compares the server's clock with this machine's.
func (p *prober) clock(ctx context.Context) error {
	before := time.Now()
	rows, err := p.ask(ctx, execution.TopicServer, "the server's time", clockSQL, 1)
	after := time.Now()
	if err != nil || len(rows) != 1 {
		return err
	}
	now, err := time.Parse(clockLayout, rows[0][0])
	if err != nil {
		return network.Untrusted("the server has no time", err)
	}
	p.report.Clock(before, after, now)
	return nil
}
