package edit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// maxTOML is the most bytes of a TOML text. The time of the parser grows with
// the square of the number of tables.
const maxTOML = 1 << 20

// tomlText is a TOML text.
type tomlText struct {
	text   []byte // the whole file
	skip   int    // the length of the byte order mark
	values object
	lines  []expression
}

// An expression is a header of a table, or a key with its value.
type expression struct {
	kind unstable.Kind // Table, ArrayTable or KeyValue
	// value is the kind of the value that the key has.
	value unstable.Kind
	// key is the whole path, including that of the table before it.
	key []string
	// valueStart is the offset of the value of a key.
	valueStart int
	// start is the offset of the first byte of the key or bracket, and end is
	// the offset after the value or bracket. Comments are not included.
	start, end int
}

func readTOML(text []byte) (*tomlText, error) {
	if len(text) > maxTOML {
		return nil, fmt.Errorf("the text is larger than %d MiB", maxTOML>>20)
	}
	d := &tomlText{text: text}
	if bytes.HasPrefix(text, []byte(bom)) {
		d.skip = len(bom)
	}
	body := bytes.Clone(text[d.skip:])
	var values map[string]any
	if err := toml.Unmarshal(body, &values); err != nil {
		if decode, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := decode.Position()
			return nil, at(text, offsetOf(body, line, column)+d.skip, "%s", strings.TrimPrefix(err.Error(), "toml: "))
		}
		return nil, err
	}
	d.values = tableOf(values)
	return d, d.scan(body)
}

// scan collects the expressions of the text.
func (d *tomlText) scan(body []byte) error {
	var parser unstable.Parser
	parser.Reset(body)
	var table []string
	for parser.NextExpression() {
		node := parser.Expression()
		e := expression{kind: node.Kind}
		var last unstable.Range
		if node.Kind == unstable.KeyValue {
			e.key = slices.Clone(table)
			e.value = node.Value().Kind
		}
		for keys, first := node.Key(), true; keys.Next(); first = false {
			key := keys.Node()
			if first {
				e.start = int(key.Raw.Offset)
			}
			last = key.Raw
			e.key = append(e.key, string(key.Data))
		}
		if node.Kind == unstable.KeyValue {
			e.end = int(node.Raw.Offset + node.Raw.Length)
			e.valueStart = int(last.Offset + last.Length)
			e.valueStart += bytes.IndexByte(body[e.valueStart:], '=') + 1
			e.valueStart += len(body[e.valueStart:]) - len(bytes.TrimLeft(body[e.valueStart:], " \t"))
			e.valueStart += d.skip
		} else {
			table = e.key
			brackets := 1
			if node.Kind == unstable.ArrayTable {
				brackets = 2
			}
			e.start = bytes.LastIndexByte(body[:e.start], '\n') + 1
			e.start += bytes.IndexByte(body[e.start:], '[')
			e.end = int(last.Offset + last.Length)
			e.end += bytes.IndexByte(body[e.end:], ']') + brackets
		}
		e.start += d.skip
		e.end += d.skip
		d.lines = append(d.lines, e)
	}
	return parser.Error()
}

func tableOf(values map[string]any) object {
	all := object{}
	for name, value := range values {
		all = append(all, member{name, tomlValue(value)})
	}
	slices.SortFunc(all, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	return all
}

func tomlValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return tableOf(value)
	case []any:
		all := list{}
		for _, v := range value {
			all = append(all, tomlValue(v))
		}
		return all
	case float64:
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return scalar(strconv.Quote(strconv.FormatFloat(value, 'g', -1, 64)))
		}
	}
	b, err := json.Marshal(value)
	if err != nil {
		return scalar(strconv.Quote(fmt.Sprint(value)))
	}
	return scalar(b)
}

func (d *tomlText) tree() object { return d.values }

// trailing is 0: every TOML parser accepts such commas where the language has
// them.
func (*tomlText) trailing() int { return 0 }

// check returns nil: a text with a repeated key does not parse.
func (d *tomlText) check([]string) error { return nil }

func hasPrefix(key, prefix []string) bool {
	return len(key) >= len(prefix) && slices.Equal(key[:len(prefix)], prefix)
}

// of returns the indexes of the expressions that define the value at path.
func (d *tomlText) of(path []string) []int {
	var all []int
	for i, e := range d.lines {
		if hasPrefix(e.key, path) {
			all = append(all, i)
		}
	}
	return all
}

func (d *tomlText) where(path []string) span {
	all := d.of(path)
	if len(all) == 0 {
		return span{}
	}
	return span{d.lines[all[0]].start, d.lines[all[len(all)-1]].end}
}

func (d *tomlText) commaBefore([]string) (int, bool) { return 0, false }

// extensible refuses parents to which nothing can be added without rewriting
// them.
func (d *tomlText) extensible(path []string) error {
	for _, e := range d.lines {
		name := strings.Join(e.key, ".")
		switch {
		case !hasPrefix(path, e.key):
		case e.kind == unstable.ArrayTable:
			return at(d.text, e.start, "%s is a list of tables", name)
		case e.kind == unstable.Table || len(e.key) == len(path):
		case e.value == unstable.InlineTable:
			return at(d.text, e.start, "%s is a table on one line, which cannot be added to; write it as [%s]", name, name)
		default:
			return at(d.text, e.start, "%s is not a table", name)
		}
	}
	return nil
}

