package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// Newest yields the events from the last one back to the first, in the form in
// which [Reader.All] yields them. It does not yield events appended after it
// began. It holds one line, and 256 KiB, in memory.
func (r *Reader) Newest(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		numbers, err := segments(r.root)
		if err != nil {
			yield(Record{}, fmt.Errorf("read audit log: %w", err))
			return
		}
		for _, number := range slices.Backward(numbers) {
			if !r.readBack(ctx, segmentName(number), yield) {
				return
			}
		}
	}
}

// readBack yields the whole lines of a segment, the last one first. It returns
// false when the iteration is over. Records have no line number; a *LineError
// has one.
func (r *Reader) readBack(ctx context.Context, name string, yield func(Record, error) bool) bool {
	over := func(err error) bool {
		yield(Record{}, err)
		return false
	}
	f, err := openRegular(r.root, name)
	if err != nil {
		return over(fmt.Errorf("read audit log: %w", err))
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return over(fmt.Errorf("read %s: %w", name, err))
	}
	b := backLines{r: f, low: info.Size()}
	for {
		if err := ctx.Err(); err != nil {
			return over(err)
		}
		line, start, whole, err := b.next()
		switch {
		case errors.Is(err, io.EOF):
			return true
		case err != nil && !errors.Is(err, errLong):
			return over(fmt.Errorf("read %s: %w", name, err))
		case err == nil && !whole:
			continue // torn
		}
		rec := Record{Segment: name, Offset: start}
		if err == nil {
			rec.Raw = slices.Clone(line)
			err = json.Unmarshal(line, &rec.Event)
		}
		if err != nil {
			number, countErr := lineAt(f, start)
			if countErr != nil {
				return over(fmt.Errorf("read %s: %w", name, countErr))
			}
			rec, err = Record{}, &LineError{Segment: name, Line: number, Err: err}
		}
		if !yield(rec, err) {
			return false
		}
	}
}

// lineAt returns the number of the line that begins at offset.
func lineAt(f *os.File, offset int64) (int, error) {
	number := 1
	buf := make([]byte, 64<<10)
	section := io.NewSectionReader(f, 0, offset)
	for {
		n, err := section.Read(buf)
		number += bytes.Count(buf[:n], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return number, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// backWindow is the number of bytes that one step reads.
const backWindow = 256 << 10

// backLines reads a file line by line from its end. A line is the bytes between
// two newlines. Bytes after the last newline are not a whole line.
type backLines struct {
	r    io.ReaderAt
	low  int64  // offset of buf[0] in the file; at first the size of the file
	buf  []byte // bytes read and not yet returned
	tail bool   // the bytes after the last newline have been handled
	cut  int64  // bytes dropped from a line that is too long
}

// next returns the line before the one that it returned last, without its
// newline. The line is valid until the next call. For a line longer than any
// event it returns errLong.
func (b *backLines) next() (line []byte, start int64, whole bool, err error) {
	for {
		body := b.buf
		if b.tail { // buf ends with the newline of the line wanted
			if len(body) == 0 && b.low == 0 && b.cut == 0 {
				return nil, 0, false, io.EOF
			}
			body = body[:max(0, len(body)-1)]
		}
		if i := bytes.LastIndexByte(body, '\n'); i >= 0 || b.low == 0 && (b.tail || len(b.buf) > 0 || b.cut > 0) {
			line, start, whole = body[i+1:], b.low+int64(i)+1, b.tail
			tooLong := b.cut > 0 || len(line) > maxLine
			empty := !b.tail && len(line) == 0 && b.cut == 0
			b.buf, b.tail, b.cut = b.buf[:i+1], true, 0
			switch {
			case empty:
				continue // the file ends with a newline, as expected
			case tooLong:
				return nil, start, whole, errLong
			}
			return line, start, whole, nil
		}
		if b.low == 0 {
			return nil, 0, false, io.EOF // an empty file
		}
		if len(b.buf) > maxLine+1 {
			// Only its last byte, the newline, is still needed.
			b.cut += int64(len(b.buf) - 1)
			b.buf = b.buf[len(b.buf)-1:]
		}
		if err := b.more(); err != nil {
			return nil, 0, false, err
		}
	}
}

// more reads the bytes before those in buf and puts them in front.
func (b *backLines) more() error {
	n := min(b.low, max(backWindow, int64(len(b.buf)))) // doubling, so that long lines stay linear
	buf := make([]byte, int(n)+len(b.buf))
	if k, err := b.r.ReadAt(buf[:n], b.low-n); int64(k) < n {
		return errors.Join(io.ErrUnexpectedEOF, err)
	}
	copy(buf[n:], b.buf)
	b.buf, b.low = buf, b.low-n
	return nil
}
