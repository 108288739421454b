package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const target = "../../../postgres"

// The walkers in the repository are what the generator makes of the parsers'
// types and of the judges at hand, in both builds.
func TestWalkersAreCurrent(t *testing.T) {
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(target, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for setting, name := range map[string]string{"1": "walk_gen_cgo.go", "0": "walk_gen_nocgo.go"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "go", "run", ".", "-dir", dir, "-out", name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED="+setting)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("CGO_ENABLED=%s: %v\n%s", setting, err, out)
		}
		made, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join(target, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made, kept) {
			t.Errorf("%s is not what the generator makes: run go generate in %s", name, target)
		}
	}
}

// A judge for a kind that the parser does not have is a mistake in its name.
func TestJudgeOfNoKind(t *testing.T) {
	dir := t.TempDir()
	text := "package postgres\n\ntype walker struct{}\n\nfunc (w *walker) judgeSelectStatement(int) {}\n"
	if err := os.WriteFile(filepath.Join(dir, "walk.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "run", ".", "-dir", dir, "-out", "x.go").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "judgeSelectStatement: the parser has no such kind") {
		t.Errorf("%v: %s", err, out)
	}
}
