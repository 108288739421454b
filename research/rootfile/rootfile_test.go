package rootfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/ktxhq/ktx/research/rootfile"
)

func TestAFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	content := func() string {
		t.Helper()
		text, err := root.ReadFile("a.txt")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := rootfile.Create(root, "a.txt", 0o600, rootfile.Bytes([]byte("one"))); err != nil || content() != "one" {
		t.Fatalf("create: %v", err)
	}
	if err := rootfile.Create(root, "a.txt", 0o600, rootfile.Bytes([]byte("two"))); !errors.Is(err, fs.ErrExist) || content() != "one" {
		t.Errorf("create over a file: %v, and the file has %q", err, content())
	}
	if err := rootfile.Replace(root, "a.txt", 0o600, rootfile.Bytes([]byte("three"))); err != nil || content() != "three" {
		t.Errorf("replace: %v, and the file has %q", err, content())
	}
	stop := errors.New("stop")
	err = rootfile.Replace(root, "a.txt", 0o600, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return stop
	})
	if !errors.Is(err, stop) || content() != "three" {
		t.Errorf("a write that fails: %v, and the file has %q", err, content())
	}
	if err := rootfile.Replace(root, "../b.txt", 0o600, rootfile.Bytes(nil)); err == nil {
		t.Error("a file outside of the folder is written")
	}
	names, err := fs.Glob(root.FS(), "*")
	if err != nil || len(names) != 1 {
		t.Errorf("the folder holds %v, want a.txt alone", names)
	}
}

// TestCreateWithoutLinks: where a file system has no hard links, a new file is renamed,
// and a file that is there stays.
func TestCreateWithoutLinks(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	noLinks := func(from, to string) error {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: errors.ErrUnsupported}
	}
	for i, want := range []error{nil, fs.ErrExist} {
		if err := root.WriteFile("from", []byte{byte('a' + i)}, 0o600); err != nil {
			t.Fatal(err)
		}
		err := rootfile.CreateWith("from", "to", noLinks, root.Rename, root.Remove, root.Lstat)
		if content, _ := root.ReadFile("to"); !errors.Is(err, want) || string(content) != "a" {
			t.Errorf("create: %v, want %v; the file has %q", err, want, content)
		}
	}
}

// TestChange: a file is replaced only while it has what the caller read.
func TestChange(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if err := root.WriteFile("a", []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := errors.New("changed")
	for _, refused := range []error{changed, nil} {
		err := rootfile.Change(root, "a", 0o600, rootfile.Bytes([]byte("two")), func() error { return refused })
		if content, _ := root.ReadFile("a"); !errors.Is(err, refused) || (string(content) == "two") != (refused == nil) {
			t.Errorf("%v, want %v; the file has %q", err, refused, content)
		}
	}
	names, err := fs.Glob(root.FS(), "*")
	if err != nil || len(names) != 1 {
		t.Errorf("the folder holds %v", names)
	}
}
