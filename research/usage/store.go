package usage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"sync"
	"time"
)

// Store reads the artifacts of a project and keeps them in memory. It is safe for
// concurrent use.
type Store struct {
	root *os.Root
	now  func() time.Time

	mu   sync.Mutex
	kept map[string]*kept // by connection
}

// kept is what the file of one connection said last.
type kept struct {
	mu             sync.Mutex
	read           bool
	size, modified int64
	settled        bool // nothing can have changed since without a change of the two
	sum            [sha256.Size]byte
	file           *File // nil without one that can be read
	id             string
	err            error
}

// settleTime is how long after its last change a file is compared by content. In
// this time a second change may leave the file's time as it is.
const settleTime = 2 * time.Second

// NewStore returns a store over the folder of a project. It opens no file, and the
// caller closes root. now tells the time.
func NewStore(root *os.Root, now func() time.Time) *Store {
	return &Store{root: root, now: now, kept: map[string]*kept{}}
}

// File returns the artifact of a connection as it is on disk now, and a key that
// changes with its content. Both are zero when there is none. The error says why an
// artifact cannot be read; the caller then goes on without one. Callers must not
// change the file.
func (s *Store) File(connectionID string) (file *File, id string, err error) {
	s.mu.Lock()
	k := s.kept[connectionID]
	if k == nil {
		k = &kept{}
		s.kept[connectionID] = k
	}
	s.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := s.root.Stat(Path(connectionID))
	if err != nil {
		k.read, k.file, k.id, k.err = false, nil, "", nil
		if !Missing(err) {
			k.err = err
		}
		return nil, "", k.err
	}
	if k.read && k.settled && k.size == info.Size() && k.modified == info.ModTime().UnixNano() {
		return k.file, k.id, k.err
	}
	k.size, k.modified = info.Size(), info.ModTime().UnixNano()
	k.settled = info.ModTime().Before(s.now().Add(-settleTime))
	text, err := load(s.root, connectionID)
	if err != nil {
		k.read, k.file, k.id, k.err = true, nil, "", err
		return nil, "", err
	}
	if sum := sha256.Sum256(text); !k.read || !bytes.Equal(sum[:], k.sum[:]) || k.file == nil {
		k.sum = sum
		k.id = hex.EncodeToString(sum[:])
		if k.file, k.err = decode(text, connectionID); k.err != nil {
			k.id = ""
		}
	}
	k.read = true
	return k.file, k.id, k.err
}