func (d *tomlText) set(path []string, value json.RawMessage) (Splice, error) {
	if err := d.extensible(path); err != nil {
		return Splice{}, err
	}
	wanted, err := readValue(value)
	if err != nil {
		return Splice{}, err
	}
	nl := newline(d.text)
	if _, found := d.values.find(path); found {
		return d.replace(path, wanted, nl)
	}
	section, err := appendSection(nil, path, wanted, nl)
	if err != nil {
		return Splice{}, err
	}
	body := d.text[d.skip:]
	s := Splice{Offset: len(d.text), Inserted: string(section)}
	switch {
	case isEmpty(body):
		s.Offset, s.Removed = d.skip, string(body)
		s.Inserted += nl
	case !bytes.HasSuffix(body, []byte("\n")):
		s.Inserted = nl + nl + s.Inserted
	case bytes.HasSuffix(body, []byte("\n\n")) || bytes.HasSuffix(body, []byte("\n\r\n")):
		s.Inserted += nl
	default:
		s.Inserted = nl + s.Inserted + nl
	}
	return s, nil
}

// replace sets a new value at path. The old value is defined in one piece.
func (d *tomlText) replace(path []string, wanted object, nl string) (Splice, error) {
	all := d.of(path)
	first, last := d.lines[all[0]], d.lines[all[len(all)-1]]
	name := strings.Join(path, ".")
	if len(all) != all[len(all)-1]-all[0]+1 {
		return Splice{}, at(d.text, first.start, "%s is written in several places", name)
	}
	var text []byte
	var err error
	switch {
	case first.kind == unstable.Table && len(first.key) == len(path):
		text, err = appendSection(nil, path, wanted, nl)
	case first.kind == unstable.KeyValue && len(first.key) == len(path):
		// The key stays as it is written.
		first.start = first.valueStart
		text, err = appendInline(nil, wanted)
	default:
		err = at(d.text, first.start, "%s is not written as a table with a header of its own", name)
	}
	if err != nil {
		return Splice{}, err
	}
	return Splice{Offset: first.start, Removed: string(d.text[first.start:last.end]), Inserted: string(text)}, nil
}

// cuts removes the lines of the expressions of path, with the comments in them.
// A parent without lines is then gone too.
func (d *tomlText) cuts(path []string, _ int) ([]span, error) {
	all := d.of(path)
	if len(all) == 0 {
		return nil, d.extensible(path)
	}
	var cuts []span
	for n, i := range all {
		s := d.line(d.lines[i])
		if n > 0 && all[n-1] == i-1 && isEmpty(d.text[cuts[len(cuts)-1].end:s.start]) {
			cuts[len(cuts)-1].end = s.end
			continue
		}
		cuts = append(cuts, s)
	}
	// The blank line before goes too if a blank line follows or the text ends.
	first := &cuts[0]
	before, after := d.text[d.skip:first.start], d.text[first.end:]
	for _, blank := range []string{"\r\n", "\n"} {
		if bytes.HasSuffix(before, []byte("\n"+blank)) && (len(after) == 0 || bytes.HasPrefix(after, []byte(blank))) {
			first.start -= len(blank)
			break
		}
	}
	return cuts, nil
}

// line returns the lines of an expression.
func (d *tomlText) line(e expression) span {
	s := span{max(bytes.LastIndexByte(d.text[:e.start], '\n')+1, d.skip), len(d.text)}
	if i := bytes.IndexByte(d.text[e.end:], '\n'); i >= 0 {
		s.end = e.end + i + 1
	}
	return s
}

// appendSection appends a table with its header, without the last line end.
func appendSection(b []byte, path []string, table object, nl string) ([]byte, error) {
	b = append(b, '[')
	for i, key := range path {
		if i > 0 {
			b = append(b, '.')
		}
		b = appendKey(b, key)
	}
	b = append(b, ']')
	var err error
	for _, m := range table {
		b = append(appendKey(append(b, nl...), m.name), " = "...)
		if b, err = appendInline(b, m.value); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendKey appends a key, in quotes if it needs them.
func appendKey(b []byte, key string) []byte {
	if key != "" && strings.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == "" {
		return append(b, key...)
	}
	return appendString(b, key)
}

// appendString appends a basic string.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r < ' ' || r == 0x7f:
			b = fmt.Appendf(b, `\u%04X`, r)
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}

// appendInline appends a value on one line.
func appendInline(b []byte, value any) ([]byte, error) {
	var err error
	switch value := value.(type) {
	case object:
		b = append(b, '{')
		for i, m := range value {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendKey(append(b, ' '), m.name), " = "...)
			if b, err = appendInline(b, m.value); err != nil {
				return nil, err
			}
		}
		if len(value) > 0 {
			b = append(b, ' ')
		}
		return append(b, '}'), nil
	case list:
		b = append(b, '[')
		for i, v := range value {
			if i > 0 {
				b = append(b, ", "...)
			}
			if b, err = appendInline(b, v); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case scalar:
		return appendScalar(b, value)
	default:
		return nil, fmt.Errorf("TOML has no value for %v", value)
	}
}

func appendScalar(b []byte, s scalar) ([]byte, error) {
	if s == "null" {
		return nil, errors.New("TOML has no null")
	}
	if s[0] != '"' {
		return append(b, s...), nil
	}
	var text string
	if err := json.Unmarshal([]byte(s), &text); err != nil {
		return nil, err
	}
	return appendString(b, text), nil
}
