package corpus

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxLine is the most bytes of one line of JSON Lines.
const MaxLine = 2 << 20

// LineError is a line of JSON Lines that holds no case.
type LineError struct {
	Line int // from 1
	Err  error
}

// Error names the line.
func (l *LineError) Error() string { return fmt.Sprintf("line %d: %v", l.Line, l.Err) }

// Unwrap returns what is wrong with the line.
func (l *LineError) Unwrap() error { return l.Err }

// ReadJSONLines reads cases of other origin: on each line a JSON object with
// "id", "dialect", "sql" or "sql_b64", and "expect". It also reads the other
// fields of [Case], ignores unknown fields, and skips empty lines. It keeps a dialect that
// [Dialects] does not have. Lines that hold no case, or an id that is used before, are in
// bad; the others are read all the same. A file without any line is an error, because a
// run over no cases must not look like a success.
func ReadJSONLines(r io.Reader) (cases []Case, bad []*LineError, err error) {
	var (
		seen  = map[string]int{}
		lines = bufio.NewReaderSize(r, 64<<10)
	)
	for number, end := 1, false; !end; number++ {
		line, long, err := readLine(lines)
		if end = errors.Is(err, io.EOF); err != nil && !end {
			return nil, nil, fmt.Errorf("line %d: %w", number, err)
		}
		if !long && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		c, err := DecodeLine(line)
		if long {
			err = fmt.Errorf("longer than %d bytes", MaxLine)
		}
		if first, taken := seen[c.ID]; err == nil && taken {
			err = fmt.Errorf("id %q is already used in line %d", c.ID, first)
		}
		if err != nil {
			bad = append(bad, &LineError{number, err})
			continue
		}
		seen[c.ID] = number
		cases = append(cases, c)
	}
	if len(cases)+len(bad) == 0 {
		return nil, nil, errors.New("no statements")
	}
	return cases, bad, nil
}

// readLine returns the next line without its line end, and io.EOF with the last
// line. Of a line over [MaxLine] it returns nothing but that it is long.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if long = long || len(line)+len(bytes.TrimRight(piece, "\r\n")) > MaxLine; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimRight(line, "\r\n"), long, err
	}
}

// DecodeLine decodes one line, as [ReadJSONLines] does.
func DecodeLine(line []byte) (Case, error) {
	// The JSON decoder would replace invalid bytes, and a guard would then
	// judge another statement.
	if !utf8.Valid(line) {
		return Case{}, errors.New("not valid UTF-8; use sql_b64")
	}
	if halfSurrogate(line) {
		return Case{}, errors.New("half a surrogate pair; use sql_b64")
	}
	var c Case
	if err := json.Unmarshal(line, &c); err != nil {
		return Case{}, err
	}
	if c.ID == "" {
		return Case{}, errors.New(`"id" is missing`)
	}
	if c.Dialect == "" {
		return Case{}, fmt.Errorf(`case %s: "dialect" is missing; it is one of %s`, c.ID, dialectNames())
	}
	if !slices.Contains([]Expect{Reject, Allow, Policy}, c.Expect) {
		return Case{}, fmt.Errorf("case %s: expect is %q; it must be reject, allow or policy", c.ID, c.Expect)
	}
	return c, nil
}

// halfSurrogate reports whether an escape in a JSON text is one half of a
// surrogate pair without the other half.
func halfSurrogate(text []byte) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++ // skip the escaped character
		if text[i] != 'u' {
			continue
		}
		switch unit := escapedUnit(text[i-1:]); {
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return true
		case unit >= 0xD800 && unit <= 0xDBFF:
			if next := escapedUnit(text[min(i+5, len(text)):]); next < 0xDC00 || next > 0xDFFF {
				return true
			}
			i += 6
		}
	}
	return false
}

// escapedUnit returns the value of a \uXXXX escape at the start of text, or -1.
func escapedUnit(text []byte) int64 {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseInt(string(text[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return unit
}

func dialectNames() string {
	names := make([]string, len(dialects))
	for i, d := range dialects {
		names[i] = d.Name
	}
	return strings.Join(names, ", ")
}

// WriteJSONLines writes one case on each line, in ASCII. [ReadJSONLines] reads
// the result.
func WriteJSONLines(w io.Writer, cases []Case) error {
	out := bufio.NewWriter(w)
	for _, c := range cases {
		line, err := encodeLine(c)
		if err != nil {
			return fmt.Errorf("write case %s: %w", c.ID, err)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write case %s: %w", c.ID, err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write cases: %w", err)
	}
	return nil
}
