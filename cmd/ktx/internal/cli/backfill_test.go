package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// embeddings speaks POST /api/embed. It stands for Ollama, which cannot run here: its
// vectors are made of the lengths of words. Hold is called for each batch, before it is
// answered or after.
type embeddings struct {
	*httptest.Server

	mu    sync.Mutex
	texts int // of all batches that were answered
	hold  func(batch int, answered bool)
	batch int
}

func newEmbeddings(t *testing.T) *embeddings {
	t.Helper()
	e := &embeddings{hold: func(int, bool) {}}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.batch++
		e.hold(e.batch, false)
		vectors := make([][]float32, len(in.Input))
		for i, text := range in.Input {
			vectors[i] = make([]float32, 768)
			for word := range strings.FieldsSeq(text) {
				vectors[i][len(word)]++
			}
		}
		e.texts += len(in.Input)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors})
		_ = http.NewResponseController(w).Flush()
		e.hold(e.batch, true)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *embeddings) set(hold func(batch int, answered bool)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.batch, e.texts, e.hold = 0, 0, hold
}

type backfilled struct{ Skills, Missing, Made int }

// backfill runs ktx skills backfill to its end.
func backfill(t *testing.T, dir string, flags ...string) backfilled {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ktx", slices.Concat([]string{"skills", "backfill", "--json"}, flags)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var b backfilled
	if err != nil || json.Unmarshal(out, &b) != nil {
		t.Fatalf("ktx skills backfill: %v\n%s", err, out)
	}
	return b
}

// TestBackfillIsKilled kills a back-fill at each batch, before it is answered and while
// the answer is on its way: what was kept stays, the next run makes only the rest, and in
// the end the skills are found as if nothing had happened.
func TestBackfillIsKilled(t *testing.T) {
	const (
		all     = 41 // with ktx-analytics
		batch   = 16
		batches = 3
	)
	e := newEmbeddings(t)
	project := func() string {
		dir := t.TempDir()
		configure(t, dir, "skills: {}\nembeddings: {provider: ollama, url: \""+e.URL+"\"}\n")
		for i := range all - 1 {
			name := fmt.Sprintf("skill-%02d", i)
			if err := os.MkdirAll(filepath.Join(dir, "skills", name), 0o700); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, "skills", name, "SKILL.md"), fmt.Sprintf("---\nname: %s\ndescription: Does the thing %s %d times.\n---\n\nSteps.\n", name, strings.Repeat("x", i+1), i))
		}
		return dir
	}
	recommended := func(dir string) string {
		cmd := exec.CommandContext(t.Context(), "ktx", "skills", "recommend", "--json", "--limit", "20", "the thing xxxxxxx")
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), `"searchMethod": "hybrid"`) && !strings.Contains(string(out), `"searchMethod":"hybrid"`) {
			t.Fatalf("recommend: %v\n%s", err, out)
		}
		return string(out)
	}
	whole := project()
	if got, want := backfill(t, whole), (backfilled{all, all, all}); got != want {
		t.Fatalf("an undisturbed back-fill: %+v", got)
	}
	want := recommended(whole)
	for at := 1; at <= batches; at++ {
		for _, answered := range []bool{false, true} {
			dir := project()
			var p *process
			started := make(chan struct{})
			e.set(func(n int, done bool) {
				if n == at && done == answered {
					<-started
					_ = p.cmd.Process.Kill()
					time.Sleep(20 * time.Millisecond) // the kernel ends it meanwhile
				}
			})
			p = run(t, dir, "skills", "backfill")
			close(started)
			if code := p.wait(t); code == 0 {
				t.Fatalf("batch %d: the back-fill was not killed", at)
			}
			e.set(func(int, bool) {})
			left := backfill(t, dir, "--dry-run").Missing
			before, after := all-batch*(at-1), max(0, all-batch*at)
			if left != before && (!answered || left != after) {
				t.Errorf("killed at batch %d (answered %v): %d vectors are missing, want %d", at, answered, left, before)
			}
			if got := backfill(t, dir); got.Made != left || got.Missing != left || e.texts != left {
				t.Errorf("killed at batch %d: the next run made %+v, and sent %d texts; %d were missing", at, got, e.texts, left)
			}
			if got := backfill(t, dir); got != (backfilled{all, 0, 0}) {
				t.Errorf("a back-fill with nothing to do: %+v", got)
			}
			if got := recommended(dir); got != want {
				t.Errorf("killed at batch %d: skills are found otherwise:\n%s\n%s", at, got, want)
			}
		}
	}
}
