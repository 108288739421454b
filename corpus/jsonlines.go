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

// ReadJSONLines reads cases of other origin: on each line a JSON object with
// "id", "dialect", "sql" or "sql_b64", and "expect". It also reads the other
// fields of [Case], ignores unknown fields, and skips empty lines. The error
// names the line. A dialect that [Dialects] does not have is kept, because it is a
// mistake of that line alone. A file without any case is an error, because a run over no
// cases must not look like a success.
func ReadJSONLines(r io.Reader) ([]Case, error) {
	var (
		cases []Case
		seen  = map[string]int{}
		lines = bufio.NewReaderSize(r, 64<<10)
	)
	for number := 1; ; number++ {
		line, err := readLine(lines)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			c, err := DecodeLine(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			if first, taken := seen[c.ID]; taken {
				return nil, fmt.Errorf("line %d: id %q is already used in line %d", number, c.ID, first)
			}
			seen[c.ID] = number
			cases = append(cases, c)
		}
		if end {
			break
		}
	}
	if len(cases) == 0 {
		return nil, errors.New("no statements")
	}
	return cases, nil
}

// readLine returns the next line without its line end, and io.EOF with the last
// line.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(bytes.TrimRight(piece, "\r\n")) > MaxLine {
			return nil, fmt.Errorf("longer than %d bytes", MaxLine)
		}
		line = append(line, piece...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimRight(line, "\r\n"), err
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
