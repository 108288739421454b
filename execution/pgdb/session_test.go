package pgdb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// settings returns the values of settings that a statement sees in its session.
func (c *client) settings(t *testing.T, names ...string) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, n := range names {
		got[n] = c.One(t, fmt.Sprintf("SELECT current_setting('%s')", n))
	}
	return got
}

func TestPins(t *testing.T) {
	server := testdb.Postgres(t)
	// A role and a database with different values for all settings.
	url := server.NewDatabase(t)
	role := server.NewRole(t)
	name := query[string](t, url, "SELECT current_database()")
	server.Exec(t, url, "CREATE SCHEMA hr", "GRANT ALL ON SCHEMA hr TO "+role)
	for _, s := range []string{
		"standard_conforming_strings = off", "DateStyle = 'German, DMY'", "IntervalStyle = iso_8601", "bytea_output = escape", "TimeZone = 'Asia/Tokyo'",
		"extra_float_digits = -5", "statement_timeout = '1h'", "lock_timeout = '1h'", "idle_in_transaction_session_timeout = 0", "default_transaction_read_only = off",
		"client_encoding = LATIN1", "transform_null_equals = on",
	} {
		server.Admin(t, "ALTER ROLE "+role+" SET "+s)
	}
	want := map[string]string{
		"standard_conforming_strings": "on", "DateStyle": "ISO, DMY", "IntervalStyle": "postgres", "bytea_output": "hex", "TimeZone": "UTC",
		"extra_float_digits": "1", "statement_timeout": "30s", "lock_timeout": "1s", "idle_in_transaction_session_timeout": "10s",
		"transaction_read_only": "on", "client_encoding": "UTF8", "search_path": `"$user", public`, "application_name": "ktx",
		"transaction_isolation": "read committed", "transform_null_equals": "on",
	}
	names := func(m map[string]string) (all []string) {
		for n := range m {
			all = append(all, n)
		}
		return all
	}
	c := open(t, server.URL(name, role), pgdb.Config{MaxConnections: 1})
	for range 2 { // on a new connection, and on one that was used
		if diff := cmp.Diff(want, c.settings(t, names(want)...)); diff != "" {
			t.Errorf("settings (-want +got):\n%s", diff)
		}
	}
	if server.Version() >= 14 {
		if got := c.One(t, "SELECT current_setting('client_connection_check_interval')"); got != "500ms" {
			t.Errorf("client_connection_check_interval is %s", got)
		}
	}

	own := map[string]string{
		"search_path": `"hr", "a""b", "$user", pg_temp`, "TimeZone": "Europe/Berlin", "transform_null_equals": "off", "transaction_isolation": "repeatable read",
		"backslash_quote": "safe_encoding",
	}
	c = open(t, server.URL(name, role), pgdb.Config{
		SearchPath: []string{"hr", `a"b`, "$user"}, Timezone: "europe/berlin", Isolation: pgdb.RepeatableRead,
		Session: []sqlguard.Setting{
			{Name: "standard_conforming_strings", Value: "on"},
			{Name: "transform_null_equals", Value: "off"},
			{Name: "backslash_quote", Value: "safe_encoding"},
			{Name: "server_encoding", Value: "UTF8"},
		},
	})
	if diff := cmp.Diff(own, c.settings(t, names(own)...)); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	res, err := c.Try(t.Context(), t, "SELECT current_setting('statement_timeout') || current_setting('lock_timeout')", execution.Limits{Timeout: 1234 * time.Millisecond, LockTimeout: 77 * time.Millisecond})
	if err != nil || res.Rows[0][0].Text != "1234ms77ms" {
		t.Errorf("%v, %v; want the limits of the call", res, err)
	}
}

