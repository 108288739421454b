package prove

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/corpus"
)

// liteShell is the SQLite of the command line shell. It has extensions that the
// engine of ktx is built without, and runs the commands of the shell. A shell is
// one session, so it shows only what is seen from outside.
type liteShell struct {
	*sqlite
	program string
	number  string
}

// startLiteShell takes the program sqlite3 in bin.
func startLiteShell(ctx context.Context, bin, fixture string, limit time.Duration) (_ *liteShell, err error) {
	program := filepath.Join(bin, "sqlite3")
	out, err := exec.CommandContext(ctx, program, "--version").Output() //nolint:gosec // the program that the caller names
	if err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w", program, err)
	}
	number, _, _ := strings.Cut(string(out), " ")
	l, err := startSQLite(fixture, limit)
	if err != nil {
		return nil, err
	}
	return &liteShell{sqlite: l, program: program, number: number}, nil
}

func (l *liteShell) version() string { return l.number }

// extension is what the statements load under the name ext. It leaves a file.
const extension = `#include <fcntl.h>
int sqlite3_extension_init(void *db, char **message, const void *api) {
	return creat("loaded", 0600) < 0;
}
`

// prepare puts an extension into the folder too, for a statement that loads one.
func (l *liteShell) prepare(ctx context.Context, c corpus.Case) (made bool, err error) {
	if made, err = l.sqlite.prepare(ctx, c); err != nil || !strings.Contains(strings.ToLower(c.SQL), "load") {
		return made, err
	}
	cmd := exec.CommandContext(ctx, "cc", "-shared", "-fPIC", "-x", "c", "-", "-o", "ext.so")
	cmd.Dir, cmd.Stdin = l.dir, strings.NewReader(extension)
	if out, err := cmd.CombinedOutput(); err != nil {
		return true, fmt.Errorf("compile an extension: %w\n%s", err, out)
	}
	return true, nil
}

func (l *liteShell) try(ctx context.Context, a Attempt, c corpus.Case) (Outcome, error) {
	args := []string{"-batch", liteFile}
	if a.Role == "read_only_handle" {
		args = []string{"-batch", "-readonly", liteFile}
	}
	const begins = "the statement begins"
	var script strings.Builder
	_, session := setup(c)
	for _, text := range session {
		script.WriteString(text + ";\n")
	}
	if a.ReadOnly {
		script.WriteString("PRAGMA query_only = ON;\n")
	}
	script.WriteString(".print " + begins + "\n" + c.SQL + "\n")

	limited, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, l.program, args...) //nolint:gosec // the program that the caller names
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.dir, strings.NewReader(script.String()), &out, &errs
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LD_LIBRARY_PATH=" + l.dir}
	// A program that the statement started ends too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	_, printed, begun := strings.Cut(out.String(), begins+"\n")
	o := Outcome{Result: Executed, Rows: printed != ""}
	switch ended, failed := errors.AsType[*exec.ExitError](err); {
	case limited.Err() != nil:
		o.Result = TimedOut
	case !begun:
		return o, fmt.Errorf("start the shell: %w\n%s", err, errs.String())
	case failed && ended.ExitCode() < 0:
		o.Result = Crashed
	case failed || errs.Len() > 0:
		o = liteShellFailure(errs.String())
		o.Rows = printed != ""
	case err != nil:
		return o, fmt.Errorf("run the shell: %w", err)
	}
	return o, nil
}

// liteResult is the result code at the end of the shell's message.
var liteResult = regexp.MustCompile(`\(([0-9]+)\)\s*$`)

// liteShellFailure returns the outcome that the shell's message tells. Messages of
// the parser have no code.
func liteShellFailure(message string) Outcome {
	first, _, _ := strings.Cut(message, "\n")
	code := "1"
	if m := liteResult.FindStringSubmatch(first); m != nil {
		code = m[1]
	}
	const readOnly = "8"
	return Outcome{Result: Failed, Code: "sqlite " + code, ReadOnly: code == readOnly}
}
