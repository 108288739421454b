package pgdb

import (
	"context"
	"crypto/tls"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/internal/probe"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// questionLimits bound the queries that the backend itself sends.
var questionLimits = execution.Limits{Timeout: 10 * time.Second}.WithDefaults()

// The versions that the dialect's lists know.
const (
	oldestVersion = 13
	newestVersion = 18
)

// poolerWait is how long a pooler may take to provide a connection.
const poolerWait = 2 * time.Second

// ask runs one constant and returns its rows as strings; NULL is "".
func (d *DB) ask(ctx context.Context, sql string, values ...[]byte) ([][]string, error) {
	res, _, err := d.run(ctx, statement{sql: sql, values: values}, questionLimits)
	if err != nil {
		return nil, err
	}
	return rowset.Texts(res.Rows), nil
}

// Probe connects and reports what the role may do, how the connection is
// protected, and whether the server refused the writes that Probe tried inside
// the read-only session. When it cannot find something out, it adds a warning.
// It returns an error only when the connection cannot be used.
func (d *DB) Probe(ctx context.Context) (execution.ProbeReport, error) {
	p := prober{db: d}
	if err := p.report.Run(ctx, p.role, p.relatives, p.connection, p.session, p.clock, p.rights, p.surroundings, p.reads, p.outside, p.everybody); err != nil {
		return p.report.ProbeReport, err
	}
	p.report.RoleScript = p.roleScript()
	return p.report.ProbeReport, nil
}

// prober collects a report.
type prober struct {
	db     *DB
	report probe.Report
	facts  roleFacts
	// The data for the role script. The rights of every role do not depend on
	// the role of this session, which may own the objects.
	schemas   []schema
	access    probe.Access
	outward   map[string]map[string]bool // of schemas with such tables, whether a relation reads tables of other servers
	functions []function
	public    []right
}

// ask runs one query about what. When the server is there but does not answer
// the query, ask adds a warning, because the answer could have been one.
func (p *prober) ask(ctx context.Context, what, sql string, values ...[]byte) ([][]string, error) {
	rows, err := p.db.ask(ctx, sql, values...)
	if err == nil || ctx.Err() != nil {
		return rows, err
	}
	e, ok := errors.AsType[*execution.Error](err)
	if !ok || e.Code != sqlguard.CodeDatabaseError && e.Code != sqlguard.CodeTimeout {
		return nil, err
	}
	p.report.Warn(execution.TopicRole, "let the role read the server's catalogue, as every role may by default", "%s could not be found out: %s", what, e.Message)
	return nil, nil
}

// roleFacts is the row of roleSQL.
type roleFacts []string

const (
	factSession = iota
	factUser
	factDatabase
	factVersion
	factNumber
	factSuper
	factReplica
	factReadOnly
	factRowSecurity
	factTempLimit
	factLargeObjects
)

// role finds out the role of the session and the version of the server.
func (p *prober) role(ctx context.Context) error {
	rows, err := p.db.ask(ctx, roleSQL)
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return network.Untrusted("the server does not know the session's role", nil)
	}
	f := roleFacts(rows[0])
	p.facts = f
	number, err := strconv.Atoi(f[factNumber])
	if err != nil {
		return network.Untrusted("the server has no version", err)
	}
	p.report.Server, p.report.Role, p.report.Replica = "PostgreSQL "+f[factVersion], f[factSession], f[factReplica] == "t"
	switch major := number / 10000; {
	case major < oldestVersion:
		p.report.Warn(execution.TopicServer, "use a server that is maintained", "the server's version is older than %d: the guard has no list of its built-in functions, and refuses all of them", oldestVersion)
	case major > newestVersion:
		p.report.Note(execution.TopicServer, "", "the server's version is newer than %d: its functions are judged by the list of that version", newestVersion)
	}
	if p.report.Replica {
		p.report.Note(execution.TopicServer, "", "the server is a replica: it takes no writes at all, and may end statements that read what it has to change")
	}
	role := quoteName(f[factSession])
	if f[factUser] != f[factSession] {
		p.report.Note(execution.TopicRole, "", "the role %s acts as %s", role, quoteName(f[factUser]))
	}
	if f[factReadOnly] != "on" {
		p.report.Note(execution.TopicRole, "ALTER ROLE "+role+" SET default_transaction_read_only = on", "transactions of the role are not read-only by default; those of this program are in any case")
	}
	if f[factRowSecurity] != "on" {
		p.report.Note(execution.TopicRole, "ALTER ROLE "+role+" RESET row_security", "row_security is off for the role: tables with row security policies fail instead of being filtered")
	}
	if f[factTempLimit] == "-1" {
		p.report.Note(execution.TopicServer, "as superuser: ALTER ROLE "+role+" SET temp_file_limit = '2GB'", "temp_file_limit is not set: a statement may fill the server's disk with temporary files until its time limit")
	}
	if f[factLargeObjects] == "on" {
		p.report.Warn(execution.TopicRole, "set lo_compat_privileges = off", "lo_compat_privileges is on: every role may read and write every large object")
	}
	return nil
}

