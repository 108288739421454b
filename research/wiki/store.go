package wiki

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/research/rank"
)

// Store reads and writes the pages of a project. It is safe for concurrent use.
type Store struct {
	root     *os.Root
	user     string
	analyzer *rank.Analyzer
	now      func() time.Time

	building sync.Mutex // one build at a time
	current  atomic.Pointer[Snapshot]
}

// Options are the settings of a [Store].
type Options struct {
	// User owns the pages in wiki/user/<User>. It must be a valid key.
	User string
	// Analyzer divides texts and questions into words.
	Analyzer *rank.Analyzer
	// Now tells the time. Files that changed within the last two seconds are
	// read again at the next call.
	Now func() time.Time
}

// DefaultUser owns the pages of a user if the project does not name one.
const DefaultUser = "local"

// New returns a store over the folder of a project. It opens no file, and the
// caller closes root.
func New(root *os.Root, o Options) *Store {
	if o.User == "" {
		o.User = DefaultUser
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{root: root, user: o.User, analyzer: o.Analyzer, now: o.Now}
}

// Owner returns the user whose pages the store reads.
func (s *Store) Owner() string { return s.user }

// NotFoundError says that no page has a key.
type NotFoundError struct {
	Key     string
	Nearest []string // keys that are alike, at most 5
}

// Error names the key and what to do.
func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("Wiki page %q was not found.", e.Key)
	if len(e.Nearest) > 0 {
		text += " Nearest: " + strings.Join(e.Nearest, ", ") + "."
	}
	return text
}

// UnreadableError says that the file of a page cannot be read: it leads out of the
// project, is too long or no file.
type UnreadableError struct{ Key, Reason string }

// Error names the key and the reason.
func (e *UnreadableError) Error() string {
	return fmt.Sprintf("Wiki page %q cannot be read: %s.", e.Key, e.Reason)
}

// Read returns the page of a key: that of the user, else the global one. The error
// is a *[NotFoundError] if there is none, an *[UnreadableError] if its file cannot be
// read, and wraps [ErrKey] if key is no key.
func (s *Store) Read(key string) (*Page, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	for _, scope := range scopes {
		text, err := readLimited(s.root, s.Path(scope, key))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, &UnreadableError{Key: key, Reason: reason(err)}
		}
		return Parse(scope, key, s.Path(scope, key), text), nil
	}
	missing := &NotFoundError{Key: key}
	if keys, err := s.Keys(); err == nil {
		// The page may have come since it was looked for. A page that is not there is
		// not said to be near.
		keys = slices.DeleteFunc(keys, func(k string) bool { return k == key })
		missing.Nearest = Nearest(key, keys, 5)
	}
	return nil, missing
}

// Raw returns the file of a page, or fs.ErrNotExist.
func (s *Store) Raw(scope Scope, key string) ([]byte, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	return readLimited(s.root, s.Path(scope, key))
}

// Keys returns the keys of all pages, sorted, each once.
func (s *Store) Keys() ([]string, error) {
	var keys []string
	for _, scope := range scopes {
		files, _, err := s.list(scope)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			keys = append(keys, f.key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// Snapshot returns the pages as they are now. It reads only what changed since the
// call before. One call at a time reads; the others wait for it.
func (s *Store) Snapshot() (*Snapshot, error) {
	if now, err := s.unchanged(); now != nil || err != nil {
		return now, err
	}
	s.building.Lock()
	defer s.building.Unlock()
	if now, err := s.unchanged(); now != nil || err != nil { // another call has built it
		return now, err
	}
	before := s.current.Load()
	next := &Snapshot{analyzer: s.analyzer}
	for _, scope := range scopes {
		files, warnings, err := s.list(scope)
		if err != nil {
			return nil, err
		}
		next.warnings = append(next.warnings, warnings...)
		s.read(files, before)
		next.files = append(next.files, files...)
	}
	next.finish(s, before)
	s.current.Store(next)
	return next, nil
}

// unchanged returns the present snapshot if the files are those that it was made
// of, and nil otherwise.
func (s *Store) unchanged() (*Snapshot, error) {
	now := s.current.Load()
	if now == nil {
		return nil, nil //nolint:nilnil // nil says that there is no such snapshot
	}
	var files []*file
	for _, scope := range scopes {
		list, _, err := s.list(scope)
		if err != nil {
			return nil, err
		}
		files = append(files, list...)
	}
	if len(files) != len(now.files) {
		return nil, nil //nolint:nilnil // as above
	}
	for i, listed := range files {
		known := now.files[i]
		if listed.key != known.key || listed.scope != known.scope || !s.holds(known, listed) {
			return nil, nil //nolint:nilnil // as above
		}
	}
	return now, nil
}

// holds reports whether what is known of a file is still true.
func (s *Store) holds(known, listed *file) bool {
	if !known.same(listed) || (known.page == nil) != (listed.fault != "") {
		return false
	}
	return !known.young
}

// read fills in the contents of listed files. It takes those of the snapshot before
// if the file has not changed.
func (s *Store) read(files []*file, before *Snapshot) {
	var known []*file
	if before != nil {
		known = before.files
	}
	for _, f := range files {
		i, found := slices.BinarySearchFunc(known, f, inOrder)
		if found && s.holds(known[i], f) {
			*f = *known[i]
			continue
		}
		s.load(f)
		if found && f.page != nil && known[i].page != nil && f.sum == known[i].sum {
			f.page = known[i].page // so that its index can be kept
		}
	}
}

// inOrder orders files as they are in a snapshot: by scope, those of the user
// first, then by key.
func inOrder(a, b *file) int {
	if a.scope != b.scope {
		return slices.Index(scopes, a.scope) - slices.Index(scopes, b.scope)
	}
	return strings.Compare(a.key, b.key)
}
