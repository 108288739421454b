package pgdb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestSealBreaks shows that a statement does not run in a session whose settings are
// not those of its login: the pins come back, and set them.
func TestSealBreaks(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, "CREATE SCHEMA evil", "CREATE TABLE evil.t (n) AS SELECT 666", "CREATE TABLE public.t (n) AS SELECT 1")
	for _, c := range []struct{ disturb, ask, want string }{
		{"SET TimeZone = 'Asia/Tokyo'", "SHOW TimeZone", "UTC"},
		{"SET extra_float_digits = -5", "SELECT 0.1::float8 + 0.2", "0.30000000000000004"},
		{"SET bytea_output = escape", `SELECT '\x00'::bytea`, `\x00`},
		{"SET transform_null_equals = on", "SELECT count(*) FROM t WHERE n = NULL", "0"},
		{"SET search_path = evil, public", "SELECT n FROM t", "1"},
		{"SET statement_timeout = 0", "SHOW statement_timeout", "30s"},
		{"SET lock_timeout = 0", "SHOW lock_timeout", "1s"},
		{"SET idle_in_transaction_session_timeout = 0", "SHOW idle_in_transaction_session_timeout", "10s"},
		{"SET standard_conforming_strings = off", `SELECT length('\\')`, "2"},
	} {
		b := open(t, url, pgdb.Config{MaxConnections: 1, SearchPath: []string{"public"}, Session: postgres.Dialect{}.Session()})
		pid := b.One(t, backendPID)
		if b.Sealed() != 1 {
			t.Fatal("the session has no seal")
		}
		if err := b.Disturb(c.disturb); err != nil {
			t.Fatal(err)
		}
		if got := b.One(t, c.ask); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.disturb, c.ask, got, c.want)
		}
		if now := b.One(t, backendPID); now != pid || b.Sealed() != 0 {
			t.Errorf("%s: %d sealed, process %s, before %s", c.disturb, b.Sealed(), now, pid)
		}
	}
}

// TestSealLasts shows that a session keeps its seal while statements set what they
// can, that the seal is not used for other limits than the usual ones, and that the
// search path of the catalogue is in force under it.
func TestSealLasts(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, "CREATE SCHEMA other", "CREATE TABLE other.t (n) AS SELECT 2", "CREATE TABLE public.t (n) AS SELECT 1")
	b := open(t, url, pgdb.Config{MaxConnections: 1, Limits: execution.Limits{Timeout: 90 * time.Second}})
	if _, err := b.Catalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.SetGuard(executiontest.Guard(t, "postgres", 0).ID())
	server.Exec(t, url, "ALTER DATABASE "+query[string](t, url, "SELECT current_database()")+" SET search_path = other")
	for _, c := range []struct {
		ask, want string
		limit     time.Duration
	}{
		{"SELECT set_config('my.setting', '0', false)", "0", 90 * time.Second},
		{"SELECT coalesce(current_setting('my.setting', true), '')", "", 90 * time.Second},
		{"SELECT pg_advisory_lock(1)::text", "", 90 * time.Second},
		{"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", "0", 90 * time.Second},
		{"SELECT current_setting('statement_timeout') || current_setting('TimeZone')", "90sUTC", 90 * time.Second},
		{"SHOW statement_timeout", "1234ms", 1234 * time.Millisecond},
		{"SHOW statement_timeout", "90s", 90 * time.Second},
		{"SELECT n FROM t", "1", 90 * time.Second},
		{"SELECT n FROM t", "1", time.Minute},
	} {
		res, err := b.Try(t.Context(), t, c.ask, execution.Limits{Timeout: c.limit})
		if err != nil || len(res.Rows) != 1 || res.Rows[0][0].Text != c.want {
			t.Errorf("%s: %+v, %v, want %s", c.ask, res, err, c.want)
		}
		if b.Sealed() != 1 {
			t.Errorf("after %s the session has no seal", c.ask)
		}
	}
}

// TestSealIsComparedAgain shows that nobody gets the result of a statement that changed
// what its session was sealed with, or took away what ends it.
func TestSealIsComparedAgain(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, "CREATE SCHEMA evil",
		"CREATE FUNCTION forget(what text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DEALLOCATE ' || what; RETURN 1; END $$",
		"CREATE FUNCTION become(who text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'SET ROLE ' || who; RETURN 1; END $$")
	for _, text := range []string{
		"SELECT set_config('statement_timeout', '0', false)",
		"SELECT set_config('lock_timeout', '0', true)",
		"SELECT set_config('extra_float_digits', '0', false)",
		"SELECT set_config('bytea_output', 'escape', true)",
		"SELECT set_config('transform_null_equals', 'on', true)",
		"SELECT set_config('search_path', 'evil', false)",
		"SELECT set_config('TimeZone', 'Asia/Tokyo', true)",
		"SELECT become('pg_monitor')",
		"SELECT forget('ktx_leave')",
		"SELECT forget('ktx_rollback')",
		"COMMIT", "ROLLBACK", "COMMIT AND CHAIN",
	} {
		b := open(t, url, pgdb.Config{MaxConnections: 1, SearchPath: []string{"public"}, Session: postgres.Dialect{}.Session()})
		pid := b.One(t, backendPID)
		if b.Sealed() != 1 {
			t.Fatal("the session has no seal")
		}
		res, err := b.Try(t.Context(), t, text, execution.Limits{})
		if err == nil {
			t.Errorf("%s: %+v", text, res)
		}
		if now := b.One(t, backendPID); now == pid {
			t.Errorf("%s: the connection was kept", text)
		}
	}
}

// TestLoginRefused shows that a setting that the server does not take at login does
// not matter as long as the pins hold.
func TestLoginRefused(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	role := server.URL(query[string](t, url, "SELECT current_database()"), server.NewRole(t))
	b := open(t, role, pgdb.Config{SearchPath: []string{"public"}, Session: []sqlguard.Setting{{Name: "log_statement", Value: "none"}}})
	if got := b.One(t, "SHOW log_statement"); got != "none" {
		t.Errorf("got %s", got)
	}
	if b.Sealed() != 0 {
		t.Error("the session was sealed without its settings")
	}
}

// TestUnit compares the text of a time limit with the server's.
func TestUnit(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	for _, d := range []time.Duration{time.Millisecond, 999 * time.Millisecond, time.Second, 1500 * time.Millisecond, 90 * time.Second, time.Minute, time.Hour, 36 * time.Hour, 48 * time.Hour} {
		if want := query[string](t, url, fmt.Sprintf("SELECT set_config('statement_timeout', '%d', true)", d.Milliseconds())); pgdb.Unit(d) != want {
			t.Errorf("%s: got %s, want %s", d, pgdb.Unit(d), want)
		}
	}
}
