package report

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// The sizes in bytes from which statements leave memory: of those of one file,
// and of all that no file on disk has.
const (
	spoolPart = 64 << 10
	spoolHeld = 8 << 20
)

// Spool keeps the statements of files, as JSON, outside of memory until a report
// is written: on the Disk that Temp makes. If there can be none, it keeps them in
// memory. It may be used by several
// goroutines, each with files of its own. Close it in the end.
type Spool struct {
	Temp func() (Disk, error)

	mu   sync.Mutex
	held bytes.Buffer // before there is a file
	disk Disk
	size int64
	err  error // of a disk, which makes the report an error
}

// Disk is an empty file that is removed when it is closed.
type Disk interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// Spooled is where the statements of a file are, at least one.
type Spooled struct {
	pending []byte
	parts   [][2]int64 // offset and end
}

// Add adds a statement to those of a file.
func (s *Spool) Add(file *File, statement Statement) {
	text, err := indented(statement, "        ")
	if err != nil {
		s.fail(err)
		return
	}
	p := file.Spooled
	if p == nil {
		p = &Spooled{}
		file.Spooled = p
	} else {
		p.pending = append(p.pending, ',')
	}
	p.pending = append(append(p.pending, "\n        "...), text...)
	if len(p.pending) >= spoolPart {
		s.Flush(file)
	}
}

// Flush takes the statements of a file that are in memory only.
func (s *Spool) Flush(file *File) {
	p := file.Spooled
	if p == nil || len(p.pending) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.parts = append(p.parts, [2]int64{s.size, s.size + int64(len(p.pending))})
	s.size += int64(len(p.pending))
	if s.disk == nil && s.held.Len() >= spoolHeld {
		s.open()
	}
	if s.disk == nil {
		s.held.Write(p.pending)
	} else if _, err := s.disk.Write(p.pending); err != nil && s.err == nil {
		s.err = fmt.Errorf("keep the verdicts: %w", err)
	}
	p.pending = nil
}

// open moves what is held to a file, if there can be one.
func (s *Spool) open() {
	if s.Temp == nil {
		return
	}
	disk, err := s.Temp()
	if err != nil {
		return
	}
	if _, err := disk.Write(s.held.Bytes()); err != nil {
		_ = disk.Close()
		return
	}
	s.disk, s.held = disk, bytes.Buffer{}
}

func (s *Spool) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("keep the verdicts: %w", err)
	}
}

// copy writes the statements of a file, separated by commas.
func (s *Spool) copy(w io.Writer, file *File) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	for _, part := range file.Spooled.parts {
		text := make([]byte, part[1]-part[0])
		if s.disk == nil {
			copy(text, s.held.Bytes()[part[0]:part[1]])
		} else if _, err := s.disk.ReadAt(text, part[0]); err != nil {
			return fmt.Errorf("read the verdicts: %w", err)
		}
		if _, err := w.Write(text); err != nil { // a part ends outside of a string
			return err //nolint:wrapcheck // Write says what it did
		}
	}
	return nil
}

// Close removes what the spool keeps.
func (s *Spool) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disk != nil {
		_ = s.disk.Close()
		s.disk = nil
	}
	s.held = bytes.Buffer{}
}
