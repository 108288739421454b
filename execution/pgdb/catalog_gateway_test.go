package pgdb_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// door is a gateway over one database, with its audit log.
type door struct {
	*execution.Gateway
	log *audittest.Log
}

func openDoor(t *testing.T, url string, change func(*execution.Connection)) *door {
	t.Helper()
	c := execution.Connection{
		ID: "shop", Engine: "POSTGRESQL", Dialect: postgres.Dialect{}, Policy: sqlguard.DefaultPolicy(), Objects: true,
		Concurrency: 16,
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return pgdb.Open(ctx, pgdb.Config{URL: execution.NewSecret(url), Session: postgres.Dialect{}.Session(), Objects: true}, guard)
		},
	}
	if change != nil {
		change(&c)
	}
	d := &door{log: &audittest.Log{}}
	var err error
	if d.Gateway, err = execution.NewGateway(t.Context(), d.log, c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// ask returns the code with which a statement ended, "" when it ran.
func (d *door) ask(ctx context.Context, sql string) sqlguard.Code {
	_, err := d.Query(ctx, execution.Request{ConnectionID: "shop", SQL: sql})
	return execution.CodeOf(err)
}

// renewed waits until the guard has a new catalogue.
func (d *door) renewed(t *testing.T) {
	t.Helper()
	now := time.Now()
	executiontest.Eventually(t, "a new catalogue", func() bool {
		d.ask(t.Context(), "SELECT 1")
		info, err := d.Connection(t.Context(), "shop")
		return err == nil && info.Catalog.Loaded.After(now)
	})
}

const judgedObjects = `
CREATE TYPE status AS ENUM ('new', 'paid');
CREATE TABLE users (id int, email text, status status);
INSERT INTO users VALUES (1, 'a@example.org', 'paid');
CREATE TABLE orders (id int, user_id int, total numeric);
CREATE VIEW addresses AS SELECT id, email FROM users;
CREATE VIEW ids AS SELECT id FROM users;
CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2';
CREATE FUNCTION sneaky(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN n; END';
CREATE FUNCTION moody(n int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT n';
CREATE FUNCTION deep(n int) RETURNS int LANGUAGE sql STABLE AS 'SELECT sneaky(n)';
CREATE FUNCTION powerful(n int) RETURNS int LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT n';
CREATE FUNCTION unlisted(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n';
CREATE DOMAIN checked AS int CHECK (sneaky(VALUE) > 0);
CREATE DOMAIN plain AS int CHECK (VALUE > 0);
CREATE TABLE naps (pg_sleep int);
CREATE VIEW through AS SELECT sneaky(id) FROM orders;
CREATE EXTENSION citext;
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE passwords (line text) SERVER files OPTIONS (filename '/etc/passwd');
CREATE VIEW behind AS SELECT line FROM passwords;
CREATE TABLE events (at date) PARTITION BY RANGE (at);
CREATE FOREIGN TABLE events_far PARTITION OF events FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') SERVER files OPTIONS (filename '/etc/passwd');
`

// TestTheDoorJudgesWithObjects runs statements through the whole gateway.
func TestTheDoorJudgesWithObjects(t *testing.T) {
	t.Parallel()
	d := openDoor(t, testdb.Postgres(t).NewDatabase(t, judgedObjects), func(c *execution.Connection) {
		c.Policy.AllowUnresolvedTypes = false
		c.Policy.Functions.Allow = []string{"public.twice", "public.sneaky", "public.moody", "public.deep", "public.powerful"}
		c.Policy.Columns = []sqlguard.ColumnRule{{Match: "public.users.email"}}
	})
	for sql, runs := range map[string]bool{
		"SELECT twice(2)":             true,
		"SELECT public.twice(2)":      true,
		"SELECT sneaky(2)":            false,
		"SELECT moody(2)":             false,
		"SELECT deep(2)":              false,
		"SELECT powerful(2)":          false,
		"SELECT nothing(2)":           false,
		"SELECT * FROM passwords":     false,
		"SELECT * FROM behind":        false,
		"SELECT * FROM events":        false,
		"SELECT * FROM through":       false,
		"SELECT id FROM users":        true,
		"SELECT email FROM users":     false,
		"SELECT * FROM users":         false,
		"SELECT id FROM addresses":    false, // the view reads the column, whichever of its columns are selected
		"SELECT email FROM addresses": false,
		"SELECT * FROM ids":           true,
		"SELECT o.total FROM orders o JOIN users u USING (id)": true,
		"SELECT 'paid'::status":                                true,
		"SELECT id FROM users WHERE status = 'new'":            true,
		"SELECT 1::plain":                                      true,
		"SELECT 1::checked":                                    false,
		"SELECT 'A'::citext = 'a'":                             true,
		"SELECT 'a'::nothing":                                  false,
		"SELECT count(*) FROM nothing":                         false,
	} {
		if code := d.ask(t.Context(), sql); (code == "") != runs {
			t.Errorf("%s: %q, runs %v", sql, code, runs)
		}
	}
	info, err := d.Connection(t.Context(), "shop")
	if err != nil || !info.Catalog.Objects || info.Catalog.Loaded.IsZero() || info.Catalog.Count < 30 || info.Catalog.Failure != "" {
		t.Errorf("%+v, %v", info.Catalog, err)
	}
}

// TestTheFirstStatementMayNeedTheCatalogue: a statement that only the objects
// allow opens the connection.
func TestTheFirstStatementMayNeedTheCatalogue(t *testing.T) {
	t.Parallel()
	url := testdb.Postgres(t).NewDatabase(t, judgedObjects)
	for _, sql := range []string{"SELECT 'paid'::status", "SELECT id FROM ids", "SELECT citext_eq('a', 'A')", "SELECT n.pg_sleep FROM naps AS n"} {
		d := openDoor(t, url, func(c *execution.Connection) {
			c.Policy.AllowUnresolvedTypes = false
			c.Policy.Columns = []sqlguard.ColumnRule{{Match: "public.users.email"}}
		})
		if code := d.ask(t.Context(), sql); code != "" {
			t.Errorf("%s: %s", sql, code)
		}
	}
	d := openDoor(t, "postgres://nobody@127.0.0.1:1/nothing", nil)
	if code := d.ask(t.Context(), "SELECT unknown_function(1)"); code != sqlguard.CodeConnectionLost {
		t.Errorf("without a server: %s", code)
	}
	if code := d.ask(t.Context(), "DELETE FROM users"); code != sqlguard.CodeWriteStatement {
		t.Errorf("without a server: %s", code)
	}
}

// TestSwapUnderLoadOnAServer redefines a function and a view while many callers
// use them.
func TestSwapUnderLoadOnAServer(t *testing.T) {
	t.Parallel()
	const callers, changes = 16, 6
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, judgedObjects)
	d := openDoor(t, url, func(c *execution.Connection) {
		c.Concurrency = 2 // so that statements wait between the guard and the server
		c.Policy.Functions.Allow = []string{"public.twice"}
		c.Refresh = execution.Refresh{Every: time.Nanosecond, Keep: time.Hour, Retry: time.Nanosecond}
	})
	// These statements alternately make the statements under test refused and
	// allowed.
	ddl := [2]string{
		"CREATE OR REPLACE FUNCTION twice(n int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT n + n'; DROP VIEW ids; CREATE VIEW ids AS SELECT sneaky(id) AS id FROM users",
		"CREATE OR REPLACE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2'; DROP VIEW ids; CREATE VIEW ids AS SELECT id FROM users",
	}
	// They take long enough for other statements to wait for a slot.
	texts := [2]string{"SELECT %d, count(*) FROM generate_series(1, 30000) AS n WHERE twice(n) > 0", "SELECT %d, count(*) FROM ids, generate_series(1, 30000) AS n WHERE n > 0"}
	if code := d.ask(t.Context(), "SELECT twice(1)"); code != "" {
		t.Fatal(code)
	}
	var stop atomic.Bool
	var ran, refused atomic.Int64
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for i := 0; !stop.Load(); i++ {
				_, err := d.Query(t.Context(), execution.Request{ConnectionID: "shop", SQL: fmt.Sprintf(texts[i%2], caller*1_000_000+i)})
				rejected, isRejected := errors.AsType[*sqlguard.RejectedError](err)
				failed, isError := errors.AsType[*execution.Error](err)
				switch {
				case err == nil:
					ran.Add(1)
				case isRejected && (rejected.Verdict.Code == sqlguard.CodeFunctionNotAllowed || rejected.Verdict.Code == sqlguard.CodeUnresolvedObject):
					refused.Add(1)
				case isError && failed.Code == sqlguard.CodeDatabaseError && failed.SQLState == "42P01": // between DROP VIEW and CREATE VIEW
				default:
					t.Errorf("%v", err)
				}
			}
		})
	}
	wait := func(counter *atomic.Int64, what string) {
		t.Helper()
		from := counter.Load()
		executiontest.Eventually(t, what, func() bool { return counter.Load() > from+callers })
	}
	for i := range changes {
		server.Exec(t, url, ddl[i%2])
		d.renewed(t)
		for _, text := range texts {
			if code := d.ask(t.Context(), fmt.Sprintf(text, -1)); (code == "") != (i%2 == 1) {
				t.Errorf("after change %d, %s: %q", i, text, code)
			}
		}
		if i%2 == 0 {
			wait(&refused, "refusals")
		} else {
			wait(&ran, "answers")
		}
	}
	stop.Store(true)
	group.Wait()
	checkDecisions(t, d.log.Events(), changes)
	t.Logf("%d ran, %d were refused", ran.Load(), refused.Load())
}

