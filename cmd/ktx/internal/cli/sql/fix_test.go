package sql_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/sql"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/sqlcheck"
)

// After an interrupt no further file is rewritten.
func TestFixEndsBetweenFiles(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.sql")
	const old = "SELECT a FROM t LIMIT 5, 10;\n"
	if err := os.WriteFile(name, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &console.App{Out: console.NewStream(io.Discard), Err: console.NewStream(io.Discard), Lookup: func(string) (string, bool) { return "", false }}
	inputs := []sqlcheck.Input{{Path: name}}
	guards, err := wiring.NewFileGuards(a, "postgres", inputs)
	if err != nil {
		t.Fatal(err)
	}
	for _, interrupted := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		if interrupted {
			cancel()
		}
		err := sql.FixFiles(ctx, a, "write", inputs, guards)
		cancel()
		if interrupted != errors.Is(err, context.Canceled) {
			t.Errorf("interrupted %v: %v", interrupted, err)
		}
		if now, err := os.ReadFile(name); err != nil || interrupted != (string(now) == old) {
			t.Errorf("interrupted %v: %q, %v", interrupted, now, err)
		}
	}
}

// A file that its owner may not write stays as it is, and the next one is written.
func TestFixLeavesReadOnlyFiles(t *testing.T) {
	t.Parallel()
	const old = "SELECT a FROM t LIMIT 5, 10;\n"
	dir := t.TempDir()
	inputs := []sqlcheck.Input{{Path: filepath.Join(dir, "a.sql")}, {Path: filepath.Join(dir, "b.sql")}}
	for i, mode := range []os.FileMode{0o444, 0o600} {
		if err := os.WriteFile(inputs[i].Path, []byte(old), mode); err != nil {
			t.Fatal(err)
		}
	}
	a := &console.App{Out: console.NewStream(io.Discard), Err: console.NewStream(io.Discard), Lookup: func(string) (string, bool) { return "", false }}
	guards, err := wiring.NewFileGuards(a, "postgres", inputs)
	if err != nil {
		t.Fatal(err)
	}
	if err := sql.FixFiles(t.Context(), a, "write", inputs, guards); err != nil {
		t.Fatal(err)
	}
	for i, in := range inputs {
		if now, err := os.ReadFile(in.Path); err != nil || (string(now) == old) != (i == 0) {
			t.Errorf("%s: %q, %v", in.Path, now, err)
		}
	}
}
