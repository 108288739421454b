package bigquerydb

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/execution/internal/jsontext"
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
	r      jsontext.Reader
	rows   *rowset.Set
	fields []wire.Field
	token  string // of the next page
	count  int

	texts [][]byte
	text  []byte // of the values of one row
	ends  []int  // where they end; -1 is NULL
}

func readerOf(body io.Reader) jsontext.Reader {
	return jsontext.Reader{Reader: bufio.NewReaderSize(body, readAtATime), Malformed: wire.ErrMalformed}
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
	out := jsontext.Text{Bytes: p.text, Keep: lim.CellBytes}
	// The row as a whole is not kept when it is too long.
	out.Keep = min(out.Keep, max(lim.Bytes-*total, 0)+1)
	null, err := p.valued(&p.fields[i], &out, 0)
	if err != nil {
		return err
	}
	p.text = out.Bytes
	size := out.Size
	if kindOf(&p.fields[i]) == rowset.Bytes && !null {
		raw, err := decoded(p.text[from:])
		if err != nil && size <= out.Keep {
			return fmt.Errorf("%w: BYTES that are not in base64", wire.ErrMalformed)
		}
		if size > out.Keep {
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

// valued reads an object whose member v is a value of a field.
func (p *page) valued(f *wire.Field, out *jsontext.Text, depth int) (null bool, err error) {
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
func (p *page) value(f *wire.Field, out *jsontext.Text, depth int) (null bool, err error) {
	if depth > maxNesting {
		return false, wire.ErrMalformed
	}
	b, err := p.byte()
	if err != nil {
		return false, err
	}
	switch {
	case b == 'n':
		if err := p.r.Word("ull"); err != nil {
			return false, err
		}
		if depth > 0 {
			out.Adds([]byte("null"))
		}
		return true, nil
	case b == '[' && f.Mode == repeated:
		element := *f
		element.Mode = ""
		_ = p.r.UnreadByte() // it was just read
		out.Add('[')
		first := true
		err := p.list(func() error {
			if !first {
				out.Add(',')
			}
			first = false
			_, err := p.valued(&element, out, depth+1)
			return err
		})
		out.Add(']')
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
		return false, p.r.Quoted(out)
	}
	// A value that is changed or quoted is short, or too long to be kept.
	part := jsontext.Text{Keep: max(out.Keep-out.Size, 64)}
	if err := p.r.Quoted(&part); err != nil {
		return false, err
	}
	text := part.Bytes
	switch f.Type {
	case typeTimestamp:
		text = timestamp(text)
	case typeBytes:
		raw, err := decoded(text)
		if err != nil && part.Size <= part.Keep {
			return false, fmt.Errorf("%w: BYTES that are not in base64", wire.ErrMalformed)
		}
		text = fmt.Appendf(nil, `\x%x`, raw)
	}
	if depth > 0 {
		text = execution.Value{Kind: execution.String, Text: string(text)}.AppendJSON(nil)
	}
	out.Adds(text)
	out.Size += max(part.Size-part.Keep, 0)
	return false, nil
}

// fieldsOf reads a STRUCT.
func (p *page) fieldsOf(f *wire.Field, out *jsontext.Text, depth int) error {
	n := 0
	out.Add('{')
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
				out.Add(',')
			}
			out.Adds(execution.Value{Kind: execution.String, Text: part.Name}.AppendJSON(nil))
			out.Add(':')
			_, err := p.valued(part, out, depth+1)
			return err
		})
	})
	out.Add('}')
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
	none := &jsontext.Text{Keep: -1}
	switch b {
	case '{':
		return p.object(func(string) error { return p.skip(depth + 1) })
	case '[':
		return p.list(func() error { return p.skip(depth + 1) })
	case '"':
		_, _ = p.r.ReadByte() // it was just read
		return p.r.Quoted(none)
	default:
		return p.bare(none)
	}
}

// short reads a string that must be short.
func (p *page) short() (string, error) {
	if err := p.expect('"'); err != nil {
		return "", err
	}
	out := jsontext.Text{Keep: maxName}
	if err := p.r.Quoted(&out); err != nil {
		return "", err
	}
	if out.Size > out.Keep {
		return "", fmt.Errorf("%w: too long a name", wire.ErrMalformed)
	}
	return string(out.Bytes), nil
}

// bare reads a number or a word.
func (p *page) bare(out *jsontext.Text) error {
	for n := 0; ; n++ {
		b, err := p.r.Raw()
		switch {
		case err != nil:
			return err
		case b >= '0' && b <= '9', b >= 'a' && b <= 'z', b == 'E', b == '-', b == '+', b == '.':
			out.Add(b)
		case n == 0:
			return wire.ErrMalformed
		default:
			return p.r.UnreadByte()
		}
	}
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
		b, err := p.r.Raw()
		if err != nil || b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b, err
		}
	}
}
