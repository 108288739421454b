package prove

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// database is the name of the database that holds the fixture.
const database = "shop"

// grace is the time that an engine has, after the limit of a statement, to
// report that the limit was reached.
const grace = 3 * time.Second

// readerRole is the role that may only read.
const readerRole = "reader"

// postgres is a PostgreSQL server that this package started.
type postgres struct {
	server    *testdb.PostgresServer
	data      pristine
	number    string
	limit     time.Duration
	settings  []sqlguard.Setting
	admin     *pgconn.PgConn
	bystander *pgconn.PgConn // a session that does nothing
	notified  bool           // the bystander got a notification
}

// startPostgres starts a server with the programs in bin, or with those on the
// machine if bin is empty.
func startPostgres(ctx context.Context, bin, fixture string, settings []sqlguard.Setting, limit time.Duration) (_ *postgres, err error) {
	server, err := testdb.Start(ctx, testdb.Options{Bin: bin, Settings: map[string]string{
		"autovacuum": "off", "checkpoint_timeout": "1h", "temp_file_limit": "64MB", "max_connections": "20",
		"max_prepared_transactions": "2", "wal_level": "logical", "log_min_messages": "warning",
		"statement_timeout": fmt.Sprint(limit.Milliseconds()),
	}})
	if err != nil {
		return nil, err
	}
	p := &postgres{server: server, limit: limit, settings: settings}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	_, port, err := net.SplitHostPort(server.Addr())
	if err != nil {
		return nil, fmt.Errorf("read the address of the server: %w", err)
	}
	// dblink looks for other servers at the port of this one.
	if err := alone.answer(net.JoinHostPort("192.0.2.1", port)); err != nil {
		return nil, err
	}
	if err := p.build(ctx, fixture); err != nil {
		return nil, err
	}
	p.data = pristine{dir: filepath.Join(server.SocketDir(), "data"), server: server}
	if err := p.data.keep(ctx); err != nil {
		return nil, err
	}
	return p, p.connectAll(ctx)
}

// build creates the database and the role.
func (p *postgres) build(ctx context.Context, fixture string) (err error) {
	u, err := url.Parse(p.server.URL("", ""))
	if err != nil {
		return fmt.Errorf("read the server's own URL: %w", err)
	}
	password, _ := u.User.Password()
	for _, step := range []struct{ database, sql string }{
		{"", "CREATE DATABASE " + database},
		{database, fixture},
		{database, "CREATE ROLE " + readerRole + " LOGIN PASSWORD '" + password + "';" +
			"GRANT USAGE ON SCHEMA public, hr, app TO " + readerRole + ";" +
			"GRANT SELECT ON ALL TABLES IN SCHEMA public, hr, app TO " + readerRole},
	} {
		conn, err := p.connect(ctx, step.database, "", nil)
		if err != nil {
			return err
		}
		// The limit of a statement applies to cases only.
		if _, err = pgRows(ctx, conn, "SET statement_timeout = 0"); err == nil {
			_, err = pgRows(ctx, conn, step.sql)
		}
		if err := errors.Join(err, conn.Close(ctx)); err != nil {
			return fmt.Errorf("build the database: %w", err)
		}
	}
	return p.preload(ctx)
}

// preload has the server load pg_stat_statements from its next start on, if it has
// this extension.
func (p *postgres) preload(ctx context.Context) error {
	conn, err := p.connect(ctx, database, "", nil)
	if err != nil {
		return err
	}
	known, err := pgRows(ctx, conn, "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_stat_statements'")
	if err == nil && len(known) > 0 {
		_, err = pgRows(ctx, conn, "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'")
	}
	return errors.Join(err, conn.Close(ctx))
}

