package bigquerydb

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/execution/internal/rowset"
)

const (
	maxName     = 4 << 10 // bytes of a key or a page's token
	maxNesting  = 200     // the service permits 15 levels of STRUCT
	readAtATime = 64 << 10
)

// page reads the rows of one page: an object whose rows are objects with the list f of
// objects with the value v. It keeps no more of a value than the limits permit.
type page struct {
	r      *bufio.Reader
	rows   *rowset.Set
	fields []wire.Field
	token  string // of the next page
	count  int

	texts [][]byte
	text  []byte // of the values of one row
	ends  []int  // where they end; -1 is NULL
}

// read reads the page, up to its end or to where no further row is needed.
func (p *page) read() error {
	return p.object(func(key string) error {
		switch key {
		case "pageToken":
			token, err := p.short()
			p.token = token
			return err
		case "rows":
			return p.list(p.row)
		default:
			return p.skip(0)
		}
	})
}

// errEnough says that no further row is needed.
var errEnough = errors.New("no further row is needed")

// row reads one row. A value that is longer than the limit ends the result before it.
func (p *page) row() error {
	if p.rows.Full() || !p.rows.Room() {
		return errEnough
	}
	p.count++
	p.text, p.ends = p.text[:0], p.ends[:0]
	n, size := 0, int64(0)
	err := p.object(func(key string) error {
		if key != "f" || n > 0 {
			return p.skip(0)
		}
		return p.list(func() error {
			if n++; n > len(p.fields) {
				return wire.ErrMalformed
			}
			return p.cell(n-1, &size)
		})
	})
	switch {
	case err != nil:
		return err
	case n != len(p.fields):
		return fmt.Errorf("%w: %d values for %d columns", wire.ErrMalformed, n, len(p.fields))
	case size > p.rows.Limits.Bytes:
		p.rows.Cut(-1, 0)
		return errEnough
	}
	p.texts = p.texts[:0]
	from := 0
	for _, end := range p.ends {
		if end < 0 {
			p.texts = append(p.texts, nil)
			continue
		}
		p.texts = append(p.texts, p.text[from:end:end])
		from = end
	}
	p.rows.Add(p.texts)
	if p.rows.Full() {
		return errEnough
	}
	return nil
}

// cell reads the object with the value of a column.
func (p *page) cell(i int, total *int64) error {
	if i >= len(p.rows.Columns) {
		return p.skip(0)
	}
	lim := p.rows.Limits
	from := len(p.text)
	out := sink{text: p.text, from: from, keep: lim.CellBytes}
	// The row as a whole is not kept when it is too long.
	out.keep = min(out.keep, max(lim.Bytes-*total, 0)+1)
	null, err := p.valued(&p.fields[i], &out, 0)
	if err != nil {
		return err
	}
	p.text = out.text
	size := out.size
	if kindOf(&p.fields[i]) == rowset.Bytes && !null {
		raw, err := decoded(p.text[from:])
		if err != nil && size <= out.keep {
			return fmt.Errorf("%w: BYTES that are not in base64", wire.ErrMalformed)
		}
		if size > out.keep {
			size = 2 + size/2*3 // about as many digits
		} else {
			p.text = append(p.text[:from], raw...)
			size = 2 + 2*int64(len(raw))
		}
	}
	*total += size
	if size > lim.CellBytes {
		p.rows.Cut(i, size)
		return errEnough
	}
	if null {
		p.ends = append(p.ends, -1)
	} else {
		p.ends = append(p.ends, len(p.text))
	}
	return nil
}

// sink keeps a text up to a limit, and counts all of it.
type sink struct {
	text       []byte
	from       int
	keep, size int64
}

func (s *sink) add(b byte) {
	if s.size++; s.size <= s.keep {
		s.text = append(s.text, b)
	}
}

func (s *sink) adds(text []byte) {
	for _, b := range text {
		s.add(b)
	}
}

