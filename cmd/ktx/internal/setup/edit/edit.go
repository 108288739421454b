package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Language is the language of a settings file.
type Language int

const (
	// JSON may have comments and trailing commas if the file has them.
	JSON Language = iota
	// TOML is version 1.0.
	TOML
	// YAML is version 1.2, in block style where entries are added.
	YAML
)

// maxDepth is how deeply values may be nested, because parsers recurse.
const maxDepth = 1000

// Splice is one change to a text: Inserted replaces Removed at Offset. The zero
// Splice changes nothing.
type Splice struct {
	Offset   int    `json:"offset"`
	Removed  string `json:"removed"`
	Inserted string `json:"inserted"`
	// CommaAt, if not 0, is the offset before Offset at which a comma is also
	// added. A comment is between the two.
	CommaAt int `json:"commaAt,omitempty"`
	// Created is how many missing parents of the value were added with it.
	Created int `json:"created,omitempty"`
	// Replaced reports whether the path had a value before. Removed holds that
	// value.
	Replaced bool `json:"replaced,omitempty"`
}

// Empty reports whether s changes nothing.
func (s Splice) Empty() bool { return s == Splice{} }

// Apply returns text with the change. text must be the text that Set was called
// with.
func (s Splice) Apply(text []byte) []byte {
	var b []byte
	start := 0
	if s.CommaAt != 0 {
		b = append(append(b, text[:s.CommaAt]...), ',')
		start = s.CommaAt
	}
	b = append(append(b, text[start:s.Offset]...), s.Inserted...)
	return append(b, text[s.Offset+len(s.Removed):]...)
}

// A document is a parsed text.
type document interface {
	// tree returns all values.
	tree() object
	// trailing returns the number of commas before a closing bracket. Many
	// parsers refuse them.
	trailing() int
	// check returns an error for a path on which a key occurs twice.
	check(path []string) error
	// where returns the span that defines the value at path, which must exist.
	where(path []string) span
	// set returns the change that sets the value at path. The path has no
	// value, or another one.
	set(path []string, value json.RawMessage) (Splice, error)
	// commaBefore returns the offset of the comma before the member at path.
	commaBefore(path []string) (int, bool)
	// cuts returns the spans to remove so that the value at path is gone,
	// together with at most the given number of parents, if they are empty
	// then.
	cuts(path []string, parents int) ([]span, error)
}

// span is the bytes from start up to but not including end.
type span struct{ start, end int }

// bom is the byte order mark that a file may begin with.
const bom = "\ufeff"

// open parses a text and checks the path.
func (l Language) open(text []byte, path []string) (document, error) {
	if len(path) == 0 {
		return nil, errors.New("the path has no key")
	}
	for _, key := range path {
		if !utf8.ValidString(key) {
			return nil, fmt.Errorf("the key %q is not UTF-8", key)
		}
	}
	doc, err := l.read(text)
	if err != nil {
		return nil, err
	}
	return doc, doc.check(path)
}

func (l Language) read(text []byte) (document, error) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return nil, at(text, i, "the text is not UTF-8")
		}
		i += n
	}
	switch l {
	case JSON:
		return readJSON(text)
	case TOML:
		return readTOML(text)
	case YAML:
		return readYAML(text)
	default:
		return nil, fmt.Errorf("there is no language %d", l)
	}
}

// Lookup returns the value at path as compact JSON. Dates of TOML, and numbers
// of TOML that JSON does not have, become strings.
func (l Language) Lookup(text []byte, path []string) (value json.RawMessage, found bool, err error) {
	doc, err := l.open(text, path)
	if err != nil {
		return nil, false, err
	}
	got, found := doc.tree().find(path)
	if !found {
		return nil, false, nil
	}
	return appendJSON(nil, got), true, nil
}

// Set returns the change that adds the value, a JSON object, at path. It
// replaces an existing value and adds missing parents. The change is empty if
// the path has that value already. The members keep their order. If the text
// cannot be changed without loss, the error has its line and column.
func (l Language) Set(text []byte, path []string, value json.RawMessage) (Splice, error) {
	wanted, err := readValue(value)
	if err != nil {
		return Splice{}, err
	}
	doc, err := l.open(text, path)
	if err != nil {
		return Splice{}, err
	}
	before := doc.tree()
	old, found := before.find(path)
	if found && same(old, wanted) {
		return Splice{}, nil
	}
	s, err := doc.set(path, value)
	if err != nil {
		return Splice{}, err
	}
	s.Replaced = found
	s.Created = 0
	for n := 1; n < len(path); n++ {
		if _, found := before.find(path[:n]); !found {
			s.Created++
		}
	}
	after, err := l.read(s.Apply(text))
	if err != nil {
		return Splice{}, fmt.Errorf("with the change the file would not be valid: %w", err)
	}
	if got, found := after.tree().find(path); !found || !same(got, wanted) {
		return Splice{}, errors.New("the change would not give the value that was asked for")
	}
	if !sameBut(before, after.tree(), path) {
		return Splice{}, errors.New("the change would change other values too")
	}
	if doc.trailing() == 0 && after.trailing() > 0 {
		return Splice{}, errors.New("the change would add a comma that not every parser accepts")
	}
	return s, nil
}

