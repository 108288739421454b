package mssqldb_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

const slow = "WAITFOR DELAY '01:00:00'"

// cancelWhenItRuns sends slow and cancels it when the server has received it.
func cancelWhenItRuns(t *testing.T, s *tdsserver.Server, c *client, run tdsserver.Handler) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.On(slow, func(r *tdsserver.Reply) error {
		cancel()
		return run(r)
	})
	res, err := c.Try(ctx, t, slow, execution.Limits{})
	if res != nil {
		t.Errorf("a cancelled statement returned rows: %v", res.Rows)
	}
	return err
}

// A server acknowledges an attention at the end of the answer that it
// interrupts, or in a message of its own. In both cases the connection is used
// again, and the next statement reads nothing of the old answer.
func TestAttention(t *testing.T) {
	for name, config := range map[string]tdsserver.Config{"in the answer": {}, "in a message of its own": {SeparateAttention: true}} {
		t.Run(name, func(t *testing.T) {
			s := tdsserver.Start(t, config)
			c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
			for range 3 {
				err := cancelWhenItRuns(t, s, c, func(r *tdsserver.Reply) error { return r.Sleep(time.Hour) })
				if execution.CodeOf(err) != sqlguard.CodeCancelled {
					t.Fatalf("error %v, want %s", err, sqlguard.CodeCancelled)
				}
				if got := c.One(t, "SELECT 1 AS n"); got != "1" {
					t.Fatalf("the next statement returned %s", got)
				}
			}
			if n := logins(s); n != 1 {
				t.Errorf("%d connections were made, want 1", n)
			}
			if n := len(s.Of(tdsserver.KindAttention)); n != 3 {
				t.Errorf("%d attentions, want 3", n)
			}
			onlyBatches(t, s)
		})
	}
}

// A statement whose attention the server does not acknowledge keeps its place, and its
// caller still gets an answer in time. The acknowledgement frees the place.
func TestDeafServer(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	before := goleak.IgnoreCurrent()
	c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
	wake := make(chan struct{})
	err := cancelWhenItRuns(t, s, c, func(*tdsserver.Reply) error {
		<-wake
		return nil
	})
	e, ok := errors.AsType[*execution.Error](err)
	if !ok || e.Code != sqlguard.CodeCancelled || e.Held == nil || !strings.Contains(e.Message, "not confirmed") {
		t.Fatalf("error %+v, want a cancelled statement whose end is not confirmed", err)
	}
	if e := c.Fails(t, "SELECT 1 AS n", execution.Limits{}); e.Code != sqlguard.CodeBusy || !strings.Contains(e.Message, "all 1 connections to the server are held") {
		t.Errorf("%v beside a statement that does not end, want busy", e)
	}
	close(wake)
	select {
	case <-e.Held.Over():
	case <-time.After(executiontest.Patience):
		t.Fatal("the place is not free after the acknowledgement")
	}
	if !e.Held.Confirmed() || c.One(t, "SELECT 1 AS n") != "1" {
		t.Errorf("confirmed %t", e.Held.Confirmed())
	}

	err = cancelWhenItRuns(t, s, c, func(r *tdsserver.Reply) error {
		<-r.Gone()
		return nil
	})
	if e, ok = errors.AsType[*execution.Error](err); !ok || e.Held == nil {
		t.Fatalf("error %+v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	<-e.Held.Over()
	if e.Held.Confirmed() {
		t.Error("closing the backend confirmed the end of a statement")
	}
	s.Stop()
	goleak.VerifyNone(t, before)
}

// When a connection breaks while its statement runs, another one asks for its session.
// The login must be allowed to see that; otherwise the place is kept for a while.
func TestBrokenConnectionKeepsItsPlace(t *testing.T) {
	s := tdsserver.Start(t, seeing())
	c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
	s.On(slow, func(r *tdsserver.Reply) error { return r.Drop(true) })
	e := c.Fails(t, slow, execution.Limits{})
	if e.Code != sqlguard.CodeConnectionLost || e.Held == nil {
		t.Fatalf("error %+v, want a lost connection whose statement is held", e)
	}
	select {
	case <-e.Held.Over():
	case <-time.After(executiontest.Patience):
		t.Fatal("the place is not free although the server has no such session")
	}
	if !e.Held.Confirmed() || c.One(t, "SELECT 1 AS n") != "1" {
		t.Errorf("confirmed %t", e.Held.Confirmed())
	}
}

// The client keeps the time limit, because the server has none.
func TestTimeLimit(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
	e := c.Fails(t, slow, execution.Limits{Timeout: 100 * time.Millisecond})
	if e.Code != sqlguard.CodeTimeout {
		t.Errorf("error %v, want %s", e, sqlguard.CodeTimeout)
	}
	if c.One(t, "SELECT 1 AS n") != "1" {
		t.Error("no answer")
	}
}

// When a server answers the pins too slowly, the backend gives up at the time
// limit and does not send the statement.
func TestSlowPins(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	lim := execution.Limits{Timeout: 50 * time.Millisecond}.WithDefaults()
	s.On(mssqldb.Opening(lim.LockTimeout, lim.Rows), func(r *tdsserver.Reply) error { return r.Sleep(time.Minute) })
	c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
	if e := c.Fails(t, "SELECT 1 AS n", lim); e.Code != sqlguard.CodeTimeout {
		t.Errorf("error %v, want %s", e, sqlguard.CodeTimeout)
	}
	for _, text := range s.Batches() {
		if text == "SELECT 1 AS n" {
			t.Error("the statement was sent")
		}
	}
}

// The backend stops a server that sends rows without end when it reaches the
// limit.
func TestEndlessRows(t *testing.T) {
	const text = "SELECT endless"
	for name, deaf := range map[string]bool{"that hears": false, "that is deaf": true} {
		t.Run(name, func(t *testing.T) {
			s := tdsserver.Start(t, seeing())
			s.On(text, func(r *tdsserver.Reply) error {
				if err := r.Columns(tdsserver.Column{Name: "v", Type: tdsserver.Int}); err != nil {
					return err
				}
				for r.Row(int64(1)) == nil {
				}
				if deaf {
					<-r.Gone()
				}
				return r.Flush() // the error that ended the rows
			})
			c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
			res, err := c.Try(t.Context(), t, text, execution.Limits{Rows: 10})
			if err != nil || len(res.Rows) != 10 || res.TruncatedBy != execution.TruncatedByRows {
				t.Fatalf("%v, %v", res, err)
			}
			if c.One(t, "SELECT 1 AS n") != "1" {
				t.Error("no answer")
			}
		})
	}
}

// A caller may cancel at any time. The next statement must not see anything of
// the cancelled one.
func TestCancelAtAnyMoment(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
	for i := range 80 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(i*20)*time.Microsecond, cancel)
		res, err := c.Try(ctx, t, "SELECT value AS n FROM GENERATE_SERIES(1, 400)", execution.Limits{})
		switch {
		case err == nil && len(res.Rows) != 400:
			t.Fatalf("%d rows", len(res.Rows))
		case err != nil && execution.CodeOf(err) != sqlguard.CodeCancelled:
			t.Fatalf("error %v", err)
		}
		cancel()
		if c.One(t, "SELECT 1 AS n") != "1" {
			t.Fatal("no answer")
		}
	}
	onlyBatches(t, s)
}
