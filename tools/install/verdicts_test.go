package install_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVerdicts: the program of the release has another parser for PostgreSQL than ktx
// built with cgo. Both give the same decision, with the same code, on every case of the
// corpus and on its other spellings, and say which of the two they are.
func TestVerdicts(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	run(t, "tar", "-C", dir, "-xzf", b.file("ktx_%s_linux_"+runtime.GOARCH+".tar.gz"), "ktx")
	released, other := filepath.Join(dir, "ktx"), filepath.Join(dir, "cgo")
	runIn(t, "../..", append(os.Environ(), "CGO_ENABLED=1"), "go", "build", "-o", other, "./cmd/ktx")

	type verdict struct{ ID, Decision, Code string }
	type document struct {
		Guard   map[string]string
		Results []verdict
	}
	ask := func(program, build string) document {
		t.Helper()
		if says := run(t, program, "version"); !strings.Contains(says, ", "+build+")") {
			t.Errorf("%s version does not say that it is %s: %s", program, build, says)
		}
		file := program + ".json"
		// It exits with 1 when a verdict is not the expected one, which other tests hold.
		cmd := exec.CommandContext(t.Context(), program, "corpus", "run", "--mutate", "--json", file)
		if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 1 {
			t.Fatalf("%s corpus run: %v\n%s", program, err, out)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all document
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	pure, cgo := ask(released, "pure Go"), ask(other, "cgo")
	if pure.Guard["postgres"] == cgo.Guard["postgres"] {
		t.Errorf("both have the parser %s", cgo.Guard["postgres"])
	}
	if len(pure.Results) < 10_000 {
		t.Errorf("only %d statements were judged", len(pure.Results))
	}
	if diff := cmp.Diff(cgo.Results, pure.Results); diff != "" {
		t.Errorf("the verdicts differ (-cgo +release):\n%s", diff)
	}
	t.Logf("%d statements have the same verdict", len(pure.Results))
}