// Remove returns text without the value at path. undo is the change with which
// Set added it. If the added text is unchanged, Remove undoes the change byte
// for byte, even if other parts of the text were edited. Otherwise it removes
// the member with its comma and line, and the parents that Set added if they
// are empty now.
func (l Language) Remove(text []byte, path []string, undo Splice) ([]byte, error) {
	doc, err := l.open(text, path)
	if err != nil {
		return nil, err
	}
	before := doc.tree()
	if _, found := before.find(path); !found {
		return bytes.Clone(text), nil
	}
	undo.Created = min(max(undo.Created, 0), len(path)-1)
	if result, ok := l.undo(text, doc, path, undo); ok {
		return result, nil
	}
	cuts, err := doc.cuts(path, undo.Created)
	if err != nil {
		return nil, err
	}
	result := cut(text, cuts)
	after, err := l.read(result)
	if err != nil {
		return nil, fmt.Errorf("without the value the file would not be valid: %w", err)
	}
	if _, found := after.tree().find(path); found || !sameBut(before, after.tree(), path) || after.trailing() > doc.trailing() {
		return nil, errors.New("the value cannot be removed without changing others")
	}
	return result, nil
}

// undo reverts the change if the text that it added is unchanged.
func (l Language) undo(text []byte, doc document, path []string, undo Splice) ([]byte, bool) {
	if undo.Inserted == "" {
		return nil, false
	}
	// Only occurrences that contain the definition of the value count, or its
	// end if the value existed before. There are few of them.
	defined := doc.where(path)
	last := defined.start
	if undo.Replaced {
		last = defined.end
	}
	from := max(0, defined.end-len(undo.Inserted))
	for {
		i := bytes.Index(text[from:], []byte(undo.Inserted))
		if i < 0 || from+i > last {
			return nil, false
		}
		from += i
		cuts := []span{{from, from + len(undo.Inserted)}}
		comma, ok := 0, true
		if undo.CommaAt != 0 {
			if comma, ok = doc.commaBefore(path[:len(path)-undo.Created]); ok {
				cuts = append(cuts, span{comma, comma + 1})
			}
		}
		if ok && comma <= from {
			result := slices.Concat(cut(text[:from], cuts[1:]), []byte(undo.Removed), text[from+len(undo.Inserted):])
			after, err := l.read(result)
			if err == nil && sameBut(doc.tree(), after.tree(), path) && after.trailing() <= doc.trailing() {
				if _, found := after.tree().find(path); found == undo.Replaced {
					return result, true
				}
			}
		}
		from++
	}
}

// cut returns text without the spans.
func cut(text []byte, spans []span) []byte {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	var b []byte
	end := 0
	for _, s := range spans {
		if s.end <= end {
			continue
		}
		b = append(b, text[end:max(end, s.start)]...)
		end = s.end
	}
	return append(b, text[end:]...)
}

// at returns an error with the position of an offset of text.
func at(text []byte, offset int, format string, a ...any) error {
	line, column := position(text, offset)
	return fmt.Errorf("line %d, column %d: %w", line, column, fmt.Errorf(format, a...))
}

// position returns the line and the column of an offset, in characters.
func position(text []byte, offset int) (line, column int) {
	before := string(bytes.TrimPrefix(text[:offset], []byte(bom)))
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
}

// offsetOf returns the offset of a line and a column in bytes.
func offsetOf(text []byte, line, column int) int {
	offset := 0
	for range line - 1 {
		i := bytes.IndexByte(text[offset:], '\n')
		if i < 0 {
			return len(text)
		}
		offset += i + 1
	}
	return min(offset+column-1, len(text))
}

// blanks are the white space characters of both languages.
const blanks = " \t\r\n"

// isEmpty reports whether text has nothing but blanks.
func isEmpty(text []byte) bool { return len(bytes.Trim(text, blanks)) == 0 }

// lineIndent returns the blanks at the start of the line that contains an
// offset.
func lineIndent(text []byte, offset int) string {
	line := bytes.TrimPrefix(text[:offset], []byte(bom))
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// newline returns the line end that text uses.
func newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// object is an object or a table: its members, in their order in the text. A
// value is an object, a list or a scalar.
type object []member

type member struct {
	name  string
	value any
}

type list []any

// scalar is the JSON text of a scalar value.
type scalar string

// find returns the value at path.
func (o object) find(path []string) (any, bool) {
	i := slices.IndexFunc(o, func(m member) bool { return m.name == path[0] })
	if i < 0 {
		return nil, false
	}
	if len(path) == 1 {
		return o[i].value, true
	}
	child, ok := o[i].value.(object)
	if !ok {
		return nil, false
	}
	return child.find(path[1:])
}

// without returns o without the value at path and without its parents that are
// empty then.
func (o object) without(path []string) object {
	i := slices.IndexFunc(o, func(m member) bool { return m.name == path[0] })
	if i < 0 {
		return o
	}
	o = slices.Clone(o)
	if child, ok := o[i].value.(object); ok && len(path) > 1 {
		if child = child.without(path[1:]); len(child) > 0 {
			o[i].value = child
			return o
		}
	} else if len(path) > 1 {
		return o
	}
	return slices.Delete(o, i, i+1)
}

// sameBut reports whether two texts have the same values, in the same order,
// outside of path.
func sameBut(a, b object, path []string) bool {
	a, b = a.without(path), b.without(path)
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}
