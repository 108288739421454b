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
