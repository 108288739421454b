package index_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
)

// filled writes a log of n statements in segments of 4 KiB, and opens its index.
func filled(t *testing.T, n int) (dir, path string, x *index.Index) {
	t.Helper()
	root := t.TempDir()
	dir, path = filepath.Join(root, "audit"), filepath.Join(root, "state", "index.db")
	write(t, dir, 0, n)
	return dir, path, open(t, dir, path)
}

func open(t *testing.T, dir, path string) *index.Index {
	t.Helper()
	x, err := index.Open(t.Context(), dir, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// write appends n refused statements to the log in dir.
func write(t *testing.T, dir string, from, n int) {
	t.Helper()
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff, RotateBytes: 4 << 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := log.Append(t.Context(), refused(from+i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func refused(i int) audit.Event {
	return audit.Event{
		Type: audit.QueryDecision, QueryID: fmt.Sprintf("q-%04d", i), Principal: "ada",
		SQL:      audit.SQL{Normalized: fmt.Sprintf("DROP TABLE t%04d", i), Kind: "drop"},
		Decision: audit.Decision{Verdict: audit.VerdictReject, Codes: []string{"write_statement"}},
	}
}

// list returns all statements, and the state.
func list(t *testing.T, x *index.Index) index.Statements {
	t.Helper()
	page, err := x.Statements(t.Context(), audit.Filter{}, index.Page{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// whole fails the test unless the index shows n statements of a log without a problem.
func whole(t *testing.T, x *index.Index, n int) {
	t.Helper()
	page := list(t, x)
	if len(page.Statements) != n || !page.State.Report.OK {
		t.Fatalf("%d statements, want %d; problems %v", len(page.Statements), n, page.State.Report.Problems)
	}
}

func segments(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(data), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAChangeOfThePastIsShown edits events that the index has taken.
func TestAChangeOfThePastIsShown(t *testing.T) {
	swap := func(data []byte) []byte { return bytes.Replace(data, []byte(`"ada"`), []byte(`"eve"`), 1) }
	for name, at := range map[string]func([]string) string{
		"in a finished segment":   func(all []string) string { return all[1] },
		"in the segment in use":   func(all []string) string { return all[len(all)-1] },
		"in the very first event": func(all []string) string { return all[0] },
	} {
		t.Run(name, func(t *testing.T) {
			dir, _, x := filled(t, 40)
			whole(t, x, 40)
			edit(t, at(segments(t, dir)), swap)
			page := list(t, x)
			want, err := audit.Verify(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if got := page.State.Report; got.OK || len(got.Problems) != len(want.Problems) || got.Problems[0] != want.Problems[0] {
				t.Errorf("problems %v, want %v", got.Problems, want.Problems)
			}
			eve := 0
			for _, s := range page.Statements {
				if s.Decision.Principal == "eve" {
					eve++
				}
			}
			if len(page.Statements) != 40 || eve != 1 {
				t.Errorf("%d statements, %d of eve; the log has 40 and 1", len(page.Statements), eve)
			}
			write(t, dir, 40, 1)
			if page := list(t, x); page.State.Report.OK || len(page.Statements) != 41 {
				t.Errorf("after another event: %d statements, broken %t", len(page.Statements), !page.State.Report.OK)
			}
		})
	}
}

// TestABrokenEndIsShownOnce has lines at the end that are not events, which the
// writer cuts off when it opens the log.
func TestABrokenEndIsShownOnce(t *testing.T) {
	dir, _, x := filled(t, 10)
	whole(t, x, 10)
	all := segments(t, dir)
	edit(t, all[len(all)-1], func(data []byte) []byte { return append(data, "no event\nnor this\nhalf a line"...) })
	for range 3 {
		page := list(t, x)
		if page.State.Report.OK || page.State.BadLines != 2 || len(page.State.Report.Problems) != 2 || page.State.Report.Torn == nil {
			t.Fatalf("bad lines %d, report %+v", page.State.BadLines, page.State.Report)
		}
	}
	write(t, dir, 10, 5)
	whole(t, x, 15)
	if s := list(t, x).State; s.BadLines != 0 || len(s.Report.Notes) == 0 {
		t.Errorf("the writer cut the lines off: bad lines %d, notes %v", s.BadLines, s.Report.Notes)
	}
}

func TestALogThatWasReplaced(t *testing.T) {
	dir, _, x := filled(t, 40)
	whole(t, x, 40)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := x.State(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no log: %v", err)
	}
	write(t, dir, 500, 7)
	y := open(t, dir, filepath.Join(filepath.Dir(dir), "state", "index.db"))
	whole(t, y, 7)
}

// TestAFileThatCannotBeUsed puts something else in the place of the index.
func TestAFileThatCannotBeUsed(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"no database": func(t *testing.T, path string) {
			t.Helper()
			edit(t, path, func([]byte) []byte { return bytes.Repeat([]byte("nothing "), 4096) })
		},
		"an empty file": func(t *testing.T, path string) {
			t.Helper()
			edit(t, path, func([]byte) []byte { return nil })
		},
		"cut": func(t *testing.T, path string) {
			t.Helper()
			edit(t, path, func(data []byte) []byte { return data[:len(data)/2/4096*4096] })
		},
		"overwritten pages": func(t *testing.T, path string) {
			t.Helper()
			edit(t, path, func(data []byte) []byte {
				for i := 4096; i < len(data); i++ {
					data[i] = byte(i * 7)
				}
				return data
			})
		},
		"another version": func(t *testing.T, path string) {
			t.Helper()
			edit(t, path, func(data []byte) []byte { data[63] = 99; return data })
		},
		"another program's": func(t *testing.T, path string) {
			t.Helper()
			edit(t, path, func(data []byte) []byte { copy(data[68:72], "abcd"); return data })
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path, x := filled(t, 30)
			whole(t, x, 30)
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			spoil(t, path)
			whole(t, open(t, dir, path), 30)
		})
	}
}

// TestAFileThatIsDeleted deletes the index under a server that has it open.
func TestAFileThatIsDeleted(t *testing.T) {
	dir, path, x := filled(t, 30)
	whole(t, x, 30)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	write(t, dir, 30, 1)
	whole(t, x, 31)
	if !index.Exists(path) {
		t.Error("it was not made again")
	}
}

// TestSeveralProcesses lets several indexes on one file take the events of a log that
// grows.
func TestSeveralProcesses(t *testing.T) {
	dir, path, x := filled(t, 1)
	indexes := []*index.Index{x, open(t, dir, path), open(t, dir, path)}
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff, RotateBytes: 16 << 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 500 {
			if err := log.Append(context.Background(), refused(i+1)); err != nil {
				t.Error(err)
			}
		}
	})
	for _, x := range indexes {
		wg.Go(func() {
			seen := 0
			for seen < 501 && !t.Failed() {
				page, err := x.Statements(context.Background(), audit.Filter{}, index.Page{Limit: 10_000})
				if err != nil || !page.State.Report.OK || len(page.Statements) < seen {
					t.Errorf("%d statements after %d, problems %v, error %v", len(page.Statements), seen, page.State.Report.Problems, err)
					return
				}
				seen = len(page.Statements)
			}
		})
	}
	wg.Wait()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, x := range indexes {
		whole(t, x, 501)
	}
}

// TestALogThatIsGone deletes the write-ahead log that a process left behind. What remains
// has pages of different times, each with a right checksum: the index is made anew. One
// that was closed has no such log, and is used as it is.
func TestALogThatIsGone(t *testing.T) {
	dir, db, wal := left(t)
	fresh, err := index.Open(t.Context(), dir, filepath.Join(t.TempDir(), "index.db"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := answers(t.Context(), fresh)
	if err = errors.Join(err, fresh.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "index.db")
	for _, with := range []struct {
		name   string
		files  map[string][]byte
		remade bool
	}{
		{"with its log", map[string][]byte{"": db, "-wal": wal, "-lock": {'o'}}, false},
		{"closed since", nil, false},
		{"without its log", map[string][]byte{"": db, "-lock": {'o'}}, true},
		{"with nothing beside it", map[string][]byte{"": db}, true},
		{"closed again", nil, false},
	} {
		if with.files != nil {
			for _, end := range []string{"", "-wal", "-shm", "-lock"} {
				if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
		}
		for end, data := range with.files {
			if err := os.WriteFile(path+end, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		x, err := index.Open(t.Context(), dir, path)
		if err != nil {
			t.Fatalf("%s: %v", with.name, err)
		}
		got, err := answers(t.Context(), x)
		if err != nil || got != want {
			t.Errorf("%s: another answer, error %v", with.name, err)
		}
		s, err := x.State(t.Context())
		if err = errors.Join(err, x.Close()); err != nil {
			t.Errorf("%s: %v", with.name, err)
		}
		if remade := s.Remade != nil; remade != with.remade {
			t.Errorf("%s: made anew: %t", with.name, remade)
		}
	}
}

// TestCloseTwice closes an index twice whose file has gone.
func TestCloseTwice(t *testing.T) {
	_, path, x := filled(t, 3)
	whole(t, x, 3)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}
