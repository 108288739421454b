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
	// SQLNormalized stores the text without literals and comments.
	SQLNormalized SQLMode = "normalized"
	// SQLFull also stores the raw text, literals included.
	SQLFull SQLMode = "full"
)

const (
	// DefaultPath is the log directory of a project that names none.
	DefaultPath = ".ktx/audit"
	// DefaultRotateBytes is the size from which a segment is rotated out.
	DefaultRotateBytes = 64 << 20
	// minRotateBytes keeps a mistyped size from making a file per event.
	minRotateBytes = 4 << 10
)

// Config is the audit block of ktx.yaml. The zero value is the strict one:
// default directory, no literals, a statement that cannot be recorded does not
// run, flushed every second.
type Config struct {
	// Path is the log directory, relative to the project directory.
	Path string `json:"path,omitempty" yaml:"path,omitempty"`
	// SQL is normalized or full.
	SQL SQLMode `json:"sql,omitempty" yaml:"sql,omitempty"`
	// OnFailure is reject or degrade.
	OnFailure FailureMode `json:"onFailure,omitempty" yaml:"onFailure,omitempty"`
	// Sync is always, interval or off.
	Sync SyncMode `json:"sync,omitempty" yaml:"sync,omitempty"`
	// RotateBytes is the size from which a segment is rotated out, at least
	// 4 KiB; 0 means DefaultRotateBytes.
	RotateBytes int64 `json:"rotateBytes,omitempty" yaml:"rotateBytes,omitempty"`
}

// Validate reports every value that is not one of those documented, each with
// its key.
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
