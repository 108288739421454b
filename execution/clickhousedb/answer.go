package clickhousedb

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/jsontext"
	"github.com/ktxhq/ktx/execution/internal/rowset"
)

// errMalformed says that an answer is not in the format that was asked for.
var errMalformed = errors.New("the answer is not a row of JSON")

const (
	maxName     = 64 << 10 // bytes of a column's name or type
	maxColumns  = 100_000
	maxNesting  = 10_000
	maxFailure  = 64 << 10 // bytes of an error
	readAtATime = 64 << 10
)

// answer reads rows in the format JSONCompactEachRowWithNamesAndTypes: lines that are
// arrays, the first of names, the second of types.
type answer struct {
	r      jsontext.Reader
	rows   rowset.Set
	enough func(time.Duration)
	over   func()       // says that a value is too long, and read on only for a while
	failed *serverError // the error that came after the first rows

	text  []byte // the texts of one row
	cells []cell
	row   [][]byte
}

type cell struct {
	end  int
	null bool
}

func newAnswer(body io.Reader, lim execution.Limits, enough func(time.Duration)) answer {
	return answer{
		r:    jsontext.Reader{Reader: bufio.NewReaderSize(body, readAtATime), Malformed: errMalformed},
		rows: rowset.Set{Limits: lim, Syntax: &syntax}, enough: enough, over: func() { enough(drainCellFor) },
	}
}

// read reads the answer to its end.
func (a *answer) read() error {
	names, more, err := a.header()
	if err != nil || !more {
		return err
	}
	types, more, err := a.header()
	if err != nil {
		return err
	}
	if !more || len(names) != len(types) || len(names) == 0 {
		return fmt.Errorf("%w: %d names and %d types of columns", errMalformed, len(names), len(types))
	}
	a.rows.Describe(len(names))
	for i := range a.rows.Columns {
		a.rows.Column(i, execution.Column{Name: names[i], Type: types[i]}, kindOf(types[i]))
	}
	for {
		more, err := a.begin()
		if err != nil || !more {
			return err
		}
		if err := a.one(len(names)); err != nil {
			return a.within(err)
		}
	}
}

// begin reads what is before a row. It is false at the end of the answer, and when the
// server's error is in the place of a row.
func (a *answer) begin() (bool, error) {
	for {
		b, err := a.r.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		case b == '[':
			return true, nil
		case b == '\n':
		default:
			_ = a.r.UnreadByte()
			return false, a.failure(errMalformed)
		}
	}
}

// within returns the error of a row that could not be read. The server may have written
// its error into it.
func (a *answer) within(err error) error {
	if !errors.Is(err, errMalformed) {
		return err
	}
	if failure := a.failure(err); failure != nil {
		return failure
	}
	return nil
}

