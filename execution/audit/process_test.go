//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package audit_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// helperVariable is the environment variable that names what a process started
// by a test does instead of running tests.
const helperVariable = "KTX_AUDIT_TEST_HELPER"

func TestMain(m *testing.M) {
	name := os.Getenv(helperVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := helpers[name](os.Args[1:]); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

var helpers = map[string]func(args []string) error{
	"write": helperWrite,
	"hmac":  helperHMAC,
	"loop":  helperLoop,
	"limit": helperLimit,
}

// helper prepares a command that runs this test binary as another process.
func helper(ctx context.Context, t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env = append(os.Environ(), helperVariable+"="+name)
	return cmd
}

// helperWrite appends from 4 goroutines. Its arguments are the directory, the
// sync mode, the number of the process, and the events per goroutine.
func helperWrite(args []string) error {
	process, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	each, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	// A disk that stalls for some seconds is no fault of the log.
	log, err := audit.OpenWith(args[0], audit.Config{Sync: audit.SyncMode(args[1]), RotateBytes: 32 << 10}, nil, (*os.File).Sync, time.Minute)
	if err != nil {
		return err
	}
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for g := range errs {
		wg.Go(func() {
			for i := 0; i < each && errs[g] == nil; i++ {
				errs[g] = log.Append(context.Background(), small(fmt.Sprintf("%d-%d", process*4+g, i)))
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, log.Close())...)
}

func TestManyProcesses(t *testing.T) {
	t.Parallel()
	for _, mode := range []audit.SyncMode{audit.SyncInterval, audit.SyncAlways} {
		dir := filepath.Join(t.TempDir(), "audit")
		const processes, each = 16, 25 // and 4 goroutines in each
		var wg sync.WaitGroup
		for p := range processes {
			cmd := helper(t.Context(), t, "write", dir, string(mode), strconv.Itoa(p), strconv.Itoa(each))
			wg.Go(func() {
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("process %d: %v\n%s", p, err, out)
				}
			})
		}
		wg.Wait()
		report := sound(t, dir)
		if len(report.Segments) < 4 || len(report.Problems) != 0 || report.Unanchored != 0 || len(report.Notes) != 0 {
			t.Errorf("%s: %d segments, %d events not anchored, notes %v", mode, len(report.Segments), report.Unanchored, report.Notes)
		}
		once(t, dir, 4*processes, each)
	}
}

// helperHMAC prints the HMAC of x. Its argument is the directory.
func helperHMAC(args []string) error {
	log, err := audit.Open(args[0], audit.Config{}, nil)
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(log.HMAC("x") + "\n")
	return errors.Join(err, log.Close())
}

func TestOneKeyForAllWhoStartAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	outs := make([]string, 8)
	var wg sync.WaitGroup
	for i := range outs {
		cmd := helper(t.Context(), t, "hmac", dir)
		wg.Go(func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			outs[i] = string(out)
		})
	}
	wg.Wait()
	for _, out := range outs {
		if out != outs[0] || len(out) != 65 {
			t.Errorf("keys differ: %q", outs)
			break
		}
	}
}

// helperLoop appends until it is killed and prints the number of each event
// that is recorded. Its arguments are the directory and the first number.
func helperLoop(args []string) error {
	first, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	log, err := audit.Open(args[0], audit.Config{RotateBytes: 16 << 10}, nil)
	if err != nil {
		return err
	}
	for i := first; ; i++ {
		e := small(fmt.Sprintf("0-%d", i))
		e.Reason = strings.Repeat("x", 2000)
		if err := log.Append(context.Background(), e); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(os.Stdout, i); err != nil {
			return err
		}
	}
}

// TestKilledProcess kills a writer again and again. The log has every event for
// which Append had returned.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	next := 0
	for round := range 6 {
		cmd := helper(t.Context(), t, "loop", dir, strconv.Itoa(next))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, until := bufio.NewScanner(out), next+20+13*round
		acknowledged := next - 1
		for lines.Scan() {
			if acknowledged, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatal(err)
			}
			if acknowledged == until {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil || acknowledged < until {
			t.Fatalf("the process ended by itself after event %d: %v", acknowledged, err)
		}
		sound(t, dir)
		last := -1
		for _, rec := range records(t, dir) {
			if _, number, ok := strings.Cut(rec.Event.QueryID, "-"); ok {
				if last, err = strconv.Atoi(number); err != nil {
					t.Fatal(err)
				}
			}
		}
		if last < acknowledged {
			t.Fatalf("event %d was acknowledged, the last one in the log is %d", acknowledged, last)
		}
		next = last + 1
	}
	once(t, dir, 1, next)
}

// helperLimit fills the log up to the size that files may have, lifts the
// limit, and appends again. Its argument is the directory.
func helperLimit(args []string) error {
	signal.Ignore(syscall.SIGXFSZ)
	log, err := audit.Open(args[0], audit.Config{}, nil)
	if err != nil {
		return err
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	limited := old
	limited.Cur = 10_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		return err
	}
	written := 0
	for err == nil {
		if err = log.Append(context.Background(), decision("q")); err == nil {
			written++
		}
	}
	if !errors.Is(err, audit.ErrUnavailable) || !errors.Is(err, syscall.EFBIG) {
		return err
	}
	report, verifyErr := audit.Verify(context.Background(), args[0])
	if verifyErr != nil || !report.OK || report.Torn != nil || report.Events != int64(written) {
		return fmt.Errorf("%d events appended; %+v %w", written, report, verifyErr)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	_, err = io.WriteString(os.Stdout, strconv.Itoa(written))
	return errors.Join(err, log.Append(context.Background(), decision("q")), log.Close())
}

// TestFileSizeLimit appends until a file size limit cuts an event in the
// middle.
func TestFileSizeLimit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	out, err := helper(t.Context(), t, "limit", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	written, err := strconv.ParseInt(string(out), 10, 64)
	if err != nil || written < 2 {
		t.Fatalf("%q events before the limit", out)
	}
	report := sound(t, dir)
	if report.Events != written+2 || len(report.Notes) != 1 || report.Notes[0].Event.Log.Lost != 1 {
		t.Errorf("%d events, notes %v", report.Events, report.Notes)
	}
}
