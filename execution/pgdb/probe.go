package pgdb

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
)

// questionLimits bound the backend's own questions.
var questionLimits = execution.Limits{Timeout: 10 * time.Second}.WithDefaults()

// ask runs one constant of session.go and returns its rows as texts; NULL is "".
func (d *DB) ask(ctx context.Context, sql string) ([][]string, error) {
	res, _, err := d.run(ctx, statement{sql: sql}, questionLimits)
	if err != nil {
		return nil, err
	}
	rows := make([][]string, len(res.Rows))
	for i, row := range res.Rows {
		for _, v := range row {
			rows[i] = append(rows[i], v.Text)
		}
	}
	return rows, nil
}

// Probe connects and reports what the role may do, how the connection is
// protected, and what became of a write that was tried inside the read-only
// session.
func (d *DB) Probe(ctx context.Context) (execution.ProbeReport, error) {
	r := execution.ProbeReport{Findings: []execution.ProbeFinding{}}
	facts, err := d.ask(ctx, roleSQL)
	if err != nil {
		return r, err
	}
	if len(facts) != 1 {
		return r, protocolError("the server does not know the session's role", nil)
	}
	role := roleFacts(facts[0])
	r.Server = "PostgreSQL " + role[factVersion]
	r.Role = role[factUser]
	if err := d.probeConnection(ctx, &r); err != nil {
		return r, err
	}
	role.findings(&r)
	memberships, err := d.ask(ctx, membershipSQL)
	if err != nil {
		return r, err
	}
	for _, row := range memberships {
		if what, ok := powerfulRoles[row[0]]; ok {
			warn(&r, "the role is a member of "+row[0]+": it "+what, "REVOKE "+row[0]+" FROM "+quoteName(r.Role))
		}
	}
	grants, err := d.ask(ctx, writeGrantsSQL)
	if err != nil {
		return r, err
	}
	if role[factSuper] == "t" {
		grants = nil // all of them
	}
	for _, row := range grants {
		warn(&r, "the role may "+row[0]+": "+row[1], "use a role with SELECT only, see the role script")
	}
	schemas, err := d.ask(ctx, schemasSQL)
	if err != nil {
		return r, err
	}
	names := d.path
	if len(names) == 0 {
		for _, row := range schemas {
			names = append(names, row[0])
		}
	}
	if err := d.tryWrite(ctx, &r); err != nil {
		return r, err
	}
	r.RoleScript = roleScript(role[factDatabase], names)
	return r, nil
}

// probeConnection reports on the connection itself.
func (d *DB) probeConnection(ctx context.Context, r *execution.ProbeReport) error {
	c, _, err := d.pool.acquire(ctx)
	if err != nil {
		return err
	}
	_, r.TLS = c.pg.Conn().(*tls.Conn)
	if c.pooled {
		note(r, "a connection pooler is in front of the server: statements are not prepared", "")
	}
	if !c.interval {
		note(r, "the server cannot notice that its client is gone: a statement goes on until its time limit", "")
	}
	d.pool.release(c)
	if d.tls != "" {
		warn(r, d.tls, "use sslmode=verify-full, with sslrootcert when the certificate authority is a private one")
	}
	return nil
}

// tryWrite tries to create a table inside the read-only session. The server
// refuses that before it looks at privileges; had it not, the table would go
// with the rollback that ends every statement.
func (d *DB) tryWrite(ctx context.Context, r *execution.ProbeReport) error {
	_, _, err := d.run(ctx, statement{sql: tryWriteSQL}, questionLimits)
	e, ok := errors.AsType[*execution.Error](err)
	switch {
	case err == nil:
		warn(r, "the server did not refuse a write in a read-only transaction; it was rolled back", "do not use this server")
	case ok && e.SQLState == stateReadOnly:
		r.ReadOnly = true
		note(r, "a write was tried and the server refused it: "+e.Message, "")
	case ok && e.SQLState != "":
		warn(r, "a write was tried and failed for another reason than the read-only transaction: "+e.Message, "")
	default:
		return err
	}
	return nil
}

