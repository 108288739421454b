package filelock_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ktxhq/ktx/execution/filelock"
)

// holdVariable names the file that this program locks when it is run as another process.
const holdVariable = "FILELOCK_TEST_HOLD"

func TestMain(m *testing.M) {
	name := os.Getenv(holdVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err == nil {
		err = filelock.Lock(f)
	}
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString("locked\n")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the process is killed
}

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func try(t *testing.T, f *os.File, want bool, when string) {
	t.Helper()
	if free, err := filelock.TryLock(f); err != nil || free != want {
		t.Errorf("%s: TryLock = %v, %v; want %v", when, free, err, want)
	}
}

// TestTwoFiles: what one file holds is not free for another one of the same process.
func TestTwoFiles(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	a, b := open(t, name), open(t, name)
	try(t, a, true, "of nobody")
	try(t, b, false, "held by the first file")
	if _, err := b.WriteString("a lock hinders no writing"); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(name); err != nil || len(got) == 0 {
		t.Errorf("read %q, %v", got, err)
	}
	if err := filelock.Unlock(a); err != nil {
		t.Error(err)
	}
	try(t, b, true, "released")
	waited := make(chan error)
	go func() { waited <- filelock.Lock(a) }()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := <-waited; err != nil {
		t.Errorf("Lock after the other was closed: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if free, err := filelock.TryLock(a); err == nil || free {
		t.Errorf("a closed file: TryLock = %v, %v", free, err)
	}
}

// TestKilledProcess: the lock of a process ends with it, even when it is killed.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	f := open(t, name)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.CommandContext(t.Context(), self)
	other.Env = append(os.Environ(), holdVariable+"="+name)
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	try(t, f, false, "held by another process")
	if err := other.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = other.Wait() // it was killed
	if err := filelock.Lock(f); err != nil {
		t.Errorf("Lock after the process was killed: %v", err)
	}
}
