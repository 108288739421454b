//go:build unix

package rootfile_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ktxhq/ktx/research/rootfile"
)

// TestOpen: a file is opened with its size. A folder, and a pipe that nobody writes into,
// are refused at once.
func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, info, err := rootfile.Open(root, "file")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil || string(text) != "text" || info.Size() != 4 {
		t.Errorf("%q, %d bytes: %v", text, info.Size(), err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"folder", "pipe", "missing"} {
		if _, _, err := rootfile.Open(root, name); err == nil {
			t.Errorf("%s is opened", name)
		}
	}
}
