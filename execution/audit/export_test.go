package audit

import (
	"log/slog"
	"os"
	"reflect"
	"time"
)

// OpenWith is Open with another way to flush and another time to wait for the lock.
func OpenWith(dir string, cfg Config, logger *slog.Logger, flush func(*os.File) error, wait time.Duration) (*Writer, error) {
	return open(dir, cfg, logger, system{flush: flush, lockWait: wait})
}

// The parts of the chain's form, for tests that forge events.
const (
	KeySize  = keySize
	LockName = lockName
	KeyName  = keyName
)

// Line returns the line of e, newline included, linked to prev.
func Line(e Event, prev Hash, full bool) ([]byte, Hash, error) {
	return appendEvent(nil, &e, prev, full)
}

// Members returns how the struct at p is written.
func Members(p any, full bool) string {
	v := reflect.ValueOf(p).Elem()
	return string(closeObject(appendMembers([]byte{'{'}, v, fieldsOf(v.Type()), full)))
}