// valued reads an object whose member v is a value of a field.
func (p *page) valued(f *wire.Field, out *sink, depth int) (null bool, err error) {
	seen := false
	err = p.object(func(key string) error {
		if key != "v" || seen {
			return p.skip(depth)
		}
		seen = true
		var err error
		null, err = p.value(f, out, depth)
		return err
	})
	return null || !seen, err
}

// value reads a value of a field. At depth 0 it is the text of a column, and below it JSON.
func (p *page) value(f *wire.Field, out *sink, depth int) (null bool, err error) {
	if depth > maxNesting {
		return false, wire.ErrMalformed
	}
	b, err := p.byte()
	if err != nil {
		return false, err
	}
	switch {
	case b == 'n':
		if err := p.word("ull"); err != nil {
			return false, err
		}
		if depth > 0 {
			out.adds([]byte("null"))
		}
		return true, nil
	case b == '[' && f.Mode == repeated:
		element := *f
		element.Mode = ""
		_ = p.r.UnreadByte() // it was just read
		out.add('[')
		first := true
		err := p.list(func() error {
			if !first {
				out.add(',')
			}
			first = false
			_, err := p.valued(&element, out, depth+1)
			return err
		})
		out.add(']')
		return false, err
	case b == '{' && f.Mode != repeated && len(f.Fields) > 0:
		_ = p.r.UnreadByte() // it was just read
		return false, p.fieldsOf(f, out, depth)
	case b == '[' || b == '{' || f.Mode == repeated || len(f.Fields) > 0:
		return false, fmt.Errorf("%w: a value that does not fit the type %s", wire.ErrMalformed, nameOf(f))
	case b != '"':
		_ = p.r.UnreadByte() // it was just read
		return false, p.bare(out)
	case depth == 0 && f.Type != typeTimestamp:
		return false, p.str(out)
	}
	// A value that is changed or quoted is short, or too long to be kept.
	part := sink{keep: max(out.keep-out.size, 64)}
	if err := p.str(&part); err != nil {
		return false, err
	}
	text := part.text
	if f.Type == typeTimestamp {
		text = timestamp(text)
	}
	if depth > 0 {
		text = execution.Value{Kind: execution.String, Text: string(text)}.AppendJSON(nil)
	}
	out.adds(text)
	out.size += max(part.size-part.keep, 0)
	return false, nil
}

// fieldsOf reads a STRUCT.
func (p *page) fieldsOf(f *wire.Field, out *sink, depth int) error {
	n := 0
	out.add('{')
	err := p.object(func(key string) error {
		if key != "f" || n > 0 {
			return p.skip(depth)
		}
		return p.list(func() error {
			if n == len(f.Fields) {
				return wire.ErrMalformed
			}
			part := &f.Fields[n]
			if n++; n > 1 {
				out.add(',')
			}
			out.adds(execution.Value{Kind: execution.String, Text: part.Name}.AppendJSON(nil))
			out.add(':')
			_, err := p.valued(part, out, depth+1)
			return err
		})
	})
	out.add('}')
	if err == nil && n != len(f.Fields) {
		return wire.ErrMalformed
	}
	return err
}

// object reads an object, and calls member with each key to read its value.
func (p *page) object(member func(key string) error) error {
	if err := p.expect('{'); err != nil {
		return err
	}
	return p.members('}', func() error {
		key, err := p.short()
		if err == nil {
			err = p.expect(':')
		}
		if err != nil {
			return err
		}
		return member(key)
	})
}

// list reads a list, and calls element to read each of its values.
func (p *page) list(element func() error) error {
	if err := p.expect('['); err != nil {
		return err
	}
	return p.members(']', element)
}

func (p *page) members(end byte, member func() error) error {
	b, err := p.byte()
	if err != nil || b == end {
		return err
	}
	_ = p.r.UnreadByte() // it was just read
	for {
		if err := member(); err != nil {
			return err
		}
		switch b, err := p.byte(); {
		case err != nil:
			return err
		case b == end:
			return nil
		case b != ',':
			return wire.ErrMalformed
		}
	}
}

