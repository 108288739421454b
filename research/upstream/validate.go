package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// The limits of arguments and of what it takes to check them.
const (
	maxArguments = 4 << 20 // bytes
	maxDepth     = 100     // of nested values, in arguments and in schemas
	maxNodes     = 20_000  // of a schema
	maxCost      = 5e6     // schemas that are applied, times values
	maxProblems  = 8       // that are reported
)

// validator checks arguments by the input schema of a tool.
type validator struct {
	schema *jsonschema.Schema
	cost   *costs
}

// checker returns the validator of a tool. It is made once.
func (t *Tool) checker() (*validator, error) {
	t.check.Do(func() {
		var d definition
		if err := json.Unmarshal(t.Definition, &d); err != nil {
			t.invalid = errors.New("its definition cannot be read")
			return
		}
		t.validator, t.invalid = newValidator(d.InputSchema)
	})
	return t.validator, t.invalid
}

// newValidator compiles a schema. It loads nothing: a schema that refers to another
// document is an error.
func newValidator(raw json.RawMessage) (*validator, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, errors.New("it has no input schema")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, errors.New("its input schema is not JSON")
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return nil, errors.New("its input schema is not an object")
	}
	if nodes, depth := measure(doc, 0); nodes > maxNodes || depth > maxDepth {
		return nil, errors.New("its input schema is too large or too deep to check arguments by")
	}
	if name, ok := object["$schema"].(string); ok && !knownDraft(name) {
		delete(object, "$schema") // read as the newest draft
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(schemaURL, doc); err != nil {
		return nil, errors.New("its input schema is not valid")
	}
	schema, err := compiler.Compile(schemaURL)
	if err != nil {
		var foreign *foreignError
		if errors.As(err, &foreign) || strings.Contains(err.Error(), foreignText) {
			return nil, errors.New("its input schema refers to another document, which ktx does not fetch")
		}
		return nil, errors.New("its input schema is not valid")
	}
	return &validator{schema: schema, cost: newCosts(doc)}, nil
}

const schemaURL = "ktx:///input"

func knownDraft(name string) bool {
	name = strings.TrimSuffix(name, "#")
	for _, version := range []string{"draft-04", "draft-06", "draft-07"} {
		if name == "http://json-schema.org/"+version+"/schema" || name == "https://json-schema.org/"+version+"/schema" {
			return true
		}
	}
	return name == "https://json-schema.org/draft/2019-09/schema" || name == "https://json-schema.org/draft/2020-12/schema"
}

const foreignText = "ktx fetches no schema"

// foreignError refuses to load a document.
type foreignError struct{}

func (*foreignError) Error() string { return foreignText }

type noLoader struct{}

// Load implements [jsonschema.URLLoader].
func (noLoader) Load(string) (any, error) { return nil, &foreignError{} }

