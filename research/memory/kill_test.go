//go:build unix

package memory_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/memory"
)

// The variables that make the test binary ingest a text and die.
const (
	dieIn    = "KTX_TEST_MEMORY_DIR"
	dieAt    = "KTX_TEST_MEMORY_STAGE" // the number of the stage before which it is killed
	killText = "# Refunds\n\nRefunds are negative payments. Always subtract them."
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(dieIn); dir != "" {
		dieIngesting(dir, os.Getenv(dieAt))
	}
	os.Exit(m.Run())
}

// die ends the process as SIGKILL does, without any clean-up.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// mortal is a Committer that dies at its work.
type mortal struct{ after bool }

func (m mortal) Commit(_ context.Context, _ string, paths []string) (string, error) {
	if !m.after {
		die()
	}
	return "hash" + strconv.Itoa(len(paths)), nil
}

// dieIngesting ingests a text in this process, and kills it at a stage.
func dieIngesting(dir, at string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		panic(err)
	}
	s, _ := openRoot(root, memory.Options{
		Committer: mortal{after: at != "committing"}, Now: time.Now, Random: func() string { return "killed" + strconv.Itoa(os.Getpid()) },
		OnStage: func(stage memory.Stage) {
			if string(stage) == at {
				die()
			}
		},
	})
	for i := 0; ; i++ {
		text := killText
		if at == "any" {
			text += fmt.Sprintf("\n\nPart %d.", i)
		}
		_, err := s.Ingest(context.Background(), memory.Request{Content: text, Source: "mcp"})
		if at != "any" || err != nil {
			panic(fmt.Sprint("the process lives on: ", err))
		}
	}
}

// kill lets a process ingest in dir until it is killed at a stage, or after a time.
func kill(t *testing.T, dir, stage string, after time.Duration) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), dieIn+"="+dir, dieAt+"="+stage)
	var problem strings.Builder
	cmd.Stderr = &problem
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		time.Sleep(after)
		_ = cmd.Process.Kill()
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL { //nolint:forcetypeassert // it is so on Unix
		t.Fatalf("the process ended with %v: %s", err, problem.String())
	}
}

// runsIn returns all runs of a project.
func runsIn(t *testing.T, dir string, s *memory.Store) []*memory.Run {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, ".ktx", "memory", "runs"))
	if err != nil {
		t.Fatal(err)
	}
	var out []*memory.Run
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		run, err := s.Run(id)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, run)
	}
	return out
}

// TestKilledAtEachStage: a process that is killed at any step of a run leaves a run
// that is reported as failed. The text can then be sent again. It is captured once,
// and committed.
func TestKilledAtEachStage(t *testing.T) {
	t.Parallel()
	for _, stage := range []memory.Stage{memory.StageSignals, memory.StageWiki, memory.StageSemantic, memory.StageCommit, "committing", memory.StageDone} {
		t.Run(string(stage), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			kill(t, dir, string(stage), 0)
			git := &commits{}
			s, pages := open(t, dir, memory.Options{Committer: git})
			runs := runsIn(t, dir, s)
			if len(runs) != 1 {
				t.Fatalf("%d runs", len(runs))
			}
			run := runs[0]
			switch {
			case stage == memory.StageDone: // all was written when the process was killed
				if run.Status != memory.StatusDone || *run.CommitHash != "hash1" {
					t.Errorf("%+v", run)
				}
			case run.Status != memory.StatusError || !run.Done || run.Error == nil || !strings.Contains(*run.Error, "send the text again") || run.CommitHash != nil:
				t.Errorf("%+v", run)
			}
			again := ingest(t, s, memory.Request{Content: killText})
			if again.Status != memory.StatusDone {
				t.Errorf("again: %+v", again)
			}
			p, err := pages.Read("refunds")
			if err != nil || strings.Count(p.Body, "negative payments") != 1 || len(p.Captures) != 1 {
				t.Errorf("%+v, %v", p, err)
			}
			if stage != memory.StageDone && (len(git.list) != 1 || git.list[0][0] != "wiki/global/refunds.md") {
				t.Errorf("commits: %v", git.list)
			}
		})
	}
}

// TestKilledAtAnyTime: processes that are killed at any moment leave whole files, no
// run that is reported as running or done without being so, and no text twice.
func TestKilledAtAnyTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written := func() bool {
		_, err := os.Stat(filepath.Join(dir, "wiki", "global", "refunds.md"))
		return err == nil
	}
	after := 40 * time.Millisecond
	for i := 0; i < 8 || after < 2*time.Minute && !written(); i++ {
		kill(t, dir, "any", after)
		after += after / 4
	}
	s, pages := open(t, dir, memory.Options{})
	ingest(t, s, memory.Request{Content: "# Other\n\nText."})
	done := 0
	for _, run := range runsIn(t, dir, s) {
		if run.Status == memory.StatusDone {
			done++
		} else if run.Status != memory.StatusError {
			t.Errorf("%+v", run)
		}
	}
	p, err := pages.Read("refunds")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; strings.Contains(p.Body, fmt.Sprintf("Part %d.", i)); i++ {
		if strings.Count(p.Body, fmt.Sprintf("Part %d.", i)) != 1 {
			t.Errorf("part %d is there more than once", i)
		}
	}
	if len(p.Problems) > 0 || done == 0 {
		t.Errorf("%d runs are done; %v", done, p.Problems)
	}
	entries, err := os.ReadDir(filepath.Join(dir, ".ktx", "memory", "runs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			t.Errorf("%s is left over", e.Name())
		}
	}
}

// TestRunning: a run of another process that lives is reported as running.
func TestRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	watch, _ := open(t, dir, memory.Options{})
	seen := ""
	s, _ := open(t, dir, memory.Options{OnStage: func(stage memory.Stage) {
		if stage != memory.StageCommit {
			return
		}
		for _, run := range runsIn(t, dir, watch) {
			seen += string(run.Status) + " " + string(run.Stage)
		}
	}})
	run := ingest(t, s, memory.Request{Content: killText})
	if seen != "running commit" || run.Status != memory.StatusDone {
		t.Errorf("seen %q, then %+v", seen, run)
	}
}
