package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ktxhq/ktx/execution/filelock"
	"github.com/ktxhq/ktx/research/wiki"
)

// lockTime is how long a run waits for that of another process, and lockPause is
// how often it looks.
const (
	lockTime  = 30 * time.Second
	lockPause = 20 * time.Millisecond
)

const lockFile = memoryDir + "/lock"

// lock waits until no other process ingests. To close the file is to release the lock. The error is [ErrBusy] after a long
// time.
func (s *Store) lock(ctx context.Context) (*os.File, error) {
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
func (s *Store) tryLock() (lock *os.File, free bool, err error) {
	if err := s.root.MkdirAll(memoryDir, 0o700); err != nil {
		return nil, false, fmt.Errorf("lock the memory: %w", err)
	}
	lock, err = s.root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("lock the memory: %w", err)
	}
	if free, err = filelock.TryLock(lock); err != nil || !free {
		return nil, false, errors.Join(err, lock.Close())
	}
	return lock, true, nil
}

func excerpt(id string) string { return wiki.Excerpt(id, 80) }
