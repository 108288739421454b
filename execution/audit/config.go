package audit

import (
	"errors"
	"fmt"
	"path/filepath"
)

// SyncMode says when events are flushed to the disk.
type SyncMode string

// The flush modes. The empty mode is SyncInterval.
const (
	// SyncInterval flushes within a second, at rotation and at Close.
	SyncInterval SyncMode = "interval"
	// SyncAlways flushes before Append returns.
	SyncAlways SyncMode = "always"
	// SyncOff leaves flushing to the operating system.
	SyncOff SyncMode = "off"
)

// FailureMode says what happens to a statement whose decision cannot be recorded.
type FailureMode string

// The failure modes. The empty mode is FailReject.
const (
	// FailReject makes Append fail, and the statement does not run.
	FailReject FailureMode = "reject"
	// FailDegrade lets the statement run unrecorded. The loss is counted,
	// logged, and recorded as log.gap as soon as the log can be written.
	FailDegrade FailureMode = "degrade"
)

// SQLMode says how much of a statement is stored.
type SQLMode string

// The storage modes. The empty mode is SQLNormalized.
const (
	// SQLNormalized stores the statement without literals and comments.
	SQLNormalized SQLMode = "normalized"
	// SQLFull also stores the raw statement, including literals.
	SQLFull SQLMode = "full"
)

const (
	// DefaultPath is the log directory of a project that does not set one.
	DefaultPath = ".ktx/audit"
	// DefaultRotateBytes is the size at which a segment is sealed and the next
	// one begins.
	DefaultRotateBytes = 64 << 20
	// minRotateBytes prevents a mistyped size from creating a file per event.
	minRotateBytes = 4 << 10
)

// Config is the audit block of ktx.yaml. The zero value is the strict one: the
// default directory, no literals, a flush every second, and a statement does
// not run when its decision cannot be recorded.
type Config struct {
	// Path is the log directory, relative to the project directory.
	Path string `json:"path,omitempty" yaml:"path,omitempty"`
	// SQL is normalized or full.
	SQL SQLMode `json:"sql,omitempty" yaml:"sql,omitempty"`
	// OnFailure is reject or degrade.
	OnFailure FailureMode `json:"onFailure,omitempty" yaml:"onFailure,omitempty"`
	// Sync is always, interval or off.
	Sync SyncMode `json:"sync,omitempty" yaml:"sync,omitempty"`
	// RotateBytes is the size at which a segment is sealed and the next one
	// begins, at least 4 KiB; 0 means DefaultRotateBytes.
	RotateBytes int64 `json:"rotateBytes,omitempty" yaml:"rotateBytes,omitempty"`
}

// Validate reports every value that is not documented, each with its key.
func (c Config) Validate() error {
	var errs []error
	switch c.SQL {
	case "", SQLNormalized, SQLFull:
	default:
		errs = append(errs, fmt.Errorf("sql: %q is not one of normalized, full", string(c.SQL)))
	}
	switch c.OnFailure {
	case "", FailReject, FailDegrade:
	default:
		errs = append(errs, fmt.Errorf("onFailure: %q is not one of reject, degrade", string(c.OnFailure)))
	}
	switch c.Sync {
	case "", SyncInterval, SyncAlways, SyncOff:
	default:
		errs = append(errs, fmt.Errorf("sync: %q is not one of always, interval, off", string(c.Sync)))
	}
	if c.RotateBytes != 0 && c.RotateBytes < minRotateBytes {
		errs = append(errs, fmt.Errorf("rotateBytes: %d is less than %d", c.RotateBytes, minRotateBytes))
	}
	return errors.Join(errs...)
}

// Dir returns the log directory of the project in projectDir.
func (c Config) Dir(projectDir string) string {
	path := filepath.FromSlash(c.Path)
	switch {
	case path == "":
		return filepath.Join(projectDir, filepath.FromSlash(DefaultPath))
	case filepath.IsAbs(path):
		return path
	default:
		return filepath.Join(projectDir, path)
	}
}