// checkDecisions checks that every statement that ran was allowed by the guard
// of its last decision, that no guard contradicts itself, and that the log
// records the new guards.
func checkDecisions(t *testing.T, events []audit.Event, changes int) {
	t.Helper()
	type judgement struct{ policy, fingerprint string }
	verdicts := map[judgement]string{}
	last := map[string]audit.Event{}
	replaced := 0
	for _, e := range events {
		if e.Type == audit.QueryDecision {
			last[e.QueryID] = e
			key := judgement{e.Decision.Policy, e.SQL.Fingerprint}
			if before, ok := verdicts[key]; ok && before != e.Decision.Verdict {
				t.Errorf("guard %s says %s and %s to %s", key.policy, before, e.Decision.Verdict, e.SQL.Normalized)
			}
			verdicts[key] = e.Decision.Verdict
		}
		if d := last[e.QueryID]; e.Type == audit.QueryFinished && e.Result.Status == audit.StatusOK && d.Decision.Verdict != audit.VerdictAllow {
			t.Errorf("%s ran although %+v", d.SQL.Normalized, d.Decision)
		}
		if e.Result.Code == string(sqlguard.CodeInternalError) {
			t.Errorf("internal error: %+v", e)
		}
		if e.Reason == execution.CatalogReplaced {
			replaced++
		}
	}
	if replaced < changes {
		t.Errorf("the log has %d new guards for %d changes", replaced, changes)
	}
}

