package mysqldb

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/internal/probe"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/execution/mysqldb/wire"
	"github.com/ktxhq/ktx/sqlguard"
)

// questionLimits bound the backend's own queries.
var questionLimits = execution.Limits{Timeout: 10 * time.Second}.WithDefaults()

// Probe connects and reports what the account may do, how the connection is
// protected, and whether the server refused the writes that the probe tried
// inside the read-only session. Each fact that Probe cannot find out is a
// warning. Only a connection that cannot be used is an error.
func (d *DB) Probe(ctx context.Context) (execution.ProbeReport, error) {
	p := prober{db: d}
	if err := p.report.Run(ctx, p.server, p.relatives, p.connection, p.session, p.clock, p.rights, p.reads); err != nil {
		return p.report.ProbeReport, err
	}
	if p.flavour == tidb && slices.ContainsFunc(p.report.Findings, execution.ProbeFinding.Writable) {
		p.report.ReadOnly, p.report.Refused = false, p.report.ReadOnly
	}
	p.report.RoleScript = p.roleScript()
	return p.report.ProbeReport, nil
}

// prober collects a report.
type prober struct {
	db      *DB
	report  probe.Report
	facts   []string // the row of serverSQL
	flavour flavour
	public  []grant // what every account may do
	access  probe.Access
}

// ask runs one constant query and returns its only row as strings; NULL is "".
func (d *DB) ask(ctx context.Context, sql string) ([]string, error) {
	res, err := d.run(ctx, sql, questionLimits)
	if err != nil {
		return nil, err
	}
	if len(res.Rows) != 1 {
		return nil, network.Untrusted("the server does not answer a question with one row", nil)
	}
	return rowset.Texts(res.Rows)[0], nil
}

// server finds out the server's product and version, and the account of the
// session.
func (p *prober) server(ctx context.Context) error {
	f, err := p.db.ask(ctx, serverSQL)
	if err != nil {
		return err
	}
	if len(f) != serverFacts {
		return network.Untrusted("the server does not know what it is", nil)
	}
	p.facts, p.flavour = f, flavourOf(f[factVersion])
	server := "MySQL " + number(f[factVersion])
	switch p.flavour {
	case mariadb:
		server = "MariaDB " + number(f[factVersion])
	case tidb:
		_, own, _ := strings.Cut(f[factVersion], "-TiDB-v")
		server = "TiDB " + number(own)
	case mysqld:
	}
	p.report.Server, p.report.Role, p.report.Replica = server, f[factAccount], flag(f[factReadOnly]) != "0"
	if p.report.Replica {
		p.report.Note(execution.TopicServer, "", "the server has read_only set: it takes no writes from most accounts, as a replica does")
	}
	if flag(f[factLocalFiles]) != "0" {
		p.report.Note(execution.TopicServer, "SET GLOBAL local_infile = OFF", "the server asks clients for files (local_infile); this program sends none")
	}
	if f[factInitConnect] == "1" {
		p.report.Note(execution.TopicServer, "", "the server runs statements of its own when a connection begins (init_connect); the session's settings are pinned behind them")
	}
	return nil
}

// connection reports how the connection to the server is protected.
func (p *prober) connection(ctx context.Context) error {
	l, err := p.db.pool.Acquire(ctx, questionLimits.Timeout)
	if err != nil {
		return err
	}
	p.report.TLSVersion = l.Conn.tls
	p.report.TLS = p.report.TLSVersion != ""
	greeted, answers := strconv.FormatUint(uint64(l.Conn.id), 10), l.Conn.self.id
	p.db.pool.Release(l)
	if weakness := p.db.dialer.target.weakness(); weakness != "" {
		p.report.Warn(execution.TopicTransport, "use ssl-mode=VERIFY_IDENTITY, with ssl-ca when the certificate authority is a private one", "%s", weakness)
	}
	comment := strings.ToLower(p.facts[factComment])
	if greeted != answers || strings.Contains(comment, "proxysql") || strings.Contains(comment, "maxscale") {
		p.report.Pooler = "session"
		p.report.Note(execution.TopicTransport, "", "a proxy is in front of the server: whether a cancelled statement ends at the server depends on what the proxy does with KILL QUERY")
	}
	return nil
}

