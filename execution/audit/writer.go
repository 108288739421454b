package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/execution/filelock"
)

// maxBuffer is the size above which the buffer of one append is not reused.
const maxBuffer = 1 << 20

// Writer appends events to the log in one directory. It is safe for concurrent
// use, and many processes may have a Writer on the same directory.
type Writer struct {
	path   string
	cfg    Config
	logger *slog.Logger
	wait   time.Duration // for the directory's lock
	put    func(*os.File, []byte) (int, error)
	key    atomic.Pointer[[]byte]
	run    string // the name of this run
	// running is the locked file of the run, nil when there is none.
	running *os.File
	runInfo os.FileInfo

	// mu is held for one append. Together with the directory's lock, which
	// other processes respect, it guards the fields below.
	mu       sync.Mutex
	closed   bool
	store    *store   // nil while the directory is not open
	segment  *segment // nil while there is no segment to append to
	tail     Anchor   // the last event known to be written
	anchored Anchor   // the anchor that this process last wrote to anchor.json
	gap      gap
	event    Event // the event being written
	buf      []byte

	flusher flusher

	dirty chan struct{} // holds a value when there is something to flush
	stop  chan struct{}
	done  chan struct{}
}

var _ Log = (*Writer)(nil)

// segment is the file that events are appended to.
type segment struct {
	number int
	name   string
	file   *os.File
	info   os.FileInfo // identity of the file
	size   int64       // up to the end of the last event
	moves  *moves
	looked time.Time // when the name was last looked up
}

// gap counts events that could not be recorded.
type gap struct {
	lost  int64
	since time.Time
}

// Health is the state of a log at one time.
type Health struct {
	// Seq is the last event known to be written, Synced the last one that this
	// process knows to be flushed.
	Seq, Synced int64
	// Segment is the file that events are appended to, empty while there is
	// none.
	Segment string
	// Lost counts events that could not be recorded since the last recorded
	// event.
	Lost int64
}

// Open opens the log in dir for appending. It creates the directory, its key
// and its first segment when they are missing. When a segment ends in a torn
// line, Open repairs it and records the repair. When the key exists, a full
// disk is not an error of Open: appends fail until there is space. logger gets
// one line when events begin to be lost and one when they are recorded again;
// nil discards them.
func Open(dir string, cfg Config, logger *slog.Logger) (*Writer, error) {
	return open(dir, cfg, logger, system{write: (*os.File).Write, flush: (*os.File).Sync, lockWait: lockWait})
}

// system holds the system functions that a writer uses.
type system struct {
	write    func(*os.File, []byte) (int, error) // writes events
	flush    func(*os.File) error
	lockWait time.Duration
}

func open(dir string, cfg Config, logger *slog.Logger, sys system) (*Writer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("open audit log: %w", err)
	}
	if cfg.Sync == "" {
		cfg.Sync = SyncInterval
	}
	if cfg.RotateBytes == 0 {
		cfg.RotateBytes = DefaultRotateBytes
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	w := &Writer{
		path: dir, cfg: cfg, logger: logger, wait: sys.lockWait, put: sys.write,
		run: newRun(), dirty: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	w.flusher.flush, w.flusher.ended.L = sys.flush, &w.flusher.mu
	if cfg.Sync == SyncOff {
		w.flusher.flush = func(*os.File) error { return nil }
	}
	err := w.begin(time.Now().Add(w.wait))
	if err == nil {
		err = w.end()
	}
	if err != nil && (w.key.Load() == nil || !noSpace(err)) {
		w.detach()
		return nil, fmt.Errorf("open audit log in %s: %w", dir, errors.Join(err, w.closeStore()))
	}
	if w.store != nil {
		// Without its file a crash of this process is not recorded; the log is whole
		// all the same.
		if err = w.announce(w.store); err != nil {
			logger.Warn("a crash of this process could not be recorded", "dir", dir, "error", err)
		}
		w.bury(w.store.root)
	}
	go w.keep()
	return w, nil
}

// Append records e as [Log] says. It sets sequence number, chain and, when
// zero, Time. It takes principal and client from ctx with [Attribute].
func (w *Writer) Append(ctx context.Context, e Event) error {
	if e.Type == "" {
		return errors.New("append to audit log: the event has no type")
	}
	if e.Type.own() {
		return fmt.Errorf("append to audit log: %s events are written by the log alone", e.Type)
	}
	e = Attribute(ctx, e)
	e.Log = LogInfo{}
	switch e.Type { //nolint:exhaustive // the other events do not need their run
	case GatewayStart, GatewayStop, QueryDecision:
		e.Process.Run = w.run
	}

	seq, err := w.record(e, time.Now().Add(w.wait))
	switch {
	case errors.Is(err, errClosed):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case err == nil && w.cfg.Sync == SyncAlways:
		if err = w.flusher.through(seq); err != nil {
			w.lose(err)
		}
	}
	if err != nil && w.cfg.OnFailure != FailDegrade {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	w.wake()
	return nil
}

// errClosed: Close was called. Unlike any other failure, Append also returns it
// under FailDegrade.
var errClosed = fmt.Errorf("the log: %w", os.ErrClosed)

// record writes e and returns its sequence number.
func (w *Writer) record(e Event, deadline time.Time) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, errClosed
	}
	w.event = e
	err := w.begin(deadline)
	if err == nil {
		if w.gap.lost > 0 {
			err = w.write(w.gap.event(), &w.event)
		} else {
			err = w.write(&w.event)
		}
		err = errors.Join(err, w.end())
	}
	w.event = Event{}
	if err != nil {
		w.count(err)
		return 0, err
	}
	if w.gap.lost > 0 {
		w.logger.Warn("audit log can be written again", "dir", w.path, "lost", w.gap.lost)
		w.gap = gap{}
	}
	return w.tail.Seq, nil
}

