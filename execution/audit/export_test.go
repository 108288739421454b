package audit

import (
	"log/slog"
	"os"
	"reflect"
	"time"
)

// OpenWith is Open with another flush function and another time to wait for the
// lock.
func OpenWith(dir string, cfg Config, logger *slog.Logger, flush func(*os.File) error, wait time.Duration) (*Writer, error) {
	return open(dir, cfg, logger, system{write: (*os.File).Write, flush: flush, lockWait: wait})
}

// OpenWriting is Open with another write function for events.
func OpenWriting(dir string, cfg Config, write func(*os.File, []byte) (int, error)) (*Writer, error) {
	return open(dir, cfg, nil, system{write: write, flush: (*os.File).Sync, lockWait: lockWait})
}

// Flusher is the flusher of a segment.
type Flusher struct{ f flusher }

// NewFlusher returns a flusher for file.
func NewFlusher(flush func(*os.File) error, file *os.File) *Flusher {
	f := &Flusher{f: flusher{flush: flush, file: file, segment: "segment"}}
	f.f.ended.L = &f.f.mu
	return f
}

// Wrote says that the event seq has been written.
func (f *Flusher) Wrote(seq int64) { f.f.written.Store(seq) }

// Through flushes the event seq.
func (f *Flusher) Through(seq int64) error { return f.f.through(seq) }

// Use continues with another file.
func (f *Flusher) Use(file *os.File, segment string) error { return f.f.use(file, segment) }

// The parts of a line that hold the chain, for tests that forge events.
const (
	KeySize  = keySize
	LockName = lockName
	KeyName  = keyName
)

// Line returns the line of e, including the newline, linked to prev.
func Line(e Event, prev Hash, full bool) ([]byte, Hash, error) {
	return appendEvent(nil, &e, prev, full)
}

// Members returns the struct at p as written.
func Members(p any, full bool) string {
	v, withheld := reflect.ValueOf(p).Elem(), withoutText
	if full {
		withheld = nil
	}
	return string(closeObject(appendMembers([]byte{'{'}, v, fieldsOf(v.Type()), withheld)))
}

// Own reports whether only the log writes events of this type.
func Own(t Type) bool { return t.own() }

// Abandon does what the system does when the process of w is killed: it releases the lock
// of the run and leaves its file. The Writer can still be closed.
func Abandon(w *Writer) error {
	f := w.running
	w.running = nil
	return f.Close()
}
