// Package jsontext reads the texts of JSON values (RFC 8259) byte by byte, so that a value
// of any length takes no more memory than what is kept of it.
package jsontext

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text keeps the beginning of a text, and counts all of it.
type Text struct {
	Bytes []byte // what is kept is appended
	Keep  int64  // how many bytes of the text are kept; -1 means none
	Size  int64  // bytes of the text
	// Over, if there is one, is called when the first byte comes that is not kept. It is
	// not called when Keep is -1.
	Over func()
}

// Add adds a byte.
func (t *Text) Add(b byte) {
	if t.Size++; t.Size <= t.Keep {
		t.Bytes = append(t.Bytes, b)
	} else if t.Size == t.Keep+1 && t.Over != nil {
		t.Over()
	}
}

// Adds adds bytes.
func (t *Text) Adds(text []byte) {
	for _, b := range text {
		t.Add(b)
	}
}

// Reader reads JSON.
type Reader struct {
	*bufio.Reader
	// Malformed is the error for what is no JSON.
	Malformed error
}

// Raw returns the next byte. The end is the error io.ErrUnexpectedEOF.
func (r *Reader) Raw() (byte, error) {
	b, err := r.ReadByte()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// Word reads a text that has to come now.
func (r *Reader) Word(text string) error {
	for i := range len(text) {
		b, err := r.Raw()
		switch {
		case err != nil:
			return err
		case b != text[i]:
			return r.Malformed
		}
	}
	return nil
}

// Quoted reads a string after its quote and decodes its escapes.
func (r *Reader) Quoted(out *Text) error {
	for {
		b, err := r.Raw()
		switch {
		case err != nil:
			return err
		case b == '"':
			return nil
		case b < ' ':
			return r.Malformed
		case b != '\\':
			out.Add(b)
			continue
		}
		if b, err = r.Raw(); err != nil {
			return err
		}
		switch b {
		case '"', '\\', '/':
			out.Add(b)
		case 'b':
			out.Add('\b')
		case 'f':
			out.Add('\f')
		case 'n':
			out.Add('\n')
		case 'r':
			out.Add('\r')
		case 't':
			out.Add('\t')
		case 'u':
			if err := r.unicode(out); err != nil {
				return err
			}
		default:
			return r.Malformed
		}
	}
}

// unicode reads the digits of \u, and the second half of a pair.
func (r *Reader) unicode(out *Text) error {
	c, err := r.digits()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(c) {
		if err := r.Word(`\u`); err != nil {
			return err
		}
		low, err := r.digits()
		if err != nil {
			return err
		}
		if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
			return r.Malformed
		}
	}
	out.Adds([]byte(string(c)))
	return nil
}

func (r *Reader) digits() (rune, error) {
	var text [4]byte
	for i := range text {
		b, err := r.Raw()
		if err != nil {
			return 0, err
		}
		text[i] = b
	}
	n, err := strconv.ParseUint(string(text[:]), 16, 16)
	if err != nil {
		return 0, r.Malformed
	}
	return rune(n), nil
}
