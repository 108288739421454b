package upstream_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ktxhq/ktx/research/upstream"
)

// TestNoProcessSurvives checks that a server and what it started end when the manager is
// closed, and when ktx is killed: this test starts itself as the ktx that is killed.
func TestNoProcessSurvives(t *testing.T) {
	if dir := os.Getenv("KTX_UPSTREAM_KILLED"); dir != "" {
		w := manageIn(t, dir, one(misbehaving(t, "-child", "-stay", "-log", filepath.Join(dir, "log"))))
		w.works("echo", `{"text":"x"}`, "echo")
		if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	t.Run("close", func(t *testing.T) {
		log := filepath.Join(t.TempDir(), "log")
		w := manage(t, one(misbehaving(t, "-child", "-stay", "-log", log)))
		w.works("echo", `{"text":"x"}`, "echo")
		w.Close()
		gone(t, log)
	})
	t.Run("kill", func(t *testing.T) {
		dir := t.TempDir()
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestNoProcessSurvives$")
		cmd.Env = append(os.Environ(), "KTX_UPSTREAM_KILLED="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "the server runs", func() bool {
			_, err := os.Stat(filepath.Join(dir, "ready"))
			return err == nil
		})
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		gone(t, filepath.Join(dir, "log"))
	})
}

// gone waits until the processes that a log names have ended.
func gone(t *testing.T, log string) {
	t.Helper()
	pids := append(lines(t, log, "started "), lines(t, log, "child ")...)
	if len(pids) != 2 {
		t.Fatalf("got %q", pids)
	}
	for _, line := range pids {
		_, number, _ := strings.Cut(line, " ")
		pid, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		until(t, line+" is gone", func() bool {
			// A zombie has ended; whoever runs the test may not reap it.
			stat, err := os.ReadFile("/proc/" + number + "/stat")
			return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || err != nil || strings.Contains(string(stat), ") Z ")
		})
	}
}

// TestSecretsAreNotShown gives a server secrets that it writes to standard error before
// it dies.
func TestSecretsAreNotShown(t *testing.T) {
	s := upstream.Server{
		Name: "bad", Command: "/bin/sh", Args: []upstream.Value{value("-c"), value(`echo "my key is $KEY" >&2; exit 1 # secret-of-args`)},
		Env: map[string]upstream.Value{"KEY": value("secret-of-env")},
	}
	w := manage(t, one(s))
	e := w.failure(upstream.CodeServerConnection, "echo", "")
	if !strings.Contains(e.Message, "my key is ***") {
		t.Errorf("got %q", e.Message)
	}
	all := e.Error() + w.text.String() + w.Servers(t.Context())[0].LastError
	for _, secret := range []string{"secret-of-env", "secret-of-args"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is shown: %s", secret, all)
		}
	}
}
