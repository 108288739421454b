package semantic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/research/rootfile"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// Definition is a measure or segments in a text that an agent hands in: a block of YAML,
// or a name and an expression.
type Definition struct {
	YAML string
	Name string
	Expr string
}

// Define writes a definition to the overlay of the source that it is about. The source
// must be one that a scan found: files that a person wrote whole are not changed. What
// would be written is checked as a whole first. Define returns the source, and the file
// that it wrote, relative to the project, or "" if the definition was there already.
func (s *Store) Define(ctx context.Context, connectionID string, rules Rules, d Definition) (source, file string, err error) {
	found, err := s.Snapshot(ctx, connectionID, rules)
	if err != nil {
		return "", "", err
	}
	added, err := found.read(d)
	if err != nil {
		return "", "", err
	}
	at, ok := found.model.Source(added.source)
	if !ok {
		return "", "", fmt.Errorf("there is no source %q", added.source)
	}
	target := found.model.Sources[at]
	if target.Form == model.Standalone {
		return "", "", fmt.Errorf("source %s has a file of its own, %s: a person has to write it there", target.Name, target.File)
	}
	if target.Invalid {
		return "", "", fmt.Errorf("source %s has problems, see ktx sl validate", target.Name)
	}
	if added.known(target) {
		return target.Name, "", nil
	}
	name, content, err := found.overlay(target, added)
	if err != nil {
		return "", "", err
	}
	if err := found.check(target.Name, name, content, rules); err != nil {
		return "", "", err
	}
	full := path.Join(Folder, connectionID, name)
	before, exists := found.files[name]
	if !exists {
		err = s.Add(connectionID, name, content)
	} else if now, readErr := fs.ReadFile(s.root.FS(), full); readErr != nil || !bytes.Equal(now, before) {
		err = errors.New("the file changed meanwhile")
	} else {
		err = rootfile.Replace(s.root, full, 0o644, rootfile.Bytes(content))
	}
	if err != nil {
		return "", "", err
	}
	return target.Name, full, nil
}

// addition is what a definition adds to a source.
type addition struct {
	source   string
	measures []*yaml.Node // mappings
	segments []*yaml.Node
}

// maxDefinition bounds the block of YAML.
const maxDefinition = 64 << 10

// read reads a definition, and finds the source that it is about.
func (s *Snapshot) read(d Definition) (*addition, error) {
	if d.YAML == "" {
		return s.readEquation(d)
	}
	if len(d.YAML) > maxDefinition {
		return nil, errors.New("the block of YAML has more than 64 KiB")
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(d.YAML), &document); err != nil {
		return nil, fmt.Errorf("the block of YAML cannot be read: %w", err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("the block of YAML is not a mapping with name and measures or segments")
	}
	out := &addition{}
	members := document.Content[0].Content
	for i := 0; i+1 < len(members); i += 2 {
		key, value := members[i].Value, members[i+1]
		switch {
		case key == "name" || key == "source":
			out.source = value.Value
		case key == "measures" && value.Kind == yaml.SequenceNode:
			out.measures = value.Content
		case key == "segments" && value.Kind == yaml.SequenceNode:
			out.segments = value.Content
		default:
			return nil, fmt.Errorf("the block of YAML has the key %q; only name, measures and segments are taken from a text", key)
		}
	}
	if out.source == "" {
		return nil, errors.New("the block of YAML does not name its source: write name: SOURCE in its first line")
	}
	return out, nil
}

// readEquation makes a measure of name = expression.
func (s *Snapshot) readEquation(d Definition) (*addition, error) {
	e, refused := expr.Parse(d.Expr)
	if refused != nil {
		return nil, refused
	}
	var names []expr.Name
	expr.Walk(e, func(n *expr.Expr) bool {
		if n.Op == expr.OpName {
			names = append(names, n.Name)
		}
		return true
	})
	var about []string
	for _, source := range s.model.Sources {
		if !source.Denied && len(names) > 0 && !slices.ContainsFunc(names, func(n expr.Name) bool { return !has(source, n) }) {
			about = append(about, source.Name)
		}
	}
	switch len(about) {
	case 0:
		return nil, fmt.Errorf("no source has all the columns of %s", d.Expr)
	case 1:
	default:
		return nil, fmt.Errorf("several sources have the columns of %s: %s; qualify them", d.Expr, strings.Join(about[:min(len(about), 5)], ", "))
	}
	name := measureName(d.Name)
	if name == "" {
		return nil, fmt.Errorf("%q cannot be the name of a measure", d.Name)
	}
	m := &yaml.Node{Kind: yaml.MappingNode}
	for _, pair := range [][2]string{{"name", name}, {"expr", d.Expr}, {"description", d.Name}} {
		m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: pair[0]}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: pair[1]})
	}
	return &addition{source: about[0], measures: []*yaml.Node{m}}, nil
}