func TestSessionMismatch(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	name := query[string](t, url, "SELECT current_database()")
	late := server.NewRole(t)
	server.Admin(t, "ALTER ROLE "+late+" SET search_path = public, pg_catalog")
	for _, c := range []struct {
		name, url, want string
		cfg             pgdb.Config
	}{
		{"assertion", url, "server_encoding is UTF8", pgdb.Config{Session: []sqlguard.Setting{{Name: "server_encoding", Value: "LATIN1"}}}},
		{"no such setting", url, "no_such_setting", pgdb.Config{Session: []sqlguard.Setting{{Name: "no_such_setting", Value: "1"}}}},
		{"no such time zone", url, "Mars/Olympus", pgdb.Config{Timezone: "Mars/Olympus"}},
		{"value of another spelling", url, "array_nulls is on", pgdb.Config{Session: []sqlguard.Setting{{Name: "array_nulls", Value: "yes"}}}},
		{"server's schema searched late", server.URL(name, late), "search_path has schemas before pg_catalog: public, pg_catalog", pgdb.Config{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.url, c.cfg)
			for range 2 {
				e := b.Fails(t, "SELECT set_config('ktx.ran', 'yes', false)", execution.Limits{})
				if e.Code != sqlguard.CodeSessionModeMismatch || e.Retryable || !strings.Contains(e.Message, c.want) {
					t.Errorf("%v, want %s with %q", e, sqlguard.CodeSessionModeMismatch, c.want)
				}
			}
		})
	}
	// The message names SearchPath as the solution.
	if got := open(t, server.URL(name, late), pgdb.Config{SearchPath: []string{"public"}}).One(t, "SELECT 1"); got != "1" {
		t.Errorf("got %s", got)
	}
}

// TestPathIsNotTrusted shows that functions and operators in a schema before
// pg_catalog cannot divert the package's own statements, and that such a
// session runs no approved statement.
func TestPathIsNotTrusted(t *testing.T) {
	server := testdb.Postgres(t)
	role := server.NewRole(t)
	url := server.NewDatabase(t,
		"CREATE SCHEMA evil",
		"CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS $$ SELECT $2 $$",
		"CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT 'on' $$",
		"CREATE FUNCTION evil.current_schemas(boolean) RETURNS name[] LANGUAGE sql AS $$ SELECT '{pg_catalog}'::name[] $$",
		"CREATE FUNCTION evil.eq(text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$",
		"CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.eq)",
		"GRANT USAGE ON SCHEMA evil TO PUBLIC")
	server.Admin(t, "ALTER ROLE "+role+" SET search_path = evil, pg_catalog")
	c := open(t, server.URL(query[string](t, url, "SELECT current_database()"), role), pgdb.Config{})
	if e := c.Fails(t, "SELECT 1", execution.Limits{}); e.Code != sqlguard.CodeSessionModeMismatch {
		t.Errorf("%v", e)
	}
}

// TestTextEndsNothing shows that a statement cannot end or change its
// transaction. Either the server refuses it, or the backend returns an error
// and closes the connection.
func TestTextEndsNothing(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, "CREATE TABLE t (n int)")
	for _, c := range []struct {
		sql, state string // the SQLSTATE; "" for an error of this package
	}{
		{"COMMIT", ""},
		{"ROLLBACK", ""},
		{"END", ""},
		{"COMMIT AND CHAIN", ""},
		{"ROLLBACK AND CHAIN", ""},
		{"BEGIN", ""},
		{"BEGIN READ WRITE", "25001"},
		{"START TRANSACTION READ WRITE", "25001"},
		{"SET TRANSACTION READ WRITE", "25001"},
		{"SET transaction_read_only = off", "25001"},
		{"SELECT set_config('transaction_read_only', 'off', false)", "25001"},
		{"COMMIT; CREATE TABLE stacked (n int)", "42601"},
		{"SELECT 1; SELECT 2", "42601"},
		{"INSERT INTO t VALUES (1)", "25006"},
		{"CREATE TABLE u (n int)", "25006"},
		{"COPY t TO STDOUT", ""},
		{"COPY t FROM STDIN", "25006"},
		{"SELECT set_config('standard_conforming_strings', 'off', false)", ""},
		{"SET client_encoding = LATIN1", ""},
		{"SET TimeZone = 'Asia/Tokyo'", ""},
		{"SELECT $1", "08P01"},
		{"SELECT $1::int", "08P01"},
	} {
		t.Run(c.sql, func(t *testing.T) {
			b := open(t, url, pgdb.Config{MaxConnections: 1})
			before := b.One(t, backendPID)
			e := b.Fails(t, c.sql, execution.Limits{})
			if e.Code != sqlguard.CodeDatabaseError || e.SQLState != c.state {
				t.Errorf("%v with SQLSTATE %q, want %s with %q", e, e.SQLState, sqlguard.CodeDatabaseError, c.state)
			}
			after := b.One(t, backendPID)
			if kept := before == after; kept != (c.state != "") {
				t.Errorf("connection kept %t, want %t", kept, c.state != "")
			}
			if got := b.One(t, "SELECT current_setting('transaction_read_only') || current_setting('standard_conforming_strings') || current_setting('TimeZone')"); got != "ononUTC" {
				t.Errorf("the next session is %s", got)
			}
		})
	}
	if n := query[int](t, url, "SELECT count(*)::int FROM pg_class WHERE relname IN ('stacked', 'u')"); n != 0 {
		t.Errorf("%d tables were made", n)
	}
}

