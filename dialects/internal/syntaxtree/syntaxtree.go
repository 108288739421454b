// Package syntaxtree turns a parser's tree into one that people can read. It
// reads the names of types and fields, and their values, with Go's reflection. No
// verdict depends on it: the walks of the dialects do not use it.
package syntaxtree

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Reader knows how a parser builds its trees.
type Reader struct {
	// Packages are the packages whose structs are nodes. Fields of other types
	// are shown as values, or not at all.
	Packages []string
	// Hidden are fields and enumeration values that people do not need.
	Hidden []string
	// Text returns what a leaf spells; false says that v is no leaf.
	Text func(v any) (string, bool)
	// Names are the types of leaves that only name or spell the node around them.
	Names []string
	// Joined is the one of Names whose lists are the parts of one name.
	Joined string
	// Inner returns what a wrapper holds; false says that v is none.
	Inner func(v any) (any, bool)
	// Place returns the place of a node, the zero value where it has none.
	Place func(v any) sqlguard.Span
}

// maxNodes bounds a tree, and maxDepth its depth: a tree for people needs no
// more.
const (
	maxNodes = 5000
	maxDepth = 150
)

// Read returns the tree of a statement, root, whose place is span. A node that
// the parser gives no place has that of the nodes below it.
func (r *Reader) Read(root any, span sqlguard.Span) sqlguard.Node {
	t := tree{Reader: r}
	nodes := t.read("", reflect.ValueOf(root), 0)
	if len(nodes) != 1 {
		nodes = []sqlguard.Node{{Kind: "statement", Children: nodes}}
	}
	nodes[0].Span = span
	return nodes[0]
}

type tree struct {
	*Reader
	count int
}

// read returns the nodes that a value represents: one for a node, several for a
// list, none for nil.
func (t *tree) read(role string, v reflect.Value, depth int) []sqlguard.Node {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		if v.IsNil() {
			return nil
		}
		if v.Kind() == reflect.Pointer {
			if inner, ok := t.inner(v); ok {
				v = inner
				continue
			}
			if leaf, ok := t.leaf(role, v); ok {
				return leaf
			}
		}
		v = v.Elem()
	}
	if !v.IsValid() || t.count >= maxNodes || depth > maxDepth {
		return nil
	}
	switch v.Kind() { //nolint:exhaustive // the other kinds are values
	case reflect.Slice:
		return t.list(role, v, depth)
	case reflect.Struct:
		if leaf, ok := t.leaf(role, v); ok {
			return leaf
		}
		if !slices.Contains(t.Packages, v.Type().PkgPath()) {
			return nil
		}
		t.count++
		return []sqlguard.Node{t.node(role, v, depth)}
	default:
		return nil
	}
}

// inner looks into a wrapper.
func (t *tree) inner(v reflect.Value) (reflect.Value, bool) {
	if t.Inner == nil || !v.CanInterface() {
		return v, false
	}
	inner, ok := t.Inner(v.Interface())
	return reflect.ValueOf(inner), ok
}

func (t *tree) leaf(role string, v reflect.Value) ([]sqlguard.Node, bool) {
	if t.Text == nil || !v.CanInterface() {
		return nil, false
	}
	text, ok := t.Text(v.Interface())
	if !ok {
		return nil, false
	}
	n := sqlguard.Node{Role: role, Kind: typeName(v), Text: text, Span: t.place(v)}
	if text == "" && t.names(n) {
		return nil, true // a name that is not given
	}
	t.count++
	return []sqlguard.Node{n}, true
}

func typeName(v reflect.Value) string {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v.Type().Name()
}

func (t *tree) place(v reflect.Value) sqlguard.Span {
	if t.Place == nil {
		return sqlguard.Span{}
	}
	if v.CanAddr() {
		v = v.Addr()
	}
	if !v.CanInterface() {
		return sqlguard.Span{}
	}
	return t.Place(v.Interface())
}

// list reads the elements of a list. Names that follow each other, as a
// qualified name has them, are one.
func (t *tree) list(role string, v reflect.Value, depth int) []sqlguard.Node {
	var out []sqlguard.Node
	for i := range v.Len() {
		out = append(out, t.read(role, v.Index(i), depth)...)
	}
	if len(out) > 1 && !slices.ContainsFunc(out, func(n sqlguard.Node) bool { return n.Kind != t.Joined }) {
		for _, n := range out[1:] {
			out[0].Text += "." + n.Text
		}
		out = out[:1]
	}
	return out
}

// names reports whether a node only names the one around it.
func (t *tree) names(n sqlguard.Node) bool { return slices.Contains(t.Names, n.Kind) }

// node reads the fields of a struct: values become the node's text, names
// without their field, the rest nodes below.
func (t *tree) node(role string, v reflect.Value, depth int) sqlguard.Node {
	n := sqlguard.Node{Role: role, Kind: v.Type().Name()}
	var names, values []string
	t.fields(v, func(name string, f reflect.Value) {
		if text, ok := t.value(f); ok {
			switch {
			case text == "":
			case f.Kind() == reflect.String:
				names = append(names, text)
			case f.Kind() == reflect.Bool:
				values = append(values, name)
			default:
				values = append(values, name+"="+text)
			}
			return
		}
		children := t.read(name, f, depth+1)
		if len(children) == 1 && t.names(children[0]) && (f.Kind() != reflect.Slice || children[0].Kind == t.Joined) {
			names = append(names, children[0].Text)
			return
		}
		n.Children = append(n.Children, children...)
	})
	n.Text = strings.TrimSpace(strings.Join(append([]string{strings.Join(names, ".")}, values...), " "))
	n.Span = t.place(v)
	n.Span = hull(n)
	return n
}

// fields visits what a struct holds, embedded structs as if it held theirs.
func (t *tree) fields(v reflect.Value, visit func(name string, f reflect.Value)) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || slices.Contains(t.Hidden, field.Name) {
			continue
		}
		f := v.Field(i)
		if field.Anonymous {
			if f.Kind() == reflect.Pointer {
				f = f.Elem()
			}
			if f.IsValid() && f.Kind() == reflect.Struct {
				t.fields(f, visit)
			}
			continue
		}
		visit(field.Name, f)
	}
}

// value is the text of a field that is no node; it is "" where the field says
// nothing.
func (t *tree) value(f reflect.Value) (text string, ok bool) {
	switch f.Kind() { //nolint:exhaustive // the other kinds hold nodes, or nothing to show
	case reflect.String:
		return f.String(), true
	case reflect.Bool:
		if f.Bool() {
			return "true", true
		}
		return "", true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if f.IsZero() {
			return "", true
		}
		text = strconv.FormatInt(f.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if f.IsZero() {
			return "", true
		}
		text = strconv.FormatUint(f.Uint(), 10)
	default:
		return "", false
	}
	if s, named := reflect.TypeAssert[fmt.Stringer](f); named {
		text = s.String()
	}
	if slices.Contains(t.Hidden, text) {
		text = ""
	}
	return text, true
}

// hull is the place of a node with those of the nodes below it.
func hull(n sqlguard.Node) sqlguard.Span {
	span := n.Span
	for i := range n.Children {
		c := n.Children[i].Span
		switch {
		case c == sqlguard.Span{}:
		case span == sqlguard.Span{}:
			span = c
		default:
			span.Start, span.End = min(span.Start, c.Start), max(span.End, c.End)
		}
	}
	return span
}
