package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// DiskError says that the file of an index cannot be written.
type DiskError struct{ Err error }

func (e *DiskError) Error() string {
	said, _, _ := strings.Cut(e.Err.Error(), "\n")
	return "the audit index cannot be written, as on a disk that is full or read-only: " + said
}

// Unwrap returns what the system says.
func (e *DiskError) Unwrap() error { return e.Err }

// explained makes an error of the disk a DiskError.
func explained(err error) error {
	if _, ok := errors.AsType[*DiskError](err); ok || err == nil || unusable(err) {
		return err
	}
	for _, of := range []error{
		sqlite3.FULL, sqlite3.READONLY, sqlite3.CANTOPEN, sqlite3.IOERR, fs.ErrPermission, syscall.ENOSPC, syscall.EROFS,
	} {
		if errors.Is(err, of) {
			return &DiskError{err}
		}
	}
	return err
}

// MovedError says that an index in another folder takes the place of one that cannot be
// written.
type MovedError struct {
	Folder string
	Cause  error
}

func (e *MovedError) Error() string {
	return e.Cause.Error() + "; one in " + e.Folder + " takes its place until the server stops"
}

// Unwrap returns why.
func (e *MovedError) Unwrap() error { return e.Cause }

// OpenAnywhere is Open for a server, which has to answer on a disk that is full or
// read-only too: when the file cannot be written, at once or later, one in a folder for
// temporary files takes its place. Close deletes that.
func OpenAnywhere(ctx context.Context, dir, path string) (*Index, error) {
	return start(ctx, dir, path, temporary())
}

// temporary lists folders for an index that cannot be where it should be: on a machine
// with one disk the first is full, too, and the second is in memory.
var temporary = func() []string { return []string{os.TempDir(), "/dev/shm"} }

// retry is how long after a search for another folder none is made.
const retry = time.Minute

// roam moves the index to another folder after cause. It returns an error when there is no
// cause for that, and when no folder will do. The caller holds x.updating.
func (x *Index) roam(ctx context.Context, cause error) error {
	disk, ok := errors.AsType[*DiskError](explained(cause))
	if !ok || len(x.folders) == 0 || ctx.Err() != nil || time.Since(x.searched) < retry {
		return cause
	}
	for x.place < len(x.folders) {
		parent := x.folders[x.place]
		x.place++
		folder, err := os.MkdirTemp(parent, "ktx-index-")
		if err != nil {
			continue
		}
		if err := x.settle(ctx, filepath.Join(folder, "index.db"), folder); err == nil {
			x.moved.Store(&MovedError{folder, disk})
			return nil
		}
	}
	// All have been tried. It may be possible again where it should be.
	x.place, x.searched = 0, time.Now()
	_ = x.settle(ctx, x.home, "") // the next question says what is wrong
	return cause
}

// settle takes the file at path from now on. folder is the one to delete with it.
func (x *Index) settle(ctx context.Context, path, folder string) error {
	x.dropIdle()
	w := x.writer
	x.writer = nil
	_ = w.close() // it cannot be written
	if x.folder != "" {
		_ = os.RemoveAll(x.folder) // it holds nothing that the log does not hold
	}
	x.path, x.folder = path, folder
	return x.openWriter(ctx)
}
