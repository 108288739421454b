package audit

import (
	"bufio"
	"errors"
	"io"
)

// errLong is the error for a line longer than any event.
var errLong = errors.New("the line is longer than any event")

// lines reads a segment line by line.
type lines struct {
	r      *bufio.Reader
	buf    []byte
	number int   // number of the line last returned, from 1
	start  int64 // where it begins
	end    int64 // where the next one begins
}

// linesFrom reads r, which begins at offset of its segment, as line number+1.
func linesFrom(r io.Reader, number int, offset int64) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), number: number, start: offset, end: offset}
}

// next returns the next line without its newline. The line is valid until the
// next call. whole is false for bytes at the end without a newline. io.EOF
// means that there are no more lines. errLong leaves the reader at the next
// line.
func (l *lines) next() (line []byte, whole bool, err error) {
	l.buf = l.buf[:0]
	length := int64(0)
	for {
		part, err := l.r.ReadSlice('\n')
		length += int64(len(part))
		if length <= maxLine {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || length == 0):
			return nil, false, err
		}
		whole = err == nil
		break
	}
	l.number++
	l.start, l.end = l.end, l.end+length
	if length > maxLine {
		return nil, whole, errLong
	}
	line = l.buf
	if whole {
		line = line[:len(line)-1]
	}
	return line, whole, nil
}
