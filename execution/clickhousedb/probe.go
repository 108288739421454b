package clickhousedb

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/internal/probe"
	"github.com/ktxhq/ktx/sqlguard"
)

// The versions of ClickHouse that are maintained when the dialect's lists were made, and
// the newest that they cover.
const (
	oldestVersion = 25
	newestVersion = 26
)

const scriptHint = "see ktx doctor --role-script"

// Probe connects and reports what the role may do, how the connection is protected, and
// whether the server refuses a write. Each fact that it cannot find out is a warning. Only
// a connection that cannot be used is an error.
func (d *DB) Probe(ctx context.Context) (execution.ProbeReport, error) {
	p := prober{db: d}
	if err := p.report.Run(ctx, p.identity, p.connection, p.write, p.clock, p.rights, p.fixed, p.databases, p.reads); err != nil {
		return p.report.ProbeReport, err
	}
	p.report.RoleScript = p.roleScript()
	return p.report.ProbeReport, nil
}

// prober collects a report.
type prober struct {
	db      *DB
	report  probe.Report
	session *session
	schemas []string // databases that hold tables
	access  probe.Access
}

// ask runs one question about what. If the connection works but the server does not
// answer, ask adds a warning of that topic, because the answer might have been one.
func (p *prober) ask(ctx context.Context, topic execution.ProbeTopic, what, sql string) ([][]string, error) {
	rows, err := p.db.ask(ctx, sql)
	if err == nil {
		return rows, nil
	}
	e, ok := errors.AsType[*execution.Error](err)
	if ctx.Err() != nil || !ok || e.SQLState == "" && e.Code != sqlguard.CodeTimeout {
		return nil, err
	}
	p.report.Warn(topic, "", "%s could not be found out: %s", what, e.Message)
	return nil, nil
}

// identity finds out the server's version.
func (p *prober) identity(ctx context.Context) error {
	s, err := p.db.renew(ctx)
	if err != nil {
		return err
	}
	p.session = s
	p.report.Server, p.report.Role = "ClickHouse "+s.version, p.db.target.options.User
	major, err := strconv.Atoi(before(s.version, "."))
	switch {
	case err != nil:
		return network.Untrusted("the server has no version", err)
	case major < oldestVersion:
		p.report.Note(execution.TopicServer, "use a server that is maintained", "the server's version is older than %d: it may lack settings that a session pins", oldestVersion)
	case major > newestVersion:
		p.report.Note(execution.TopicServer, "", "the server's version is newer than %d: its functions are judged by the list of that version", newestVersion)
	}
	return nil
}

// connection reports how the connection to the server is protected.
func (p *prober) connection(ctx context.Context) error {
	lease, err := p.db.pool.Acquire(ctx, ownLimits.Timeout)
	if err != nil {
		return err
	}
	if secured, ok := lease.Conn.Net().(*tls.Conn); ok {
		p.report.TLS, p.report.TLSVersion = true, tls.VersionName(secured.ConnectionState().Version)
	}
	p.db.pool.Release(lease)
	if p.db.target.weak != "" {
		p.report.Warn(execution.TopicTransport, "use https, with ca when the certificate authority is a private one", "%s", p.db.target.weak)
	}
	return nil
}

// write tries a write, which must be refused.
func (p *prober) write(ctx context.Context) error {
	_, err := p.db.own(ctx, tryWriteSQL)
	e, ok := errors.AsType[*execution.Error](err)
	switch {
	case err == nil, ok && e.Code == sqlguard.CodeDatabaseError && e.SQLState == "":
		p.report.Warn(execution.TopicSession, "use a role that can only read: "+scriptHint, "the server ran a write although the request had readonly=1")
	case !ok || e.SQLState == "":
		return err
	case slices.Contains([]string{codeReadOnly, codeDenied}, e.SQLState):
		p.report.ReadOnly = true
		p.report.Note(execution.TopicSession, "", "a write was tried and the server refused it: %s. readonly=1 refuses writes, and table functions that reach files and other servers, but no function such as file() or dictGet()", e.Message)
	default:
		p.report.Warn(execution.TopicSession, "", "a write was tried and failed for another reason than readonly=1: %s", e.Message)
	}
	return nil
}

// clock compares the server's clock, which tells seconds, with this machine's.
func (p *prober) clock(ctx context.Context) error {
	start := time.Now()
	rows, err := p.ask(ctx, execution.TopicServer, "the server's time", clockSQL)
	end := time.Now()
	if err != nil || len(rows) != 1 {
		return err
	}
	now, err := strconv.ParseInt(rows[0][0], 10, 64)
	if err != nil {
		return network.Untrusted("the server has no time", err)
	}
	p.report.Clock(start.Add(-time.Second), end, time.Unix(now, 0))
	return nil
}

// fixed reports settings that a request should carry and the profile does not let it.
func (p *prober) fixed(context.Context) error {
	var names []string
	for _, name := range settingNames() {
		have, known := p.session.settings[name]
		want, sent := wanted[name]
		if known && have.fixed && (sent && have.value != want || name == settingTime && have.value == "0") {
			names = append(names, name)
		}
	}
	if names != nil {
		p.report.Warn(execution.TopicServer, "set them in the profile of the user, as the script of ktx doctor --role-script does",
			"the profile of the user keeps requests from setting %s: the server may write values such as NaN as NULL, and does not end a query by itself", strings.Join(names, ", "))
	}
	return nil
}

// databases finds out which databases the script grants access to.
func (p *prober) databases(ctx context.Context) error {
	p.schemas = append([]string{p.db.target.database}, p.db.databases...)
	slices.Sort(p.schemas)
	p.schemas = slices.Compact(p.schemas)
	return nil
}