// validate checks arguments. The problems name the places and what is expected, sorted.
func (v *validator) validate(raw json.RawMessage) (problems []string, err error) {
	if len(raw) > maxArguments {
		return []string{fmt.Sprintf("arguments: %d bytes; at most %d are sent", len(raw), maxArguments)}, nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return []string{"arguments: not JSON; expected an object"}, nil //nolint:nilerr // the model is told
	}
	if _, ok := value.(map[string]any); !ok {
		return []string{"arguments: expected an object"}, nil
	}
	nodes, depth := measure(value, 0)
	if depth > maxDepth {
		return []string{fmt.Sprintf("arguments: values are nested more than %d deep", maxDepth)}, nil
	}
	if v.cost.of(depth)*float64(nodes) > maxCost {
		return nil, errors.New("its input schema is too expensive to check these arguments by")
	}
	failure := v.schema.Validate(value)
	if failure == nil {
		return nil, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(failure, &invalid) {
		return nil, errors.New("its input schema cannot be applied")
	}
	return describeProblems(invalid), nil
}

// describeProblems returns the leaves of a validation error. It repeats no value.
func describeProblems(e *jsonschema.ValidationError) []string {
	var out []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			out = append(out, clean(location(e.InstanceLocation)+": "+expected(e.ErrorKind), maxMessage))
			return
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(e)
	slices.Sort(out)
	out = slices.Compact(out)
	if more := len(out) - maxProblems; more > 0 {
		out = append(out[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	return out
}

func location(parts []string) string {
	var path strings.Builder
	path.WriteString("arguments")
	for _, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			path.WriteString("[" + part + "]")
		} else {
			path.WriteString("." + part)
		}
	}
	return path.String()
}

var printer = message.NewPrinter(language.English)

// expected describes a problem without the value that is wrong.
func expected(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Required:
		return "missing " + strings.Join(k.Missing, ", ")
	case *kind.Type:
		return "got " + k.Got + "; expected " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		var values []string
		for _, v := range k.Want {
			b, err := json.Marshal(v)
			if err == nil && len(values) < 20 {
				values = append(values, string(b))
			}
		}
		return "expected one of " + strings.Join(values, ", ")
	case *kind.Const:
		b, _ := json.Marshal(k.Want) //nolint:errchkjson // it was decoded from JSON
		return "expected " + string(b)
	case *kind.AdditionalProperties:
		return "unknown " + strings.Join(k.Properties, ", ")
	case *kind.Pattern:
		return "does not match the pattern " + k.Want
	case *kind.Format:
		return "expected a text of the format " + k.Want
	case *kind.FalseSchema:
		return "is not allowed"
	default:
		return k.LocalizedString(printer)
	}
}

// measure counts the values within a value, and how deep they are nested.
func measure(v any, at int) (nodes, depth int) {
	nodes, depth = 1, at
	if at > maxDepth {
		return nodes, depth
	}
	add := func(child any) {
		n, d := measure(child, at+1)
		nodes += n
		depth = max(depth, d)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, child := range v {
			add(child)
		}
	case []any:
		for _, child := range v {
			add(child)
		}
	}
	return nodes, depth
}

// costs bounds how many schemas are applied to one value, by how deep values are nested
// within it. A schema that applies others twice at each of its levels grows without
// bound, although it is small.
type costs struct {
	root   any
	memo   map[costKey]float64
	active map[costKey]bool
}

type costKey struct {
	pointer string
	depth   int
}

func newCosts(root any) *costs { return &costs{root: root} }

func (c *costs) of(depth int) float64 {
	// A validator is shared, and the memo is not.
	own := costs{root: c.root, memo: map[costKey]float64{}, active: map[costKey]bool{}}
	return own.schema(c.root, "#", depth)
}

// The keywords that apply schemas to the same value, and to values within it.
var (
	inPlace = map[string]bool{
		"allOf": true, "anyOf": true, "oneOf": true, "not": true, "if": true, "then": true, "else": true, "dependentSchemas": true, "dependencies": true,
	}
	within = map[string]bool{
		"properties": true, "patternProperties": true, "additionalProperties": true, "propertyNames": true, "items": true, "prefixItems": true,
		"additionalItems": true, "contains": true, "unevaluatedItems": true, "unevaluatedProperties": true,
	}
)

func (c *costs) schema(s any, pointer string, depth int) float64 {
	object, ok := s.(map[string]any)
	if !ok {
		return 1
	}
	key := costKey{pointer, depth}
	if cost, ok := c.memo[key]; ok {
		return cost
	}
	if c.active[key] { // a reference to itself, at the same value
		return 1
	}
	c.active[key] = true
	cost := 1.0
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := pointer + "/" + escape(name)
		switch {
		case inPlace[name]:
			cost += c.children(object[name], at, depth)
		case within[name] && depth > 0:
			cost += c.children(object[name], at, depth-1)
		case name == "$ref" || name == "$dynamicRef" || name == "$recursiveRef":
			ref, _ := object[name].(string)
			if target, ok := resolve(c.root, ref); ok {
				cost += c.schema(target, ref, depth)
			} else if !ok && strings.HasPrefix(ref, "#") && ref != "#" {
				cost += c.schema(c.root, "#", max(depth-1, 0)) // an anchor: as expensive as the whole
			}
		}
		if cost > maxCost || math.IsInf(cost, 0) {
			cost = maxCost + 1
			break
		}
	}
	delete(c.active, key)
	c.memo[key] = cost
	return cost
}

// children sums the costs of a schema, a list of schemas, or schemas by name.
func (c *costs) children(v any, pointer string, depth int) float64 {
	switch v := v.(type) {
	case []any:
		sum := 0.0
		for i, s := range v {
			sum += c.schema(s, pointer+"/"+strconv.Itoa(i), depth)
		}
		return sum
	case map[string]any:
		if strings.HasSuffix(pointer, "/properties") || strings.HasSuffix(pointer, "/patternProperties") || strings.HasSuffix(pointer, "/dependentSchemas") || strings.HasSuffix(pointer, "/dependencies") {
			sum := 0.0
			for _, name := range slices.Sorted(maps.Keys(v)) {
				sum += c.schema(v[name], pointer+"/"+escape(name), depth)
			}
			return sum
		}
		return c.schema(v, pointer, depth)
	default:
		return 1
	}
}

func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// resolve returns what a reference within a schema points to.
func resolve(root any, ref string) (any, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	if pointer == "" {
		return root, true
	}
	if !strings.HasPrefix(pointer, "/") {
		return nil, false
	}
	v := root
	for part := range strings.SplitSeq(pointer[1:], "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~", "%25", "%").Replace(part)
		switch x := v.(type) {
		case map[string]any:
			if v, ok = x[part]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}
