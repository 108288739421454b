package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The log is one file of at most LogBytes bytes, and keptLogs older files. The
// newest of these ends in .1.
const (
	LogBytes = 10 << 20
	keptLogs = 3
)

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // a file of the project's state
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return f, nil
}

// Log is a log file that is rotated when it reaches its bound: its content is copied
// to another file, and the file itself is emptied. So everything that has the file
// open, such as the standard error of the process, goes on writing to it.
type Log struct {
	bound int64

	mu   sync.Mutex
	file *os.File
}

// OpenLog opens the log at path, which is rotated when it reaches bound bytes.
func OpenLog(path string, bound int64) (*Log, error) {
	f, err := openLog(path)
	if err != nil {
		return nil, err
	}
	return &Log{bound: bound, file: f}, nil
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := l.file.Stat()
	if err != nil {
		return 0, fmt.Errorf("write log: %w", err)
	}
	if info.Size() > 0 && info.Size()+int64(len(p)) > l.bound {
		if err := l.rotate(info.Size()); err != nil {
			return 0, err
		}
	}
	return l.file.Write(p)
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

func (l *Log) rotate(size int64) error {
	name := l.file.Name()
	for i := keptLogs - 1; i >= 1; i-- {
		err := os.Rename(older(name, i), older(name, i+1))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("rotate log: %w", err)
		}
	}
	to, err := os.OpenFile(older(name, 1), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("rotate log: %w", err)
	}
	_, err = io.Copy(to, io.NewSectionReader(l.file, 0, size))
	if err = errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("rotate log: %w", err)
	}
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("rotate log: %w", err)
	}
	return nil
}

func older(name string, i int) string { return fmt.Sprintf("%s.%d", name, i) }

// tailBytes bounds the part of the log in which the last lines are looked for, in
// bytes.
const tailBytes = 1 << 20

// Tail writes the last n lines of the log at path to w. With follow it then writes
// further lines until ctx ends.
func Tail(ctx context.Context, path string, lines int, follow bool, w io.Writer) error {
	f, err := os.Open(path) //nolint:gosec // a file of the project's state
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	at := info.Size()
	text := make([]byte, min(at, tailBytes))
	n, err := f.ReadAt(text, at-int64(len(text)))
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read log: %w", err)
	}
	if _, err := w.Write(lastLines(text[:n], lines)); err != nil {
		return err
	}
	for follow {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
		info, err := f.Stat()
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if info.Size() < at {
			at = 0 // the log was rotated
		}
		copied, err := io.Copy(w, io.NewSectionReader(f, at, info.Size()-at))
		at += copied
		if err != nil {
			return err
		}
	}
	return nil
}

// Since returns what was written to the log at path after its first bytes.
func Since(path string, before int64) string {
	f, err := os.Open(path) //nolint:gosec // a file of the project's state
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.NewSectionReader(f, before, tailBytes))
	if err != nil {
		return ""
	}
	return string(text)
}

// lastLines returns the last n lines of text.
func lastLines(text []byte, n int) []byte {
	at := len(bytes.TrimSuffix(text, []byte("\n")))
	for range n {
		if at = bytes.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
	}
	return text[at+1:]
}
