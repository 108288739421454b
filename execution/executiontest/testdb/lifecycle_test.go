package testdb_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// lifecycle are the methods that the servers of all products have.
type lifecycle interface {
	NewDatabase(tb testing.TB, sql ...string) string
	Restart(ctx context.Context, mode testdb.StopMode) error
	Stop(ctx context.Context, mode testdb.StopMode) error
	Close() error
	Pid() int
	SocketDir() string
}

// testedSystem describes a product to the tests below.
type testedSystem struct {
	name    string
	start   func(testing.TB, testdb.Options) lifecycle
	launch  func(context.Context, testdb.Options) (lifecycle, error)
	rows    func(t *testing.T, url string) int // counts the rows of the table t
	modes   []testdb.StopMode
	lacks   []testdb.StopMode
	unknown string // how the log reports the setting no_such_setting
}

var systems = []testedSystem{
	{
		name:   "PostgreSQL",
		start:  func(tb testing.TB, o testdb.Options) lifecycle { tb.Helper(); return testdb.StartPostgres(tb, o) },
		launch: func(ctx context.Context, o testdb.Options) (lifecycle, error) { return testdb.Start(ctx, o) },
		rows: func(t *testing.T, url string) int {
			t.Helper()
			return scan[int](t, url, "SELECT count(*) FROM t")
		},
		modes:   []testdb.StopMode{testdb.Fast, testdb.Smart, testdb.Immediate},
		unknown: `unrecognized configuration parameter "no_such_setting"`,
	},
	{
		name:   "MariaDB",
		start:  func(tb testing.TB, o testdb.Options) lifecycle { tb.Helper(); return testdb.StartMariaDB(tb, o) },
		launch: func(ctx context.Context, o testdb.Options) (lifecycle, error) { return testdb.LaunchMariaDB(ctx, o) },
		rows: func(t *testing.T, url string) int {
			t.Helper()
			db, err := testdb.OpenMariaDB(url)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			return ask[int](t, db, "SELECT count(*) FROM t")
		},
		modes:   []testdb.StopMode{testdb.Fast, testdb.Immediate},
		lacks:   []testdb.StopMode{testdb.Smart},
		unknown: "unknown variable 'no_such_setting",
	},
}

func TestRestart(t *testing.T) {
	for _, p := range systems {
		t.Run(p.name, func(t *testing.T) {
			s := p.start(t, testdb.Options{})
			url := s.NewDatabase(t, "CREATE TABLE t AS SELECT 1 AS n")
			for _, mode := range p.modes {
				before := s.Pid()
				if err := s.Restart(t.Context(), mode); err != nil {
					t.Fatalf("%v: %v", mode, err)
				}
				if s.Pid() == before || s.Pid() == 0 || alive(before) {
					t.Errorf("%v: process %d before, %d after", mode, before, s.Pid())
				}
				if n := p.rows(t, url); n != 1 {
					t.Errorf("%v: got %d rows after the restart, want 1", mode, n)
				}
			}
			if err := s.Stop(t.Context(), testdb.Fast); err != nil {
				t.Fatal(err)
			}
			if s.Pid() != 0 {
				t.Error("a stopped server has a process ID")
			}
			if err := s.Stop(t.Context(), testdb.Fast); err != nil {
				t.Errorf("stop it again: %v", err)
			}
			for _, mode := range p.lacks {
				if err := s.Stop(t.Context(), mode); err == nil {
					t.Errorf("%v: the product has no such way to stop, but there was no error", mode)
				}
			}
		})
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	for _, p := range systems {
		t.Run(p.name, func(t *testing.T) {
			s, err := p.launch(t.Context(), testdb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			pid, dir := s.Pid(), s.SocketDir()
			if !alive(pid) {
				t.Fatalf("no process %d", pid)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if alive(pid) {
				t.Errorf("process %d still exists", pid)
			}
			if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s still exists: %v", dir, err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("close it again: %v", err)
			}
			if err := s.Restart(t.Context(), testdb.Fast); err == nil {
				t.Error("a closed server restarted")
			}
		})
	}
}

func TestStartReportsTheLog(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	for _, p := range systems {
		t.Run(p.name, func(t *testing.T) {
			_, err := p.launch(t.Context(), testdb.Options{Settings: map[string]string{"no_such_setting": "1"}})
			if err == nil {
				t.Fatal("a server with an unknown setting started")
			}
			if !strings.Contains(err.Error(), p.unknown) {
				t.Errorf("the error does not contain the server's message: %v", err)
			}
		})
	}
}
