package daemon_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/daemon"
)

func state(dir string) daemon.State {
	return daemon.State{
		SchemaVersion: daemon.StateVersion, PID: 7, Host: "127.0.0.1", Port: 7878, TokenAuth: true, ProjectDir: dir,
		StartedAt: "2026-11-22T12:00:00Z", LogPath: daemon.LogPath(dir), Nonce: "nonce", Settings: "digest",
	}
}

func write(t *testing.T, s daemon.State) {
	t.Helper()
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(daemon.Path(s.ProjectDir)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(daemon.Path(s.ProjectDir), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := daemon.Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	s := state(dir)
	write(t, s)
	got, err := daemon.Read(dir)
	if err != nil || cmp.Diff(s, *got) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(s, *got))
	}
	other := s
	other.Nonce = "of a later server"
	write(t, other)
	if err := s.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := daemon.Read(dir); err != nil {
		t.Errorf("the state of a later server was removed: %v", err)
	}
	if err := other.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := daemon.Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the removal: %v", err)
	}
}

func TestStateThatIsNone(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*daemon.State){
		"another version": func(s *daemon.State) { s.SchemaVersion++ },
		"no process":      func(s *daemon.State) { s.PID = 0 },
		"process -1":      func(s *daemon.State) { s.PID = -1 }, // of kill: every process
		"no port":         func(s *daemon.State) { s.Port = 0 },
		"a port too high": func(s *daemon.State) { s.Port = 1 << 16 },
		"no nonce":        func(s *daemon.State) { s.Nonce = "" },
	} {
		s := state(t.TempDir())
		change(&s)
		write(t, s)
		if _, err := daemon.Read(s.ProjectDir); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"127.0.0.1": "127.0.0.1:7878", "0.0.0.0": "127.0.0.1:7878", "::": "[::1]:7878", "::1": "[::1]:7878", "[::1]": "[::1]:7878", "ktx.example.com": "ktx.example.com:7878",
	} {
		s := state("/")
		s.Host = host
		if got := s.Address(); got != want || s.URL() != "http://"+want+"/mcp" {
			t.Errorf("%s: %s %s", host, got, s.URL())
		}
	}
}