// connect opens a session to this server.
func (p *postgres) connect(ctx context.Context, database, user string, told func()) (*pgconn.PgConn, error) {
	config, err := pgconn.ParseConfig(p.server.URL(database, user))
	if err != nil {
		return nil, fmt.Errorf("configure a session: %w", err)
	}
	config.RuntimeParams = map[string]string{"client_encoding": "UTF8"}
	config.Fallbacks = nil
	if told != nil {
		config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { told() }
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	return conn, nil
}

// connectAll opens the sessions that stay open, and checks where the server
// runs.
func (p *postgres) connectAll(ctx context.Context) (err error) {
	p.notified = false
	if p.admin, err = p.connect(ctx, database, "", nil); err != nil {
		return err
	}
	if _, err := pgRows(ctx, p.admin, "SET statement_timeout = '20s'; SET lock_timeout = '2s'"); err != nil {
		return err
	}
	facts, err := pgRows(ctx, p.admin, "SELECT current_setting('data_directory'), split_part(current_setting('server_version'), ' ', 1)")
	if err != nil {
		return err
	}
	if want := filepath.Join(p.server.SocketDir(), "data"); len(facts) != 1 || facts[0][0] != want {
		return errNotOurs
	}
	p.number = facts[0][1]
	if p.bystander, err = p.connect(ctx, database, "", func() { p.notified = true }); err != nil {
		return err
	}
	_, err = pgRows(ctx, p.bystander, "LISTEN orders_changed")
	return err
}

func (p *postgres) name() string     { return "postgresql" }
func (p *postgres) version() string  { return p.number }
func (p *postgres) roles() [2]string { return [2]string{"superuser", "select_only"} }

// prepare creates the extensions that a case names and the server has, and what
// the case sets up in the database.
func (p *postgres) prepare(ctx context.Context, c corpus.Case) (made bool, err error) {
	var needs []string
	if c.Engine != nil {
		needs = c.Engine.Needs
	}
	for _, need := range needs {
		if strings.ContainsAny(need, `'"\`) {
			continue
		}
		known, err := pgRows(ctx, p.admin, "SELECT name FROM pg_available_extensions WHERE name = '"+need+"' AND installed_version IS NULL")
		if err != nil {
			return made, err
		}
		if len(known) == 0 {
			continue
		}
		if _, err := pgRows(ctx, p.admin, `CREATE EXTENSION "`+need+`" CASCADE`); err != nil {
			return made, err
		}
		made = true
	}
	database, _ := setup(c)
	for _, text := range database {
		if _, err := pgRows(ctx, p.admin, text); err != nil {
			return made, &setupError{text, err}
		}
		made = true
	}
	return made, nil
}

func (p *postgres) try(ctx context.Context, a Attempt, c corpus.Case) (o Outcome, err error) {
	user := ""
	if a.Role == "select_only" {
		user = readerRole
	}
	conn, err := p.connect(ctx, database, user, nil)
	if err != nil {
		return o, err
	}
	defer func() {
		ended, failed := p.end(ctx, conn)
		if err = errors.Join(err, failed); !ended {
			o.Changed = append(o.Changed, runsOn)
		}
	}()
	for _, s := range p.settings {
		if _, err := pgRows(ctx, conn, fmt.Sprintf("SET SESSION %s = '%s'", s.Name, s.Value)); err != nil {
			return o, fmt.Errorf("set %s: %w", s.Name, err)
		}
	}
	if err := setUpSession(a, "select_only", c, func(text string) error {
		_, err := pgRows(ctx, conn, text)
		return err
	}); err != nil {
		return o, err
	}
	before, err := pgSession(ctx, conn)
	if err != nil {
		return o, err
	}
	if a.ReadOnly {
		// The statement is the first one of its transaction. After a query, the
		// server would refuse to change the mode of the transaction.
		if _, err := pgRows(ctx, conn, "BEGIN TRANSACTION READ ONLY"); err != nil {
			return o, err
		}
		before["session setting transaction_read_only"] = "on"
	}
	status := conn.TxStatus()
	held, err := p.locks(ctx, conn.PID())
	if err != nil {
		return o, err
	}
	running, logged := p.transaction(ctx, conn.PID()), len(p.log())

	limited, cancel := context.WithTimeout(ctx, p.limit+grace)
	defer cancel()
	begun := time.Now()
	o = pgRun(limited, conn, c.SQL)
	o.took = time.Since(begun)
	if o.Result == Executed && printed(p.log()[logged:]) {
		o.Changed = append(o.Changed, "output of a program")
	}
	if conn.IsClosed() {
		return o, nil
	}
	failed := conn.TxStatus() == 'E'
	if !failed && (conn.TxStatus() != status || status == 'T' && p.transaction(ctx, conn.PID()) != running) {
		o.Changed = append(o.Changed, "transaction")
	}
	locks, err := p.locks(ctx, conn.PID())
	if err != nil {
		// The administrator's session is gone, which the next probe reports.
		return o, nil
	}
	o.Changed = append(o.Changed, held.Changed(locks)...)
	if !failed {
		after, err := pgSession(ctx, conn)
		if err != nil {
			return o, nil // The statement ended the session, or made it refuse the question.
		}
		o.Changed = append(o.Changed, before.Changed(after)...)
	}
	if name := savepoint(c.SQL); name != "" && conn.TxStatus() == 'T' {
		if _, err := pgRows(ctx, conn, "RELEASE SAVEPOINT "+name); err == nil {
			o.Changed = append(o.Changed, "savepoint "+name)
		}
	}
	if conn.TxStatus() != 'I' {
		_, _ = pgRows(ctx, conn, "COMMIT") // Its effects are seen from outside.
	}
	return o, nil
}

// end closes a session and waits for about a second until the server has ended it. A
// statement that the server does not interrupt keeps its session.
func (p *postgres) end(ctx context.Context, conn *pgconn.PgConn) (ended bool, err error) {
	pid := conn.PID()
	closing, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	_ = conn.Close(closing) // It may be closed already.
	for range 200 {
		rows, err := pgRows(ctx, p.admin, fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %d", pid))
		if err != nil || len(rows) == 0 {
			return true, nil // Without the administrator's session, the server is restored.
		}
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return false, nil
}

// logLine matches a line of the server's own log. Its further lines begin with a tab.
var logLine = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2} |\t|$)`)

// printed reports whether a part of the server's log has lines that a program wrote, which
// the server has started.
func printed(log string) bool {
	for line := range strings.SplitSeq(log, "\n") {
		if !logLine.MatchString(line) {
			return true
		}
	}
	return false
}

// savepointName finds a savepoint that a statement names.
var savepointName = regexp.MustCompile(`(?i)\bSAVEPOINT\s+(\w+)`)

func savepoint(sql string) string {
	if m := savepointName.FindStringSubmatch(sql); m != nil {
		return m[1]
	}
	return ""
}

// transaction returns the name of the transaction that a session is in.
func (p *postgres) transaction(ctx context.Context, pid uint32) string {
	rows, err := pgRows(ctx, p.admin, fmt.Sprintf("SELECT virtualxid FROM pg_locks WHERE locktype = 'virtualxid' AND virtualtransaction = virtualxid AND pid = %d", pid))
	if err != nil || len(rows) != 1 {
		return ""
	}
	return rows[0][0]
}

// locks returns the locks that a session holds, except locks for reading.
func (p *postgres) locks(ctx context.Context, pid uint32) (State, error) {
	rows, err := pgRows(ctx, p.admin, fmt.Sprintf(
		`SELECT DISTINCT locktype || ' ' || mode FROM pg_locks WHERE pid = %d AND mode <> 'AccessShareLock' AND locktype <> 'virtualxid' ORDER BY 1`, pid))
	if err != nil {
		return nil, err
	}
	locks := State{}
	for _, row := range rows {
		locks["lock "+row[0]] = "held"
	}
	return locks, nil
}

// pgSessionQuery reads the state of a session, without the settings of libraries, which
// appear when a statement loads one.
const pgSessionQuery = `
		SELECT 'session setting ' || name, setting FROM pg_catalog.pg_settings WHERE name !~ '^(plpgsql|postgis)[.]'
		UNION ALL SELECT 'session user', current_user || ' ' || session_user
		UNION ALL SELECT 'session prepared statement ' || name, statement FROM pg_catalog.pg_prepared_statements WHERE from_sql
		UNION ALL SELECT 'session cursor ' || name, statement FROM pg_catalog.pg_cursors WHERE name <> ''
		UNION ALL SELECT 'session listens', c FROM pg_catalog.pg_listening_channels() AS c
		UNION ALL SELECT 'session temporary schema', (pg_catalog.pg_my_temp_schema() <> 0)::text`

// pgSession reads the state of a session in that session.
func pgSession(ctx context.Context, conn *pgconn.PgConn) (State, error) {
	rows, err := pgRows(ctx, conn, pgSessionQuery)
	if err != nil {
		return nil, err
	}
	return sessionState(rows), nil
}

func sessionState(rows [][]string) State {
	s := State{}
	for _, row := range rows {
		s[row[0]] = row[1]
	}
	return s
}

func (p *postgres) snapshot(ctx context.Context) (State, error) {
	s := State{}
	for _, q := range []struct{ prefix, sql string }{
		{"", pgCatalogs},
		{"setting ", "SELECT name, coalesce(setting, '') FROM pg_settings"},
		{"statistics ", "SELECT relname, relpages::text || ' ' || reltuples FROM pg_class WHERE oid >= 16384"},
		{"counters ", "SELECT 'reset', coalesce(stats_reset::text, '') FROM pg_stat_database WHERE datname = current_database()"},
		{"prepared transaction ", "SELECT gid, owner::text FROM pg_prepared_xacts"},
		{"replication slot ", "SELECT slot_name, coalesce(plugin, '') || slot_type || coalesce(confirmed_flush_lsn::text, '') FROM pg_replication_slots"},
		{"changes for slot ", `SELECT slot_name, (SELECT count(*) FROM pg_logical_slot_peek_changes(slot_name, NULL, NULL))::text
			FROM pg_replication_slots WHERE plugin = 'test_decoding' AND database = current_database()`},
		{"file setting ", "SELECT name, string_agg(setting, ' ' ORDER BY seqno) FROM pg_file_settings GROUP BY name"},
		{"server ", "SELECT 'configuration', pg_conf_load_time()::text"},
		{"server ", "SELECT 'checkpoint', checkpoint_lsn::text FROM pg_control_checkpoint()"},
		{"server ", "SELECT 'log segment', pg_walfile_name(pg_current_wal_insert_lsn())"},
		{"statements of ", "SELECT 'other sessions', count(*)::text FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()"},
		{"sequence ", `SELECT schemaname || '.' || sequencename,
			query_to_xml(format('SELECT last_value, is_called FROM %I.%I', schemaname, sequencename), true, false, '')::text FROM pg_sequences`},
	} {
		rows, err := pgRows(ctx, p.admin, q.sql)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			s[q.prefix+row[0]] = row[1]
		}
	}
	tables, err := pgRows(ctx, p.admin, `SELECT n.nspname || '.' || c.relname, format('%I.%I', n.nspname, c.relname)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		// The number of the transaction that locked a row stays in the row.
		rows, err := pgRows(ctx, p.admin, "SELECT t::text, t.xmax FROM "+t[1]+" AS t")
		if _, refused := errors.AsType[*pgconn.PgError](err); err != nil && !refused {
			return nil, err
		}
		contents, lockers := make([][]string, len(rows)), make([][]string, len(rows))
		for i, row := range rows {
			contents[i], lockers[i] = row[:1], row[1:]
		}
		s["rows "+t[0]], s["row locks "+t[0]] = digest(contents), digest(lockers)
		if err != nil {
			s["rows "+t[0]] = "unreadable"
		}
	}
	if _, err := pgRows(ctx, p.bystander, "SELECT 1"); err != nil {
		s["other session"] = "ended"
	}
	if p.notified {
		s["notification"] = "arrived"
	}
	return s, listFiles(s, filepath.Join(p.server.SocketDir(), "data"), func(path string) bool {
		switch path {
		case "base", "global", "pg_wal", "pg_xact", "pg_subtrans", "pg_multixact", "pg_logical", "pg_notify", "pg_serial",
			"pg_commit_ts", "pg_dynshmem", "pg_stat", "pg_stat_tmp", "pg_twophase", "postmaster.pid", "pg_internal.init":
			return true
		}
		return false
	})
}

func (p *postgres) reset(ctx context.Context) error {
	p.disconnect()
	if err := p.data.restore(ctx); err != nil {
		return err
	}
	return p.connectAll(ctx)
}

func (p *postgres) disconnect() {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	for _, conn := range []*pgconn.PgConn{p.admin, p.bystander} {
		if conn != nil {
			_ = conn.Close(ctx) // The server may be gone.
		}
	}
}

func (p *postgres) log() string { return p.server.Log() }

func (p *postgres) close() error {
	p.disconnect()
	return p.server.Close()
}

// pgCatalogs counts the rows of the catalogues and adds up the transactions
// that wrote them. It leaves out the schemas of temporary tables, which outlive
// their sessions.
var pgCatalogs = func() string {
	var parts []string
	for name := range strings.FieldsSeq(`pg_aggregate pg_am pg_attrdef pg_attribute pg_auth_members pg_authid pg_cast
		pg_class pg_collation pg_constraint pg_conversion pg_database pg_db_role_setting pg_default_acl pg_description pg_enum
		pg_event_trigger pg_extension pg_foreign_data_wrapper pg_foreign_server pg_foreign_table pg_index pg_inherits
		pg_language pg_largeobject pg_largeobject_metadata pg_namespace pg_opclass pg_operator pg_opfamily
		pg_partitioned_table pg_policy pg_proc pg_publication pg_publication_rel pg_range pg_replication_origin pg_rewrite
		pg_seclabel pg_sequence pg_shdescription pg_shseclabel pg_statistic pg_statistic_ext pg_subscription pg_tablespace
		pg_transform pg_trigger pg_ts_config pg_ts_dict pg_ts_parser pg_ts_template pg_type pg_user_mapping`) {
		where := ""
		switch name {
		case "pg_namespace":
			where = " WHERE nspname !~ '^pg_(toast_)?temp_'"
		case "pg_class":
			where = " WHERE relpersistence <> 't'"
		}
		parts = append(parts, fmt.Sprintf("SELECT 'catalog %[1]s', count(*) || ' ' || coalesce(sum(xmin::text::bigint), 0) FROM pg_catalog.%[1]s%[2]s", name, where))
	}
	return strings.Join(parts, " UNION ALL ")
}()

// pgRows runs a constant statement of this package and returns its last result.
func pgRows(ctx context.Context, conn *pgconn.PgConn, sql string) ([][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, nil
	}
	var rows [][]string
	for _, r := range results[len(results)-1].Rows {
		row := make([]string, len(r))
		for i, cell := range r {
			row[i] = string(cell)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// most is the most bytes of a result that are read.
const most = 64 << 20

// orderLine is a row of the table orders, as COPY reads it.
const orderLine = "7\t1\topen\t5\t2026-01-01\n"

// pgRun sends a statement in the simple protocol, byte for byte, and reads all
// results. It sends an order to a COPY that wants rows of as many columns.
func pgRun(ctx context.Context, conn *pgconn.PgConn, sql string) (o Outcome) {
	o.Result = Executed
	front := conn.Frontend()
	front.Send(&pgproto3.Query{String: sql})
	if err := front.Flush(); err != nil {
		return pgFailure(ctx, err)
	}
	for size := 0; ; {
		message, err := conn.ReceiveMessage(ctx)
		if err != nil {
			lost := pgFailure(ctx, err)
			lost.Rows = o.Rows
			return lost
		}
		switch m := message.(type) {
		case *pgproto3.ErrorResponse:
			rows := o.Rows
			o = pgError(m.Code)
			o.Rows = rows
		case *pgproto3.DataRow:
			o.Rows = true
			for _, v := range m.Values {
				size += len(v)
			}
		case *pgproto3.CopyData:
			o.Rows = true
			size += len(m.Data)
		case *pgproto3.CopyInResponse:
			if len(m.ColumnFormatCodes) == strings.Count(orderLine, "\t")+1 {
				front.Send(&pgproto3.CopyData{Data: []byte(orderLine)})
			}
			front.Send(&pgproto3.CopyDone{})
			if err := front.Flush(); err != nil {
				return pgFailure(ctx, err)
			}
		case *pgproto3.ReadyForQuery:
			return o
		}
		if size > most {
			return Outcome{Result: Failed, Code: "client", Rows: true}
		}
	}
}

// limitReached is the SQLSTATE for exceeding the limit on temporary files.
const limitReached = "53400"

// pgError returns the outcome of a failure with this SQLSTATE.
func pgError(code string) Outcome {
	const canceled, readOnly = "57014", "25006"
	if code == canceled {
		return Outcome{Result: TimedOut}
	}
	return Outcome{Result: Failed, Code: code, ReadOnly: code == readOnly}
}

// pgFailure returns the outcome of a session that was lost.
func pgFailure(ctx context.Context, err error) Outcome {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgError(e.Code)
	}
	if ctx.Err() != nil {
		return Outcome{Result: TimedOut}
	}
	return Outcome{Result: Failed, Code: "disconnected"}
}
