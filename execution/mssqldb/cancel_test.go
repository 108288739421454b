package mssqldb_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

const slow = "WAITFOR DELAY '01:00:00'"

// cancelWhenItRuns sends slow and cancels it when the server has it.
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
		t.Errorf("rows of a statement that was ended: %v", res.Rows)
	}
	return err
}

// An attention is acknowledged in the answer that it cuts off, or in a message
// of its own; either way its connection is used again, and nothing of it is left
// for the next statement.
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

// A server that does not acknowledge loses the connection, and the caller gets
// its answer all the same.
func TestDeafServer(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	before := goleak.IgnoreCurrent()
	c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
	err := cancelWhenItRuns(t, s, c, func(r *tdsserver.Reply) error {
		<-r.Gone()
		return nil
	})
	if execution.CodeOf(err) != sqlguard.CodeCancelled {
		t.Errorf("error %v, want %s", err, sqlguard.CodeCancelled)
	}
	if c.One(t, "SELECT 1 AS n") != "1" || logins(s) != 2 {
		t.Errorf("%d connections, want 2", logins(s))
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	s.Stop()
	goleak.VerifyNone(t, before)
}

// The time limit is the client's: the server has none.
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

// A server that answers the pins slowly is ended too, and the text is not sent.
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
			t.Error("the text was sent")
		}
	}
}

// A server that sends rows without end is stopped at the limit.
func TestEndlessRows(t *testing.T) {
	const text = "SELECT endless"
	for name, deaf := range map[string]bool{"that hears": false, "that is deaf": true} {
		t.Run(name, func(t *testing.T) {
			s := tdsserver.Start(t, tdsserver.Config{})
			s.On(text, func(r *tdsserver.Reply) error {
				if err := r.Columns(tdsserver.Column{Name: "v", Type: tdsserver.Int}); err != nil {
					return err
				}
				for r.Row(int64(1)) == nil {
				}
				if deaf {
					<-r.Gone()
				}
				return r.Flush() // what ended the rows
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

// A caller that cancels at any moment leaves nothing behind.
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
