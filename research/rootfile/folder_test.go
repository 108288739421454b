package rootfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ktxhq/ktx/research/rootfile"
)

// TestLstat compares a folder with what the standard library says of the same names.
func TestLstat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "in", "sub"), 0o750),
		os.WriteFile(filepath.Join(dir, "in", "file"), []byte("12345"), 0o600),
		os.WriteFile(filepath.Join(dir, "in", "back\\slash"), []byte("1"), 0o600),
		os.WriteFile(filepath.Join(dir, "out"), []byte("1"), 0o600),
		os.Symlink("file", filepath.Join(dir, "in", "link")),
		os.Symlink("../out", filepath.Join(dir, "in", "outward")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	folder, err := rootfile.OpenFolder(root, "in")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	for _, name := range []string{"file", "sub", "link", "outward", "back\\slash", "sub/none", "none", ".", "", "..", "../out", "/etc/passwd", "file/x"} {
		got, err := folder.Lstat(name)
		want, wantErr := folder.Root().Lstat(name)
		if (err == nil) != (wantErr == nil) || errors.Is(err, fs.ErrNotExist) != errors.Is(wantErr, fs.ErrNotExist) {
			t.Errorf("%q: %v, and os.Root says %v", name, err, wantErr)
			continue
		}
		if err == nil && (got.Mode != want.Mode().Type() || got.Size != want.Size() || !got.Modified.Equal(want.ModTime())) {
			t.Errorf("%q: %v, and os.Root says %v, %d, %v", name, got, want.Mode(), want.Size(), want.ModTime())
		}
	}
	if _, err := rootfile.OpenFolder(root, "../in"); err == nil {
		t.Error("a folder outside of the root is opened")
	}
}

// TestLstatSeesEveryChange changes a file in place.
func TestLstatSeesEveryChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	folder, err := rootfile.OpenFolder(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	for size := range 4 {
		if err := root.WriteFile("a", make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if info, err := folder.Lstat("a"); err != nil || info.Size != int64(size) {
			t.Errorf("a file of %d bytes has %d (%v)", size, info.Size, err)
		}
	}
	if err := root.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Lstat("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that was removed: %v", err)
	}
}
