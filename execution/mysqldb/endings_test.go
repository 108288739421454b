package mysqldb_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// endingsVariable holds how many calls the test ends early. Each call must then
// end within the time that the product promises. When it is not set, every case
// runs once, and the bound only finds calls that hang.
const endingsVariable = "KTX_TEST_CANCELLATIONS"

const manyRows = "(SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10)"

// crossed returns a FROM clause that joins n tables of ten rows each.
func crossed(n int) string {
	tables := make([]string, n)
	for i := range tables {
		tables[i] = fmt.Sprintf("%s AS t%d", manyRows, i)
	}
	return strings.Join(tables, ", ")
}

// busy reports whether the server is running a statement with this mark.
func busy(t *testing.T, db *sql.DB, mark string) bool {
	t.Helper()
	var n int
	err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.processlist WHERE command <> 'Sleep' AND id <> CONNECTION_ID() AND info LIKE ?", "%"+mark+"%").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// TestCallsThatEnd ends calls in every way and at every stage. The caller must
// get its error at once, and the server must end the statement.
func TestCallsThatEnd(t *testing.T) {
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, "CREATE TABLE items (id int PRIMARY KEY, n int)", "INSERT INTO items VALUES (1, 1)", "CREATE TABLE notes (n int) ENGINE=MyISAM")
	watch := server.DB(t, url)
	watch.SetMaxOpenConns(1)
	c := open(t, url, mysqldb.Config{MaxConnections: 2})
	holder, err := server.DB(t, url).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := holder.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := holder.ExecContext(t.Context(), "LOCK TABLES notes WRITE"); err != nil {
		t.Fatal(err)
	}
	const within = 250 * time.Millisecond
	works := []struct{ name, sql string }{
		{"sleeping", "SELECT SLEEP(100)"},
		{"computing", "SELECT COUNT(*) FROM " + crossed(9) + " WHERE t0.n + t1.n + t2.n + t3.n + t4.n + t5.n + t6.n + t7.n + t8.n = 91"},
		{"sorting", "SELECT t0.n FROM " + crossed(7) + " ORDER BY t0.n * t1.n % 11 + t2.n * t3.n % 13"},
		{"returning rows", "SELECT t0.n, REPEAT('x', 100) FROM " + crossed(9)},
		{"returning rows slowly", "SELECT t0.n, SLEEP(0.02) FROM " + crossed(5)},
		{"waiting for a table", "SELECT n FROM notes"},
		{"waiting for a named lock", "SELECT GET_LOCK('endings', 100), n FROM items"},
	}
	if _, err := holder.ExecContext(t.Context(), "DO GET_LOCK('endings', 0)"); err != nil {
		t.Fatal(err)
	}
	calls, bound, strict := 2*len(works), executiontest.Patience, false
	if v := os.Getenv(endingsVariable); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n <= 0 {
			t.Fatalf("%s=%s is not a number of calls", endingsVariable, v)
		}
		calls, bound, strict = n, within, true
	}
	var took, gone []time.Duration
	for i := range calls {
		w, cancels := works[i%len(works)], i/len(works)%2 == 0
		wait := time.Duration(30+i*37%100) * time.Millisecond
		lim, code := execution.Limits{Timeout: time.Hour, LockTimeout: time.Hour, Rows: 1 << 30, Bytes: 1 << 40}, sqlguard.CodeCancelled
		ctx, cancel := context.WithCancel(t.Context())
		var end time.Time
		if cancels {
			time.AfterFunc(wait, func() { end = time.Now(); cancel() })
		} else {
			lim.Timeout, code = wait, sqlguard.CodeTimeout
			end = time.Now().Add(wait)
		}
		mark := fmt.Sprintf("mark%dend", i)
		res, err := c.Try(ctx, t, w.sql+" -- "+mark, lim)
		returned := time.Now()
		cancel()
		name := fmt.Sprintf("%d %s, cancelled %t", i, w.name, cancels)
		if execution.CodeOf(err) != code || res != nil {
			t.Fatalf("%s: %v, %v; want %s", name, res, err, code)
		}
		took = append(took, returned.Sub(end))
		for busy(t, watch, mark) {
			if time.Since(end) > bound {
				t.Errorf("%s: the statement still runs on the server after %v", name, time.Since(end))
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		gone = append(gone, time.Since(end))
		if d := took[len(took)-1]; d > bound {
			t.Errorf("%s: the caller waited %v longer, want at most %v", name, d, bound)
		}
		if got := c.One(t, "SELECT COUNT(*) FROM items"); got != "1" {
			t.Errorf("%s: the next statement returned %q", name, got)
		}
	}
	slices.Sort(took)
	slices.Sort(gone)
	t.Logf("%d calls, each held to %v: %t; caller: p50 %v, p99 %v, max %v; server: p50 %v, p99 %v, max %v", calls, within, strict,
		took[calls/2], took[calls*99/100], took[calls-1], gone[calls/2], gone[calls*99/100], gone[calls-1])
}

// TestNoRoomToKill ends a statement on a server that accepts no more
// connections. The backend sends the KILL on an idle connection. When it has
// none, it closes the statement's own connection.
func TestNoRoomToKill(t *testing.T) {
	server := testdb.StartMariaDB(t, testdb.Options{Settings: map[string]string{"max_connections": "10"}})
	url := server.NewDatabase(t)
	database := strings.TrimPrefix(mustPath(t, url), "/")
	user := server.NewUser(t, "SELECT ON "+database+".*")
	watch := server.DB(t, url)
	watch.SetMaxOpenConns(1)
	others := server.DB(t, server.URL(database, user))
	c := open(t, server.URL(database, user), mysqldb.Config{MaxConnections: 3})
	slow := "SELECT COUNT(*) FROM " + crossed(9) + " WHERE t0.n + t1.n + t2.n + t3.n + t4.n + t5.n + t6.n + t7.n + t8.n = 91 -- no room"
	for _, test := range []struct {
		name   string
		others int
		limit  time.Duration // the server's own time limit
	}{
		{"an idle one", 0, time.Hour},
		{"none", 1, 3 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			var users sync.WaitGroup
			executiontest.Eventually(t, "both connections are open", func() bool {
				for range 2 {
					users.Go(func() { c.Get(t, "SELECT SLEEP(0.2)", execution.Limits{}) })
				}
				users.Wait()
				return c.Idle() == 2
			})
			busy(t, watch, "") // the connection that looks is open before there is no room
			for range 20 {     // fills the server's connection limit
				conn, err := others.Conn(t.Context())
				if err != nil {
					break
				}
				defer conn.Close() //nolint:errcheck // it only occupies a connection
			}
			busyContext, release := context.WithCancel(t.Context())
			for range test.others {
				users.Go(func() { _, _ = c.Try(busyContext, t, "SELECT SLEEP(100), 'holds its connection'", execution.Limits{}) })
				executiontest.Eventually(t, "a connection is held", func() bool { return busy(t, watch, "holds its connection") })
			}
			executiontest.Scaled(t, func(scale int) bool {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				code := make(chan sqlguard.Code, 1)
				go func() {
					_, err := c.Try(ctx, t, slow, execution.Limits{Timeout: min(test.limit*time.Duration(scale), time.Hour)})
					code <- execution.CodeOf(err)
				}()
				executiontest.Eventually(t, "the statement runs, or its limit came first", func() bool { return busy(t, watch, "no room") || len(code) > 0 })
				cancel()
				got := <-code
				if got == sqlguard.CodeTimeout && test.others > 0 {
					return false
				}
				if got != sqlguard.CodeCancelled {
					t.Errorf("%s, want %s", got, sqlguard.CodeCancelled)
				}
				return true
			})
			release()
			users.Wait()
			executiontest.Eventually(t, "the statement has ended at the server", func() bool { return !busy(t, watch, "no room") })
		})
	}
}

// TestLateCancelsHitNobodyElse ends statements at about the time when they end
// by themselves. Other statements use the same connections next. Every
// statement that is not ended must get its own answer.
func TestLateCancelsHitNobodyElse(t *testing.T) {
	url := testdb.MariaDB(t).NewDatabase(t)
	before := goleak.IgnoreCurrent()
	c := open(t, url, mysqldb.Config{MaxConnections: 3})
	rounds := 50
	switch {
	case testing.Short():
		rounds = 30
	case executiontest.Full():
		rounds = 150
	}
	executiontest.LateCancels{
		Session:  func(name string) string { return fmt.Sprintf("SELECT '%s', CONNECTION_ID()", name) },
		Computes: func(name string) string { return fmt.Sprintf("SELECT '%s', COUNT(*) FROM %s", name, crossed(4)) },
		Rows:     func(name string) string { return fmt.Sprintf("SELECT '%s' FROM %s LIMIT 100000", name, crossed(5)) },
	}.Run(t, c.Client, rounds)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
}
