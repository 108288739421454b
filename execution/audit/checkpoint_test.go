package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

// inPieces checks a log, n events at a time, and keeps the checkpoint as JSON in
// between.
func inPieces(t *testing.T, dir string, n int) (audit.Report, []int64) {
	t.Helper()
	var seen []int64
	for kept := []byte("{}"); ; {
		var cp audit.Checkpoint
		var report audit.Report
		if err := json.Unmarshal(kept, &cp); err != nil {
			t.Fatal(err)
		}
		taken, over := 0, true
		for rec, err := range audit.CheckedFrom(t.Context(), dir, &cp, &report) {
			if _, bad := errors.AsType[*audit.LineError](err); bad {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, rec.Event.Seq)
			if taken++; taken == n {
				over = false
				break
			}
		}
		if over {
			return report, seen
		}
		var err error
		if kept, err = json.Marshal(cp); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACheckInPieces(t *testing.T) {
	change := func(at int, how func([][]byte) [][]byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			path := segmentFiles(t, dir)[at]
			write(t, path, bytes.Join(how(splitLines(read(t, path))), nil))
		}
	}
	for name, tamper := range map[string]func(*testing.T, string){
		"whole": func(*testing.T, string) {},
		"edited": change(1, func(l [][]byte) [][]byte {
			l[2] = bytes.Replace(l[2], []byte("session"), []byte("Session"), 1)
			return l
		}),
		"no event": change(1, func(l [][]byte) [][]byte { l[3] = []byte("{}\n"); return l }),
		"deleted":  change(0, func(l [][]byte) [][]byte { return slices.Delete(l, 4, 5) }),
		"moved":    change(0, func(l [][]byte) [][]byte { l[1], l[2] = l[2], l[1]; return l }),
		"repeated": change(2, func(l [][]byte) [][]byte { return append(l, l[0]) }),
		"segment gone": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(segmentFiles(t, dir)[1]); err != nil {
				t.Fatal(err)
			}
		},
		"beginning gone": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(segmentFiles(t, dir)[0]); err != nil {
				t.Fatal(err)
			}
		},
		"anchor gone": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, "anchor.json")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := quickDir(t)
			fill(t, dir, audit.Config{Sync: audit.SyncOff, RotateBytes: 4 << 10}, 60)
			tamper(t, dir)
			want := verify(t, dir)
			for _, n := range []int{1, 7, 1000} {
				got, seen := inPieces(t, dir, n)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("in pieces of %d (-at once +in pieces)\n%s", n, diff)
				}
				if int64(len(seen)) < want.Events-1 {
					t.Errorf("in pieces of %d: %d events of %d", n, len(seen), want.Events)
				}
			}
		})
	}
}

// TestACheckGoesOnOnlyInTheSameLog changes a log after a part of it was read.
func TestACheckGoesOnOnlyInTheSameLog(t *testing.T) {
	dir := quickDir(t)
	fill(t, dir, audit.Config{Sync: audit.SyncOff, RotateBytes: 4 << 10}, 60)
	var cp audit.Checkpoint
	var report audit.Report
	for _, err := range audit.CheckedFrom(t.Context(), dir, &cp, &report) {
		if err != nil {
			t.Fatal(err)
		}
	}
	first := func(cp audit.Checkpoint) error {
		for _, err := range audit.CheckedFrom(t.Context(), dir, &cp, &report) {
			return err
		}
		return nil
	}
	if err := first(cp); err != nil || !report.OK {
		t.Fatalf("nothing was changed: %v, %v", err, report.Problems)
	}
	all := segmentFiles(t, dir)
	last := read(t, all[len(all)-1])
	write(t, all[len(all)-1], bytes.ReplaceAll(last, []byte("qi"), []byte("xi")))
	if err := first(cp); !errors.Is(err, audit.ErrReplaced) {
		t.Errorf("the last event was changed: %v", err)
	}
	write(t, all[len(all)-1], last)
	if err := first(cp); err != nil {
		t.Errorf("it is as it was: %v", err)
	}
	write(t, all[0], read(t, all[0])) // at another time
	if err := first(cp); !errors.Is(err, audit.ErrReplaced) {
		t.Errorf("a finished file was written again: %v", err)
	}
}