// has reports whether a source has the column or the measure of a name.
func has(s *model.Source, n expr.Name) bool {
	if n.Qualifier != "" && !strings.EqualFold(n.Qualifier, s.Name) {
		return false
	}
	return slices.ContainsFunc(s.Columns, func(c *model.Column) bool {
		return strings.EqualFold(c.Name, n.Leaf) && c.Visibility != model.Hidden
	}) || slices.ContainsFunc(s.Measures, func(m *model.Measure) bool { return strings.EqualFold(m.Name, n.Leaf) })
}

// measureName returns a name in small letters with _ for each run of other characters.
func measureName(text string) string {
	parts := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(parts, "_")
}

// value returns the text of a member of a mapping.
func value(n *yaml.Node, key string) string {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return strings.TrimSpace(n.Content[i+1].Value)
		}
	}
	return ""
}

// known reports whether the source has all of it already, word for word.
func (a *addition) known(s *model.Source) bool {
	for _, n := range a.measures {
		if !slices.ContainsFunc(s.Measures, func(m *model.Measure) bool {
			return m.Name == value(n, "name") && m.Text == value(n, "expr") && m.FilterText == value(n, "filter")
		}) {
			return false
		}
	}
	for _, n := range a.segments {
		if !slices.ContainsFunc(s.Segments, func(m *model.Segment) bool { return m.Name == value(n, "name") && m.Text == value(n, "expr") }) {
			return false
		}
	}
	return true
}

// overlay returns the file of a source's overlay with what is added. Comments and
// everything else in the file stay.
func (s *Snapshot) overlay(source *model.Source, a *addition) (name string, content []byte, err error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	document := &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}}
	if source.Form == model.Overlaid {
		name = source.File
		document = &yaml.Node{}
		if err := yaml.Unmarshal(s.files[name], document); err != nil {
			return "", nil, fmt.Errorf("read %s: %w", name, err)
		}
		if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
			return "", nil, fmt.Errorf("%s is not a mapping", name)
		}
		root = document.Content[0]
	} else {
		base := measureName(source.Name)
		name = base + ".yaml"
		for n := 2; s.files[name] != nil; n++ {
			name = fmt.Sprintf("%s-%d.yaml", base, n)
		}
		root.Content = append(root.Content, text("name"), text(source.Name))
	}
	if err := errors.Join(merge(root, "measures", a.measures), merge(root, "segments", a.segments)); err != nil {
		return "", nil, err
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(document); err != nil {
		return "", nil, fmt.Errorf("write %s: %w", name, err)
	}
	if err := e.Close(); err != nil {
		return "", nil, fmt.Errorf("write %s: %w", name, err)
	}
	return name, b.Bytes(), nil
}

func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// merge appends items to a list of the file. An item of a name that the list has, with
// another meaning, is an error: a definition is never replaced in silence.
func merge(root *yaml.Node, key string, items []*yaml.Node) error {
	if len(items) == 0 {
		return nil
	}
	var list *yaml.Node
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			list = root.Content[i+1]
		}
	}
	if list == nil {
		list = &yaml.Node{Kind: yaml.SequenceNode}
		root.Content = append(root.Content, text(key), list)
	}
	if list.Kind != yaml.SequenceNode {
		return fmt.Errorf("%s is not a list", key)
	}
	for _, item := range items {
		if item.Kind != yaml.MappingNode {
			return fmt.Errorf("%s: expected name and expr", key)
		}
		name, skip := value(item, "name"), false
		for _, have := range list.Content {
			if value(have, "name") != name {
				continue
			}
			if value(have, "expr") != value(item, "expr") || value(have, "filter") != value(item, "filter") {
				return fmt.Errorf("%s %s is defined already, as %s", strings.TrimSuffix(key, "s"), name, value(have, "expr"))
			}
			skip = true
		}
		if !skip {
			list.Content = append(list.Content, item)
		}
	}
	return nil
}

// check reads the model with the new file, and returns the first problem that the file
// would bring.
func (s *Snapshot) check(source, name string, content []byte, rules Rules) error {
	next := maps.Clone(s.files)
	if next == nil {
		next = files{}
	}
	next[name] = content
	m := newSnapshot(s.connectionID, next, s.folder, rules).model
	had := map[string]bool{}
	for _, p := range s.model.Problems {
		had[string(p.Class)+p.File+p.Path+p.Message] = true
	}
	for _, p := range m.Problems {
		if (p.Source == source || p.File == name) && !had[string(p.Class)+p.File+p.Path+p.Message] {
			return fmt.Errorf("%s: %s", p.Class, p.Message)
		}
	}
	at, ok := m.Source(source)
	if !ok || m.Sources[at].Invalid {
		return fmt.Errorf("source %s would not be valid", source)
	}
	return nil
}