// session tries statements that the read-only session must stop. If one passed,
// it would change nothing.
func (p *prober) session(ctx context.Context) error {
	p.report.ReadOnly = true
	if p.flavour == tidb {
		return p.tidbSession(ctx)
	}
	for _, try := range []struct{ what, sql string }{
		{"a write", tryWriteSQL},
		{"DDL, which commits the transaction that it stands in,", tryDDLSQL},
	} {
		_, err := p.db.run(ctx, try.sql, questionLimits)
		e, ok := errors.AsType[*execution.Error](err)
		refused, isRefusal := errors.AsType[*wire.Error](err)
		switch {
		case err == nil, ok && e.Code == sqlguard.CodeDatabaseError && !isRefusal:
			p.report.ReadOnly = false
			p.report.Warn(execution.TopicSession, "do not use this server", "the server did not refuse %s in a read-only session", try.what)
		case ok && e.Code == sqlguard.CodeDatabaseError && stopsWrites(refused.Number, try.sql):
			p.report.Note(execution.TopicSession, "", "%s was tried and the server refused it: %s", try.what, e.Message)
		case ok && e.Code == sqlguard.CodeDatabaseError:
			p.report.ReadOnly = false
			p.report.Warn(execution.TopicSession, "", "%s was tried and failed for another reason than the read-only session: %s", try.what, e.Message)
		default:
			return err
		}
	}
	return p.timeLimit(ctx)
}

// tidbSession tries DDL, which only the rights of the account stop on TiDB.
func (p *prober) tidbSession(ctx context.Context) error {
	_, err := p.db.run(ctx, tryDDLSQL, questionLimits)
	e, ok := errors.AsType[*execution.Error](err)
	refused, isRefusal := errors.AsType[*wire.Error](err)
	switch {
	case isRefusal && slices.Contains([]uint16{errDatabaseDenied, errTableDenied, errPrivilege}, refused.Number):
		p.report.Note(execution.TopicSession, "", "TiDB has no read-only transactions: DDL was tried and the rights of the account stopped it, and what a statement changes is rolled back")
	case isRefusal:
		p.report.ReadOnly = false
		p.report.Warn(execution.TopicSession, "", "DDL was tried and failed for another reason than the rights of the account: %s", refused.Message)
	case err == nil, ok && e.Code == sqlguard.CodeDatabaseError: // it ran and returned no rows
		p.report.ReadOnly = false
		p.report.Warn(execution.TopicRole, otherAccount, "the account may drop tables, and TiDB has no read-only transactions")
	default:
		return err
	}
	return p.timeLimit(ctx)
}

// timeLimit tests whether the server ends a statement at its time limit. When
// the server is slow, this program may end the statement first. That does not
// show that the server would not have ended it, so timeLimit tries longer
// limits too.
func (p *prober) timeLimit(ctx context.Context) error {
	limits := questionLimits
	// A busy server can be late for a short limit, so that this program is first.
	for _, limits.Timeout = range []time.Duration{20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond} {
		_, err := p.db.run(ctx, tryTimeoutSQL, limits)
		refused, _ := errors.AsType[*wire.Error](err)
		switch e, ok := errors.AsType[*execution.Error](err); {
		case refused != nil && timeLimit(refused.Number):
			return nil
		case err == nil, ok && ctx.Err() == nil && (e.Code == sqlguard.CodeTimeout || e.Code == sqlguard.CodeCancelled):
		default:
			return err
		}
	}
	p.report.Warn(execution.TopicServer, "", "the server did not end a statement at its time limit (max_statement_time, max_execution_time); only this program does")
	return nil
}

// stopsWrites reports whether an error says that the server refused a write
// because the session is read-only. For a table that the account may not write,
// the server checks the privilege of a DML statement before it checks the
// session. For DDL it checks the session first.
func stopsWrites(number uint16, sql string) bool {
	switch number {
	case errReadOnly, errReadOnlyMode, errOptionPrevents:
		return true
	case errTableDenied, errDatabaseDenied:
		return sql == tryWriteSQL
	default:
		return false
	}
}

// clock compares the server's clock with this machine's.
func (p *prober) clock(ctx context.Context) error {
	before := time.Now()
	row, err := p.db.ask(ctx, clockSQL)
	after := time.Now()
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseFloat(row[0], 64)
	if err != nil {
		return network.Untrusted("the server has no time", err)
	}
	p.report.Clock(before, after, time.UnixMicro(int64(seconds*1e6)))
	return nil
}