// roleFacts is the row of roleSQL.
type roleFacts []string

const (
	factUser = iota
	factDatabase
	factVersion
	factSuper
	factCreateRole
	factCreateDB
	factReplication
	factBypassRLS
	factOwnsDatabase
	factCreateInDatabase
)

func (f roleFacts) findings(r *execution.ProbeReport) {
	is := func(fact int) bool { return f[fact] == "t" }
	role := quoteName(f[factUser])
	if is(factSuper) {
		warn(r, "the role is a superuser: no privilege of the server stands behind the read-only session, and its functions reach files and programs", "use a role with SELECT only, see the role script")
	}
	for _, a := range []struct {
		fact       int
		what, undo string
	}{
		{factCreateRole, "may create roles", "NOCREATEROLE"},
		{factCreateDB, "may create databases", "NOCREATEDB"},
		{factReplication, "may replicate the server", "NOREPLICATION"},
		{factBypassRLS, "bypasses row security", "NOBYPASSRLS"},
	} {
		if is(a.fact) && !is(factSuper) {
			warn(r, "the role "+a.what, "ALTER ROLE "+role+" "+a.undo)
		}
	}
	switch {
	case is(factSuper):
	case is(factOwnsDatabase):
		warn(r, "the role owns the database", "ALTER DATABASE "+quoteName(f[factDatabase])+" OWNER TO another role")
	case is(factCreateInDatabase):
		warn(r, "the role may create schemas in the database", "REVOKE CREATE ON DATABASE "+quoteName(f[factDatabase])+" FROM "+role)
	}
}

// powerfulRoles are the predefined roles (manual, section 22.5) that do more
// than read the data of tables.
var powerfulRoles = map[string]string{
	"pg_read_server_files":        "reads files of the server",
	"pg_write_server_files":       "writes files of the server",
	"pg_execute_server_program":   "runs programs on the server",
	"pg_write_all_data":           "writes every table",
	"pg_signal_backend":           "ends other sessions",
	"pg_signal_autovacuum_worker": "ends maintenance of tables",
	"pg_monitor":                  "reads the statements of other sessions and the server's settings",
	"pg_read_all_settings":        "reads every setting of the server",
	"pg_read_all_stats":           "reads the statements of other sessions",
	"pg_stat_scan_tables":         "locks tables to scan them",
	"pg_checkpoint":               "makes the server write to disk",
	"pg_maintain":                 "rewrites and locks tables",
	"pg_create_subscription":      "makes the server connect to others",
	"pg_use_reserved_connections": "takes connections that are kept for administration",
}

// roleScript returns what makes a role that reads the schemas and nothing else.
func roleScript(database string, schemas []string) string {
	quoted := make([]string, len(schemas))
	for i, s := range schemas {
		quoted[i] = quoteName(s)
	}
	list := strings.Join(quoted, ", ")
	if list == "" {
		list = "public"
	}
	lines := []string{
		"CREATE ROLE ktx_reader LOGIN PASSWORD 'choose one' NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;",
		"ALTER ROLE ktx_reader SET default_transaction_read_only = on;",
		"GRANT CONNECT ON DATABASE " + quoteName(database) + " TO ktx_reader;",
		"GRANT USAGE ON SCHEMA " + list + " TO ktx_reader;",
		"GRANT SELECT ON ALL TABLES IN SCHEMA " + list + " TO ktx_reader;",
		"-- As each role that creates tables, so that new ones can be read too:",
		"ALTER DEFAULT PRIVILEGES IN SCHEMA " + list + " GRANT SELECT ON TABLES TO ktx_reader;",
	}
	return strings.Join(lines, "\n") + "\n"
}

// quoteName returns name as a quoted identifier.
func quoteName(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func warn(r *execution.ProbeReport, message, fix string) {
	r.Findings = append(r.Findings, execution.ProbeFinding{Level: "warning", Message: message, Fix: fix})
}

func note(r *execution.ProbeReport, message, fix string) {
	r.Findings = append(r.Findings, execution.ProbeFinding{Level: "note", Message: message, Fix: fix})
}
