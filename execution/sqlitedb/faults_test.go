package sqlitedb_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

// faultVariable tells a process which fault its backend must have.
const faultVariable = "KTX_TEST_FAULT"

type queryFunc func(*faulty, context.Context, sqlguard.Approved, execution.Limits) (*execution.Result, error)

// faulty is a backend with one fault.
type faulty struct {
	*sqlitedb.DB
	path  string
	guard sqlguard.ID // at open
	query queryFunc
	fault string
}

func (f *faulty) Query(ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
	return f.query(f, ctx, stmt, lim)
}

func (f *faulty) SetGuard(id sqlguard.ID) {
	if f.fault != "keeps its first guard" {
		f.DB.SetGuard(id)
	}
}

func (f *faulty) Probe(ctx context.Context) (execution.ProbeReport, error) {
	report, err := f.DB.Probe(ctx)
	report.ReadOnly = f.fault != "is not read-only"
	return report, err
}

// late makes one statement of the process end too late.
var late sync.Once

// faults are the faults that the suite must find, each with the part of the
// suite that finds it.
var faults = map[string]struct {
	foundBy string
	query   queryFunc
}{
	"keeps its first guard": {"approval", passOn},
	"runs what no guard approved": {"approval", func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		res, err := f.DB.Query(ctx, stmt, lim)
		if err != nil && execution.CodeOf(err) == "" {
			return &execution.Result{}, nil
		}
		return res, err
	}},
	"hides that rows are missing": {"caps", after(func(res *execution.Result) { res.Truncated, res.TruncatedBy, res.Note = false, "", "" })},
	"cuts a row too early":        {"caps", before(func(lim *execution.Limits) { lim.Rows-- })},
	"cuts a row too late":         {"caps", before(func(lim *execution.Limits) { lim.Rows++ })},
	"cuts values": {"caps", func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		most := int(lim.WithDefaults().CellBytes)
		lim.CellBytes = 1 << 40
		lim.Bytes = max(lim.Bytes, 1<<30)
		res, err := f.DB.Query(ctx, stmt, lim)
		if err == nil {
			for _, row := range res.Rows {
				for i := range row {
					row[i].Text = row[i].Text[:min(len(row[i].Text), most)]
				}
			}
		}
		return res, err
	}},
	"counts bytes wrongly": {"results", after(func(res *execution.Result) { res.Bytes++ })},
	"loses the last row": {"results", after(func(res *execution.Result) {
		if len(res.Rows) > 1 {
			res.Rows = res.Rows[:len(res.Rows)-1]
		}
	})},
	"gives columns of one name one value": {"results", after(func(res *execution.Result) {
		for _, row := range res.Rows {
			for i := range row {
				for j := range i {
					if res.Columns[i].Name == res.Columns[j].Name {
						row[j] = row[i]
					}
				}
			}
		}
	})},
	"takes NULL for an empty text": {"values", after(func(res *execution.Result) {
		for _, row := range res.Rows {
			for i := range row {
				if row[i].Kind == execution.Null {
					row[i].Kind = execution.String
				}
			}
		}
	})},
	"returns rows with an error": {"errors", func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		res, err := f.DB.Query(ctx, stmt, lim)
		if err != nil {
			res = &execution.Result{}
		}
		return res, err
	}},
	"has errors of no type": {"errors", func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		res, err := f.DB.Query(ctx, stmt, lim)
		if err != nil {
			err = errors.New(err.Error())
		}
		return res, err
	}},
	"takes a cancellation for a timeout": {"ending", func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		res, err := f.DB.Query(ctx, stmt, lim)
		if execution.CodeOf(err) == sqlguard.CodeCancelled {
			err = execution.NewError(sqlguard.CodeTimeout, "ended", err)
		}
		return res, err
	}},
	"ends late": {"ending", func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		res, err := f.DB.Query(ctx, stmt, lim)
		if _, limited := ctx.Deadline(); limited && execution.CodeOf(err) == sqlguard.CodeTimeout {
			late.Do(func() { time.Sleep(2500 * time.Millisecond) })
		}
		return res, err
	}},
	"fails beside others": {"pool", func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		res, err := f.DB.Query(ctx, stmt, lim)
		if err == nil && len(res.Rows) > 200 {
			res.Rows = res.Rows[1:]
		}
		return res, err
	}},
	"leaves goroutines": {"closing", func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		go func() { time.Sleep(time.Hour) }()
		return f.DB.Query(ctx, stmt, lim)
	}},
	"is not read-only": {"facts", passOn},
	"writes what it refuses": {"attacks", func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		res, err := f.DB.Query(ctx, stmt, lim)
		if text, open := stmt.SQLFor(f.guard); err != nil && open == nil && strings.HasPrefix(text, "UPDATE items") {
			conn, openErr := sqlite3.Open(f.path)
			if openErr != nil {
				return nil, openErr
			}
			defer conn.Close() //nolint:errcheck // the fault is on purpose
			_ = conn.Exec(text)
		}
		return res, err
	}},
	"answers what it should refuse": {"attacks", func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		res, err := f.DB.Query(ctx, stmt, lim)
		if text, open := stmt.SQLFor(f.guard); err != nil && open == nil && strings.Contains(text, "readfile") {
			return &execution.Result{Columns: make([]execution.Column, 1), Rows: make([][]execution.Value, 1)}, nil
		}
		return res, err
	}},
}

func passOn(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
	return f.DB.Query(ctx, stmt, lim)
}

// before changes the limits of a call, before the call.
func before(change func(*execution.Limits)) queryFunc {
	return func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		lim = lim.WithDefaults()
		change(&lim)
		return f.DB.Query(ctx, stmt, lim)
	}
}

func after(change func(*execution.Result)) queryFunc {
	return func(f *faulty, ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
		res, err := f.DB.Query(ctx, stmt, lim)
		if err == nil {
			change(res)
		}
		return res, err
	}
}

// TestSuiteFindsFaults runs the suite on backends with a fault. Each runs in a
// process of its own, because the suite must fail there.
func TestSuiteFindsFaults(t *testing.T) {
	if os.Getenv(faultVariable) != "" {
		t.Skip("this is such a process")
	}
	if testing.Short() {
		t.Skip("starts a process for each fault")
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestFaulty$/^"+f.foundBy+"$")
			// The suite reports a call that ends late only when this variable
			// asks it to.
			cmd.Env = append(os.Environ(), faultVariable+"="+name, "KTX_TEST_CANCELLATIONS=1")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestFaulty/"+f.foundBy) {
				t.Errorf("the suite did not find it (%v):\n%s", err, out)
			}
		})
	}
}

func TestFaulty(t *testing.T) {
	name := os.Getenv(faultVariable)
	fault, ok := faults[name]
	if !ok {
		t.Skip("runs only in processes of TestSuiteFindsFaults")
	}
	executiontest.RunBackend(t, executiontest.SQLite(func(ctx context.Context, address string, connections int, guard sqlguard.ID) (execution.Backend, error) {
		db, err := sqlitedb.Open(ctx, sqlitedb.Config{Path: address, MaxConnections: connections}, guard)
		if err != nil {
			return nil, err
		}
		return &faulty{DB: db, path: address, guard: guard, query: fault.query, fault: name}, nil
	}))
}
