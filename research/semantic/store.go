package semantic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/research/rootfile"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// Folder is the folder of a project that holds one folder of files for each connection.
const Folder = "semantic-layer"

// Store reads the models of a project. It is safe for concurrent use.
type Store struct {
	root *os.Root // the project's folder
	now  func() time.Time

	mu          sync.Mutex
	connections map[string]*connection
}

// NewStore returns a store over the folder of a project. It opens no file, and the
// caller closes root. now tells the time, by which the store knows whether a file may
// still be changing.
func NewStore(root *os.Root, now func() time.Time) *Store {
	return &Store{root: root, now: now, connections: map[string]*connection{}}
}

// Rules are what a connection says about its tables and its SQL.
type Rules struct {
	// Dialect is the connection's, or "" if ktx cannot read its SQL.
	Dialect emit.Dialect
	// Access says what the rules of the connection permit to be read.
	Access Access
	// Judge asks the connection's guard about the body of a source with sql. Nil means
	// that ktx cannot read the connection's SQL, and such sources are refused.
	Judge model.Judge
	// JudgeID is equal for two judges that give the same answers.
	JudgeID string
}

func (r *Rules) id() string { return r.Access.ID() + " " + r.JudgeID + " " + string(r.Dialect) }

// connection is what the store knows of one connection.
type connection struct {
	state    atomic.Pointer[state] // replaced as a whole
	building chan struct{}         // held by the one call that reads the files
}

// state is what the files said last, with the snapshot made from them.
type state struct {
	stamps   []stamp
	read     time.Time // when the listing that gave stamps began
	rules    string
	snapshot *Snapshot
}

var connectionIDs = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]*$`)

// Snapshot returns the model of a connection as its files are now. A connection without
// files has a model without sources. Every call compares the files with those of the
// present snapshot. If one changed, one call reads them, and calls that began after the
// change wait.
func (s *Store) Snapshot(ctx context.Context, connectionID string, rules Rules) (*Snapshot, error) {
	if !connectionIDs.MatchString(connectionID) {
		return nil, fmt.Errorf("semantic layer of %q: it is not the id of a connection", connectionID)
	}
	c := s.connection(connectionID)
	if st := c.state.Load(); st != nil && st.rules == rules.id() && s.fresh(connectionID, st) {
		return st.snapshot, nil
	}
	select {
	case c.building <- struct{}{}:
		defer func() { <-c.building }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	st := c.state.Load()
	if st != nil && st.rules == rules.id() && s.fresh(connectionID, st) {
		return st.snapshot, nil
	}
	st, err := s.build(ctx, connectionID, st, rules)
	if err != nil {
		return nil, err
	}
	c.state.Store(st)
	return st.snapshot, nil
}

func (s *Store) connection(id string) *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.connections[id]
	if c == nil {
		c = &connection{building: make(chan struct{}, 1)}
		s.connections[id] = c
	}
	return c
}

// fresh reports whether the files are still those of st.
func (s *Store) fresh(connectionID string, st *state) bool {
	if young(st.stamps, st.read) {
		return false
	}
	stamps, err := s.list(connectionID)
	return err == nil && sameStamps(stamps, st.stamps)
}

// Authored reports whether the connection has files that a person wrote, beside those of
// a scan. It reads none of them. A folder that cannot be listed counts as one that has,
// so that [Store.Snapshot] says what is wrong with it.
func (s *Store) Authored(connectionID string) bool {
	dir, err := open(s.root, connectionID)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = dir.Close() }()
	entries, err := fs.ReadDir(dir.FS(), ".")
	return err != nil || slices.ContainsFunc(entries, isSource)
}

// list lists the files of a connection. A connection without a folder has none.
func (s *Store) list(connectionID string) ([]stamp, error) {
	dir, err := open(s.root, connectionID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	return list(dir)
}

// maxReads is how often build reads files that change meanwhile.
const maxReads = 20

// build reads the files. It reads again when they changed meanwhile, so that what it
// returns was on disk at one moment. The clock of a file system has ticks of some
// milliseconds, within which a file can change without another time: the contents of files
// that were written just now are compared too. before may be nil.
func (s *Store) build(ctx context.Context, connectionID string, before *state, rules Rules) (*state, error) {
	st := &state{rules: rules.id()}
	var content files
	for try := range maxReads {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		st.read = s.now()
		var err error
		if st.stamps, content, err = s.load(connectionID); err != nil {
			return nil, fmt.Errorf("read %s/%s: %w", Folder, connectionID, err)
		}
		if try == maxReads-1 {
			break
		}
		after, err := s.list(connectionID)
		if err != nil || !sameStamps(after, st.stamps) {
			continue
		}
		if !young(st.stamps, st.read) {
			break
		}
		if _, again, err := s.load(connectionID); err == nil && maps.EqualFunc(content, again, bytes.Equal) {
			break
		}
	}
	if before == nil {
		st.snapshot = newSnapshot(connectionID, content, nil, rules)
		return st, nil
	}
	if before.rules == st.rules && maps.EqualFunc(before.snapshot.files, content, bytes.Equal) {
		st.snapshot = before.snapshot // a file was touched
		return st, nil
	}
	st.snapshot = newSnapshot(connectionID, content, before.snapshot.folder, rules)
	return st, nil
}

func (s *Store) load(connectionID string) ([]stamp, files, error) {
	dir, err := open(s.root, connectionID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, files{}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = dir.Close() }()
	stamps, err := list(dir)
	if err != nil {
		return nil, nil, err
	}
	content, err := read(dir, stamps)
	return stamps, content, err
}

// Add writes a new file to the folder of a connection. It never replaces a file.
func (s *Store) Add(connectionID, name string, content []byte) error {
	if !connectionIDs.MatchString(connectionID) {
		return fmt.Errorf("semantic layer of %q: it is not the id of a connection", connectionID)
	}
	folder := path.Join(Folder, connectionID)
	if err := s.root.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", folder, err)
	}
	return rootfile.Create(s.root, path.Join(folder, name), 0o644, rootfile.Bytes(content))
}
