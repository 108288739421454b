package daemon_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/daemon"
)

// TestLogRotates: the log and its older ones hold the last lines, whole, each
// once, and none grows beyond its bound.
func TestLogRotates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logs", "mcp.log")
	log, err := daemon.OpenLog(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	// Standard error of the process is the same file, opened before.
	inherited, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range 60 {
		line := fmt.Sprintf("line %02d\n", i)
		all = append(all, line)
		var to io.Writer = log
		if i == 59 {
			to = inherited
		}
		if _, err := io.WriteString(to, line); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := inherited.Close(); err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for _, name := range []string{path + ".3", path + ".2", path + ".1", path} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 || len(text) > 100 {
			t.Errorf("%s: %v, %d bytes, %v", name, info.Mode(), len(text), err)
		}
		kept.Write(text)
	}
	whole := strings.Join(all, "")
	if !strings.HasSuffix(whole, kept.String()) || kept.Len() < 250 {
		t.Errorf("kept %q", kept.String())
	}
	if _, err := os.Stat(path + ".4"); err == nil {
		t.Error("a fourth older log is kept")
	}
}

// buffer is written to by one goroutine and read by another.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// TestTail: the last lines, and with follow what comes, over a rotation too.
func TestTail(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mcp.log")
	log, err := daemon.OpenLog(path, 40)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	write := func(text string) {
		if _, err := io.WriteString(log, text); err != nil {
			t.Fatal(err)
		}
	}
	write("one\ntwo\nthree\n")
	for n, want := range map[int]string{1: "three\n", 2: "two\nthree\n", 3: "one\ntwo\nthree\n", 9: "one\ntwo\nthree\n"} {
		var out bytes.Buffer
		if err := daemon.Tail(t.Context(), path, n, false, &out); err != nil || out.String() != want {
			t.Errorf("%d lines: %q %v", n, out.String(), err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	out, ended := &buffer{}, make(chan error, 1)
	go func() { ended <- daemon.Tail(ctx, path, 1, true, out) }()
	saw := func(text string) {
		for end := time.Now().Add(2 * time.Minute); !strings.HasSuffix(out.String(), text); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("followed %q, want %q at its end", out.String(), text)
			}
		}
	}
	saw("three\n")
	write("four\n")
	saw("three\nfour\n")
	write(strings.Repeat("x", 35) + "\n") // the log starts anew, longer than before
	write("y\n")
	saw("y\n")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
