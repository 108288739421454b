//go:build !(csqlite && cgo && (linux || darwin))

package engine

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// TempFiles is the file system of one session. It is that of the operating system,
// except that the session's temporary files together may not grow beyond a limit.
// The engine makes such files for sorts and for tables that it needs in between.
type TempFiles struct {
	vfs.VFSFilename
	name string // under which the engine finds it

	limit, used atomic.Int64
	full        atomic.Bool
}

// tempNames numbers the file systems of the process.
var tempNames atomic.Int64

// NewTempFiles returns a file system that permits no temporary files until Begin is
// called. The caller closes it.
func NewTempFiles() *TempFiles {
	system, ok := vfs.Find("os").(vfs.VFSFilename)
	if !ok {
		panic("the engine's own file system opens no file names")
	}
	t := &TempFiles{VFSFilename: system, name: "ktx-" + strconv.FormatInt(tempNames.Add(1), 10)}
	vfs.Register(t.name, t)
	return t
}

// Close forgets the file system, once the connection is closed.
func (t *TempFiles) Close() { vfs.Unregister(t.name) }

// uri names a file of this file system (https://sqlite.org/uri.html). path is
// absolute.
func (t *TempFiles) uri(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: "vfs=" + t.name}).String()
}

// FullPathname returns the absolute path of a file. The URI of a file with a drive letter
// has a slash before the letter, which Windows does not take in a path.
func (t *TempFiles) FullPathname(path string) (string, error) {
	if rest, slash := strings.CutPrefix(path, "/"); slash && filepath.VolumeName(rest) != "" {
		path = filepath.FromSlash(rest)
	}
	return t.VFSFilename.FullPathname(path)
}

// Begin sets the limit of the next statement, in bytes.
func (t *TempFiles) Begin(limit int64) {
	t.limit.Store(limit)
	t.full.Store(false)
}

// Reached reports whether the statement needed more than its limit.
func (t *TempFiles) Reached() bool { return t.full.Load() }

// OpenFilename opens a file. A file without a name is a temporary one.
func (t *TempFiles) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	file, flags, err := t.VFSFilename.OpenFilename(name, flags)
	if err != nil || name != nil {
		return file, flags, err
	}
	return &tempFile{File: file, files: t}, flags, nil
}

// tempFile is a temporary file. The engine uses it from one goroutine.
type tempFile struct {
	vfs.File
	files *TempFiles
	size  int64
}

// WriteAt refuses a write that would exceed the limit.
func (f *tempFile) WriteAt(b []byte, at int64) (int, error) {
	if grow := at + int64(len(b)) - f.size; grow > 0 {
		if f.files.used.Add(grow) > f.files.limit.Load() {
			f.files.used.Add(-grow)
			f.files.full.Store(true)
			return 0, sqlite3.FULL
		}
		f.size += grow
	}
	return f.File.WriteAt(b, at)
}

// Truncate cuts the file.
func (f *tempFile) Truncate(size int64) error {
	err := f.File.Truncate(size)
	if err == nil && size < f.size {
		f.files.used.Add(size - f.size)
		f.size = size
	}
	return err
}

// Close removes the file.
func (f *tempFile) Close() error {
	f.files.used.Add(-f.size)
	f.size = 0
	return f.File.Close()
}
