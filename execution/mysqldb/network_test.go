package mysqldb_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestCapabilities checks which capabilities are agreed on with a server that
// offers all of them.
func TestCapabilities(t *testing.T) {
	f := startFake(t, &fakeServer{})
	c := open(t, f.url(), mysqldb.Config{Session: mysql.Dialect{}.Session()})
	if got := c.One(t, "SELECT 1"); got != "1" {
		t.Fatalf("SELECT 1 gave %q", got)
	}
	agreed := f.agreed(t)
	for name, flag := range map[string]uint32{
		"compression": 1 << 5, "local files": 1 << 7, "spaces before brackets": 1 << 8, "interactive": 1 << 10,
		"several statements": 1 << 16, "several results": 1 << 17, "several results of prepared statements": 1 << 18,
		"session state": 1 << 23, "no end of column definitions": 1 << 24,
	} {
		if agreed&flag != 0 {
			t.Errorf("agreed on %s", name)
		}
	}
	if f.knows("hidden-word") {
		t.Error("the password was sent in clear text")
	}
	if got := f.sent(); !slices.Equal(got, []string{"SELECT 1"}) {
		t.Errorf("the server got %q, want the statement unchanged", got)
	}
}

// The backend sends no statement to a server whose session is not as it must
// be. An answer that does not fit the protocol is never returned as rows.
func TestHostileServer(t *testing.T) {
	for _, test := range []struct {
		name   string
		server *fakeServer
		code   sqlguard.Code
		says   string
		sent   bool // the statement reached the server
	}{
		{
			"asks for a file", &fakeServer{text: func(c *fakeConn, _ string) error {
				return c.send([]byte("\xfb/etc/passwd"))
			}}, sqlguard.CodeDatabaseError, "not that of a query", true,
		},
		{
			"sends nonsense for settings", &fakeServer{setting: func(string, string) string { return strings.Repeat("x", 200) }},
			sqlguard.CodeSessionModeMismatch, "", false,
		},
		{
			"says that the transaction is not read-only", &fakeServer{status: 0x0003},
			sqlguard.CodeSessionModeMismatch, "read-only", false,
		},
		{
			"says that there is no transaction", &fakeServer{status: 0x0002},
			sqlguard.CodeSessionModeMismatch, "read-only", false,
		},
		{
			"says that a backslash does not escape", &fakeServer{status: openStatus | 0x0200},
			sqlguard.CodeSessionModeMismatch, "backslash", false,
		},
		{
			"has another sql_mode", &fakeServer{setting: func(name, set string) string {
				if name == "sql_mode" {
					return set + ",ANSI_QUOTES"
				}
				return set
			}}, sqlguard.CodeSessionModeMismatch, "sql_mode", false,
		},
		{
			"is writable by default", &fakeServer{setting: func(name, set string) string {
				if strings.HasSuffix(name, "_read_only") {
					return "0"
				}
				return set
			}}, sqlguard.CodeSessionModeMismatch, "read_only", false,
		},
		{
			"is another than it greets as", &fakeServer{version: "8.4.5", setting: func(_, set string) string { return set }, login: func(c *fakeConn) error {
				c.server.version = "10.11.6-MariaDB"
				return c.ok(2)
			}}, sqlguard.CodeSessionModeMismatch, "greeting", false,
		},
		{"is old", &fakeServer{version: "5.7.44"}, sqlguard.CodeSessionModeMismatch, "oldest", false},
		{"is an old MariaDB", &fakeServer{version: "5.5.5-10.3.39-MariaDB"}, sqlguard.CodeSessionModeMismatch, "oldest", false},
		{
			"asks for the password in clear text", &fakeServer{login: func(c *fakeConn) error {
				return c.send(append([]byte{0xfe}, "mysql_clear_password\x00"...))
			}}, sqlguard.CodeConnectionLost, "authentication plugin", false,
		},
		{
			"asks for the password in the oldest way", &fakeServer{login: func(c *fakeConn) error { return c.send([]byte{0xfe}) }},
			sqlguard.CodeConnectionLost, "authentication plugin", false,
		},
		{
			"takes nobody", &fakeServer{login: func(c *fakeConn) error { return c.fail(1045, "28000", "Access denied") }},
			sqlguard.CodeDatabaseError, "Access denied", false,
		},
		{
			"is full", &fakeServer{login: func(c *fakeConn) error { return c.fail(1040, "08004", "Too many connections") }},
			sqlguard.CodeBusy, "", false,
		},
		{"knows no databases", &fakeServer{capabilities: fakeCapabilities &^ 8}, sqlguard.CodeConnectionLost, "not of the protocol", false},
		{
			"has a second result", &fakeServer{text: func(c *fakeConn, _ string) error { return c.row(openStatus|8, "1") }},
			sqlguard.CodeDatabaseError, "left its read-only transaction", true,
		},
		{
			"ends the transaction", &fakeServer{text: func(c *fakeConn, _ string) error { return c.row(2, "1") }},
			sqlguard.CodeDatabaseError, "left its read-only transaction", true,
		},
		{
			"begins another transaction", &fakeServer{text: func(c *fakeConn, _ string) error { return c.row(3, "1") }},
			sqlguard.CodeDatabaseError, "left its read-only transaction", true,
		},
		{
			"has no rows", &fakeServer{text: func(c *fakeConn, _ string) error { return c.ok(openStatus) }},
			sqlguard.CodeDatabaseError, "no read", true,
		},
		{
			"sends rows out of turn", &fakeServer{text: func(c *fakeConn, _ string) error {
				c.seq += 3
				return c.row(openStatus, "1")
			}}, sqlguard.CodeDatabaseError, "not that of a query", true,
		},
		{
			"ends between rows", &fakeServer{text: func(c *fakeConn, _ string) error {
				_ = c.send([]byte{1}, fakeColumn("a"), fakeEnd(openStatus), []byte{1, '1'})
				return errors.New("gone")
			}}, sqlguard.CodeConnectionLost, "closed the connection", true,
		},
		{
			"goes down", &fakeServer{text: func(c *fakeConn, _ string) error { return c.fail(1053, "08S01", "Server shutdown in progress") }},
			sqlguard.CodeServerRestarted, "", true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := startFake(t, test.server)
			c := open(t, f.url(), mysqldb.Config{Session: mysql.Dialect{}.Session()})
			e := c.Fails(t, "SELECT 1", execution.Limits{})
			if e.Code != test.code || !strings.Contains(e.Message, test.says) {
				t.Errorf("error %v, want %s with %q", e, test.code, test.says)
			}
			if got := len(f.sent()) > 0; got != test.sent {
				t.Errorf("the statement was sent: %t, want %t", got, test.sent)
			}
			if f.knows("hidden-word") || strings.Contains(e.Error()+e.Hint, "hidden-word") {
				t.Error("the password was shown")
			}
		})
	}
}