// failure reads an error of the server. It returns otherwise when there is none.
func (a *answer) failure(otherwise error) error {
	raw, err := io.ReadAll(io.LimitReader(a.r, maxFailure))
	if a.failed = parseFailure(raw); a.failed != nil {
		// What is after an error is not needed. Servers since 2023 do not end such an
		// answer as HTTP wants it.
		if err == nil {
			_, err = io.Copy(io.Discard, a.r)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return err
	}
	return otherwise
}

// header reads a line of names or types.
func (a *answer) header() ([]string, bool, error) {
	more, err := a.begin()
	if err != nil || !more {
		return nil, false, err
	}
	var out []string
	for {
		a.text = a.text[:0]
		_, size, err := a.value(maxName)
		switch {
		case err != nil:
			return nil, false, a.within(err)
		case size > maxName, len(out) == maxColumns:
			return nil, false, fmt.Errorf("%w: too many columns, or too long a name", errMalformed)
		}
		out = append(out, string(a.text))
		if last, err := a.next(); err != nil || last {
			return out, err == nil, err
		}
	}
}

// next reads the comma or the bracket after a value. It is true at the bracket.
func (a *answer) next() (last bool, err error) {
	b, err := a.byte()
	switch {
	case err != nil:
		return false, err
	case b == ',':
		return false, nil
	case b == ']':
		return true, nil
	default:
		return false, errMalformed
	}
}

// byte returns the next byte that is not a space. The end of the answer is an error.
func (a *answer) byte() (byte, error) {
	for {
		b, err := a.r.Raw()
		if err != nil || b != ' ' {
			return b, err
		}
	}
}

// one reads one row after its bracket. A value that is longer than the limit ends the
// result before this row, wherever in the row it is. Otherwise the row ends the result if
// it exceeds the limit on bytes.
func (a *answer) one(columns int) error {
	if a.rows.Full() || !a.rows.Room() {
		a.enough(drainFor)
	}
	a.text, a.cells = a.text[:0], a.cells[:0]
	keep, fits := a.rows.Limits.CellBytes, true
	for i := range columns {
		kept := !a.rows.Full() && i < len(a.rows.Columns)
		from := len(a.text)
		var null bool
		var size int64
		var err error
		if kept {
			if null, size, err = a.value(keep); size > keep {
				a.rows.Cut(i, size)
				a.enough(0)
			}
		} else {
			_, _, err = a.value(-1)
		}
		if err != nil {
			return err
		}
		last, err := a.next()
		switch {
		case err != nil:
			return err
		case last != (i == columns-1):
			return errMalformed
		}
		if !kept || a.rows.Full() {
			continue
		}
		if int64(len(a.text)) > a.rows.Limits.Bytes {
			fits, a.text = false, a.text[:min(from, len(a.text))]
		}
		a.cells = append(a.cells, cell{len(a.text), null})
	}
	if !a.rows.Full() {
		a.keep(fits)
	}
	return nil
}

// keep adds the row that was read.
func (a *answer) keep(fits bool) {
	if !fits {
		a.rows.Cut(-1, 0)
		a.enough(drainFor)
		return
	}
	a.row = a.row[:0]
	from := 0
	for _, c := range a.cells {
		if c.null {
			a.row = append(a.row, nil)
		} else {
			a.row = append(a.row, a.text[from:c.end:c.end])
		}
		from = c.end
	}
	a.rows.Add(a.row)
	if a.rows.Full() {
		a.enough(drainFor)
	}
}

// value reads one value and appends the text of at most that many bytes to a.text: that of
// a JSON string, and of everything else what the server wrote. It returns how many bytes
// the text has.
func (a *answer) value(keep int64) (null bool, size int64, err error) {
	b, err := a.byte()
	if err != nil {
		return false, 0, err
	}
	from := len(a.text)
	out := jsontext.Text{Bytes: a.text, Keep: keep, Over: a.over}
	switch b {
	case '"':
		err = a.r.Quoted(&out)
	case '[', '{':
		err = a.nested(b, &out)
	default:
		if err = a.bare(b, &out); err == nil && out.Size == 4 && string(out.Bytes[from:]) == "null" {
			out.Bytes, out.Size, null = out.Bytes[:from], 0, true
		}
	}
	a.text = out.Bytes
	return null, out.Size, err
}

// bare reads a number or a word. It leaves the character after it.
func (a *answer) bare(b byte, out *jsontext.Text) error {
	for {
		switch {
		case b == ',' || b == ']':
			if out.Size == 0 {
				return errMalformed
			}
			return a.r.UnreadByte()
		case b >= '0' && b <= '9', b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '-', b == '+', b == '.':
			out.Add(b)
		default:
			return errMalformed
		}
		var err error
		if b, err = a.byte(); err != nil {
			return err
		}
	}
}

// nested reads an array or an object after its bracket, as the server wrote it.
func (a *answer) nested(b byte, out *jsontext.Text) error {
	open := []byte{}
	for quoted := false; ; {
		out.Add(b)
		switch {
		case quoted && b == '\\':
			next, err := a.r.Raw()
			if err != nil {
				return err
			}
			out.Add(next)
		case b == '"':
			quoted = !quoted
		case quoted:
			if b < ' ' {
				return errMalformed
			}
		case b == '[':
			open = append(open, ']')
		case b == '{':
			open = append(open, '}')
		case b == ']', b == '}':
			if open[len(open)-1] != b {
				return errMalformed
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return nil
			}
		case b < ' ' || b >= 0x7f: // an error of the server is in the value
			return errMalformed
		}
		if len(open) > maxNesting {
			return errMalformed
		}
		var err error
		if b, err = a.r.Raw(); err != nil {
			return err
		}
	}
}
