package wiki

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/research/rootfile"
)

// MaxPages is how many pages of a scope are read. Further ones, by name, are left
// out with a warning.
const MaxPages = 10_000

// maxBytes is the size of all pages of a scope that are read, in bytes. Further ones,
// by name, are left out with a warning.
const maxBytes = 64 << 20

// settled is the age from which the time of a file tells whether it changed. Before
// that, a file may be written twice within one tick of the file system's clock.
const settled = 2 * time.Second

// file is what the store remembers of the file of a page.
type file struct {
	scope Scope
	key   string
	size  int64
	time  int64 // of the last change, in nanoseconds

	// young says that the file was not settled when it was read. Its content is
	// then compared at the next call.
	young bool
	sum   [sha256.Size]byte
	page  *Page // nil if the file could not be read
	fault string
}

// same reports whether a listed file looks as f did.
func (f *file) same(listed *file) bool { return f.size == listed.size && f.time == listed.time }

// list returns the files of a scope, sorted by key, without their contents.
func (s *Store) list(scope Scope) (files []*file, warnings []string, err error) {
	folder, err := rootfile.OpenFolder(s.root, s.dir(scope))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the wiki: %w", err)
	}
	defer func() { _ = folder.Close() }()
	keys, warnings, err := s.keysIn(folder.Root(), scope)
	if err != nil {
		return nil, nil, fmt.Errorf("read the wiki: %w", err)
	}
	slices.Sort(keys)
	if len(keys) > MaxPages {
		warnings = append(warnings, fmt.Sprintf("%s has %d pages; the first %d by name are read", s.dir(scope), len(keys), MaxPages))
		keys = keys[:MaxPages]
	}
	total := int64(0)
	for _, key := range keys {
		info, err := folder.Lstat(key + extension)
		if err == nil && info.Mode&fs.ModeSymlink != 0 {
			info, err = rootfile.Stat(s.root, s.Path(scope, key)) // it may lead to another folder of the project
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since it was listed, or a link that leads nowhere
		}
		if err == nil && info.Mode.IsDir() {
			continue
		}
		f := &file{scope: scope, key: key}
		switch {
		case err != nil:
			f.fault = "it cannot be read: " + reason(err)
		case !info.Mode.IsRegular():
			f.fault = "it is not a regular file"
		case info.Size > MaxPage:
			f.size, f.time = info.Size, info.Modified.UnixNano()
			f.fault = fmt.Sprintf("it has %d bytes; at most %d are read, so divide the page", info.Size, MaxPage)
		default:
			f.size, f.time = info.Size, info.Modified.UnixNano()
			if total += f.size; total > maxBytes {
				f.fault = fmt.Sprintf("the pages before it, by name, have %d MiB, and no more are read", maxBytes>>20)
			}
		}
		files = append(files, f)
	}
	return files, warnings, nil
}

// keysIn returns the keys of the files in a folder, not sorted.
func (s *Store) keysIn(folder *os.Root, scope Scope) (keys, warnings []string, err error) {
	dir, err := folder.Open(".")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = dir.Close() }()
	for {
		names, err := dir.Readdirnames(1000)
		for _, name := range names {
			if key, ok := strings.CutSuffix(name, extension); ok && ValidKey(key) {
				keys = append(keys, key)
			}
		}
		if errors.Is(err, io.EOF) {
			return keys, warnings, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if len(keys) > 20*MaxPages {
			return keys, []string{fmt.Sprintf("%s has more than %d files; those after them are not listed", s.dir(scope), 20*MaxPages)}, nil
		}
	}
}

// load reads the content of a listed file.
func (s *Store) load(f *file) {
	if f.fault != "" {
		return
	}
	name := s.Path(f.scope, f.key)
	f.young = s.now().Sub(time.Unix(0, f.time)) < settled
	text, err := readLimited(s.root, name)
	if err != nil {
		f.fault = "it cannot be read: " + reason(err)
		return
	}
	f.sum = sha256.Sum256(text)
	f.page = Parse(f.scope, f.key, name, text)
}

// readLimited reads a file of at most [MaxPage] bytes.
func readLimited(root *os.Root, name string) ([]byte, error) {
	f, _, err := rootfile.Open(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, MaxPage+1))
	if err == nil && len(text) > MaxPage {
		err = fmt.Errorf("it has more than %d bytes", MaxPage)
	}
	return text, err
}

// reason returns the message of an error without the path of the project.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// byName orders files by key, and those of a user first.
func byName(a, b *file) int {
	return cmp.Or(strings.Compare(a.key, b.key), -strings.Compare(string(a.scope), string(b.scope)))
}
