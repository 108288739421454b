package dictionary

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
)

// Store keeps the values of connections in memory, and reads them again when they
// have changed. It is safe for concurrent use.
type Store struct {
	root *os.Root // the project's folder
	mu   sync.Mutex
	sets map[string]*entry // by connection
}

// entry is the latest set of a connection. A call that finds it current takes it
// without waiting.
type entry struct {
	building sync.Mutex
	latest   atomic.Pointer[stamped]
}

// stamped is a set with the identity of what it was built from.
type stamped struct {
	identity string
	set      *Set
}

// NewStore returns a store over the folder of a project. It opens no file yet, and
// the caller closes root after the last use of the store.
func NewStore(root *os.Root) *Store { return &Store{root: root, sets: map[string]*entry{}} }

// Set returns the values of a connection as they are now on disk. A values file that
// is damaged is a warning of the set, which then has the samples of the snapshot.
func (s *Store) Set(snapshot Snapshot, access Access) (*Set, error) {
	e := s.entry(snapshot.ConnectionID())
	identity := s.identity(snapshot, access)
	if latest := e.latest.Load(); latest != nil && latest.identity == identity {
		return latest.set, nil
	}
	e.building.Lock() // one build at a time
	defer e.building.Unlock()
	identity = s.identity(snapshot, access)
	if latest := e.latest.Load(); latest != nil && latest.identity == identity {
		return latest.set, nil
	}
	set, err := s.build(snapshot, access)
	if err != nil {
		return nil, err
	}
	e.latest.Store(&stamped{identity: identity, set: set})
	return set, nil
}

func (s *Store) entry(connectionID string) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.sets[connectionID]
	if e == nil {
		e = &entry{}
		s.sets[connectionID] = e
	}
	return e
}

// file returns the name of the values file of a snapshot, or "" if there can be
// none.
func (s *Store) file(snapshot Snapshot) string {
	dir, err := valuesDir(snapshot.ConnectionID(), snapshot.SyncID())
	if err != nil {
		return ""
	}
	return path.Join(dir, valuesFile)
}

// identity says in a few bytes what a set is built from. Of the values file it has
// the size, the time and the header, which holds a checksum of the rest.
func (s *Store) identity(snapshot Snapshot, access Access) string {
	id := strconv.Quote(snapshot.Identity()) + strconv.Quote(snapshot.SyncID()) + strconv.Quote(access.ID())
	name := s.file(snapshot)
	if name == "" {
		return id
	}
	f, info, err := openFile(s.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return id
	}
	if err != nil {
		return id + strconv.Quote(err.Error())
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, headerSize)
	n, _ := f.ReadAt(head, 0) // a short file is damaged, which build finds out
	return id + fmt.Sprintf("%d %d %x", info.Size(), info.ModTime().UnixNano(), head[:n])
}

// build reads the values file, and makes a set of it and of the snapshot.
func (s *Store) build(snapshot Snapshot, access Access) (*Set, error) {
	warning := ""
	if name := s.file(snapshot); name != "" {
		file, err := readLimited(s.root, name)
		if err == nil {
			var set *Set
			if set, err = newSet(snapshot, access, file); err == nil {
				return set, nil
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			warning = fmt.Sprintf("%s cannot be used, so only the sample values of the scan are searched: %v; run ktx scan %s", name, err, snapshot.ConnectionID())
		}
	}
	set, err := newSet(snapshot, access, nil)
	if err != nil {
		return nil, fmt.Errorf("read values of %s: %w", snapshot.ConnectionID(), err)
	}
	if warning != "" {
		set.warnings = append(set.warnings, warning)
	}
	return set, nil
}
