package execution_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/sqlguard"
)

// refusedIn returns the events of refused calls.
func refusedIn(log *audittest.Log) (list []audit.Event) {
	for _, e := range log.Events() {
		if e.Type == audit.CallRefused {
			list = append(list, e)
		}
	}
	return list
}

// TestRefusedCalls: a call for an unknown connection, and one after the gateway began to
// stop, leave an event that says who asked for what.
func TestRefusedCalls(t *testing.T) {
	log := &audittest.Log{}
	g := newGateway(t, log)
	ctx := audit.WithActor(t.Context(), audit.Actor{Principal: "analyst", Client: audit.Client{Address: "192.0.2.1:5000"}})
	long := strings.Repeat("x", 1000)
	for _, id := range []string{"nope", long} {
		if _, err := g.Query(ctx, execution.Request{ConnectionID: id, SQL: "SELECT 1"}); execution.CodeOf(err) != sqlguard.CodeUnknownConnection {
			t.Fatal(err)
		}
	}
	if _, err := g.Connection(ctx, "other"); execution.CodeOf(err) != sqlguard.CodeUnknownConnection {
		t.Fatal(err)
	}
	list := refusedIn(log)
	if len(list) != 3 {
		t.Fatalf("%d events, want 3: %+v", len(list), list)
	}
	for i, id := range []string{"nope", long[:128], "other"} {
		if e := list[i]; e.Reason != "unknown_connection" || e.Connection.ID != id || e.Principal != "analyst" || e.Client.Address != "192.0.2.1:5000" {
			t.Errorf("event %d: %+v", i, e)
		}
	}
}

// TestRefusedCallsAreBounded: however many calls are refused, few events are written, and
// their counts add up to all calls, also when the log could not be written for a while.
func TestRefusedCallsAreBounded(t *testing.T) {
	log := &audittest.Log{}
	g := newGateway(t, log)
	const calls = 5000
	for i := range calls {
		if i == 10 {
			log.Fail(errors.New("no space"))
		}
		if i == 20 {
			log.Fail(nil)
		}
		g.Refused(t.Context(), execution.Refusal{Code: execution.ReasonUnknownTool, Tool: "drop_everything"})
	}
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, all := refusedIn(log), int64(0)
	for _, e := range list {
		all += e.Unrecorded
		if e.Reason == "unknown_tool" {
			all++
		}
	}
	if len(list) > calls/2 || all != calls {
		t.Errorf("%d events count %d of %d calls", len(list), all, calls)
	}
}

// TestNoEventAfterTheStop: a call that is refused after the gateway stopped is counted by
// the observer, and the stop stays the last event.
func TestNoEventAfterTheStop(t *testing.T) {
	log := &audittest.Log{}
	g := newGateway(t, log)
	refuse := func() { g.Refused(t.Context(), execution.Refusal{Code: execution.ReasonUnknownTool, Tool: "x"}) }
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 50 {
				refuse()
			}
		})
	}
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	callers.Wait()
	refuse()
	if list := log.Events(); list[len(list)-1].Type != audit.GatewayStop {
		t.Errorf("the last event is %s", list[len(list)-1].Type)
	}
	if _, err := g.Query(t.Context(), execution.Request{ConnectionID: "nope", SQL: "SELECT 1"}); err == nil {
		t.Error("a stopped gateway answers")
	}
	if list := log.Events(); list[len(list)-1].Type != audit.GatewayStop {
		t.Errorf("after a query the last event is %s", list[len(list)-1].Type)
	}
}
