package casefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/corpus"
)

// File is a file of cases, with the line of each case and its fields.
type File struct {
	name     string
	Cases    []corpus.Case
	places   []place // by the index of the case
	problems []Problem
	Wanted   int // the number of cases in the file, including those that cannot be read
}

// place is the line of a case and the lines of its fields. Lines count from 1.
type place struct {
	line   int
	fields map[string]int
}

// of returns the line of a field, or the line of the case when the field has none.
func (p place) of(field string) int {
	if line, ok := p.fields[field]; ok {
		return line
	}
	return p.line
}

// Problem is a mistake in a file of cases.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	ID      string `json:"id,omitempty"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

func (f *File) add(line int, id, field, format string, args ...any) {
	f.problems = append(f.problems, Problem{f.name, line, id, field, fmt.Sprintf(format, args...)})
}

// Err returns the first problem of the file as an error, or nil.
func (f *File) Err() error {
	if len(f.problems) == 0 {
		return nil
	}
	p := f.problems[0]
	if p.ID != "" {
		return fmt.Errorf("line %d: %s: %s", p.Line, p.ID, p.Message)
	}
	return fmt.Errorf("line %d: %s", p.Line, p.Message)
}

// IsClassFile reports whether the name is that of a class file, which is YAML.
func IsClassFile(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// Parse reads a class file, or JSON Lines or a document such as cases.json when the name is
// not that of a class file. A case that cannot be read becomes a problem of the file, and Parse goes on
// with the next one.
func Parse(name string, text []byte) *File {
	f := &File{name: name}
	if IsClassFile(name) {
		f.parseYAML(text)
	} else {
		f.parseLines(text)
	}
	if f.Wanted == 0 && len(f.problems) == 0 {
		f.add(1, "", "", "no statements")
	}
	return f
}

func (f *File) parseLines(text []byte) {
	number := 0
	for line := range bytes.Lines(corpus.Lines(text)) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		f.Wanted++
		if len(line) > corpus.MaxLine {
			f.add(number, "", "", "longer than %d bytes", corpus.MaxLine)
			continue
		}
		c, err := corpus.DecodeLine(line)
		if err != nil {
			f.add(number, "", "", "%v", err)
			continue
		}
		f.Cases = append(f.Cases, c)
		f.places = append(f.places, place{line: number})
	}
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s+)?line ([0-9]+): `)

// addYAML adds an error of the YAML parser, at the line that its message names.
func (f *File) addYAML(line int, id string, err error) {
	text := err.Error()
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line, text = n, text[len(m[0]):]
		}
	}
	f.add(line, id, "", "%s", strings.TrimPrefix(text, "yaml: "))
}

func (f *File) parseYAML(text []byte) {
	var doc, second yaml.Node
	reader := yaml.NewDecoder(bytes.NewReader(text))
	if err := reader.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("no statements")
		}
		f.addYAML(1, "", err)
		return
	}
	if err := reader.Decode(&second); !errors.Is(err, io.EOF) {
		f.add(max(second.Line, 1), "", "", "a class file is one YAML document; there is another one behind it")
		return
	}
	if len(doc.Content) == 0 {
		f.add(1, "", "", "no statements")
		return
	}
	plainDates(&doc)
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		f.add(root.Line, "", "", "a class file is a mapping with schema, class, dialect and cases")
		return
	}
	header, cases := f.header(root)
	if len(f.problems) > 0 {
		return
	}
	f.Wanted = len(cases)
	for _, node := range cases {
		f.caseOf(node, header)
	}
}

// header reads the top of a class file. It returns a case that has only the class
// and the dialect, and the nodes of the cases.
func (f *File) header(root *yaml.Node) (header corpus.Case, cases []*yaml.Node) {
	values := map[string]*yaml.Node{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if !slices.Contains([]string{"schema", "class", "dialect", "cases"}, key.Value) {
			f.add(key.Line, "", key.Value, "unknown field %q", key.Value)
			continue
		}
		if _, taken := values[key.Value]; taken {
			f.add(key.Line, "", key.Value, "%s is given twice", key.Value)
		}
		values[key.Value] = value
	}
	text := func(name string) (string, int) {
		n := values[name]
		if n == nil || n.Kind != yaml.ScalarNode {
			f.add(root.Line, "", name, "%s is missing", name)
			return "", root.Line
		}
		return n.Value, n.Line
	}
	schema, line := text("schema")
	if schema != corpus.Schema && schema != "" {
		f.add(line, "", "schema", "schema is %q, not %q", schema, corpus.Schema)
	}
	header.Class, _ = text("class")
	header.Dialect, line = text("dialect")
	if header.Dialect != "" && !slices.Contains(dialectNames(), header.Dialect) {
		f.add(line, "", "dialect", "dialect %q is not one of %s", header.Dialect, strings.Join(dialectNames(), ", "))
	}
	list := values["cases"]
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		f.add(root.Line, "", "cases", "no statements: cases is missing or empty")
		return header, nil
	}
	return header, list.Content
}

var unknownField = regexp.MustCompile(`unknown field "([^"]*)"`)

// caseOf reads one case, and adds it or its problem to the file.
func (f *File) caseOf(node *yaml.Node, header corpus.Case) {
	place := place{line: node.Line, fields: map[string]int{}}
	id := ""
	if node.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(node.Content); i += 2 {
			place.fields[node.Content[i].Value] = node.Content[i].Line
			if node.Content[i].Value == "id" {
				id = node.Content[i+1].Value
			}
		}
	}
	var value any
	if err := node.Decode(&value); err != nil {
		f.addYAML(node.Line, id, err)
		return
	}
	doc, err := json.Marshal(value)
	if err != nil {
		f.add(node.Line, id, "", "%v", err)
		return
	}
	c, err := corpus.DecodeCase(doc)
	if err != nil {
		field := ""
		if m := unknownField.FindStringSubmatch(err.Error()); m != nil {
			field = m[1]
		}
		f.add(place.of(field), id, field, "%s", strings.TrimPrefix(err.Error(), "json: "))
		return
	}
	c.Class, c.Dialect = header.Class, header.Dialect
	f.Cases = append(f.Cases, c)
	f.places = append(f.places, place)
}

// plainDates makes the parser read a date as a string.
func plainDates(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, child := range n.Content {
		plainDates(child)
	}
}

// Builtin returns the class files that are part of this build.
func Builtin() ([]*File, error) {
	var files []*File
	names, err := fs.Glob(corpus.Files(), "*/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(corpus.Files(), name)
		if err != nil {
			return nil, err
		}
		files = append(files, Parse(name, text))
	}
	return files, nil
}

func dialectNames() []string {
	var names []string
	for _, d := range corpus.Dialects() {
		names = append(names, d.Name)
	}
	return names
}