// TestANewObjectIsKnownAtOnce: an unknown name makes the gateway ask the
// server.
func TestANewObjectIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, judgedObjects)
	d := openDoor(t, url, func(c *execution.Connection) {
		c.Policy.Columns = []sqlguard.ColumnRule{{Match: "public.users.email"}}
		c.Refresh.Retry = time.Nanosecond
	})
	if code := d.ask(t.Context(), "SELECT id FROM later"); code != sqlguard.CodeUnresolvedObject {
		t.Errorf("before: %q", code)
	}
	server.Exec(t, url, "CREATE TABLE later (id int)")
	executiontest.Eventually(t, "the new table is known", func() bool { return d.ask(t.Context(), "SELECT id FROM later") == "" })
}

// TestAServerComesBack: the connection breaks, and the server that comes back
// has other objects.
func TestAServerComesBack(t *testing.T) {
	t.Parallel()
	server := testdb.StartPostgres(t, testdb.Options{})
	url := server.NewDatabase(t, judgedObjects)
	d := openDoor(t, url, func(c *execution.Connection) {
		c.Policy.Functions.Allow = []string{"public.twice"}
		c.Refresh.Retry = time.Nanosecond
	})
	if code := d.ask(t.Context(), "SELECT twice(1)"); code != "" {
		t.Fatal(code)
	}
	server.Exec(t, url, "ALTER FUNCTION twice(int) VOLATILE")
	// The loaded catalogue is recent enough to judge with.
	if code := d.ask(t.Context(), "SELECT twice(1)"); code != "" {
		t.Errorf("before: %q", code)
	}
	if err := server.Stop(t.Context(), testdb.Fast); err != nil {
		t.Fatal(err)
	}
	if code := d.ask(t.Context(), "SELECT twice(1)"); code != sqlguard.CodeConnectionLost && code != sqlguard.CodeServerRestarted {
		t.Errorf("while it is away: %q", code)
	}
	if err := server.Restart(t.Context(), testdb.Fast); err != nil {
		t.Fatal(err)
	}
	// On a busy machine, the server may take longer than a statement waits.
	executiontest.Eventually(t, "the function is refused", func() bool { return d.ask(t.Context(), "SELECT twice(1)") == sqlguard.CodeFunctionNotAllowed })
	if info, err := d.Connection(t.Context(), "shop"); err != nil || info.Catalog.Failure != "" {
		t.Errorf("%+v, %v", info.Catalog, err)
	}
}
