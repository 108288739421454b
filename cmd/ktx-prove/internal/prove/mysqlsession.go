package prove

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	driverpkg "github.com/go-sql-driver/mysql"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// mariadb is a MariaDB or MySQL server that this package started.
type mariadb struct {
	server    *testdb.MariaDBServer
	data      pristine
	limit     time.Duration
	settings  []sqlguard.Setting
	admin     *session
	bystander *session // a session that does nothing
	numbered  *session // the session that a case names by its number, or nil
	numberOff context.CancelFunc
}

// session is one connection and its number at the server.
type session struct {
	pool *sql.DB
	conn *sql.Conn
	id   string
}

func (s *session) close() {
	if s != nil {
		_ = s.conn.Close() // The server may be gone.
		_ = s.pool.Close()
	}
}

// startMariaDB starts a server with the programs in bin, or with those on the
// machine if bin is empty.
func startMariaDB(ctx context.Context, bin, fixture string, settings []sqlguard.Setting, limit time.Duration) (_ *mariadb, err error) {
	server, err := testdb.LaunchMariaDB(ctx, testdb.Options{Bin: bin, TLS: true, Settings: map[string]string{
		"max_allowed_packet": "16M", "max_connections": "20", "event_scheduler": "OFF",
		"loose_max_statement_time": fmt.Sprintf("%.3f", limit.Seconds()), // MySQL has none
		"log_bin":                  "binlog", "log_bin_trust_function_creators": "1", "server_id": "1",
		// Names that do not contain the host name.
		"general_log_file": "general.log", "slow_query_log_file": "slow.log",
	}})
	if err != nil {
		return nil, err
	}
	m := &mariadb{server: server, limit: limit, settings: settings}
	driverpkg.RegisterLocalFile("/etc/passwd") // which LOAD DATA LOCAL asks the client for
	defer func() {
		if err != nil {
			err = errors.Join(err, m.close())
		}
	}()
	if err := m.build(ctx, fixture); err != nil {
		return nil, err
	}
	m.data = pristine{dir: filepath.Join(server.SocketDir(), "data"), server: server}
	if err := m.data.keep(ctx); err != nil {
		return nil, err
	}
	return m, m.connectAll(ctx)
}

// build creates the database, the role and, on MariaDB, the table that shows
// locks.
func (m *mariadb) build(ctx context.Context, fixture string) error {
	u, err := url.Parse(m.server.URL("", ""))
	if err != nil {
		return fmt.Errorf("read the server's own URL: %w", err)
	}
	password, _ := u.User.Password()
	s, err := m.connect(ctx, "", "")
	if err != nil {
		return err
	}
	defer s.close()
	for _, text := range []string{
		"CREATE DATABASE " + database + " CHARACTER SET utf8mb4",
		"USE " + database,
		fixture,
		"CREATE USER '" + readerRole + "'@'%' IDENTIFIED BY '" + password + "'",
		"GRANT SELECT ON " + database + ".* TO '" + readerRole + "'@'%'",
	} {
		if _, err := myRows(ctx, s.conn, text); err != nil {
			return fmt.Errorf("build the database: %w", err)
		}
	}
	if m.name() == "mariadb" {
		if _, err := myRows(ctx, s.conn, "CREATE SEQUENCE order_numbers"); err != nil {
			return fmt.Errorf("build the database: %w", err)
		}
		// Debian has this plugin in the package mariadb-server.
		if _, err := myRows(ctx, s.conn, "INSTALL SONAME 'metadata_lock_info'"); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "ktx-prove: this server lacks the plugin metadata_lock_info, so locks are not seen")
		}
	}
	return nil
}