// event returns the log.gap event for the gap.
func (g gap) event() *Event {
	return &Event{Type: LogGap, Log: LogInfo{Lost: g.lost, Since: g.since}}
}

// lose counts an event that was written but could not be flushed under
// SyncAlways.
func (w *Writer) lose(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count(err)
}

func (w *Writer) count(err error) {
	if w.gap.lost == 0 {
		w.gap.since = time.Now()
		w.logger.Error("audit log cannot be written", "dir", w.path, "error", err, "onFailure", string(w.cfg.OnFailure))
	}
	w.gap.lost++
}

// begin takes the directory's lock and makes sure that w.segment is the file to
// append to and w.tail the last event of the log. Without an error, the caller
// holds the lock until it calls end.
func (w *Writer) begin(deadline time.Time) error {
	for range 2 {
		if w.store == nil {
			s, err := openStore(w.path)
			if err != nil {
				return err
			}
			w.store = s
		}
		if err := w.store.acquire(deadline); err != nil {
			return err
		}
		err := w.follow()
		if errors.Is(err, errDetached) {
			if w.store.moved() {
				w.detach()
				if err := errors.Join(w.end(), w.closeStore()); err != nil {
					return err
				}
				continue
			}
			err = w.attach()
		}
		if err != nil {
			w.detach()
			return errors.Join(err, w.end())
		}
		return nil
	}
	return errors.New("the directory is being replaced")
}

// end releases the directory's lock.
func (w *Writer) end() error { return filelock.Unlock(w.store.lock) }

// write appends events in one write. After an error, none of them is in the
// segment. When the segment cannot be truncated, write detaches it, and the
// next append repairs it.
func (w *Writer) write(events ...*Event) error {
	buf, tail := w.buf[:0], w.tail
	for _, e := range events {
		if y := e.Time.UTC().Year(); e.Time.IsZero() || y < 0 || y > 9999 {
			e.Time = time.Now()
		}
		tail.Seq++
		e.Seq = tail.Seq
		var err error
		if buf, tail.Hash, err = appendEvent(buf, e, tail.Hash, w.cfg.SQL == SQLFull); err != nil {
			return err
		}
	}
	if cap(buf) <= maxBuffer {
		w.buf = buf
	}
	if _, err := w.put(w.segment.file, buf); err != nil {
		if truncErr := w.segment.file.Truncate(w.segment.size); truncErr != nil {
			w.detach()
			return errors.Join(err, truncErr)
		}
		return err
	}
	w.segment.size += int64(len(buf))
	tail.Segment = w.segment.name
	w.setTail(tail)
	return nil
}

func (w *Writer) setTail(tail Anchor) {
	w.tail = tail
	w.flusher.written.Store(tail.Seq)
}

// HMAC returns the hexadecimal HMAC-SHA256 of raw under the directory's key.
func (w *Writer) HMAC(raw string) string { return digest(*w.key.Load(), raw) }

// Health reports the state of the log as this process knows it.
func (w *Writer) Health() Health {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := Health{Seq: w.tail.Seq, Synced: w.flusher.flushed(), Lost: w.gap.lost}
	if w.segment != nil {
		h.Segment = w.segment.name
	}
	return h
}

// Close records an open gap, flushes, sets the anchor, and stops the goroutine
// that Open started. A second Close does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	var err error
	if w.gap.lost > 0 {
		if err = w.begin(time.Now().Add(w.wait)); err == nil {
			err = errors.Join(w.write(w.gap.event()), w.end())
		}
	}
	w.mu.Unlock()

	close(w.stop)
	<-w.done
	err = errors.Join(err, w.checkpoint(), w.leave())

	w.mu.Lock()
	defer w.mu.Unlock()
	w.detach()
	if err = errors.Join(err, w.closeStore()); err != nil {
		return fmt.Errorf("close audit log: %w: %w", ErrUnavailable, err)
	}
	return nil
}

func (w *Writer) closeStore() error {
	if w.store == nil {
		return nil
	}
	err := w.store.close()
	w.store = nil
	return err
}
