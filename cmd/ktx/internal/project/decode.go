package project

import (
	"cmp"
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
)

// strictBlocks are the blocks in which an unknown key is an error, so that a
// misspelt safety key is not ignored.
var strictBlocks = []string{"guard", "access", "functions", "audit", "server", "upstreams", "skills", "embeddings"}

// maxNodes bounds the number of YAML nodes in a file. An alias counts each time that
// it is used.
const maxNodes = 100_000

type decoder struct {
	problems []Problem
	nodes    int
	strict   int // the number of strict blocks around the present node
}

func (d *decoder) fault(n *yaml.Node, path, format string, args ...any) {
	d.add(Problem{Path: cmp.Or(path, FileName), Line: max(n.Line, 1), Message: fmt.Sprintf(format, args...)})
}

// add keeps a problem. After maxProblems it adds one more, which is an error and says
// so, and then keeps no others. So a file with too many problems is never valid.
func (d *decoder) add(p Problem) {
	switch {
	case len(d.problems) < maxProblems:
		d.problems = append(d.problems, p)
	case len(d.problems) == maxProblems:
		d.problems = append(d.problems, Problem{Path: p.Path, Line: p.Line, Message: "and more problems after this one"})
	}
}

// decode reads n into v, as the type of v says.
func (d *decoder) decode(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if d.nodes++; d.nodes > maxNodes {
		if d.nodes == maxNodes+1 {
			d.fault(n, path, "the file has more than %d values", maxNodes)
		}
		return
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" && blank(n.Value) {
		return // the default
	}
	if !plainTag(n) {
		d.fault(n, path, "YAML tags (!…) are not supported; put a value that begins with ! in quotes")
		return
	}
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok {
		if n.Kind != yaml.ScalarNode {
			d.fault(n, path, "expected %s", describe(v.Type(), tag))
			return
		}
		if err := u.UnmarshalText([]byte(n.Value)); err != nil {
			d.fault(n, path, "%v", err)
		}
		return
	}
	switch v.Kind() { //nolint:exhaustive // scalar reports the kinds that it does not accept
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[AllowedFunction]() && n.Kind == yaml.ScalarNode {
			d.scalar(n, v.Field(0), path, tag)
			return
		}
		d.object(n, v, path)
	case reflect.Map:
		d.mapping(n, v, path)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			d.fault(n, path, "expected a list")
			return
		}
		list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
		for i, item := range n.Content {
			d.decode(item, list.Index(i), fmt.Sprintf("%s[%d]", path, i), tag)
		}
		v.Set(list)
	case reflect.Pointer:
		target := reflect.New(v.Type().Elem())
		d.decode(n, target.Elem(), path, tag)
		v.Set(target)
	default:
		d.scalar(n, v, path, tag)
	}
}

// blank reports whether value is one of YAML's spellings of null.
func blank(value string) bool {
	switch value {
	case "", "~", "null", "Null", "NULL":
		return true
	default:
		return false
	}
}

// plainTag reports whether a node has a standard tag of its kind, such as !!str.
func plainTag(n *yaml.Node) bool {
	switch n.Tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge":
		return n.Kind == yaml.ScalarNode
	case "!!map":
		return n.Kind == yaml.MappingNode
	case "!!seq":
		return n.Kind == yaml.SequenceNode
	default:
		return false
	}
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if n.Kind != yaml.ScalarNode {
		d.fault(n, path, "expected %s", describe(v.Type(), tag))
		return
	}
	switch v.Kind() { //nolint:exhaustive // no other kind is in Config
	case reflect.Bool:
		yes, no := strings.EqualFold(n.Value, "true"), strings.EqualFold(n.Value, "false")
		if n.Tag != "!!bool" || !yes && !no {
			d.fault(n, path, "%q is not true or false", n.Value)
			return
		}
		v.SetBool(yes)
	case reflect.Int, reflect.Int64:
		i, err := strconv.ParseInt(n.Value, 10, 64)
		low, high := bound(tag, "min", -1<<53), bound(tag, "max", 1<<53)
		if err != nil || i < low || i > high || strconv.FormatInt(i, 10) != n.Value {
			d.fault(n, path, "%q is not %s", n.Value, describe(v.Type(), tag))
			return
		}
		v.SetInt(i)
	case reflect.String:
		if allowed := tag.Get("enum"); allowed != "" && !slices.Contains(strings.Split(allowed, ","), n.Value) {
			d.fault(n, path, "%q is not %s", n.Value, describe(v.Type(), tag))
			return
		}
		v.SetString(n.Value)
	default:
		d.fault(n, path, "cannot be set in a file")
	}
}

func bound(tag reflect.StructTag, key string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(tag.Get(key), 10, 64); err == nil {
		return n
	}
	return otherwise
}

