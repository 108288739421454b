package audit

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ktxhq/ktx/execution/filelock"
)

const (
	// lockWait is how long an append waits for the lock.
	lockWait = 5 * time.Second
	// lockPause and lockPauseMax bound the pause between two tries. Other
	// processes hold the lock for one write, which takes some microseconds.
	lockPause    = 20 * time.Microsecond
	lockPauseMax = time.Millisecond
)

// ErrLocked says that another process holds the lock.
var ErrLocked = errors.New("another process holds the lock")

// acquire takes the lock of the directory. It tries until deadline, at least once.
func (s *store) acquire(deadline time.Time) error {
	err := tryLock(s.lock)
	for pause := lockPause; errors.Is(err, ErrLocked) && time.Now().Before(deadline); pause = min(2*pause, lockPauseMax) {
		time.Sleep(pause)
		err = tryLock(s.lock)
	}
	return err
}

// tryLock takes the lock of a file, or returns [ErrLocked] at once.
func tryLock(f *os.File) error {
	free, err := filelock.TryLock(f)
	switch {
	case err != nil:
		return fmt.Errorf("lock the log: %w", err)
	case !free:
		return ErrLocked
	}
	return nil
}