// skip reads a value that is not needed.
func (p *page) skip(depth int) error {
	if depth > maxNesting {
		return wire.ErrMalformed
	}
	b, err := p.byte()
	if err != nil {
		return err
	}
	_ = p.r.UnreadByte() // it was just read
	none := &sink{keep: -1}
	switch b {
	case '{':
		return p.object(func(string) error { return p.skip(depth + 1) })
	case '[':
		return p.list(func() error { return p.skip(depth + 1) })
	case '"':
		_, _ = p.r.ReadByte() // it was just read
		return p.str(none)
	default:
		return p.bare(none)
	}
}

// short reads a string that must be short.
func (p *page) short() (string, error) {
	if err := p.expect('"'); err != nil {
		return "", err
	}
	out := sink{keep: maxName}
	if err := p.str(&out); err != nil {
		return "", err
	}
	if out.size > out.keep {
		return "", fmt.Errorf("%w: too long a name", wire.ErrMalformed)
	}
	return string(out.text), nil
}

// bare reads a number or a word.
func (p *page) bare(out *sink) error {
	for n := 0; ; n++ {
		b, err := p.raw()
		switch {
		case err != nil:
			return err
		case b >= '0' && b <= '9', b >= 'a' && b <= 'z', b == 'E', b == '-', b == '+', b == '.':
			out.add(b)
		case n == 0:
			return wire.ErrMalformed
		default:
			return p.r.UnreadByte()
		}
	}
}

func (p *page) word(rest string) error {
	for i := range len(rest) {
		b, err := p.raw()
		switch {
		case err != nil:
			return err
		case b != rest[i]:
			return wire.ErrMalformed
		}
	}
	return nil
}

// str reads a string after its quote and decodes its escapes.
func (p *page) str(out *sink) error {
	for {
		b, err := p.raw()
		switch {
		case err != nil:
			return err
		case b == '"':
			return nil
		case b < ' ':
			return wire.ErrMalformed
		case b != '\\':
			out.add(b)
			continue
		}
		if b, err = p.raw(); err != nil {
			return err
		}
		switch b {
		case '"', '\\', '/':
			out.add(b)
		case 'b':
			out.add('\b')
		case 'f':
			out.add('\f')
		case 'n':
			out.add('\n')
		case 'r':
			out.add('\r')
		case 't':
			out.add('\t')
		case 'u':
			if err := p.unicode(out); err != nil {
				return err
			}
		default:
			return wire.ErrMalformed
		}
	}
}

// unicode reads the digits of \u, and the second half of a pair.
func (p *page) unicode(out *sink) error {
	r, err := p.digits()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		if err := p.word(`\u`); err != nil {
			return err
		}
		low, err := p.digits()
		if err != nil {
			return err
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return wire.ErrMalformed
		}
	}
	out.adds([]byte(string(r)))
	return nil
}

func (p *page) digits() (rune, error) {
	var text [4]byte
	for i := range text {
		b, err := p.raw()
		if err != nil {
			return 0, err
		}
		text[i] = b
	}
	n, err := strconv.ParseUint(string(text[:]), 16, 16)
	if err != nil {
		return 0, wire.ErrMalformed
	}
	return rune(n), nil
}

// expect reads a character after white space.
func (p *page) expect(want byte) error {
	b, err := p.byte()
	if err == nil && b != want {
		return wire.ErrMalformed
	}
	return err
}

// byte returns the next byte that is not white space.
func (p *page) byte() (byte, error) {
	for {
		b, err := p.raw()
		if err != nil || b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b, err
		}
	}
}

// raw returns the next byte. The end of the page is an error.
func (p *page) raw() (byte, error) {
	b, err := p.r.ReadByte()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}
