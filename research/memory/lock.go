package memory

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/ktxhq/ktx/research/wiki"
)

// lockTime is how long a run waits for that of another process, and lockPause is
// how often it looks.
const (
	lockTime  = 30 * time.Second
	lockPause = 20 * time.Millisecond
)

const lockFile = memoryDir + "/lock"

// lock waits until no other process ingests. The error is [ErrBusy] after a long
// time.
func (s *Store) lock(ctx context.Context) (*fileLock, error) {
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	for {
		lock, free, err := s.tryLock()
		if err != nil || free {
			return lock, err
		}
		select {
		case <-ctx.Done():
			if context.Cause(ctx) == context.DeadlineExceeded { //nolint:errorlint // the cause of WithTimeout is this value
				return nil, ErrBusy
			}
			return nil, ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// tryLock takes the lock, and reports whether it was free.
func (s *Store) tryLock() (lock *fileLock, free bool, err error) {
	if err := s.root.MkdirAll(memoryDir, 0o700); err != nil {
		return nil, false, fmt.Errorf("lock the memory: %w", err)
	}
	lock, free, err = openLock(s.root, lockFile)
	if err != nil {
		return nil, false, fmt.Errorf("lock the memory: %w", err)
	}
	return lock, free, nil
}

// fileLock is an exclusive lock on a file, which ends with its process.
type fileLock struct {
	root *os.Root
	file *os.File
}

func excerpt(id string) string { return wiki.Excerpt(id, 80) }