// TestNothingLeaks shows that the next statement on the same connection does
// not see what a statement left in its session, or that the connection is
// closed.
func TestNothingLeaks(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t,
		"CREATE FUNCTION prepare_one() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'PREPARE leak AS SELECT 1'; RETURN 1; END $$")
	const state = `SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) || '|' ||
		current_setting('search_path') || '|' || coalesce(current_setting('ktx.leak', true), '') || '|' || current_setting('work_mem') || '|' || current_user || '|' ||
		(SELECT count(*) FROM pg_cursors WHERE name <> '') || '|' || (SELECT count(*) FROM pg_listening_channels()) || '|' || coalesce(to_regclass('pg_temp.leak')::text, 'none')`
	for _, c := range []struct {
		sql  string
		kept bool
	}{
		{"SELECT pg_advisory_lock(42), pg_advisory_lock_shared(43), pg_try_advisory_lock(44)", true},
		{"SELECT set_config('search_path', 'leak', false), set_config('ktx.leak', 'leak', false), set_config('work_mem', '99MB', false)", true},
		{"SELECT * INTO TEMP leak FROM pg_class", true},
		{"SET work_mem = '99MB'", false},
		{"SET SESSION work_mem = '99MB'", false},
		{"SET ROLE pg_monitor", false},
		{"SET SESSION AUTHORIZATION pg_monitor", false},
		{"LISTEN leak", false},
		{"DECLARE leak CURSOR WITH HOLD FOR SELECT 1", false},
		{"PREPARE leak AS SELECT 1", false},
		{"CREATE TEMP TABLE leak (n int)", true}, // the server refuses it
		{"LOAD 'plpgsql'", false},
		{"SAVEPOINT leak", false},
	} {
		t.Run(c.sql, func(t *testing.T) {
			b := open(t, url, pgdb.Config{MaxConnections: 1})
			before, pid := b.One(t, state), b.One(t, backendPID)
			if _, err := b.Try(t.Context(), t, c.sql, execution.Limits{}); err != nil {
				t.Logf("refused: %v", err)
			}
			if after := b.One(t, state); after != before {
				t.Errorf("the session was\n\t%s\nand is\n\t%s", before, after)
			}
			if kept := b.One(t, backendPID) == pid; kept != c.kept {
				t.Errorf("connection kept %t, want %t", kept, c.kept)
			}
		})
	}
}

// TestPreparedTextsAreGone shows that a connection without its prepared
// constants is replaced, or continues with unnamed ones. The second case is how
// an undetected pooler appears.
func TestPreparedTextsAreGone(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t,
		"CREATE FUNCTION forget(what text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DEALLOCATE ' || what; RETURN 1; END $$")
	const count = "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'ktx%'"
	sealed := []string{"public"}
	for _, c := range []struct {
		what, left string
		path       []string
	}{
		{"ALL", "10", nil},
		{"ktx_rollback", "10", nil},
		{"ktx_reset_locks", "10", nil},
		{"ktx_begin", "0", nil},
		{"ktx_pins", "0", nil},
		{"ktx_pins", "9", sealed},
		{"ktx_seal", "0", sealed},
		{"ktx_seal", "9", nil},
	} {
		b := open(t, url, pgdb.Config{MaxConnections: 2, SearchPath: c.path})
		if n := b.One(t, count); n != "10" {
			t.Errorf("%s texts are prepared, want 10", n)
		}
		if got := b.One(t, "SELECT forget('"+c.what+"')"); got != "1" {
			t.Errorf("got %s", got)
		}
		for range 3 {
			if got := b.One(t, count); got != c.left {
				t.Errorf("%s: %s texts are prepared, want %s", c.what, got, c.left)
			}
		}
	}
}