// connect opens a session in a database, or in none.
func (m *mariadb) connect(ctx context.Context, database, user string) (_ *session, err error) {
	pool, err := testdb.OpenMariaDB(m.server.URL(database, user))
	if err != nil {
		return nil, err
	}
	s := &session{pool: pool}
	if s.conn, err = pool.Conn(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open a session: %w", err), pool.Close())
	}
	id, err := myRows(ctx, s.conn, "SELECT CONNECTION_ID()")
	if err != nil {
		s.close()
		return nil, fmt.Errorf("open a session: %w", err)
	}
	s.id = id[0][0]
	if m.name() == "mariadb" { // the limit of a statement applies to cases only
		if _, err := myRows(ctx, s.conn, "SET SESSION max_statement_time = 0"); err != nil {
			s.close()
			return nil, fmt.Errorf("open a session: %w", err)
		}
	}
	return s, nil
}

// connectAll opens the sessions that stay open, and checks where the server
// runs.
func (m *mariadb) connectAll(ctx context.Context) (err error) {
	if m.admin, err = m.connect(ctx, "", ""); err != nil {
		return err
	}
	facts, err := myRows(ctx, m.admin.conn, "SELECT @@datadir")
	if err != nil {
		return err
	}
	if filepath.Clean(facts[0][0]) != filepath.Join(m.server.SocketDir(), "data") {
		return errNotOurs
	}
	if _, err := myRows(ctx, m.admin.conn, "SET SESSION sql_mode = '', lock_wait_timeout = 2, innodb_lock_wait_timeout = 2"); err != nil {
		return err
	}
	m.bystander, err = m.connect(ctx, database, "")
	return err
}

func (m *mariadb) name() string     { return m.server.Product() }
func (m *mariadb) version() string  { return m.server.Version() }
func (m *mariadb) roles() [2]string { return [2]string{"root", "select_only"} }

// prepare sets up in the database what a case needs.
func (m *mariadb) prepare(ctx context.Context, c corpus.Case) (made bool, err error) {
	if named := otherSession.FindStringSubmatch(c.SQL); named != nil {
		number, err := strconv.Atoi(named[1])
		if err != nil {
			return false, fmt.Errorf("read the number of a session: %w", err)
		}
		return true, m.openNumbered(ctx, number)
	}
	texts, _ := setup(c)
	if len(texts) == 0 {
		return false, nil
	}
	s, err := m.connect(ctx, database, "")
	if err != nil {
		return false, err
	}
	defer func() {
		s.close()
		err = errors.Join(err, m.gone(ctx, s.id))
	}()
	for _, text := range texts {
		if _, err := myRows(ctx, s.conn, text); err != nil {
			return true, &setupError{text, err}
		}
	}
	return true, nil
}

// otherSession matches a statement about the session of a number.
var otherSession = regexp.MustCompile(`(?i)^(?:KILL(?: [A-Z]+)*|SHOW EXPLAIN FOR|EXPLAIN FOR CONNECTION) ([0-9]{1,3})$`)

// longQuery runs for hours, and looks at each row whether another session wants something of it.
const longQuery = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT COUNT(*) FROM n AS a, n AS b, n AS c, n AS d"

// openNumbered opens sessions until one has the number that a case names, and has it run a
// statement that takes long.
func (m *mariadb) openNumbered(ctx context.Context, wanted int) error {
	for restarted := false; ; {
		s, err := m.connect(ctx, database, "")
		if err != nil {
			return err
		}
		number, err := strconv.Atoi(s.id)
		switch {
		case err != nil:
			s.close()
			return fmt.Errorf("read the number of a session: %w", err)
		case number < wanted:
			s.close()
		case number == wanted:
			var running context.Context
			running, m.numberOff = context.WithCancel(context.WithoutCancel(ctx))
			m.numbered = s
			go func() { _, _ = s.conn.ExecContext(running, longQuery) }()
			return m.runs(ctx)
		case restarted:
			s.close()
			return fmt.Errorf("a server that has just started numbers its sessions beyond %d", wanted)
		default:
			s.close()
			restarted = true
			if err := m.reset(ctx); err != nil {
				return err
			}
		}
	}
}

