package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// Record is an event and its position in the log.
type Record struct {
	Event Event
	// Segment is the name of the file, Line counts from 1 within it, and Offset
	// is the byte at which the line begins.
	Segment string
	Line    int
	Offset  int64
	// Raw is the line as it is in the file.
	Raw json.RawMessage
}

// LineError is a line that is not an event. Reading continues after it.
type LineError struct {
	Segment string
	Line    int
	Err     error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s line %d: %v", e.Segment, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// Reader reads a log, also while processes write to it. It checks no hashes;
// [Verify] does. It takes no lock and writes nothing.
type Reader struct {
	root *os.Root
}

// OpenReader opens the log in dir for reading. The error wraps fs.ErrNotExist
// when there is no such directory.
func OpenReader(dir string) (*Reader, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	return &Reader{root: root}, nil
}

// Close closes the reader. Iterations in progress fail.
func (r *Reader) Close() error { return r.root.Close() }

// All yields the events of all segments in the order in which they were
// written. For a line that is not an event it yields a *LineError and
// continues. Any other error ends the iteration. A torn last line is left out.
func (r *Reader) All(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		numbers, err := segments(r.root)
		if err != nil {
			yield(Record{}, fmt.Errorf("read audit log: %w", err))
			return
		}
		for _, number := range numbers {
			if _, ok := r.read(ctx, place{number: number}, yield); !ok {
				return
			}
		}
	}
}

// place is a point between two lines.
type place struct {
	number int  // of the segment
	spot        // after the last line
	event  spot // after the last line that is an event; a writer may cut off the lines after it
}

// spot is a point in a segment.
type spot struct {
	line   int // lines before
	offset int64
}

// read yields the whole lines of a segment from p on and returns the place
// after the last. ok is false when the iteration is over.
func (r *Reader) read(ctx context.Context, p place, yield func(Record, error) bool) (after place, ok bool) {
	name := segmentName(p.number)
	f, err := openRegular(r.root, name)
	if err != nil {
		yield(Record{}, fmt.Errorf("read audit log: %w", err))
		return p, false
	}
	defer f.Close() //nolint:errcheck // nothing was written
	lines := linesFrom(io.NewSectionReader(f, p.offset, 1<<62), p.line, p.offset)
	for {
		if err := ctx.Err(); err != nil {
			yield(Record{}, err)
			return p, false
		}
		line, whole, err := lines.next()
		switch {
		case errors.Is(err, io.EOF), err == nil && !whole:
			return p, true
		case err != nil && !errors.Is(err, errLong):
			yield(Record{}, fmt.Errorf("read %s: %w", name, err))
			return p, false
		}
		p.spot = spot{line: lines.number, offset: lines.end}
		rec := Record{Segment: name, Line: lines.number, Offset: lines.start}
		if err == nil {
			rec.Raw = slices.Clone(line)
			err = json.Unmarshal(line, &rec.Event)
		}
		if err == nil {
			p.event = p.spot
		} else {
			rec, err = Record{}, &LineError{Segment: name, Line: lines.number, Err: err}
		}
		if !yield(rec, err) {
			return p, false
		}
	}
}

// At returns the event whose line begins at offset of a segment, as it is there now.
// The error is a *LineError when the line is not an event.
func (r *Reader) At(segment int, offset int64) (Record, error) {
	name := segmentName(segment)
	f, err := openRegular(r.root, name)
	if err != nil {
		return Record{}, fmt.Errorf("read audit log: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	// Most events are shorter than this, and pages read many of them.
	one := lines{r: bufio.NewReaderSize(io.NewSectionReader(f, offset, maxLine+1), 4<<10), start: offset, end: offset}
	line, whole, err := one.next()
	if err == nil && !whole {
		err = errUnfinished
	}
	rec := Record{Segment: name, Offset: offset}
	if err == nil {
		rec.Raw = slices.Clone(line)
		err = json.Unmarshal(line, &rec.Event)
	}
	if err != nil {
		return Record{}, &LineError{Segment: name, Err: err}
	}
	return rec, nil
}
