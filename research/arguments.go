package research

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// schema is the portable subset of JSON Schema that the input schemas use.
type schema struct {
	Type       string             `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	Minimum    *json.Number       `json:"minimum"`
	Maximum    *json.Number       `json:"maximum"`
	MinItems   *int               `json:"minItems"`
	MaxItems   *int               `json:"maxItems"`
	MaxLength  *int               `json:"maxLength"`
	Enum       []string           `json:"enum"`
	Examples   []json.RawMessage  `json:"examples"`
	// AnyOf are the shapes of a value that may be a string or an object.
	AnyOf []*schema `json:"anyOf"`
}

// decodeArguments decodes the arguments of a call into target and validates
// them by the input schema of the tool. It reports all problems at once under
// invalid_arguments. It ignores an argument that the schema does not have, and
// returns a note about it, also with an error, unless it looks like a misspelt name of
// the schema.
// aliases, which may be nil, rewrites the arguments first.
func decodeArguments(raw json.RawMessage, s *schema, aliases func(map[string]any), target any) (notes []string, err error) {
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		raw = json.RawMessage("{}")
	}
	if halfSurrogate(raw) || !utf8.Valid(raw) {
		// A decoder would replace the character by U+FFFD, and another
		// statement would run than the one that was sent.
		return nil, invalidArguments([]string{"arguments: a character that is not Unicode; expected valid UTF-8 and paired surrogates"})
	}
	if aliases == nil && s.onlyTexts(raw) && json.Unmarshal(raw, target) == nil {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, invalidArguments([]string{"arguments: not JSON; expected an object"})
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, invalidArguments([]string{"arguments: more than one JSON value; expected an object"})
	}
	if members, ok := value.(map[string]any); ok && aliases != nil {
		aliases(members)
	}
	v := validation{}
	value = v.check("arguments", value, s)
	slices.Sort(v.notes)
	if more := len(v.notes) - maxIgnored; more > 0 {
		v.notes = append(v.notes[:maxIgnored], fmt.Sprintf("and %d more", more))
	}
	if len(v.problems) > 0 {
		slices.Sort(v.problems)
		return v.notes, invalidArguments(v.problems)
	}
	normal, err := json.Marshal(value)
	if err != nil {
		return v.notes, invalidArguments([]string{"arguments: cannot be read"})
	}
	if err := json.Unmarshal(normal, target); err != nil {
		return v.notes, invalidArguments([]string{"arguments: " + err.Error()})
	}
	return v.notes, nil
}

// onlyTexts reports whether raw is an object with the members that s requires, each member
// once, and all of them strings that s takes whatever they say. Most calls have such
// arguments, in which the validation finds nothing and changes nothing. It returns false when
// it is not sure, and for some texts that are not JSON true.
func (s *schema) onlyTexts(raw []byte) bool {
	raw, ok := bytes.CutPrefix(trimSpace(raw), []byte("{"))
	var found [4]string
	n := 0
	for ok && n < len(found) {
		var name, value []byte
		if name, raw, ok = quoted(trimSpace(raw)); !ok || bytes.IndexByte(name, '\\') >= 0 {
			return false
		}
		if raw, ok = bytes.CutPrefix(trimSpace(raw), []byte(":")); !ok {
			return false
		}
		if value, raw, ok = quoted(trimSpace(raw)); !ok {
			return false
		}
		property := s.Properties[string(name)]
		if property == nil || property.Type != "string" || len(property.Enum) > 0 || property.MaxLength != nil && len(value) > *property.MaxLength ||
			slices.Contains(found[:n], string(name)) {
			return false
		}
		found[n] = string(name)
		n++
		raw = trimSpace(raw)
		if rest, end := bytes.CutPrefix(raw, []byte("}")); end {
			return len(trimSpace(rest)) == 0 && !slices.ContainsFunc(s.Required, func(name string) bool { return !slices.Contains(found[:n], name) })
		}
		raw, ok = bytes.CutPrefix(raw, []byte(","))
	}
	return false
}

// trimSpace returns text without the space of JSON before it (RFC 8259, section 2).
func trimSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

// quoted returns what stands between the quotes with which text begins, and what follows.
func quoted(text []byte) (inside, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[1:i], text[i+1:], true
		}
	}
	return nil, nil, false
}

// maxIgnored bounds the notes on ignored arguments, and maxIgnoredName the name of one.
const (
	maxIgnored     = 8
	maxIgnoredName = 100
)

// halfSurrogate reports whether a string in a JSON text has an escape for one
// half of a surrogate pair without the other half (RFC 8259, section 8.2).
func halfSurrogate(raw []byte) bool {
	unit := func(at int) (uint64, bool) {
		if at+6 > len(raw) || raw[at] != '\\' || raw[at+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(raw[at+2:at+6]), 16, 16)
		return n, err == nil
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		first, ok := unit(i)
		if !ok || first < 0xD800 || first > 0xDFFF {
			i++ // skip the escaped character
			continue
		}
		second, ok := unit(i + 6)
		if first > 0xDBFF || !ok || second < 0xDC00 || second > 0xDFFF {
			return true
		}
		i += 11
	}
	return false
}

func invalidArguments(problems []string) error {
	return execution.NewError(sqlguard.CodeInvalidArguments, strings.Join(problems, "\n"), nil)
}

type validation struct {
	problems, notes []string
}

func (v *validation) problem(path, what, expected, example string) {
	v.problems = append(v.problems, fmt.Sprintf("%s: %s; expected %s; for example %s", path, what, expected, example))
}

// check validates value and returns it in its normal form: an integer in a
// string, or with a zero fraction, becomes an integer.
func (v *validation) check(path string, value any, s *schema) any {
	switch s.Type {
	case "object":
		return v.object(path, value, s)
	case "array":
		return v.array(path, value, s)
	case "integer":
		return v.integer(path, value, s)
	case "string":
		return v.text(path, value, s)
	case "boolean":
		switch value {
		case true, false:
			return value
		case "true":
			return true
		case "false":
			return false
		}
		v.problem(path, kindOf(value), "true or false", "true")
		return value
	default:
		return v.anyOf(path, value, s)
	}
}

func (v *validation) object(path string, value any, s *schema) any {
	members, ok := value.(map[string]any)
	if !ok {
		v.problem(path, kindOf(value), "an object", s.example())
		return value
	}
	if s.Properties == nil { // any members
		return members
	}
	child := func(name string) string {
		if path == "arguments" {
			return name
		}
		return path + "." + name
	}
	for _, name := range s.Required {
		if got, ok := members[name]; !ok || got == nil {
			v.problem(child(name), "missing", s.Properties[name].expected(), s.Properties[name].example())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		property, known := s.Properties[name]
		switch {
		case !known:
			if near := execution.Nearest(strings.ReplaceAll(name, "_", ""), slices.Sorted(maps.Keys(s.Properties))); near != "" {
				v.problem(child(name), "unknown argument, did you mean "+near+"?", s.Properties[near].expected(), s.Properties[near].example())
			} else {
				v.notes = append(v.notes, fmt.Sprintf("the argument %s is not known and was ignored", strconv.Quote(child(name[:min(len(name), maxIgnoredName)]))))
			}
			delete(members, name)
		case members[name] == nil:
			delete(members, name) // null counts as a missing argument
		default:
			members[name] = v.check(child(name), members[name], property)
		}
	}
	return members
}

func (v *validation) array(path string, value any, s *schema) any {
	items, ok := value.([]any)
	if !ok {
		v.problem(path, kindOf(value), "an array", s.example())
		return value
	}
	if s.MinItems != nil && len(items) < *s.MinItems || s.MaxItems != nil && len(items) > *s.MaxItems {
		v.problem(path, fmt.Sprintf("%d items", len(items)), s.expected(), s.example())
	}
	for i := range items {
		items[i] = v.check(fmt.Sprintf("%s[%d]", path, i), items[i], s.Items)
	}
	return items
}

func (v *validation) integer(path string, value any, s *schema) any {
	var text string
	switch x := value.(type) {
	case json.Number:
		text = x.String()
	case string:
		text = strings.TrimSpace(x)
	default:
		v.problem(path, kindOf(value), s.expected(), s.example())
		return value
	}
	n, ok := wholeNumber(text)
	if !ok {
		v.problem(path, strconv.Quote(text), s.expected(), s.example())
		return value
	}
	low, high := s.bounds()
	if n < low || n > high {
		v.problem(path, text, s.expected(), s.example())
		return value
	}
	return json.Number(strconv.FormatInt(n, 10))
}

// wholeNumber reads an integer that is written in any form, such as 10.0 or
// 1e3.
func wholeNumber(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < -(1<<53) {
		return 0, false
	}
	return int64(f), true
}

func (v *validation) text(path string, value any, s *schema) any {
	text, ok := value.(string)
	if !ok {
		v.problem(path, kindOf(value), s.expected(), s.example())
		return value
	}
	if s.MaxLength != nil && utf8.RuneCountInString(text) > *s.MaxLength {
		v.problem(path, fmt.Sprintf("%d characters", utf8.RuneCountInString(text)), s.expected(), s.example())
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, text) {
		v.problem(path, strconv.Quote(text), s.expected(), s.example())
	}
	return value
}

func (s *schema) bounds() (low, high int64) {
	low, high = -(1 << 53), 1<<53
	if s.Minimum != nil {
		if n, err := s.Minimum.Int64(); err == nil {
			low = n
		}
	}
	if s.Maximum != nil {
		if n, err := s.Maximum.Int64(); err == nil {
			high = n
		}
	}
	return low, high
}

// expected describes the values that fit s.
func (s *schema) expected() string {
	switch {
	case len(s.Enum) > 0:
		return "one of " + strings.Join(s.Enum, ", ")
	case s.Type == "integer" && s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("an integer from %s to %s", s.Minimum, s.Maximum)
	case s.Type == "integer" && s.Minimum != nil:
		return fmt.Sprintf("an integer of at least %s", s.Minimum)
	case s.Type == "integer":
		return "an integer"
	case s.Type == "array" && s.MaxItems != nil:
		return fmt.Sprintf("an array of at most %d items", *s.MaxItems)
	case s.Type == "array":
		return "an array"
	case s.Type == "string" && s.MaxLength != nil:
		return fmt.Sprintf("a string of at most %d characters", *s.MaxLength)
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "object":
		return "an object"
	default:
		return "a string"
	}
}

// example returns a value that fits s, as JSON.
func (s *schema) example() string {
	switch {
	case len(s.Examples) > 0:
		return string(s.Examples[0])
	case len(s.Enum) > 0:
		return strconv.Quote(s.Enum[0])
	case s.Type == "integer":
		low, _ := s.bounds()
		return strconv.FormatInt(max(low, 1), 10)
	case s.Type == "boolean":
		return "true"
	case s.Type == "array":
		return "[" + s.Items.example() + "]"
	case s.Type == "object":
		var members []string
		for _, name := range s.Required {
			members = append(members, strconv.Quote(name)+": "+s.Properties[name].example())
		}
		return "{" + strings.Join(members, ", ") + "}"
	default:
		return `"text"`
	}
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "a boolean"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}

// anyOf checks the value by the shape that it has. A value of none of them is checked by
// the last one, which says what is expected.
func (v *validation) anyOf(path string, value any, s *schema) any {
	for i, shape := range s.AnyOf {
		if shape.Type == kindName(value) || i == len(s.AnyOf)-1 {
			return v.check(path, value, shape)
		}
	}
	return value
}

// kindName returns the type of a decoded value, as schemas name it.
func kindName(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case map[string]any:
		return "object"
	default:
		return ""
	}
}