// runs waits until the numbered session runs its statement.
func (m *mariadb) runs(ctx context.Context) error {
	for range 200 {
		rows, err := myRows(ctx, m.admin.conn, "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Query' AND ID = "+m.numbered.id)
		if err != nil || len(rows) > 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("the session %s does not run its statement", m.numbered.id)
}

func (m *mariadb) closeNumbered() {
	if m.numbered != nil {
		m.numberOff()
		m.numbered.close()
		m.numbered = nil
	}
}

func (m *mariadb) try(ctx context.Context, a Attempt, c corpus.Case) (o Outcome, err error) {
	user := ""
	if a.Role == "select_only" {
		user = readerRole
	}
	s, err := m.connect(ctx, database, user)
	if err != nil {
		return o, err
	}
	defer func() {
		s.close()
		err = errors.Join(err, m.gone(ctx, s.id))
	}()
	settings := slices.Clone(m.settings)
	if m.name() == "mariadb" {
		settings = append(settings, sqlguard.Setting{Name: "max_statement_time", Value: fmt.Sprintf("%.3f", m.limit.Seconds())})
	}
	for _, setting := range settings {
		value := "'" + setting.Value + "'"
		if setting.Name == "max_statement_time" {
			value = setting.Value
		}
		if _, err := myRows(ctx, s.conn, "SET SESSION "+setting.Name+" = "+value); err != nil {
			return o, fmt.Errorf("set %s: %w", setting.Name, err)
		}
	}
	if a.ReadOnly {
		if _, err := myRows(ctx, s.conn, "START TRANSACTION READ ONLY"); err != nil {
			return o, err
		}
	}
	if err := setUpSession(a, "select_only", c, func(text string) error {
		_, err := myRows(ctx, s.conn, text)
		return err
	}); err != nil {
		return o, err
	}
	ask := func(sql string) ([][]string, error) { return myRows(ctx, s.conn, sql) }
	state := func() (State, error) {
		inside, err := m.sessionState(ask)
		if err != nil {
			return nil, err
		}
		if name := savepoint(c.SQL); name != "" {
			if _, err := ask("ROLLBACK TO SAVEPOINT " + name); err == nil {
				inside["savepoint "+name] = "there"
			}
		}
		if created := temporaryTable.FindStringSubmatch(c.SQL); created != nil {
			if _, err := ask("SHOW CREATE TABLE " + created[1]); err == nil {
				inside["temporary table "+created[1]] = "there"
			}
		}
		outside, err := m.seen(ctx, s.id, !a.ReadOnly && (c.Setup == nil || len(c.Setup.Session) == 0))
		maps.Copy(inside, outside)
		return inside, err
	}
	before, err := state()
	if err != nil {
		return o, err
	}
	begun := time.Now()
	o = m.send(ctx, s, c.SQL)
	o.took = time.Since(begun)
	if c.Effect != nil && c.Effect.Kind == "lock" {
		time.Sleep(innodbCache)
	}
	after, err := state()
	switch {
	case err == nil:
		o.Changed = append(o.Changed, before.Changed(after)...)
	case o.Result == Executed && (errors.Is(err, driver.ErrBadConn) || errors.Is(err, driverpkg.ErrInvalidConn)):
		if _, err := myRows(ctx, m.admin.conn, "SELECT 1"); err == nil { // the server goes on
			o.Changed = append(o.Changed, "session")
		}
	}
	_, _ = myRows(ctx, s.conn, "COMMIT") // Its effects are seen from outside.
	return o, nil
}

// send runs the statement and reads its results, up to a limit.
func (m *mariadb) send(ctx context.Context, s *session, text string) (o Outcome) {
	grown := m.limit + grace
	if m.name() != "mariadb" {
		grown = m.limit // there only a kill ends every statement
	}
	limited, cancel := context.WithTimeout(ctx, grown)
	defer cancel()
	rows, err := s.conn.QueryContext(limited, text)
	if err != nil {
		return m.failure(limited, err)
	}
	defer func() { _ = rows.Close() }()
	for results := true; results; results = rows.NextResultSet() {
		for n := 0; rows.Next(); n++ {
			o.Rows = true
			if n == 100_000 {
				return Outcome{Result: Failed, Code: "client", Rows: true}
			}
		}
		if rows.Err() != nil {
			break
		}
	}
	if err := rows.Err(); err != nil {
		failed := m.failure(limited, err)
		failed.Rows = o.Rows
		return failed
	}
	o.Result = Executed
	return o
}

// failure returns the outcome of a statement that ended with err.
func (m *mariadb) failure(ctx context.Context, err error) Outcome {
	const (
		interrupted, timeoutMariaDB, timeoutMySQL = 1317, 1969, 3024
		readOnly                                  = 1792
	)
	if e, ok := errors.AsType[*driverpkg.MySQLError](err); ok {
		switch e.Number {
		case timeoutMariaDB, timeoutMySQL:
			return Outcome{Result: TimedOut}
		case interrupted:
			if ctx.Err() != nil {
				return Outcome{Result: TimedOut}
			}
		}
		return Outcome{Result: Failed, Code: fmt.Sprintf("%s %d", e.SQLState[:], e.Number), ReadOnly: e.Number == readOnly}
	}
	if ctx.Err() != nil {
		return Outcome{Result: TimedOut}
	}
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, driverpkg.ErrInvalidConn) {
		return Outcome{Result: Failed, Code: "disconnected"}
	}
	return Outcome{Result: Failed, Code: "client"}
}

