package execution_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/sqlguard"
)

// A statement whose end is not confirmed keeps its slot. The log says so, and says
// later when it was over.
func TestHeldStatementsKeepTheirSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		held := make(chan *execution.Held, 2)
		backend := &spy{}
		backend.query = func(context.Context) (*execution.Result, error) {
			h := execution.NewHeld()
			held <- h
			time.Sleep(2 * time.Second)
			e := execution.NewError(sqlguard.CodeTimeout, "over its limit, which is not confirmed", nil)
			e.Held, e.Elapsed = h, 2*time.Second
			return nil, e
		}
		log := &audittest.Log{}
		g := newGateway(t, log, backend.connection(func(c *execution.Connection) { c.Concurrency = 2 }))
		for range 2 {
			if _, err := query(t.Context(), g, "SELECT 1"); execution.CodeOf(err) != sqlguard.CodeTimeout {
				t.Fatalf("error %v, want %s", err, sqlguard.CodeTimeout)
			}
		}
		if l := g.Loads()[0]; l.Held != 2 || l.Running != 2 || l.Longest < 2*time.Second {
			t.Errorf("%+v, want two held statements", l)
		}
		var before time.Duration
		for range 3 {
			_, err := query(t.Context(), g, "SELECT 1")
			e, ok := err.(*execution.Error) //nolint:errorlint // the gateway wraps no errors of its own
			if !ok || e.Code != sqlguard.CodeBusy || !strings.Contains(e.Message, "all 2 slots of this connection are held") {
				t.Fatalf("error %v, want busy", err)
			}
			if e.RetryAfter <= before {
				t.Errorf("try again after %v, and after %v before; want it to grow", e.RetryAfter, before)
			}
			before = e.RetryAfter
			time.Sleep(20 * time.Second)
		}
		waited := log.Events(audit.QueryFinished)
		if r := waited[len(waited)-1].Result; r.ExecMS != 0 || r.QueueMS < 900 || r.Ended != "" {
			t.Errorf("a statement that only waited has the outcome %+v", r)
		}
		if r := waited[0].Result; r.ExecMS != 2000 || r.Ended != audit.EndedUnconfirmed {
			t.Errorf("a statement whose end is not confirmed has the outcome %+v", r)
		}
		if n := len(log.Events(audit.QueryEnded)); n != 0 {
			t.Errorf("%d events of statements that are over, want none", n)
		}
		(<-held).End(true)
		(<-held).End(false)
		synctest.Wait()
		var got []string
		for _, e := range log.Events(audit.QueryEnded) {
			got = append(got, e.Result.Ended)
			if e.QueryID == "" || e.Connection.ID != "shop" || e.Result.HeldMS < 60_000 {
				t.Errorf("%+v does not say which statement was over, and when", e)
			}
		}
		if strings.Join(got, " ") != "confirmed unconfirmed" && strings.Join(got, " ") != "unconfirmed confirmed" {
			t.Errorf("the statements are recorded as %v", got)
		}
		if l := g.Loads()[0]; l.Held != 0 || l.Running != 0 {
			t.Errorf("%+v, want no statement", l)
		}
		if err := g.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