// A server that sends more than was asked for must not fill the memory.
func TestFlood(t *testing.T) {
	f := startFake(t, &fakeServer{text: func(c *fakeConn, text string) error {
		if strings.HasPrefix(text, "KILL") {
			return c.ok(2)
		}
		if err := c.send([]byte{1}, fakeColumn("a"), fakeEnd(openStatus)); err != nil {
			return err
		}
		row := append([]byte{200}, strings.Repeat("x", 200)...)
		for {
			if err := c.send(row); err != nil {
				return err
			}
		}
	}})
	c := open(t, f.url(), mysqldb.Config{})
	res, err := c.Try(t.Context(), t, "SELECT a", execution.Limits{Rows: 10})
	if err != nil || len(res.Rows) != 10 || res.TruncatedBy != execution.TruncatedByRows {
		t.Errorf("%v, %v; want ten rows, cut", res, err)
	}
}

// A caller that waits for a silent server gets an error at its time limit, at
// its deadline, or when its context ends, at whatever step the server falls
// silent.
func TestSilence(t *testing.T) {
	forever := func(c *fakeConn) error {
		_, err := c.read()
		return err
	}
	for name, f := range map[string]*fakeServer{
		"at the log-in":    {login: forever},
		"at the statement": {text: func(c *fakeConn, _ string) error { return forever(c) }},
		"between rows": {text: func(c *fakeConn, text string) error {
			if !strings.HasPrefix(text, "KILL") {
				_ = c.send([]byte{1}, fakeColumn("a"), fakeEnd(openStatus), []byte{1, '1'})
			}
			return forever(c)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			startFake(t, f)
			for _, test := range []struct {
				name  string
				limit time.Duration
				ctx   func() (context.Context, context.CancelFunc)
				code  sqlguard.Code
			}{
				{"limit", 50 * time.Millisecond, func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }, sqlguard.CodeTimeout},
				{"deadline", 0, func() (context.Context, context.CancelFunc) {
					return context.WithTimeout(t.Context(), 50*time.Millisecond)
				}, sqlguard.CodeTimeout},
				{"cancel", 0, func() (context.Context, context.CancelFunc) {
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(50*time.Millisecond, cancel)
					return ctx, cancel
				}, sqlguard.CodeCancelled},
			} {
				// A statement whose end is not confirmed keeps its connection's place.
				c := open(t, f.url(), mysqldb.Config{MaxConnections: 1})
				ctx, cancel := test.ctx()
				res, err := c.Try(ctx, t, "SELECT a", execution.Limits{Timeout: test.limit})
				cancel()
				if execution.CodeOf(err) != test.code || res != nil {
					t.Errorf("%s: %v, %v; want %s", test.name, res, err, test.code)
				}
			}
		})
	}
}

// A server that does not answer within the connect timeout counts as
// unreachable. The caller has time left, and may try again.
func TestConnectTimeout(t *testing.T) {
	f := startFake(t, &fakeServer{login: func(c *fakeConn) error {
		_, err := c.read()
		return err
	}})
	c := open(t, f.url()+"?connect-timeout=1", mysqldb.Config{})
	e := c.Fails(t, "SELECT 1", execution.Limits{})
	if e.Code != sqlguard.CodeConnectionLost || !e.Retryable || !strings.Contains(e.Message, "in time") {
		t.Errorf("error %v, retryable %t; want %s", e, e.Retryable, sqlguard.CodeConnectionLost)
	}
}

// TestEndedWhileTheServerAccepts ends calls at about the time when the server
// accepts their login, many times over. Whichever comes first, only the backend
// may use or close the connection from then on. The race detector finds any
// other use.
func TestEndedWhileTheServerAccepts(t *testing.T) {
	var end atomic.Pointer[context.CancelFunc]
	f := startFake(t, &fakeServer{login: func(c *fakeConn) error {
		err := c.ok(2)
		(*end.Load())()
		return errors.Join(err, errors.New("gone"))
	}})
	c := open(t, f.url(), mysqldb.Config{MaxConnections: 1})
	const calls = 1000
	for range calls {
		ctx, cancel := context.WithCancel(t.Context())
		end.Store(&cancel)
		res, err := c.Try(ctx, t, "SELECT a", execution.Limits{})
		cancel()
		if code := execution.CodeOf(err); res != nil || code != sqlguard.CodeCancelled && code != sqlguard.CodeConnectionLost {
			t.Fatalf("%v, %v; want %s or %s", res, err, sqlguard.CodeCancelled, sqlguard.CodeConnectionLost)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conns < calls {
		t.Errorf("%d connections for %d calls: most calls ended before the login", f.conns, calls)
	}
}