// rights reports what the account may do beyond reading.
func (p *prober) rights(ctx context.Context) error {
	l, err := p.db.pool.Fresh(ctx)
	if err != nil {
		return err
	}
	lines, err := l.Conn.grantsOf(ctx)
	p.db.pool.Discard(l) // its session may have set a role
	if err != nil {
		if ctx.Err() != nil {
			return connectError(ctx, err)
		}
		p.report.Warn(execution.TopicRole, "let the account see its own grants", "what the account may do could not be found out: %s", reasonOfGrants(err))
		return nil
	}
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		p.judge(line)
	}
	return nil
}

// checkAccount fails when the account of a new connection can do more than read. It
// leaves out what the account may do through a role that is not active.
func (d *DB) checkAccount(ctx context.Context, c *conn) error {
	if err := c.wire.SetDeadline(time.Now().Add(d.dialer.target.connectTimeout)); err != nil {
		return connectError(ctx, err)
	}
	stop := context.AfterFunc(ctx, c.wire.Sever)
	lines, err := c.question(showGrantsSQL)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return connectError(ctx, err)
	}
	p := prober{db: d, facts: make([]string, serverFacts)}
	p.facts[factAccount], p.facts[factDatabase] = c.self.user, c.self.database
	for _, line := range lines {
		p.judge(line)
	}
	for _, f := range p.report.Findings {
		if f.Writable() {
			return execution.CheckedRole(f.Message)
		}
	}
	return c.wire.SetDeadline(time.Time{})
}

func reasonOfGrants(err error) string {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Message
	}
	if errors.Is(err, errTooManyRoles) {
		return err.Error()
	}
	return faults.Reason(err)
}

// otherAccount is the fix for an account that should keep its rights.
const otherAccount = "use an account with SELECT only, see ktx doctor --role-script"

// judge reports on one line of SHOW GRANTS. The line may contain the hash of a
// password, so no finding shows it.
func (p *prober) judge(line string) {
	if strings.HasPrefix(line, "SET DEFAULT ROLE ") || strings.HasPrefix(line, "REVOKE ") {
		return // sets a default role, or revokes
	}
	g, ok := parseGrant(line)
	if !ok {
		p.report.Warn(execution.TopicRole, otherAccount, "one of the account's grants could not be read")
		return
	}
	everybody := strings.EqualFold(g.to, "PUBLIC")
	via := ""
	switch {
	case everybody:
		via = " (as every account)"
		p.public = append(p.public, g)
	case strings.ReplaceAll(g.to, "'", "`") != quoteAccount(p.facts[factAccount]): // TiDB writes other quotes
		via = " (through the role " + g.to + ")"
	}
	if g.role != "" {
		if g.passes {
			p.report.Warn(execution.TopicRole, "REVOKE ADMIN OPTION FOR "+g.role+" FROM "+g.to, "the account may give the role %s to others%s", g.role, via)
		}
		return
	}
	report := p.report.Warn
	if everybody && !p.serves(g.object) {
		report = p.report.Note // no account can lose it, and the guard keeps statements out of other databases
	}
	take := func(what string) string {
		if !everybody && g.administers() {
			return otherAccount // an administrator needs these rights
		}
		return "REVOKE " + what + " ON " + g.object + " FROM " + g.to
	}
	for _, d := range deedsOf(g.privileges) {
		report(execution.TopicRole, take(strings.Join(d.privileges, ", ")),
			"the account may %s: %s on %s%s", d.what, strings.Join(d.privileges, ", "), g.object, via)
	}
	if g.passes {
		report(execution.TopicRole, take("GRANT OPTION"), "the account may give its rights on %s to others%s", g.object, via)
	}
	if database, _ := databaseOfObject(g.object); slices.Contains(g.privileges, "SELECT") && (database == "*" || strings.EqualFold(database, "mysql")) {
		fix := take("SELECT")
		if fix != otherAccount {
			fix += ", and GRANT SELECT on the databases that it needs"
		}
		report(execution.TopicRole, fix,
			"the account may read the server's own tables, those with the hashes of passwords among them: SELECT on %s%s", g.object, via)
	}
}

// serves reports whether an object is in a database that the connection serves.
func (p *prober) serves(object string) bool {
	name, pattern := databaseOfObject(object)
	if name == "*" {
		return true
	}
	return slices.ContainsFunc(append([]string{p.facts[factDatabase]}, p.db.others...), func(database string) bool {
		return pattern && likeName(name, database) || strings.EqualFold(name, database)
	})
}

// quoteAccount returns name@host as SHOW GRANTS writes it.
func quoteAccount(account string) string {
	at := strings.LastIndexByte(account, '@')
	if at < 0 {
		return quoteName(account)
	}
	return quoteName(account[:at]) + "@" + quoteName(account[at+1:])
}
