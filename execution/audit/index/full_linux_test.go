package index_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/audit/index"
)

// fill leaves no space on a disk. It returns what makes space again.
func fill(t *testing.T, disk string) (free func()) {
	t.Helper()
	path := filepath.Join(disk, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	if err := f.Close(); err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func empty(t *testing.T, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%s has %v, error %v", folder, left, err)
	}
}

// TestAFullDisk has an index on a disk that is full from the beginning, or becomes full
// while a server answers.
func TestAFullDisk(t *testing.T) {
	disk, mounted := audittest.SmallDisk(t, 1<<20)
	if !mounted {
		return
	}
	dir, elsewhere := filepath.Join(t.TempDir(), "audit"), t.TempDir()
	// The first folder for temporary files is on the full disk.
	t.Cleanup(index.SetTemporary(disk, elsewhere))
	write(t, dir, 0, 200)
	path := filepath.Join(disk, "index.db")
	x, err := index.OpenAnywhere(t.Context(), dir, path)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, x, 200)
	empty(t, elsewhere)
	free := fill(t, disk)
	write(t, dir, 200, 200)
	whole(t, x, 400)
	ctx, cancel := context.WithCancel(t.Context())
	var said []error
	x.Run(ctx, func(err error) { said = append(said, err); cancel() })
	if len(said) != 1 {
		t.Fatalf("said %v", said)
	}
	if _, ok := errors.AsType[*index.MovedError](said[0]); !ok {
		t.Errorf("said %v", said[0])
	}
	write(t, dir, 400, 1)
	whole(t, x, 401)
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	empty(t, elsewhere)

	// The same for a server that starts on the full disk. A command is told.
	if x, err = index.OpenAnywhere(t.Context(), dir, path); err != nil {
		t.Fatal(err)
	}
	whole(t, x, 401)
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	empty(t, elsewhere)
	ask := func() error {
		x, err := index.Open(t.Context(), dir, path)
		if err != nil {
			return err
		}
		_, err = x.Statements(t.Context(), audit.Filter{}, index.Page{})
		return errors.Join(err, x.Close())
	}
	if _, ok := errors.AsType[*index.DiskError](ask()); !ok {
		t.Errorf("a command on the full disk: %v", ask())
	}
	free()
	if err := ask(); err != nil {
		t.Errorf("with space again: %v", err)
	}

	// With no other folder, a server says it, and answers when there is space again.
	index.SetTemporary(disk)
	if x, err = index.OpenAnywhere(t.Context(), dir, path); err != nil {
		t.Fatal(err)
	}
	free = fill(t, disk)
	write(t, dir, 401, 200)
	for range 3 {
		_, err := x.Statements(t.Context(), audit.Filter{}, index.Page{})
		if _, ok := errors.AsType[*index.DiskError](err); !ok {
			t.Errorf("with no other folder: %v", err)
		}
	}
	free()
	whole(t, x, 601)
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// TestAReadOnlyDisk has log and index on a disk that becomes read-only.
func TestAReadOnlyDisk(t *testing.T) {
	disk, mounted := audittest.SmallDisk(t, 2<<20)
	if !mounted {
		return
	}
	dir, path, elsewhere := filepath.Join(disk, "audit"), filepath.Join(disk, "index.db"), t.TempDir()
	t.Cleanup(index.SetTemporary(elsewhere))
	write(t, dir, 0, 50)
	x, err := index.Open(t.Context(), dir, path)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, x, 50)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, 50, 50)
	remount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	defer remount(0)
	if _, err := index.Open(t.Context(), dir, path); err == nil {
		t.Error("a command writes to a read-only disk")
	} else if _, ok := errors.AsType[*index.DiskError](err); !ok {
		t.Errorf("a command: %v", err)
	}
	if x, err = index.OpenAnywhere(t.Context(), dir, path); err != nil {
		t.Fatal(err)
	}
	whole(t, x, 100)
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	empty(t, elsewhere)
}
