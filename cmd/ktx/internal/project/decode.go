package project

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/execution"
)

// Problem is one fault of the file.
type Problem struct {
	Path    string `json:"path"` // dotted, such as connections.shop.port
	Line    int    `json:"line"`
	Message string `json:"message"`
	Warning bool   `json:"warning,omitempty"`
}

// String returns the problem on one line.
func (p Problem) String() string {
	kind := ""
	if p.Warning {
		kind = "warning: "
	}
	return fmt.Sprintf("%s:%d: %s%s: %s", FileName, p.Line, kind, p.Path, p.Message)
}

// Problems is the error of a file that cannot be used.
type Problems struct{ List []Problem }

// Error lists the faults, one a line.
func (p *Problems) Error() string {
	var lines []string
	for _, problem := range p.List {
		if !problem.Warning {
			lines = append(lines, problem.String())
		}
	}
	return strings.Join(lines, "\n")
}

// strictBlocks are the blocks in which an unknown key is an error: a misspelt
// safety key must not be lost.
var strictBlocks = []string{"guard", "access", "functions", "audit", "server"}

// laterBlocks are keys of the file that other versions read.
var laterBlocks = []string{"server", "scan", "search", "user", "upstreams", "skills", "embeddings"}

// maxNodes bounds a file, aliases counted each time they are used.
const maxNodes = 100_000

type decoder struct {
	problems []Problem
	nodes    int
}

func (d *decoder) fault(n *yaml.Node, path, format string, args ...any) {
	d.problems = append(d.problems, Problem{Path: path, Line: n.Line, Message: fmt.Sprintf(format, args...)})
}

// decode reads n into v by v's type.
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
	if n.Tag == "!!null" {
		return // the default
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if n.Kind != yaml.ScalarNode {
			d.fault(n, path, "expected %s", describe(v.Type(), tag))
			return
		}
		if err := u.UnmarshalText([]byte(n.Value)); err != nil {
			d.fault(n, path, "%v", err)
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
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

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if n.Kind != yaml.ScalarNode {
		d.fault(n, path, "expected %s", describe(v.Type(), tag))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		if n.Tag != "!!bool" {
			d.fault(n, path, "%q is not true or false", n.Value)
			return
		}
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Int, reflect.Int64:
		i, err := strconv.ParseInt(n.Value, 10, 64)
		low, high := bound(tag, "min", -1<<53), bound(tag, "max", 1<<53)
		if err != nil || i < low || i > high {
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

// describe says what fits a type.
func describe(t reflect.Type, tag reflect.StructTag) string {
	switch {
	case tag.Get("enum") != "":
		return "one of " + strings.ReplaceAll(tag.Get("enum"), ",", ", ")
	case t == reflect.TypeFor[Bytes]():
		return "a size such as 8MiB"
	case t == reflect.TypeFor[Duration]():
		return "a duration such as 30s"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int && tag.Get("max") != "":
		return fmt.Sprintf("an integer from %s to %s", tag.Get("min"), tag.Get("max"))
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return "an integer"
	default:
		return "a text"
	}
}

// fields returns the fields of a struct by their key in the file.
func fields(t reflect.Type) map[string]reflect.StructField {
	out := map[string]reflect.StructField{}
	for f := range t.Fields() {
		if key, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); key != "" && key != "-" {
			out[key] = f
		}
	}
	return out
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// pairs calls f for every key of a mapping; a key given twice is a fault.
func (d *decoder) pairs(n *yaml.Node, path string, f func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.fault(n, cmpOr(path, FileName), "expected keys with values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			d.fault(key, cmpOr(path, FileName), "only plain keys can be read here")
		case seen[key.Value]:
			d.fault(key, join(path, key.Value), "the key is given twice")
		default:
			seen[key.Value] = true
			f(key, value)
		}
	}
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func (d *decoder) object(n *yaml.Node, v reflect.Value, path string) {
	known := fields(v.Type())
	d.pairs(n, path, func(key, value *yaml.Node) {
		field, ok := known[key.Value]
		if !ok {
			d.unknown(key, path, slices.Sorted(maps.Keys(known)))
			return
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

// unknown reports a key that no field has: an error inside the blocks that
// safety depends on, a warning elsewhere.
func (d *decoder) unknown(key *yaml.Node, path string, known []string) {
	p := Problem{Path: join(path, key.Value), Line: key.Line, Message: "unknown key", Warning: true}
	if path == "" && slices.Contains(laterBlocks, key.Value) {
		p.Message = "this version does not use it"
		d.problems = append(d.problems, p)
		return
	}
	for part := range strings.SplitSeq(path, ".") {
		if slices.Contains(strictBlocks, part) {
			p.Warning = false
		}
	}
	near := execution.Nearest(key.Value, known)
	if path == "" && slices.Contains(strictBlocks, near) {
		p.Warning = false // gaurd: is a whole safety block lost
	}
	if near != "" {
		p.Message += fmt.Sprintf(", did you mean %s?", near)
	} else {
		p.Message += "; known here: " + strings.Join(known, ", ")
	}
	d.problems = append(d.problems, p)
}
