package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// The limits of a file.
const (
	maxDepth    = 32     // levels of YAML
	maxProblems = 100    // of one file; further ones are counted only
	maxValue    = 65536  // bytes of one scalar
	maxItems    = 20_000 // of one list or mapping
)

// value is a value of a file whose shape is known to be right.
type value struct {
	parent *value
	name   string // of its key; empty for an item of a list
	index  int    // in its list
	line   int
	text   string   // of a scalar; of a flag true or false
	items  []*value // of a list; the values of a mapping, in order
	wrong  []string // keys whose values are wrong or empty, so that they are not among items

	parsed *parsedExpression // of the text of an expression; may be nil
}

// at returns the value of a key, or nil.
func (v *value) at(name string) *value {
	if v == nil {
		return nil
	}
	for _, i := range v.items {
		if i.name == name {
			return i
		}
	}
	return nil
}

// has reports whether a key is given, be it with a value that is wrong.
func (v *value) has(name string) bool { return v.at(name) != nil || slices.Contains(v.wrong, name) }

// list returns the items of the list at a key.
func (v *value) list(name string) []*value {
	if i := v.at(name); i != nil {
		return i.items
	}
	return nil
}

// word returns the text at a key, or nothing.
func (v *value) word(name string) string {
	if i := v.at(name); i != nil {
		return i.text
	}
	return ""
}

