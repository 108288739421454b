package audit

import (
	"bytes"
	"io"
)

// tailWindow is the number of bytes first read from the end of a segment.
const tailWindow = 4 << 10

// lastEvent finds the last line in bytes from…size of r that is a whole event,
// reading backwards. A line begins at from. end is the offset after the line
// found, or from when there is none. The bytes after end are not a whole event.
func lastEvent(r io.ReaderAt, from, size int64) (last head, end int64, err error) {
	for window := int64(tailWindow); ; window *= 4 {
		low := max(from, size-window)
		buf := make([]byte, size-low)
		if _, err := r.ReadAt(buf, low); err != nil && err != io.EOF {
			return head{}, from, err
		}
		stop := len(buf)
		for {
			// One line ends before stop, and another ends before that line.
			newline := bytes.LastIndexByte(buf[:stop], '\n')
			if newline < 0 {
				break
			}
			start := bytes.LastIndexByte(buf[:newline], '\n') + 1
			// A line that begins before the window is cut off here, so it does
			// not read as an event.
			if h, err := readHead(buf[start:newline]); err == nil {
				return h, low + int64(newline) + 1, nil
			}
			stop = newline
		}
		if low == from {
			return head{}, from, nil
		}
	}
}
