package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxYAML is the most bytes of a YAML text.
const maxYAML = 1 << 20

// yamlText is a YAML text. The mappings on the path of an entry must be written in
// block style, one key in a line, as programs write them.
type yamlText struct {
	text   []byte
	lines  []int      // the offset of each line, and the length of the text
	root   *yaml.Node // nil if the text has no value
	values object
}

func readYAML(text []byte) (*yamlText, error) {
	if len(text) > maxYAML {
		return nil, fmt.Errorf("the text is larger than %d MiB", maxYAML>>20)
	}
	d := &yamlText{text: text, lines: []int{0}, values: object{}}
	for i, b := range text {
		if b == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	if d.lines[len(d.lines)-1] != len(text) {
		d.lines = append(d.lines, len(text))
	}
	if bytes.HasPrefix(text, []byte(bom)) {
		return nil, errors.New("the text begins with a byte order mark")
	}
	if bytes.ContainsAny(text, "\t") && yamlTab.Match(text) {
		return nil, at(text, yamlTab.FindIndex(text)[1]-1, "a tab cannot indent a line")
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		if isEmpty(yamlComment.ReplaceAll(text, nil)) {
			return d, nil
		}
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(&more); err == nil || yamlEnd.Match(text) {
		return nil, errors.New("the text has more than one document")
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Value == "" && root.Tag == "!!null" {
		return d, nil
	}
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 || root.Anchor != "" {
		return nil, at(text, d.lines[root.Line-1], "expected keys, one in a line")
	}
	d.root = root
	values, err := yamlValue(root, 0)
	if err != nil {
		return nil, err
	}
	d.values, _ = values.(object)
	return d, nil
}

var (
	yamlTab     = regexp.MustCompile(`(?m)^ *\t`)
	yamlComment = regexp.MustCompile(`(?m)^[ \t]*#.*$`)
	yamlEnd     = regexp.MustCompile(`(?m)^\.\.\.`)
	yamlPlain   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
)

// yamlValue returns the value of a node. A key without a value has an empty object, and
// an alias stays one.
func yamlValue(n *yaml.Node, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("values are nested too deeply")
	}
	mark := func(text string) scalar {
		b, _ := json.Marshal(n.Tag + " " + n.Anchor + " " + text)
		return scalar(b)
	}
	switch n.Kind {
	case yaml.MappingNode:
		all := object{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, err := yamlValue(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			key := n.Content[i]
			name := key.Value
			if key.Kind != yaml.ScalarNode || key.Anchor != "" {
				name = fmt.Sprintf("%d:%d %s", i, key.Kind, key.Value)
			}
			all = append(all, member{name, value})
		}
		return all, nil
	case yaml.SequenceNode:
		all := list{}
		for _, c := range n.Content {
			value, err := yamlValue(c, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, value)
		}
		return all, nil
	case yaml.ScalarNode:
		switch {
		case n.Anchor != "":
		case n.Tag == "!!null" && n.Value == "":
			return object{}, nil
		case n.Tag == "!!str":
			b, err := json.Marshal(n.Value)
			return scalar(b), err
		case n.Tag == "!!bool", n.Tag == "!!int", n.Tag == "!!float":
			if json.Valid([]byte(n.Value)) {
				return scalar(n.Value), nil
			}
		}
		return mark(n.Value), nil
	case yaml.AliasNode, yaml.DocumentNode:
		return mark("*" + n.Value), nil
	default:
		return nil, fmt.Errorf("there is no node of kind %d", n.Kind)
	}
}

func (d *yamlText) tree() object { return d.values }

// trailing is 0: the editor writes no commas before brackets.
func (*yamlText) trailing() int { return 0 }

// find returns the key and the value at path, or nil.
func (d *yamlText) find(path []string) (key, value *yaml.Node) {
	value = d.root
	for _, name := range path {
		if value == nil || value.Kind != yaml.MappingNode {
			return nil, nil
		}
		i := 0
		for i < len(value.Content) && value.Content[i].Value != name {
			i += 2
		}
		if i >= len(value.Content) {
			return nil, nil
		}
		key, value = value.Content[i], value.Content[i+1]
	}
	return key, value
}

// check returns an error if a key on the path occurs twice.
func (d *yamlText) check(path []string) error {
	for n := range path {
		_, around := d.find(path[:n])
		if n == 0 {
			around = d.root
		}
		if around == nil || around.Kind != yaml.MappingNode {
			return nil
		}
		seen := false
		for i := 0; i < len(around.Content); i += 2 {
			if around.Content[i].Value != path[n] {
				continue
			}
			if seen {
				return at(d.text, d.lines[around.Content[i].Line-1], "the key %q occurs twice", path[n])
			}
			seen = true
		}
	}
	return nil
}

// offset returns the offset of a node. Its column is in characters.
func (d *yamlText) offset(n *yaml.Node) int {
	offset := d.lines[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(d.text[offset:])
		offset += size
	}
	return min(offset, len(d.text)-1)
}

// own reports whether a key is the first thing in its line.
func (d *yamlText) own(key *yaml.Node) bool {
	line := d.text[d.lines[key.Line-1]:d.lines[key.Line]]
	return len(line)-len(bytes.TrimLeft(line, " ")) == key.Column-1
}

// block returns the lines of a key and its value, without the blank lines and comments
// that follow.
func (d *yamlText) block(key *yaml.Node) span {
	s := span{d.lines[key.Line-1], d.lines[key.Line]}
	for i := key.Line; i+1 < len(d.lines); i++ {
		line := bytes.TrimRight(d.text[d.lines[i]:d.lines[i+1]], "\r\n")
		content := bytes.TrimLeft(line, " ")
		indent := len(line) - len(content)
		sequence := indent == key.Column-1 && bytes.HasPrefix(content, []byte("-"))
		switch {
		case len(content) == 0 || content[0] == '#':
			continue
		case indent < key.Column && !sequence:
			return s
		}
		s.end = d.lines[i+1]
	}
	return s
}

func (d *yamlText) where(path []string) span {
	key, _ := d.find(path)
	s := d.block(key)
	if !d.own(key) { // where the value ends is not known
		s.start = d.offset(key)
		s.end = s.start + 1
	}
	return s
}

func (*yamlText) commaBefore([]string) (int, bool) { return 0, false }

// set adds the value as the first one of its parent, whose comments stay where they are,
// or at the end of the text if there is no parent.
func (d *yamlText) set(path []string, raw json.RawMessage) (Splice, error) {
	wanted, err := readValue(raw)
	if err != nil {
		return Splice{}, err
	}
	nl := newline(d.text)
	if key, _ := d.find(path); key != nil {
		if !d.own(key) {
			return Splice{}, at(d.text, d.lines[key.Line-1], "%s is not in a line of its own", path[len(path)-1])
		}
		old := d.block(key)
		text := appendBlock(nil, path[len(path)-1:], wanted, key.Column-1, nl)
		if !bytes.HasSuffix(d.text[:old.end], []byte("\n")) {
			text = bytes.TrimSuffix(text, []byte(nl))
		}
		return Splice{Offset: old.start, Removed: string(d.text[old.start:old.end]), Inserted: string(text)}, nil
	}
	depth := len(path) - 1
	for depth > 0 {
		if key, _ := d.find(path[:depth]); key != nil {
			break
		}
		depth--
	}
	if depth == 0 {
		return d.appended(path, wanted, nl), nil
	}
	key, around := d.find(path[:depth])
	line := d.lines[key.Line-1]
	refused := at(d.text, line, "%s must be written in block style, one key in a line", path[depth-1])
	if !d.own(key) || around.Anchor != "" {
		return Splice{}, refused
	}
	s := Splice{Offset: d.lines[key.Line]}
	indent := key.Column + 1
	switch {
	case around.Kind == yaml.ScalarNode && around.Value == "" && around.Tag == "!!null":
	case around.Kind == yaml.MappingNode && around.Style&yaml.FlowStyle != 0 && len(around.Content) == 0:
		s.Offset = d.offset(around) + 1
		if d.text[s.Offset-1] != '{' { // a tag comes before it
			return Splice{}, refused
		}
		var value any = wanted
		for i := len(path) - 1; i >= depth; i-- {
			value = object{{path[i], value}}
		}
		flow := appendFlow(nil, value)
		s.Inserted = string(flow[1 : len(flow)-1])
		return s, nil
	case around.Kind == yaml.MappingNode && around.Style&yaml.FlowStyle == 0 && around.Line > key.Line:
		indent = around.Content[0].Column - 1
	default:
		return Splice{}, refused
	}
	text := appendBlock(nil, path[depth:], wanted, indent, nl)
	if !bytes.HasSuffix(d.text[:s.Offset], []byte("\n")) { // the last line has no end
		text = append([]byte(nl), bytes.TrimSuffix(text, []byte(nl))...)
	}
	s.Inserted = string(text)
	return s, nil
}

// appended returns the change that adds a value at the end of the text.
func (d *yamlText) appended(path []string, wanted object, nl string) Splice {
	indent := 0
	if d.root != nil {
		indent = d.root.Content[0].Column - 1
	}
	text := appendBlock(nil, path, wanted, indent, nl)
	if len(d.text) > 0 && d.text[len(d.text)-1] != '\n' {
		text = append([]byte(nl), bytes.TrimSuffix(text, []byte(nl))...)
	}
	return Splice{Offset: len(d.text), Inserted: string(text)}
}

// cuts removes the lines of the value, and of the parents that have no other value.
func (d *yamlText) cuts(path []string, parents int) ([]span, error) {
	for ; parents > 0; parents-- {
		_, around := d.find(path[:len(path)-1])
		if len(around.Content) != 2 {
			break
		}
		path = path[:len(path)-1]
	}
	key, _ := d.find(path)
	if !d.own(key) {
		return nil, at(d.text, d.lines[key.Line-1], "%s is not in a line of its own", path[len(path)-1])
	}
	return []span{d.block(key)}, nil
}

// appendBlock appends the lines of a value below the keys of path.
func appendBlock(b []byte, path []string, value any, indent int, nl string) []byte {
	for _, parent := range slices.Backward(path[1:]) {
		value = object{{parent, value}}
	}
	return appendMember(b, member{path[0], value}, indent, nl)
}

func appendMember(b []byte, m member, indent int, nl string) []byte {
	b = append(b, strings.Repeat(" ", indent)...)
	b = append(appendYAMLKey(b, m.name), ':')
	if o, ok := m.value.(object); ok && len(o) > 0 {
		b = append(b, nl...)
		for _, m := range o {
			b = appendMember(b, m, indent+2, nl)
		}
		return b
	}
	return append(appendFlow(append(b, ' '), m.value), nl...)
}

func appendYAMLKey(b []byte, key string) []byte {
	reserved := []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
	if yamlPlain.MatchString(key) && !slices.Contains(reserved, strings.ToLower(key)) {
		return append(b, key...)
	}
	quoted, _ := json.Marshal(key)
	return append(b, quoted...)
}

// appendFlow appends a value in one line. Scalars in JSON are scalars in YAML.
func appendFlow(b []byte, value any) []byte {
	switch value := value.(type) {
	case object:
		b = append(b, '{')
		for i, m := range value {
			if i > 0 {
				b = append(b, ", "...)
			}
			quoted, _ := json.Marshal(m.name)
			b = appendFlow(append(append(b, quoted...), ": "...), m.value)
		}
		return append(b, '}')
	case list:
		b = append(b, '[')
		for i, v := range value {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendFlow(b, v)
		}
		return append(b, ']')
	case scalar:
		return append(b, value...)
	}
	return b
}