// describe returns what a value of a type looks like, for messages.
func describe(t reflect.Type, tag reflect.StructTag) string {
	switch {
	case tag.Get("enum") != "" && !strings.Contains(tag.Get("enum"), ","):
		return tag.Get("enum")
	case tag.Get("enum") != "":
		return "one of " + strings.ReplaceAll(tag.Get("enum"), ",", ", ")
	case t == reflect.TypeFor[Bytes]():
		return "a size such as 8MiB"
	case t == reflect.TypeFor[Duration]():
		return "a duration such as 30s"
	case t == reflect.TypeFor[Rate]():
		return "a rate such as 60/m"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int && tag.Get("max") != "":
		return fmt.Sprintf("an integer from %s to %s", tag.Get("min"), tag.Get("max"))
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return "an integer"
	default:
		return "a string"
	}
}

// auditTags has the struct tags for the fields of [audit.Config], which is a type of
// another package and does not have them itself.
var auditTags = map[string]reflect.StructTag{
	"path":        `doc:"Folder of the log, relative to the project; default .ktx/audit."`,
	"sql":         `doc:"What the log keeps of a statement: normalized (default) leaves literals out, full keeps all of it." enum:"normalized,full"`,
	"onFailure":   `doc:"When a decision cannot be recorded: reject (default) refuses the statement, degrade runs it." enum:"reject,degrade"`,
	"sync":        `doc:"When events are flushed to disk: always before the statement, interval (default) within a second, off never." enum:"always,interval,off"`,
	"rotateBytes": `doc:"File size in bytes at which the log begins a new file; default 67108864."`,
}

// fields returns the fields of a struct by their key in the file.
func fields(t reflect.Type) map[string]reflect.StructField {
	out := map[string]reflect.StructField{}
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if key == "" || key == "-" {
			continue
		}
		if t == reflect.TypeFor[audit.Config]() {
			f.Tag = auditTags[key]
		}
		out[key] = f
	}
	return out
}

func join(path, key string) string {
	if key == "" {
		key = `""`
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// pairs calls f for every key of a mapping. A key that is given twice is an error.
func (d *decoder) pairs(n *yaml.Node, path string, f func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.fault(n, path, "expected keys with values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			d.fault(key, path, "expected a plain key")
		case seen[key.Value]:
			d.fault(key, join(path, key.Value), "the key is given twice")
		default:
			seen[key.Value] = true
			f(key, value)
		}
	}
}

func (d *decoder) object(n *yaml.Node, v reflect.Value, path string) {
	known := fields(v.Type())
	d.pairs(n, path, func(key, value *yaml.Node) {
		field, ok := known[key.Value]
		if !ok {
			d.unknown(key, path, slices.Sorted(maps.Keys(known)))
			return
		}
		if slices.Contains(strictBlocks, key.Value) {
			d.strict++
			defer func() { d.strict-- }()
		}
		d.decode(value, v.FieldByIndex(field.Index), join(path, key.Value), field.Tag)
	})
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	out := reflect.MakeMap(v.Type())
	d.pairs(n, path, func(key, value *yaml.Node) {
		element := reflect.New(v.Type().Elem()).Elem()
		d.decode(value, element, join(path, key.Value), "")
		out.SetMapIndex(reflect.ValueOf(key.Value), element)
	})
	v.Set(out)
}

// unknown reports a key that no field has. It is an error inside the blocks on which
// safety depends, and when it looks like the name of such a block. Otherwise it is a
// warning.
func (d *decoder) unknown(key *yaml.Node, path string, known []string) {
	if len(d.problems) > maxProblems {
		return // the last of them makes the file invalid
	}
	p := Problem{Path: join(path, key.Value), Line: key.Line, Message: "unknown key", Warning: d.strict == 0}
	near := nearest(key.Value, known)
	if slices.Contains(strictBlocks, near) {
		p.Warning = false // such as gaurd, with which a whole safety block would be ignored
	}
	if near != "" {
		p.Message += fmt.Sprintf(", did you mean %s?", near)
	} else {
		p.Message += "; known here: " + strings.Join(known, ", ")
	}
	d.add(p)
}

// nearest returns the known key that was probably meant, or "". It also finds a key
// with two letters swapped, and a longer name of a safety block, such as guardrails.
func nearest(key string, known []string) string {
	if near := execution.Nearest(key, known); near != "" {
		return near
	}
	for _, k := range known {
		if letters(k) == letters(key) || slices.Contains(strictBlocks, k) && strings.HasPrefix(strings.ToLower(key), k) {
			return k
		}
	}
	return ""
}

// letters returns the letters of a word in alphabetical order.
func letters(word string) string {
	return string(slices.Sorted(slices.Values([]rune(strings.ToLower(word)))))
}