// words returns the texts of the list at a key.
func (v *value) words(name string) []string {
	var out []string
	for _, i := range v.list(name) {
		out = append(out, i.text)
	}
	return out
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// path writes where the value stands, as measures[2].expr.
func (v *value) path() string {
	if v == nil || v.parent == nil {
		return ""
	}
	before := v.parent.path()
	switch {
	case v.name == "":
		return fmt.Sprintf("%s[%d]", before, v.index)
	case !plainKey.MatchString(v.name):
		return fmt.Sprintf("%s[%q]", before, shorten(v.name))
	case before == "":
		return v.name
	default:
		return before + "." + v.name
	}
}

// reader checks the shape of one file against the tables of keys.
type reader struct {
	file     string
	source   string // whose problems are reported
	problems []Problem
	more     int // problems left out
	bad      map[*value]bool

	room        []value       // for the next values
	expressions *atomic.Int64 // bytes of all files' expressions so far
}

// new returns a place for a value. Places are made many at a time.
func (r *reader) new(v value) *value {
	if len(r.room) == 0 {
		r.room = make([]value, 64)
	}
	at := &r.room[0]
	r.room = r.room[1:]
	*at = v
	return at
}

func (r *reader) problem(class expr.Class, at *value, line int, hint, format string, args ...any) {
	for v := at; v != nil; v = v.parent {
		r.bad[v] = true
	}
	if len(r.problems) >= maxProblems {
		r.more++
		return
	}
	if line == 0 && at != nil {
		line = at.line
	}
	r.problems = append(r.problems, Problem{
		Source: r.source, File: r.file, Path: at.path(), Line: line, Class: class, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// object reads a mapping. It returns what is right of it, and reports the rest.
func (r *reader) object(n *node, o *object, parent *value, name string, index, line int) *value {
	v := r.new(value{parent: parent, name: name, index: index, line: line})
	if n.kind != mappingNode {
		r.problem(o.class, v, int(n.line), "", "expected the keys of a %s, which are %s", o.name, strings.Join(o.names(), ", "))
		return v
	}
	v.items = make([]*value, 0, min(len(n.items)/2, len(o.keys)))
	for i := 0; i+1 < len(n.items); i += 2 {
		k, content := &n.items[i], &n.items[i+1]
		if k.kind != scalarNode {
			r.problem(expr.UnknownKey, v, int(k.line), "", "expected a plain key")
			continue
		}
		at := r.new(value{parent: v, name: k.text, line: int(k.line)})
		if at.name == "" {
			at.name = `""`
		}
		known := o.key(k.text)
		switch {
		case known == nil:
			r.unknown(at, o, n.flow && content.null())
		case v.has(k.text):
			r.problem(expr.DuplicateName, at, 0, "", "the key %s is given twice", shorten(k.text))
		default:
			if child := r.value(content, known, o, at); child != nil {
				v.items = append(v.items, child)
			} else {
				v.wrong = append(v.wrong, k.text)
			}
		}
	}
	for i := range o.keys {
		if k := &o.keys[i]; k.required && !v.has(k.name) {
			r.problem(o.class, v, line, "", "the key %s is missing", k.name)
		}
	}
	return v
}

// unknown reports a key that an object does not have. In braces a text that is not
// quoted ends at a comma, and its rest is then a key without a value.
func (r *reader) unknown(at *value, o *object, rest bool) {
	var hint string
	if rest {
		hint = "put a text with a comma in quotes"
	} else if len(r.problems) < maxProblems {
		hint = didYouMean(expr.Near(at.name, o.names()))
	}
	if hint == "" {
		hint = "known here: " + strings.Join(o.names(), ", ")
	}
	r.problem(expr.UnknownKey, at, 0, hint, "%s is not a key of a %s", shorten(at.name), o.name)
}

// value reads the value of a key; nil if it is left empty or wrong.
func (r *reader) value(n *node, k *key, o *object, at *value) *value {
	if n.null() {
		if k.blank {
			if k.required {
				return at
			}
			return nil
		}
		r.problem(o.class, at, 0, "", "%s has no value", k.name)
		return nil
	}
	switch k.shape {
	case shapeText:
		if n.kind != scalarNode {
			r.problem(o.class, at, 0, "", "expected a text")
			return nil
		}
		at.text = n.text
		if k.enum != nil && !slices.Contains(k.enum, n.text) {
			r.problem(o.class, at, 0, didYouMean(expr.Near(n.text, k.enum)), "%q is not one of %s", shorten(n.text), strings.Join(k.enum, ", "))
			return nil
		}
		if strings.TrimSpace(n.text) == "" && !k.blank {
			r.problem(o.class, at, 0, "", "%s is empty", k.name)
			return nil
		}
		if k.expression {
			r.expression(at)
		}
	case shapeFlag:
		if n.kind != scalarNode || n.tag != boolTag {
			r.problem(o.class, at, 0, "", "expected true or false")
			return nil
		}
		at.text = strings.ToLower(n.text)
	case shapeTexts:
		if n.kind != sequenceNode {
			r.problem(o.class, at, 0, "", "expected a list of texts, as [a, b]")
			return nil
		}
		for i := range n.items {
			item := &n.items[i]
			c := r.new(value{parent: at, index: i, line: int(item.line), text: item.text})
			if item.kind != scalarNode || item.tag == nullTag {
				r.problem(o.class, c, 0, "", "expected a text")
				continue
			}
			at.items = append(at.items, c)
		}
	case shapeObject:
		return r.object(n, k.of, at.parent, at.name, 0, at.line)
	case shapeNamed:
		if n.kind == mappingNode {
			r.named(n, k, at)
			return at
		}
		fallthrough
	case shapeList:
		if n.kind != sequenceNode {
			r.problem(o.class, at, 0, "", "expected a list; each item begins with -")
			return nil
		}
		for i := range n.items {
			item := &n.items[i]
			at.items = append(at.items, r.object(item, k.of, at, "", i, int(item.line)))
		}
	case shapeMap:
		r.entries(n, o, at, func(name *node, content *node) {
			r.source = name.text
			at.items = append(at.items, r.object(content, k.of, at, name.text, 0, int(name.line)))
		})
	case shapeLabels:
		r.entries(n, o, at, func(name *node, content *node) {
			c := r.new(value{parent: at, name: name.text, line: int(name.line), text: content.text})
			if content.kind != scalarNode {
				r.problem(o.class, c, 0, "", "expected a text")
				return
			}
			if content.tag != nullTag {
				at.items = append(at.items, c)
			}
		})
	case shapeAny:
	}
	return at
}

// named reads objects by name as a list of objects with name.
func (r *reader) named(n *node, k *key, at *value) {
	without := withoutName(k.of)
	r.entries(n, k.of, at, func(name *node, content *node) {
		v := r.object(content, without, at, name.text, 0, int(name.line))
		v.items = append(v.items, r.new(value{parent: v, name: "name", line: int(name.line), text: name.text}))
		at.items = append(at.items, v)
	})
}

// entries calls f for the entries of a mapping with names of its own.
func (r *reader) entries(n *node, o *object, at *value, f func(name, content *node)) {
	if n.kind != mappingNode {
		r.problem(o.class, at, 0, "", "expected names with values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.items); i += 2 {
		name, content := &n.items[i], &n.items[i+1]
		switch {
		case name.kind != scalarNode || name.text == "":
			r.problem(o.class, at, int(name.line), "", "expected a name")
		case seen[name.text]:
			r.problem(expr.DuplicateName, r.new(value{parent: at, name: name.text, line: int(name.line)}), 0, "", "%s is given twice", shorten(name.text))
		default:
			seen[name.text] = true
			f(name, content)
		}
	}
}
