package scan_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/scan"
)

// The variables by which TestKilled tells its child what to do.
const (
	childProject  = "KTX_TEST_SCAN_PROJECT"
	childDatabase = "KTX_TEST_SCAN_DATABASE"
	childLines    = "KTX_TEST_SCAN_LINES" // of the journal, at which it waits to be killed
)

// TestKilledChild is the process that TestKilled kills. It does nothing otherwise.
func TestKilledChild(t *testing.T) {
	project, database := os.Getenv(childProject), os.Getenv(childDatabase)
	if project == "" {
		return
	}
	lines, err := strconv.Atoi(os.Getenv(childLines))
	if err != nil {
		t.Fatal(err)
	}
	s := newStand(t, sqliteAt(database))
	root, err := os.OpenRoot(project)
	if err != nil {
		t.Fatal(err)
	}
	s.options.Root, s.options.OpenValues = root, valuesIn(root)
	s.options.OnProgress = func(scan.Progress) {
		time.Sleep(20 * time.Millisecond) // so that it can be killed in between
		for linesOf(project) >= lines {   // and here at the latest
			time.Sleep(time.Second)
		}
	}
	s.run()
}

func valuesIn(root *os.Root) func(string) (scan.Values, error) {
	return func(sync string) (scan.Values, error) { return dictionary.NewWriter(root, "shop", sync) }
}

// TestKilled: a scan whose process was killed goes on with the tables that it had not
// finished, and leaves the same bytes as a scan that was not killed.
func TestKilled(t *testing.T) {
	t.Parallel()
	database := shop(t)
	whole := newStand(t, sqliteAt(database))
	whole.options.OpenValues = valuesIn(whole.options.Root)
	result := whole.run()
	for _, lines := range []int{1, 4, result.Tables} {
		s := newStand(t, sqliteAt(database))
		s.options.OpenValues = valuesIn(s.options.Root)
		killAfter(t, s.dir, database, lines)
		resumed := s.run()
		if resumed.Resumed < lines-1 { // the first line is the header
			t.Errorf("killed with %d lines, it went on with %d tables", lines, resumed.Resumed)
		}
		if d := cmp.Diff(whole.files(), s.files()); d != "" {
			t.Errorf("killed with %d lines, it wrote: %s", lines, d)
		}
		const values = ".ktx/values/shop/2026-03-04-050607-one/values"
		want, err := os.ReadFile(filepath.Join(whole.dir, values))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(s.dir, values)); err != nil || !bytes.Equal(want, got) {
			t.Errorf("killed with %d lines, its values differ: %v", lines, err)
		}
	}
}

// linesOf counts the lines of the journal of a scan.
func linesOf(project string) int {
	text, _ := os.ReadFile(filepath.Join(project, ".ktx/scan/shop/journal.jsonl")) // not there at first
	return bytes.Count(text, []byte("\n"))
}

// killAfter starts a scan and kills its process when its journal has a number of lines.
func killAfter(t *testing.T, project, database string, lines int) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledChild$")
	// What the child makes outside the project is removed with the folders of this test.
	child.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), childProject+"="+project, childDatabase+"="+database, childLines+"="+strconv.Itoa(lines))
	var out bytes.Buffer
	child.Stdout, child.Stderr = &out, &out
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	executiontest.Eventually(t, "the scan gets that far", func() bool { return linesOf(project) >= lines })
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Fatalf("the scan ended before it was killed: %s", out.String())
	}
}
