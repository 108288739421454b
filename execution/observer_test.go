package execution_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestConnectionsOfAnActor: a connection that an actor may not use is unknown
// to that actor in every call.
func TestConnectionsOfAnActor(t *testing.T) {
	t.Parallel()
	reached := &spy{}
	conn := func(id string) execution.Connection {
		return execution.Connection{
			ID: id, Dialect: wordDialect{}, Policy: sqlguard.DefaultPolicy(),
			Open: func(_ context.Context, guard sqlguard.ID) (execution.Backend, error) {
				reached.SetGuard(guard)
				return reached, nil
			},
		}
	}
	g, err := execution.NewGateway(t.Context(), &audittest.Log{}, conn("hidden"), conn("shop"))
	if err != nil {
		t.Fatal(err)
	}
	ids := func(ctx context.Context) (out []string) {
		for _, c := range g.Connections(ctx) {
			out = append(out, c.ID)
		}
		return out
	}
	for _, test := range []struct {
		actor audit.Actor
		want  []string
	}{
		{audit.Actor{}, []string{"hidden", "shop"}},
		{audit.Actor{Connections: []string{"shop"}}, []string{"shop"}},
		{audit.Actor{Connections: []string{"shop", "gone"}}, []string{"shop"}},
		{audit.Actor{Connections: []string{"gone"}}, nil},
		{audit.Actor{Connections: []string{}}, nil},
	} {
		ctx := audit.WithActor(t.Context(), test.actor)
		if got := ids(ctx); !slices.Equal(got, test.want) {
			t.Errorf("lists %v, want %v", got, test.want)
		}
		for _, id := range []string{"hidden", "shop", "gone"} {
			ways := map[string]func() error{
				"Connection": func() error { _, err := g.Connection(ctx, id); return err },
				"Check":      func() error { _, err := g.Check(ctx, id, "SELECT 1"); return err },
				"Probe":      func() error { _, err := g.Probe(ctx, id); return err },
				"Unmatched":  func() error { _, err := g.Unmatched(ctx, id); return err },
				"Query": func() error {
					_, err := g.Query(ctx, execution.Request{ConnectionID: id, SQL: "SELECT 1"})
					return err
				},
			}
			for name, way := range ways {
				err := way()
				known := slices.Contains(test.want, id)
				if known != (err == nil) || !known && execution.CodeOf(err) != sqlguard.CodeUnknownConnection {
					t.Errorf("%s of %s with %v: %v", name, id, test.want, err)
				}
				if err != nil && id != "hidden" && !slices.Contains(test.want, "hidden") && strings.Contains(fmt.Sprint(err), "hidden") {
					t.Errorf("the error of %s names another connection: %v", name, err)
				}
			}
		}
	}
}

// figures is an observer that keeps every call it gets.
type figures struct {
	mu    sync.Mutex
	lines []string
}

func (f *figures) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, fmt.Sprintf(format, args...))
}

func (f *figures) Decided(connection string, code sqlguard.Code) {
	f.add("decided %s %s", connection, code)
}

func (f *figures) Took(connection, step string, d time.Duration) {
	if d < 0 || d > time.Minute {
		step += " at an odd time"
	}
	f.add("%s %s", step, connection)
}

func (f *figures) Finished(connection string, code sqlguard.Code, rows, bytes int64) {
	f.add("finished %s %s %d %d", connection, code, rows, bytes)
}

func TestObserver(t *testing.T) {
	t.Parallel()
	fails := false
	reached := &spy{query: func(context.Context) (*execution.Result, error) {
		if fails {
			return nil, execution.NewError(sqlguard.CodeCancelled, "cancelled", nil)
		}
		return &execution.Result{Rows: [][]execution.Value{{}, {}}, Bytes: 70}, nil
	}}
	g, err := execution.NewGateway(t.Context(), &audittest.Log{}, execution.Connection{
		ID: "shop", Dialect: wordDialect{}, Policy: sqlguard.DefaultPolicy(), Concurrency: 3,
		Open: func(_ context.Context, guard sqlguard.ID) (execution.Backend, error) {
			reached.SetGuard(guard)
			return reached, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	f := &figures{}
	g.Observe(f)
	for _, sql := range []string{"SELECT 1", "DELETE"} {
		_, _ = g.Query(t.Context(), execution.Request{ConnectionID: "shop", SQL: sql})
	}
	fails = true
	_, _ = g.Query(t.Context(), execution.Request{ConnectionID: "shop", SQL: "SELECT 1"})
	want := []string{
		"judge shop", "record shop", "decided shop ", "wait shop", "run shop", "finished shop  2 70",
		"judge shop", "record shop", "decided shop write_statement",
		"judge shop", "record shop", "decided shop ", "wait shop", "run shop", "finished shop cancelled 0 0",
	}
	if !slices.Equal(f.lines, want) {
		t.Errorf("%q\nwant %q", f.lines, want)
	}
	if loads := g.Loads(); len(loads) != 1 || loads[0] != (execution.Load{ConnectionID: "shop"}) {
		t.Errorf("%+v", loads)
	}
}
