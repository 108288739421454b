package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
)

// holds wants a file to hold a text, and nothing to lie beside it.
func holds(t *testing.T, name, text string) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || string(got) != text {
		t.Errorf("%s holds %q, want %q: %v", filepath.Base(name), got, text, err)
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v lie there: %v", entries, err)
	}
}

// TestReplace: only what was read is replaced, through links, with its mode.
func TestReplace(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.WriteFile(name, []byte("one"), 0o640), os.Chmod(name, 0o640), os.Symlink(name, link)); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(link, []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	holds(t, name, "two")
	if info, err := os.Stat(name); err != nil || info.Mode() != 0o640 {
		t.Errorf("the mode is %v: %v", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v: %v", info.Mode(), err)
	}
	if err := atomicfile.Replace(name, []byte("one"), []byte("three")); !errors.Is(err, atomicfile.ErrChanged) {
		t.Errorf("another content was replaced: %v", err)
	}
	holds(t, name, "two")
	if err := atomicfile.Replace(filepath.Join(t.TempDir(), "none"), nil, []byte("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file was replaced: %v", err)
	}
}

// TestWriteNew: what is there is never replaced.
func TestWriteNew(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	if err := atomicfile.WriteNew(name, 0o600, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteNew(name, 0o600, []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("it was replaced: %v", err)
	}
	holds(t, name, "one")
}

// TestWriteWholeOrNotAtAll: what cannot be written to its end leaves the file,
// and nothing beside it.
func TestWriteWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	write := func(text string, fault error) error {
		return atomicfile.Write(name, 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, fault)
		})
	}
	if err := write("one", nil); err != nil {
		t.Fatal(err)
	}
	if err := write("tw", io.ErrShortWrite); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("the fault is lost: %v", err)
	}
	holds(t, name, "one")
}
