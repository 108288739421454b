package audit

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// syncEvery is the time between an append and the flush and anchor that follow it.
const syncEvery = time.Second

// flusher flushes the segment's file. One flush serves all goroutines that wait
// for events written before it began.
type flusher struct {
	flush func(*os.File) error

	// written is the last event that was written. All events before it were
	// written too.
	written atomic.Int64
	// failed names the segment whose flush failed, until the log has left it.
	failed atomic.Pointer[string]

	mu      sync.Mutex
	ended   sync.Cond // a flush ended; its lock is mu
	busy    bool      // a flush is running; it does not hold mu
	file    *os.File
	segment string
	synced  int64 // events up to this one are flushed, except those of the range below
	// After a failed flush the kernel may have dropped what it could not
	// write, and a later flush of the same file succeeds all the same. The
	// events in between are not counted as flushed by any later one.
	failedAfter, failedTo int64
}

// errFlush: the events could not be flushed to the disk.
var errFlush = errors.New("the segment could not be flushed")

// through returns when the event seq and all before it are flushed.
func (f *flusher) through(seq int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case seq > f.failedAfter && seq <= f.failedTo:
			return errFlush
		case seq <= f.synced:
			return nil
		case f.file == nil:
			return errFlush
		case f.busy:
			f.ended.Wait()
			continue
		}
		if err := f.flushOnce(); err != nil {
			return err
		}
	}
}

// flushOnce flushes the file in use and releases mu meanwhile. It does not try
// again a file whose flush failed once.
func (f *flusher) flushOnce() error {
	file, target, err := f.file, f.written.Load(), errFlush
	if f.failedSegment() != f.segment {
		f.busy = true
		f.mu.Unlock()
		err = f.flush(file)
		f.mu.Lock()
		f.busy = false
		f.ended.Broadcast()
	}
	if err == nil {
		f.synced = target
		return nil
	}
	if f.failedTo == 0 {
		f.failedAfter = f.synced
	}
	segment := f.segment
	f.failedTo = f.written.Load()
	f.failed.Store(&segment)
	return fmt.Errorf("flush %s: %w", segment, err)
}

// use flushes and closes the file that was in use, if any, and continues with
// file, which may be nil. failedSegment reports a failed flush.
func (f *flusher) use(file *os.File, segment string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.busy {
		f.ended.Wait()
	}
	var err error
	if f.file != nil {
		if f.synced < f.written.Load() {
			_ = f.flushOnce() // failed keeps the failure, and turn records it
		}
		err = f.file.Close()
	}
	f.file, f.segment = file, segment
	return err
}

// failedSegment returns the segment whose flush failed, or "" when there is
// none.
func (f *flusher) failedSegment() string {
	if name := f.failed.Load(); name != nil {
		return *name
	}
	return ""
}

// forgive forgets the failed segment, after the log has left it and recorded
// the failure.
func (f *flusher) forgive() { f.failed.Store(nil) }

func (f *flusher) flushed() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return min(f.synced, f.written.Load())
}

// wake tells run that there is something to flush.
func (w *Writer) wake() {
	select {
	case w.dirty <- struct{}{}:
	default:
	}
}

// keep flushes and anchors once a second while events are appended.
func (w *Writer) keep() {
	defer close(w.done)
	timer := time.NewTimer(syncEvery)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-w.stop:
			return
		case <-w.dirty:
		}
		timer.Reset(syncEvery)
		select {
		case <-w.stop:
			return
		case <-timer.C:
		}
		err := w.checkpoint()
		if err != nil {
			if !failing {
				w.logger.Error("audit log cannot be flushed or anchored", "dir", w.path, "error", err)
			}
			w.wake()
		}
		failing = err != nil
	}
}

// checkpoint flushes the written events and moves the anchor to the last one.
// Unless flushing is off, the anchor never names an event that is not flushed.
func (w *Writer) checkpoint() error {
	w.mu.Lock()
	tail, nothing := w.tail, w.segment == nil || w.tail == w.anchored
	w.mu.Unlock()
	if nothing {
		return nil
	}
	if err := w.flusher.through(tail.Seq); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.store == nil {
		return nil
	}
	if err := w.store.acquire(time.Now().Add(w.wait)); err != nil {
		return err
	}
	return errors.Join(w.moveAnchor(tail), w.end())
}

// moveAnchor sets the anchor to tail unless another process has moved it
// further. The caller holds the directory's lock.
func (w *Writer) moveAnchor(tail Anchor) error {
	if a, err := readAnchor(w.store.root, anchorName); err == nil && a.Seq >= tail.Seq {
		w.anchored = tail
		return nil
	}
	if err := w.store.setAnchor(tail, w.cfg.Sync != SyncOff); err != nil {
		return err
	}
	w.anchored = tail
	return nil
}