// connection reports on the connection to the server.
func (p *prober) connection(ctx context.Context) error {
	l, err := p.db.pool.Acquire(ctx, pool.MaxWait)
	if err != nil {
		return err
	}
	c := l.Conn
	pooled, interval := c.pooled, c.interval
	if t, ok := c.pg.Conn().(*tls.Conn); ok {
		p.report.TLS, p.report.TLSVersion = true, tls.VersionName(t.ConnectionState().Version)
	}
	p.db.pool.Release(l)
	if p.db.tls != "" {
		p.report.Warn(execution.TopicTransport, "use sslmode=verify-full, with sslrootcert when the certificate authority is a private one", "%s", p.db.tls)
	}
	if !interval {
		p.report.Note(execution.TopicServer, "", "the server cannot notice that its client is gone: a statement goes on until its time limit")
	}
	if !pooled {
		return nil
	}
	if p.report.Pooler, err = p.db.poolMode(ctx); err != nil {
		return err
	}
	p.report.Note(execution.TopicTransport, "", "a connection pooler is in front of the server, in %s mode as far as can be seen: statements are not prepared", p.report.Pooler)
	return nil
}

// poolMode finds out how a pooler assigns the server's connections. Two open
// connections meet the same server process only when the pooler assigns a
// process anew for each transaction.
func (d *DB) poolMode(ctx context.Context) (string, error) {
	var two [2]*conn
	for i := range two {
		dialling, cancel := context.WithTimeout(ctx, poolerWait)
		c, err := d.dialer.dial(dialling)
		cancel()
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return "", err
		default: // the open connections hold all that the pooler can assign
			return "session", nil
		}
		defer c.Bye()
		two[i] = c
	}
	seen := map[string]int{} // server process → connection
	for range 3 {
		for i, c := range two {
			process, err := c.serverProcess(ctx)
			if err != nil {
				return "", connectError(ctx, err)
			}
			if by, met := seen[process]; met && by != i || !met && len(seen) >= len(two) {
				return "transaction", nil
			}
			seen[process] = i
		}
	}
	return "session", nil
}

// serverProcess returns the ID of the server process that answers.
func (c *conn) serverProcess(ctx context.Context) (string, error) {
	nc := c.pg.Conn()
	if err := nc.SetDeadline(time.Now().Add(questionLimits.Timeout)); err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, c.Sever)
	defer stop()
	row, err := c.question(identifySQL)
	if err == nil && len(row) == 0 {
		err = errFrame
	}
	if err != nil {
		return "", err
	}
	return row[0], nil
}

// session tries writes that the read-only session must stop. If one succeeded,
// the rollback that ends every statement would undo it.
func (p *prober) session(ctx context.Context) error {
	p.report.ReadOnly = true
	for _, try := range []struct{ what, sql string }{
		// The server refuses this write before it checks privileges.
		{"a write", tryWriteSQL},
		{"SET TRANSACTION READ WRITE", tryReadWriteSQL},
	} {
		_, _, err := p.db.run(ctx, statement{sql: try.sql}, questionLimits)
		e, ok := errors.AsType[*execution.Error](err)
		switch {
		case err == nil, ok && e.Code == sqlguard.CodeDatabaseError && e.SQLState == "":
			p.report.ReadOnly = false
			p.report.Warn(execution.TopicSession, "do not use this server", "the server did not refuse %s in a read-only transaction; it was rolled back", try.what)
		case ok && e.SQLState != "" && try.sql == tryWriteSQL && e.SQLState != stateReadOnly:
			p.report.ReadOnly = false
			p.report.Warn(execution.TopicSession, "", "%s was tried and failed for another reason than the read-only transaction: %s", try.what, e.Message)
		case ok && e.SQLState != "":
			p.report.Note(execution.TopicSession, "", "%s was tried and the server refused it: %s", try.what, e.Message)
		default:
			return err
		}
	}
	limits := questionLimits
	limits.Timeout = time.Millisecond
	_, _, err := p.db.run(ctx, statement{sql: tryTimeoutSQL}, limits)
	switch e, ok := errors.AsType[*execution.Error](err); {
	case err == nil:
		p.report.Warn(execution.TopicServer, "", "the server did not end a statement at its time limit (statement_timeout); only this program does")
	case ok && ctx.Err() == nil && (e.Code == sqlguard.CodeTimeout || e.Code == sqlguard.CodeCancelled):
	default:
		return err
	}
	return nil
}

// clock compares the server's clock with this machine's.
func (p *prober) clock(ctx context.Context) error {
	before := time.Now()
	rows, err := p.ask(ctx, "the server's time", clockSQL)
	after := time.Now()
	if err != nil || len(rows) != 1 {
		return err
	}
	seconds, err := strconv.ParseFloat(rows[0][0], 64)
	if err != nil {
		return network.Untrusted("the server has no time", err)
	}
	p.report.Clock(before, after, time.UnixMicro(int64(seconds*1e6)))
	return nil
}

// quoteName returns name as a quoted identifier.
func quoteName(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