// TestSmallestLimits shows that the limits of a call apply only to the call's
// own rows.
func TestSmallestLimits(t *testing.T) {
	b := open(t, testdb.Postgres(t).NewDatabase(t), pgdb.Config{MaxConnections: 1})
	for range 2 {
		res, err := b.Try(t.Context(), t, "SELECT 1, 2", execution.Limits{Rows: 1, Bytes: 1, CellBytes: 1, Columns: 1})
		if err != nil || len(res.Rows) != 1 || res.TruncatedBy != execution.TruncatedByColumns || res.Bytes != 1 {
			t.Errorf("%+v, %v", res, err)
		}
		res, err = b.Try(t.Context(), t, "SELECT 22", execution.Limits{CellBytes: 1})
		if err != nil || len(res.Rows) != 0 || res.TruncatedBy != execution.TruncatedByCell {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

// TestAsides shows that the backend handles messages that the server sends in
// addition to a statement's rows, during and between statements.
func TestAsides(t *testing.T) {
	server := testdb.StartPostgres(t, testdb.Options{})
	url := server.NewDatabase(t, `CREATE FUNCTION noisy(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
		FOR i IN 1..n LOOP RAISE NOTICE 'notice %', i; END LOOP; RAISE WARNING '%', repeat('x', 3000000); RETURN n; END $$`)
	b := open(t, url, pgdb.Config{MaxConnections: 1})
	pid := b.One(t, backendPID)
	for range 3 {
		if got := b.One(t, "SELECT noisy(2000)"); got != "2000" {
			t.Errorf("got %s", got)
		}
		server.Exec(t, url, "ALTER SYSTEM SET TimeZone = 'Asia/Tokyo'", "SELECT pg_reload_conf()")
		executiontest.Eventually(t, "the setting is loaded", func() bool { return query[string](t, url, "SHOW TimeZone") == "Asia/Tokyo" })
		server.Exec(t, url, "ALTER SYSTEM RESET TimeZone", "SELECT pg_reload_conf()")
		if got := b.One(t, "SHOW TimeZone"); got != "UTC" {
			t.Errorf("got %s", got)
		}
	}
	if now := b.One(t, backendPID); now != pid {
		t.Error("the connection was replaced")
	}
}

// TestErrors shows what a caller gets for errors of the server.
func TestErrors(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, "CREATE TABLE items (id int, name text)")
	role := server.NewRole(t)
	b := open(t, server.URL(query[string](t, url, "SELECT current_database()"), role), pgdb.Config{})
	for _, c := range []struct {
		sql, state, at string // at is the word at the error's position
		hint           string // part of the server's hint
		retryable      bool
	}{
		{"SELECT 'Grüße', idd FROM public.items", "42703", "idd", `"items.id"`, false},
		{"SELECT * FROM item", "42P01", "item", "", false},
		{"SELECT 'é', lower(1, 2)", "42883", "lower", "No function matches", false},
		{"SELECT 'ü' FROM", "42601", "", "", false},
		{"SELECT 1/0", "22012", "", "", false},
		{"SELECT id FROM items", "42501", "", "", false},
		{"CREATE TABLE t ()", "25006", "", "", false},
	} {
		e := b.Fails(t, c.sql, execution.Limits{})
		if e.Code != sqlguard.CodeDatabaseError || e.SQLState != c.state || e.Retryable != c.retryable || !strings.Contains(e.ServerHint, c.hint) {
			t.Errorf("%s: %v, SQLSTATE %s, server's hint %q, retryable %t", c.sql, e, e.SQLState, e.ServerHint, e.Retryable)
		}
		if c.at != "" && e.Position != strings.Index(c.sql, c.at)+1 {
			t.Errorf("%s: position %d, want that of %s", c.sql, e.Position, c.at)
		}
		if e.Position > len(c.sql)+1 {
			t.Errorf("%s: position %d is outside of the text", c.sql, e.Position)
		}
	}
}

// TestNotApproved shows that only approvals of the current guard reach the
// server.
func TestNotApproved(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	b := open(t, url, pgdb.Config{})
	other := executiontest.Guard(t, "postgres", 1)
	foreign, err := other.Approve("SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []sqlguard.Approved{{}, foreign} {
		if _, err := b.Query(t.Context(), a, execution.Limits{}); execution.CodeOf(err) != sqlguard.CodeInternalError {
			t.Errorf("error %v, want %s", err, sqlguard.CodeInternalError)
		}
	}
	if n := b.Open(); n != 0 {
		t.Errorf("%d connections were made for texts that were not approved", n)
	}
	b.SetGuard(other.ID())
	if _, err := b.Query(t.Context(), foreign, execution.Limits{}); err != nil {
		t.Errorf("after SetGuard: %v", err)
	}
	own, _ := executiontest.Approve(t, "postgres", "SELECT 1")
	if _, err := b.Query(t.Context(), own, execution.Limits{}); err == nil {
		t.Error("an approval of the guard before still runs")
	}
}
