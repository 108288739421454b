package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ErrNoScan says that a connection has no scan that can be read.
var ErrNoScan = errors.New("there is no scan")

// Store reads the scans of a project. It is safe for concurrent use.
type Store struct {
	root *os.Root // the project's folder
	now  func() time.Time

	mu          sync.Mutex
	connections map[string]*connection
}

// NewStore returns a store over the folder of a project. It opens no file, and the
// caller closes root. now tells the time, by which the store knows whether a file
// may still be changing.
func NewStore(root *os.Root, now func() time.Time) *Store {
	return &Store{root: root, now: now, connections: map[string]*connection{}}
}

// connection is what the store knows of one connection.
type connection struct {
	state    atomic.Pointer[state] // replaced as a whole
	building chan struct{}         // held by the one call that reads the files
}

// state is what the files said last, with the snapshot made from them.
type state struct {
	reports  []reportFile
	scan     *scan // nil without a scan
	accessID string
	snapshot *Snapshot // nil without a scan
}

var connectionIDs = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]*$`)

// Snapshot returns what the latest scan of a connection found, as far as access
// permits it. The error is [ErrNoScan] if there is none. Every call compares the
// files with those of the present snapshot. If one changed, one call reads it, and
// calls that began after the change wait.
func (s *Store) Snapshot(ctx context.Context, connectionID string, access Access) (*Snapshot, error) {
	if !connectionIDs.MatchString(connectionID) {
		return nil, fmt.Errorf("scan of %q: it is not the id of a connection", connectionID)
	}
	c := s.connection(connectionID)
	if st := c.state.Load(); st != nil && st.accessID == access.ID() && s.fresh(connectionID, st) {
		return st.result(connectionID)
	}
	select {
	case c.building <- struct{}{}:
		defer func() { <-c.building }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	st := c.state.Load()
	if st == nil || st.accessID != access.ID() || !s.fresh(connectionID, st) {
		built, err := s.build(ctx, connectionID, st, access)
		if err != nil {
			return nil, err
		}
		st = built
		c.state.Store(st)
	}
	return st.result(connectionID)
}

func (st *state) result(connectionID string) (*Snapshot, error) {
	if st.snapshot == nil {
		return nil, fmt.Errorf("%w of connection %s; run: ktx scan %s", ErrNoScan, connectionID, connectionID)
	}
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
	now := s.now()
	dir, err := s.root.OpenRoot(scansOf(connectionID))
	if err != nil {
		return len(st.reports) == 0 && st.scan == nil
	}
	defer func() { _ = dir.Close() }()
	reports, err := listReports(dir, st.reports, now)
	if err != nil {
		return len(st.reports) == 0 && st.scan == nil
	}
	if !sameReports(reports, st.reports) {
		return false
	}
	if st.scan == nil {
		return true
	}
	files, err := dir.OpenRoot(st.scan.report.syncID)
	if err != nil {
		return false
	}
	defer func() { _ = files.Close() }()
	return st.scan.same(files, now)
}

// maxReads is how often build reads a scan whose files change meanwhile. It waits a
// millisecond longer before each further time.
const maxReads = 20

// build reads the latest scan. It reads again when the files changed meanwhile, so
// that what it returns was on disk at one moment. before may be nil.
func (s *Store) build(ctx context.Context, connectionID string, before *state, access Access) (*state, error) {
	var old *scan
	var reports []reportFile
	if before != nil {
		old, reports = before.scan, before.reports
	}
	st := &state{}
	decoded := 0
	for try := range maxReads {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var n int
		st, n = s.readLatest(connectionID, old, reports)
		decoded += n
		if s.fresh(connectionID, st) || try == maxReads-1 {
			break
		}
		old, reports = st.scan, st.reports
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(try) * time.Millisecond):
		}
	}
	st.accessID = access.ID()
	if st.scan == nil {
		return st, nil
	}
	if before != nil && before.snapshot != nil && before.snapshot.identity == st.scan.identity(connectionID, access) {
		st.snapshot = before.snapshot // a file was touched
		return st, nil
	}
	st.snapshot = newSnapshot(connectionID, st.scan, access)
	s.keep(connectionID, st.scan, decoded)
	return st, nil
}

// readLatest reads the latest scan. It takes from old, or else from the cache, what
// has not changed, and returns how many table files it read.
func (s *Store) readLatest(connectionID string, old *scan, reports []reportFile) (st *state, decoded int) {
	st = &state{}
	now := s.now()
	dir, err := s.root.OpenRoot(scansOf(connectionID))
	if err != nil {
		return st, 0 // a folder that is missing or leads out of the project has no scans
	}
	defer func() { _ = dir.Close() }()
	if st.reports, err = listReports(dir, reports, now); err != nil {
		return st, 0 // a folder that cannot be listed has no scans
	}
	left := slices.Clone(st.reports)
	for report := latest(left); report != nil; report = latest(left) {
		if old == nil {
			old = s.kept(connectionID)
		}
		same := old
		if old != nil && old.report.syncID != report.syncID {
			same = nil
		}
		found, n, err := readFolder(dir, *report, same, now)
		decoded += n
		if err == nil {
			st.scan = found
			return st, decoded
		}
		report.read = false // the folder cannot be read, so the scan before it counts
	}
	return st, decoded
}

func readFolder(dir *os.Root, report reportFile, old *scan, now time.Time) (*scan, int, error) {
	files, err := dir.OpenRoot(report.syncID)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = files.Close() }()
	return readScan(files, report, old, now)
}