// gone ends a session at the server and waits until it has ended.
func (m *mariadb) gone(ctx context.Context, id string) error {
	for range 200 {
		rows, err := myRows(ctx, m.admin.conn, "SELECT ID FROM information_schema.PROCESSLIST WHERE ID = "+id)
		if err != nil || len(rows) == 0 {
			return nil //nolint:nilerr // without the administrator's session the server is put back
		}
		_, _ = myRows(ctx, m.admin.conn, "KILL "+id) // It may have ended by itself.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// temporaryTable finds a temporary table that a statement makes, which no list has.
var temporaryTable = regexp.MustCompile(`(?i)\bCREATE TEMPORARY TABLE (\w+)`)

// innodbCache is how long INNODB_TRX shows what it has shown before.
const innodbCache = 110 * time.Millisecond

// seen returns what another session sees of a session: its locks, its variables on MySQL, and
// how many prepared statements there are.
func (m *mariadb) seen(ctx context.Context, id string, outsideTx bool) (State, error) {
	s, err := m.locks(ctx, id, outsideTx)
	if err != nil {
		return nil, err
	}
	facts := map[string]string{"session prepared statements": "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'"}
	if m.name() != "mariadb" {
		facts["session variables"] = `SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.user_variables_by_thread
			JOIN performance_schema.threads USING (THREAD_ID) WHERE PROCESSLIST_ID = ` + id
	}
	for name, text := range facts {
		rows, err := myRows(ctx, m.admin.conn, text)
		if err != nil {
			return nil, err
		}
		s[name] = digest(rows)
	}
	return s, nil
}

// locks returns the locks that a session holds, except locks for reading. What a reader holds
// until its transaction ends is one outside of a transaction.
func (m *mariadb) locks(ctx context.Context, id string, outsideTx bool) (State, error) {
	except := func(names string) string {
		if outsideTx {
			return "''"
		}
		return names
	}
	queries := []string{"SELECT DISTINCT 'rows' FROM information_schema.INNODB_TRX WHERE trx_rows_locked > 0 AND trx_mysql_thread_id = " + id}
	if m.name() == "mariadb" {
		queries = append(queries, `SELECT DISTINCT CONCAT(LOCK_TYPE, ' ', LOCK_MODE) FROM information_schema.METADATA_LOCK_INFO
			WHERE LOCK_MODE NOT IN (`+except("'MDL_SHARED_READ', 'MDL_SHARED', 'MDL_SHARED_HIGH_PRIO', 'MDL_INTENTION_EXCLUSIVE'")+`) AND THREAD_ID = `+id)
	} else {
		queries = append(queries, `SELECT DISTINCT CONCAT(OBJECT_TYPE, ' ', LOCK_TYPE) FROM performance_schema.metadata_locks l
			JOIN performance_schema.threads t ON t.THREAD_ID = l.OWNER_THREAD_ID
			WHERE LOCK_TYPE NOT IN (`+except("'SHARED_READ', 'SHARED', 'SHARED_HIGH_PRIO', 'INTENTION_EXCLUSIVE'")+`) AND LOCK_STATUS = 'GRANTED' AND t.PROCESSLIST_ID = `+id)
	}
	locks := State{}
	for i, q := range queries {
		rows, err := myRows(ctx, m.admin.conn, q)
		if err != nil && i == 0 {
			return nil, err
		}
		for _, row := range rows {
			locks["lock "+strings.ToLower(row[0])] = "held"
		}
	}
	return locks, nil
}

// restless are the variables that change without a statement.
var restless = []string{
	"timestamp", "rand_seed1", "rand_seed2", "error_count", "warning_count", "pseudo_thread_id", "identity",
	"last_gtid", "gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos", "gtid_executed", "statement_id", "skip_replication",
}

// sessionState reads the state of a session with queries in it.
func (m *mariadb) sessionState(ask func(sql string) ([][]string, error)) (State, error) {
	state := State{}
	rows, err := ask("SHOW SESSION VARIABLES")
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		switch {
		case row[0] == "in_transaction":
			state["transaction"] = row[1]
		case !slices.Contains(restless, row[0]):
			state["session setting "+row[0]] = row[1]
		}
	}
	facts := "SELECT IFNULL(DATABASE(), ''), CURRENT_USER(), IFNULL(CURRENT_ROLE(), '')"
	if rows, err = ask(facts); err != nil {
		return nil, err
	}
	state["session database"], state["session user"], state["session role"] = rows[0][0], rows[0][1], rows[0][2]
	if m.name() == "mariadb" {
		if rows, err = ask("SELECT VARIABLE_NAME, IFNULL(VARIABLE_VALUE, '') FROM information_schema.USER_VARIABLES"); err != nil {
			return nil, err
		}
		for _, row := range rows {
			state["session variable @"+row[0]] = row[1]
		}
	}
	return state, nil
}

// The numbers of errors for a system table that a server does not have.
const unknownTable, noSuchTable = 1109, 1146

func (m *mariadb) snapshot(ctx context.Context) (State, error) {
	s := State{}
	const users = "NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')"
	for _, q := range []struct{ name, sql string }{
		{"catalog schemata", "SELECT SCHEMA_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA"},
		{"catalog columns", "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLUMN_DEFAULT, EXTRA, COLUMN_COMMENT FROM information_schema.COLUMNS WHERE TABLE_SCHEMA " + users},
		{"catalog indexes", "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA " + users},
		{"catalog routines", "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, ROUTINE_DEFINITION, LAST_ALTERED FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA " + users},
		{"catalog triggers", "SELECT TRIGGER_SCHEMA, TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA " + users},
		{"catalog events", "SELECT EVENT_SCHEMA, EVENT_NAME, STATUS FROM information_schema.EVENTS"},
		{"catalog views", "SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA " + users},
		{"catalog plugins", "SELECT PLUGIN_NAME, PLUGIN_STATUS FROM information_schema.PLUGINS"},
		{"catalog tables", "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, CREATE_OPTIONS, TABLE_COLLATION, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA " + users},
		{"replication", "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'system user' AND COMMAND LIKE 'Slave%'"},
		{"catalog resource groups", "SELECT RESOURCE_GROUP_NAME FROM information_schema.RESOURCE_GROUPS"},
		{"catalog spatial reference systems", "SELECT COUNT(*), MAX(SRS_ID) FROM information_schema.ST_SPATIAL_REFERENCE_SYSTEMS"},
		{"persisted settings", "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.persisted_variables"},
	} {
		rows, err := myRows(ctx, m.admin.conn, q.sql)
		if e, told := errors.AsType[*driverpkg.MySQLError](err); told && (e.Number == unknownTable || e.Number == noSuchTable) {
			continue // only MySQL has it
		}
		if err != nil {
			return nil, err
		}
		s[q.name] = digest(rows)
	}
	if m.numbered != nil {
		rows, err := myRows(ctx, m.admin.conn, "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Killed' AND ID = "+m.numbered.id)
		if err != nil {
			return nil, err
		}
		s["session "+m.numbered.id] = digest(rows)
	}
	binaryLogs, err := myRows(ctx, m.admin.conn, "SHOW BINARY LOGS")
	if err != nil {
		return nil, err
	}
	for _, row := range binaryLogs {
		s["binary log "+row[0]] = "there"
	}
	variables, err := myRows(ctx, m.admin.conn, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, err
	}
	for _, row := range variables {
		if !slices.Contains(restless, row[0]) {
			s["setting "+row[0]] = row[1]
		}
	}
	tables, err := myRows(ctx, m.admin.conn, `SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES
		WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'sys') AND TABLE_TYPE IN ('BASE TABLE', 'SEQUENCE', 'SYSTEM VERSIONED')
		AND NOT (TABLE_SCHEMA = 'mysql' AND (TABLE_NAME LIKE 'help\_%' OR TABLE_NAME LIKE 'time_zone%' OR TABLE_NAME LIKE 'innodb\_%'
			OR TABLE_NAME IN ('general_log', 'slow_log', 'transaction_registry', 'gtid_slave_pos', 'gtid_executed')))`)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		history := ""
		if t[2] == "SYSTEM VERSIONED" {
			history = " FOR SYSTEM_TIME ALL"
		}
		rows, err := myRows(ctx, m.admin.conn, "SELECT * FROM `"+t[0]+"`.`"+t[1]+"`"+history)
		if _, refused := errors.AsType[*driverpkg.MySQLError](err); err != nil && !refused {
			return nil, err
		}
		name := "rows " + t[0] + "." + t[1]
		if t[2] == "SEQUENCE" {
			name = "sequence " + t[0] + "." + t[1]
		}
		s[name] = digest(rows)
		if err != nil {
			s[name] = "unreadable"
		}
	}
	if _, err := myRows(ctx, m.bystander.conn, "SELECT 1"); err != nil {
		s["other session"] = "ended"
	}
	return s, listFiles(s, filepath.Join(m.server.SocketDir(), "data"), func(path string) bool {
		base := filepath.Base(path)
		for _, own := range []string{"ib", "aria_log", "undo", "#", "ddl_", "binlog", "performance_schema", "sys"} {
			if strings.HasPrefix(base, own) && (filepath.Dir(path) == "." || own == "#") {
				return true
			}
		}
		return strings.HasSuffix(base, ".pid") || strings.HasPrefix(path, "mysql/innodb_")
	})
}

func (m *mariadb) reset(ctx context.Context) error {
	m.disconnect()
	if err := m.data.restore(ctx); err != nil {
		return err
	}
	return m.connectAll(ctx)
}

func (m *mariadb) disconnect() {
	m.closeNumbered()
	m.admin.close()
	m.bystander.close()
	m.admin, m.bystander = nil, nil
}

func (m *mariadb) log() string { return m.server.Log() }

func (m *mariadb) close() error {
	m.disconnect()
	return m.server.Close()
}

// myRows runs a constant statement of this package and returns its last result.
func myRows(ctx context.Context, conn *sql.Conn, text string) (_ [][]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all [][]string
	for more := true; more; more = rows.NextResultSet() {
		all = nil
		columns, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return nil, err
			}
			row := make([]string, len(cells))
			for i, c := range cells {
				row[i] = c.String
			}
			all = append(all, row)
		}
	}
	return all, rows.Err()
}
