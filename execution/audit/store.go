package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

const (
	lockName   = "lock"
	keyName    = "key"
	anchorName = "anchor.json"

	segmentPrefix = "audit-"
	segmentSuffix = ".jsonl"

	dirMode  = 0o700
	fileMode = 0o600
)

// store is an open log directory: its root, and the lock that one append at a
// time holds.
type store struct {
	path string
	root *os.Root
	lock *os.File
}

// openStore creates path when it is missing, narrows its mode to 0700, and
// opens it without taking the lock.
func openStore(path string) (*store, error) {
	if err := os.MkdirAll(path, dirMode); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	s := &store{path: path, root: root}
	if err := s.narrow(".", dirMode); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if s.lock, err = root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, fileMode); err == nil {
		err = s.narrow(lockName, fileMode)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *store) close() error {
	var err error
	if s.lock != nil {
		err = s.lock.Close()
	}
	return errors.Join(err, s.root.Close())
}

// moved reports whether the directory or its lock file has been replaced since
// it was opened, so that another process would take another lock.
func (s *store) moved() bool {
	held, err := s.lock.Stat()
	if err != nil {
		return true
	}
	now, err := os.Stat(filepath.Join(s.path, lockName))
	return err != nil || !os.SameFile(held, now)
}

// narrow removes every permission from name that mode does not have.
func (s *store) narrow(name string, mode fs.FileMode) error {
	if runtime.GOOS == "windows" { // modes do not control access there
		return nil
	}
	info, err := s.root.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&^mode == 0 {
		return nil
	}
	if err := s.root.Chmod(name, info.Mode().Perm()&mode); err != nil {
		return fmt.Errorf("narrow the mode of %s from %v to %v: %w", name, info.Mode().Perm(), mode, err)
	}
	return nil
}

// open opens an existing file of the log and narrows its mode.
func (s *store) open(name string, flag int) (*os.File, error) {
	if err := regular(s.root, name); err != nil {
		return nil, err
	}
	if err := s.narrow(name, fileMode); err != nil {
		return nil, err
	}
	return s.root.OpenFile(name, flag, fileMode)
}

// openRegular opens a file for reading.
func openRegular(root *os.Root, name string) (*os.File, error) {
	if err := regular(root, name); err != nil {
		return nil, err
	}
	return root.Open(name)
}

// regular returns an error for a link, a directory, a pipe or a device in place
// of a file of the log.
func regular(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", name)
	}
	return nil
}

// create creates a file that must not exist yet.
func (s *store) create(name string) (*os.File, error) {
	return s.root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
}

// replace replaces the content of name with data atomically, and flushes it
// when flush is set. The caller holds the lock.
func (s *store) replace(name string, data []byte, flush bool) error {
	temp, err := s.temporary(name, data, flush)
	if err == nil {
		err = s.root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(s.root.Remove(temp)))
	}
	return nil
}

// temporary writes data to a new file beside name. It returns the file's name,
// also with an error. It first removes a temporary file that a crash left.
func (s *store) temporary(name string, data []byte, flush bool) (temp string, err error) {
	temp = name + ".tmp"
	if err := ignoreMissing(s.root.Remove(temp)); err != nil {
		return temp, err
	}
	f, err := s.create(temp)
	if err != nil {
		return temp, err
	}
	_, err = f.Write(data)
	if err == nil && flush {
		err = f.Sync()
	}
	return temp, errors.Join(err, f.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// segmentName returns the file name of segment n.
func segmentName(n int) string {
	return fmt.Sprintf("%s%06d%s", segmentPrefix, n, segmentSuffix)
}

// segmentNumber returns n for the name of segment n.
func segmentNumber(name string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(name, segmentPrefix)
	if !ok {
		return 0, false
	}
	if digits, ok = strings.CutSuffix(digits, segmentSuffix); !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && segmentName(n) == name
}

// segments lists the numbers of the segments in root, in order. A listing may
// miss a file that is created meanwhile and yet contain the one created after
// it. A second listing contains every file that is older than the last file of
// the first listing.
func segments(root *os.Root) ([]int, error) {
	first, err := listSegments(root)
	if err != nil || len(first) == 0 || first[len(first)-1]-first[0] == len(first)-1 {
		return first, err
	}
	second, err := listSegments(root)
	return slices.DeleteFunc(second, func(n int) bool { return n > first[len(first)-1] }), err
}

func listSegments(root *os.Root) ([]int, error) {
	names, err := names(root)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, name := range names {
		if n, ok := segmentNumber(name); ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func names(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	list, err := dir.Readdirnames(-1)
	return list, errors.Join(err, dir.Close())
}
