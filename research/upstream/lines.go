package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// codeTooLong is the code of the error that stands for an answer that was not kept.
const codeTooLong = -32901

// lines reads the standard output of a server. It passes on the lines that are JSON.
// Others, such as text that a server prints by mistake, would end the session; they go
// a taker. A line that is longer than the limit is not kept in memory: when it is the
// answer to a request, an error takes its place.
type lines struct {
	source *os.File
	in     *bufio.Reader
	taker  taker

	ready []byte // of the present line
	err   error
}

// taker takes what [lines] does not pass on.
type taker interface {
	limit() int       // of a line, in bytes
	junk(line []byte) // which is not JSON
	skip(n int)       // bytes of a line that is too long
	skipped()         // the whole of it
}

func newLines(source *os.File, t taker) *lines {
	return &lines{source: source, in: bufio.NewReaderSize(source, 64<<10), taker: t}
}

// Read implements [io.Reader].
func (l *lines) Read(b []byte) (int, error) {
	for len(l.ready) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		l.next()
	}
	n := copy(b, l.ready)
	l.ready = l.ready[n:]
	return n, nil
}

// Close closes the output.
func (l *lines) Close() error { return l.source.Close() }

// next reads one line into ready, which stays empty for a line that is left out.
func (l *lines) next() {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > l.taker.limit() {
			l.skip(line, part, err)
			return
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.err = err
		break
	}
	switch text := bytes.TrimSpace(line); {
	case len(line) == 0:
	case len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(text):
		l.ready = append(bytes.Clone(text), '\n')
	default:
		l.taker.junk(text)
	}
}

// skip reads to the end of a line that is too long, and keeps only the id of the answer.
func (l *lines) skip(line, part []byte, err error) {
	var s idScanner
	s.feed(line)
	s.feed(part)
	defer l.taker.skipped()
	for errors.Is(err, bufio.ErrBufferFull) {
		l.taker.skip(len(part))
		part, err = l.in.ReadSlice('\n')
		s.feed(part)
	}
	l.err = err
	if id, ok := s.answer(); ok {
		l.ready = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"the answer is too large"}}`+"\n", id, codeTooLong)
	}
}

// idScanner finds the member id of a JSON object without keeping the object.
type idScanner struct {
	depth   int
	text    bool   // within a string
	escaped bool   // after a backslash
	key     []byte // the present key or value of depth 1, cut
	keyed   bool   // key is a whole key, and its value follows
	id      []byte
	method  bool // the object is a request or a notification
	reading bool // the value of id
}

// maxID bounds the id and the keys that the scanner looks at.
const maxID = 64

func (s *idScanner) feed(b []byte) {
	for i := 0; i < len(b); i++ {
		if s.text && !s.escaped && s.depth > 1 { // of such a text only its end matters
			for i < len(b)-1 && b[i] != '"' && b[i] != '\\' {
				i++
			}
		}
		s.step(b[i])
	}
}

func (s *idScanner) step(c byte) {
	switch {
	case s.text:
		switch {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.text = false
		}
		s.keep(c)
	case c == '"':
		s.text = true
		if s.depth == 1 && !s.keyed {
			s.key = s.key[:0]
		}
		s.keep(c)
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		s.depth--
		if s.depth == 0 {
			s.reading = false
		}
	case s.depth == 1 && c == ':':
		s.keyed = true
		s.reading = string(s.key) == `"id"` && s.id == nil
		s.method = s.method || string(s.key) == `"method"`
	case s.depth == 1 && c == ',':
		s.keyed, s.reading = false, false
		s.key = s.key[:0]
	default:
		s.keep(c)
	}
}

func (s *idScanner) keep(c byte) {
	if s.depth != 1 {
		return
	}
	switch {
	case s.reading:
		if len(s.id) < maxID {
			s.id = append(s.id, c)
		}
	case !s.keyed:
		if len(s.key) < maxID {
			s.key = append(s.key, c)
		}
	}
}

// answer returns the id, if the object is an answer.
func (s *idScanner) answer() (json.RawMessage, bool) {
	id := bytes.TrimSpace(s.id)
	if s.method || len(id) == 0 || len(id) == maxID || !json.Valid(id) {
		return nil, false
	}
	return id, true
}
