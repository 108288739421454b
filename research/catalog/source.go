package catalog

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// settleTime is how long after its last change a file is compared by content. In
// that time it may change again and keep its size and its time of change.
const settleTime = 2 * time.Second

// A source is a file as it was when it was read. It may be a file that is not
// there, or that must not be read.
type source struct {
	hash    [sha256.Size]byte
	problem problem
	seen    atomic.Pointer[seen] // replaced when a file was touched and has equal content
}

// seen is how the file system describes a file.
type seen struct {
	size, modified int64 // bytes; nanoseconds since 1970
	settled        bool  // nothing can have changed since without a change of the two
}

// folderTime returns when a folder last got or lost a name, or 0 when that is too
// short ago to tell a further change by it.
func folderTime(dir *os.Root, name string, now time.Time) int64 {
	info, err := dir.Lstat(name)
	if err != nil || !info.IsDir() {
		return 0
	}
	if modified := info.ModTime().UnixNano(); modified < now.Add(-settleTime).UnixNano() {
		return modified
	}
	return 0
}

// A problem says why the content of a file is not known.
type problem string

const (
	absent     problem = "it is not there"
	irregular  problem = "it is not a regular file"
	tooLarge   problem = "it is too large"
	unreadable problem = "it cannot be read"
)

func describe(info fs.FileInfo, limit int64, now time.Time) (seen, problem) {
	return judge(info.Mode().IsRegular(), info.Size(), info.ModTime().UnixNano(), limit, now)
}

func judge(regular bool, size, modified, limit int64, now time.Time) (seen, problem) {
	s := seen{size: size, modified: modified}
	s.settled = s.modified < now.Add(-settleTime).UnixNano()
	switch {
	case !regular:
		return s, irregular
	case s.size > limit:
		return s, tooLarge
	default:
		return s, ""
	}
}

// look describes the file without reading it. It follows no link.
func look(dir *os.Root, name string, limit int64, now time.Time) (seen, problem) {
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return seen{}, absent
	case err != nil:
		return seen{}, unreadable
	}
	return describe(info, limit, now)
}

// read returns the content of a file and its source. When the source has a
// problem, there is no content.
func read(dir *os.Root, name string, limit int64, now time.Time) ([]byte, *source) {
	failed := func(s seen, p problem) ([]byte, *source) {
		src := &source{problem: p}
		src.seen.Store(&s)
		return nil, src
	}
	if s, p := look(dir, name, limit, now); p != "" {
		return failed(s, p)
	}
	// A file that was replaced by a pipe must not block.
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return failed(seen{}, absent)
		}
		return failed(seen{}, unreadable)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return failed(seen{}, unreadable)
	}
	s, p := describe(info, limit, now)
	if p != "" {
		return failed(s, p)
	}
	content := make([]byte, s.size)
	n, err := io.ReadFull(f, content)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return failed(s, unreadable)
	}
	content = content[:n]
	src := &source{hash: sha256.Sum256(content)}
	src.seen.Store(&s)
	return content, src
}

// same reports whether the file is still what src was made from.
func (src *source) same(dir *os.Root, name string, limit int64, now time.Time) bool {
	s, p := look(dir, name, limit, now)
	return src.unchanged(s, p, dir, name, limit, now)
}

// unchanged is same for a file that was looked at.
func (src *source) unchanged(s seen, p problem, dir *os.Root, name string, limit int64, now time.Time) bool {
	was := src.seen.Load()
	if p != "" || src.problem != "" {
		return p == src.problem && (p == absent || s.size == was.size && s.modified == was.modified)
	}
	if s.size != was.size {
		return false
	}
	if s.modified == was.modified && was.settled {
		return true
	}
	_, again := read(dir, name, limit, now)
	if again.problem != "" || again.hash != src.hash {
		return false
	}
	src.seen.Store(again.seen.Load())
	return true
}

// warn returns the warning that a file is left out.
func warn(code, file, format string, args ...any) Warning {
	return Warning{Code: code, Message: file + ": " + fmt.Sprintf(format, args...), Recoverable: true}
}
