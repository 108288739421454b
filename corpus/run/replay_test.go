package run_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/sqlguard"
)

// readable returns the built-in cases of the dialects that this build has.
func readable(t *testing.T) []corpus.Case {
	t.Helper()
	all := slices.DeleteFunc(corpus.Cases(), func(c corpus.Case) bool {
		_, ok := dialects.Lookup(c.Dialect)
		return !ok
	})
	if len(all) < 500 {
		t.Fatalf("only %d cases", len(all))
	}
	return all
}

// demand returns the demand of a case with the default configuration.
func demand(c corpus.Case) corpus.Expect {
	if c.Expect == corpus.Policy {
		return c.Policy.Default
	}
	return c.Expect
}

// TestBuiltinCasesMeetTheirDemand puts every case to the guard of ktx. The case
// must list the main code of the answer.
func TestBuiltinCasesMeetTheirDemand(t *testing.T) {
	t.Parallel()
	all := readable(t)
	guard, err := run.NewBuiltin("test", dialects.All())
	if err != nil {
		t.Fatal(err)
	}
	results, err := run.Run(t.Context(), guard, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		switch {
		case !r.Met:
			t.Errorf("%s (%s): expected %s, got %s %s\n%.300s", r.ID, all[i].Title, demand(all[i]), r.Decision, r.Code, all[i].SQL)
		case r.Decision == run.Reject && !r.Agrees:
			t.Errorf("%s (%s): the code is %s, the case lists %v\n%.300s", r.ID, all[i].Title, r.Code, all[i].Codes, all[i].SQL)
		}
	}
}

// spy is a backend that keeps the statements that it is sent.
type spy struct {
	mu    sync.Mutex
	guard sqlguard.ID
	sent  []string
}

func (s *spy) Query(_ context.Context, stmt sqlguard.Approved, _ execution.Limits) (*execution.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := stmt.SQLFor(s.guard)
	if err != nil {
		return nil, err
	}
	s.sent = append(s.sent, text)
	return &execution.Result{}, nil
}

func (*spy) Catalog(context.Context) (*sqlguard.Catalog, error) {
	return &sqlguard.Catalog{Views: []sqlguard.CatalogName{}}, nil
}

func (s *spy) SetGuard(id sqlguard.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guard = id
}

func (*spy) Probe(context.Context) (execution.ProbeReport, error) {
	return execution.ProbeReport{ReadOnly: true}, nil
}

func (*spy) Close() error { return nil }

// decisions is an audit log that returns its new decisions.
type decisions struct {
	audittest.Log

	mu    sync.Mutex
	fresh []audit.Event
}

func (d *decisions) Append(ctx context.Context, e audit.Event) error {
	if e.Type == audit.QueryDecision {
		d.mu.Lock()
		d.fresh = append(d.fresh, e)
		d.mu.Unlock()
	}
	return d.Log.Append(ctx, e)
}

// drain returns the decisions since the last call.
func (d *decisions) drain() []audit.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := d.fresh
	d.fresh = nil
	return fresh
}

func (s *spy) drain() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.sent
	s.sent = nil
	return sent
}

// TestNoRejectCaseIsSent puts every case through the gateway to a backend that
// keeps the statements that it is sent. No case that must be refused arrives.
// Every other case arrives byte for byte. Each decision is on record.
func TestNoRejectCaseIsSent(t *testing.T) {
	t.Parallel()
	log := &decisions{}
	spies := map[string]*spy{}
	var connections []execution.Connection
	for _, d := range dialects.All() {
		s := &spy{}
		spies[d.Name()] = s
		connections = append(connections, execution.Connection{
			ID: d.Name(), Engine: d.Name(), Dialect: d, Policy: sqlguard.DefaultPolicy(),
			Open: func(_ context.Context, guard sqlguard.ID) (execution.Backend, error) {
				s.SetGuard(guard)
				return s, nil
			},
		})
	}
	gateway, err := execution.NewGateway(t.Context(), log, connections...)
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for _, c := range readable(t) {
		_, err := gateway.Query(t.Context(), execution.Request{ConnectionID: c.Dialect, SQL: c.SQL})
		arrived := spies[c.Dialect].drain()
		recorded := log.drain()
		if len(recorded) != 1 {
			t.Fatalf("%s: %d decisions are on record, want 1", c.ID, len(recorded))
		}
		if demand(c) == corpus.Reject {
			if _, rejected := errors.AsType[*sqlguard.RejectedError](err); !rejected || len(arrived) > 0 || recorded[0].Decision.Verdict != audit.VerdictReject {
				t.Errorf("%s (%s): sent %.300q, error %v, decision %s", c.ID, c.Title, arrived, err, recorded[0].Decision.Verdict)
			}
			continue
		}
		if err != nil || len(arrived) != 1 || arrived[0] != c.SQL || recorded[0].Decision.Verdict != audit.VerdictAllow {
			t.Errorf("%s (%s): sent %.300q, error %v, decision %s", c.ID, c.Title, arrived, err, recorded[0].Decision.Verdict)
		}
		sent++
	}
	if sent < 200 {
		t.Errorf("only %d cases were sent", sent)
	}
	if err := gateway.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
