// Command derive reads a checkout of github.com/ocsf/ocsf-schema and writes the
// facts that the tests of execution/audit check exported events against: for
// one class and its objects, the names, types, requirements and enumerations of
// their attributes. It copies no descriptions.
//
//	git clone https://github.com/ocsf/ocsf-schema && git -C ocsf-schema checkout 1.8.0
//	go run execution/audit/testdata/ocsf/derive.go -schema ocsf-schema -out execution/audit/testdata/ocsf/1.8.0.json
//
// Run it by hand to add a version. Nothing else needs the checkout.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	schema := flag.String("schema", "", "checkout of ocsf-schema")
	class := flag.String("class", "application/datastore_activity", "class file below events/, without .json")
	objects := flag.String("objects", "metadata,product,actor,user,session,network_endpoint,database,table,query_info,authorization,policy",
		"objects to include, by comma")
	out := flag.String("out", "", "file to write")
	flag.Parse()
	if *schema == "" || *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*schema, *class, strings.Split(*objects, ","), *out); err != nil {
		log.Fatal(err)
	}
}

func run(schema, class string, objects []string, out string) error {
	d := deriver{files: os.DirFS(schema)}
	facts, err := d.derive(class, objects)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(facts, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(compact(text), '\n'), 0o644)
}

// compact puts each attribute on one line.
func compact(text []byte) []byte {
	lines := strings.Split(string(text), "\n")
	var b strings.Builder
	depth := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	for i, line := range lines {
		switch {
		case i == 0:
		case depth(line) > 4:
			line = strings.TrimLeft(line, " ")
		case depth(line) == 4 && strings.HasPrefix(strings.TrimLeft(line, " "), "}"):
			line = strings.TrimLeft(line, " ")
		default:
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return []byte(b.String())
}

// facts is the file that is written.
type facts struct {
	Source  string            `json:"source"`
	Version string            `json:"version"`
	Derived string            `json:"derived"`
	UID     int               `json:"class_uid"`
	Types   map[string]string `json:"types"` // type of a value → basic type
	// Shapes are the class, under the name class, and its objects.
	Shapes map[string]shape `json:"shapes"`
}

type shape struct {
	AtLeastOne []string             `json:"at_least_one,omitempty"`
	Attributes map[string]attribute `json:"attributes"`
}

type attribute struct {
	Type        string            `json:"type"`
	Array       bool              `json:"array,omitempty"`
	Requirement string            `json:"requirement"`
	Profile     string            `json:"profile,omitempty"`
	Sibling     string            `json:"sibling,omitempty"`
	Deprecated  bool              `json:"deprecated,omitempty"`
	Enum        map[string]string `json:"enum,omitempty"`
}

// node is a file of the schema, or an attribute in one.
type node struct {
	Version     string                     `json:"version"`
	UID         int                        `json:"uid"`
	Name        string                     `json:"name"`
	Caption     string                     `json:"caption"`
	Meta        string                     `json:"meta"`
	Extends     string                     `json:"extends"`
	Category    string                     `json:"category"`
	Attributes  map[string]json.RawMessage `json:"attributes"`
	Constraints struct {
		AtLeastOne []string `json:"at_least_one"`
	} `json:"constraints"`
	Types struct {
		Attributes map[string]struct {
			Type string `json:"type"`
		} `json:"attributes"`
	} `json:"types"`
}

type attributeNode struct {
	Type        *string `json:"type"`
	Array       *bool   `json:"is_array"`
	Requirement *string `json:"requirement"`
	Sibling     *string `json:"sibling"`
	Deprecated  any     `json:"@deprecated"`
	Enum        map[string]struct {
		Caption string `json:"caption"`
	} `json:"enum"`
}

type deriver struct {
	files      fs.FS
	dictionary node
}

func (d *deriver) read(name string) (node, error) {
	var n node
	text, err := fs.ReadFile(d.files, name)
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(text, &n); err != nil {
		return n, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

func (d *deriver) derive(class string, objects []string) (*facts, error) {
	version, err := d.read("version.json")
	if err != nil {
		return nil, err
	}
	if d.dictionary, err = d.read("dictionary.json"); err != nil {
		return nil, err
	}
	out := &facts{
		Source: "github.com/ocsf/ocsf-schema", Version: version.Version,
		Derived: "execution/audit/testdata/ocsf/derive.go", Types: map[string]string{}, Shapes: map[string]shape{},
	}
	for name, t := range d.dictionary.Types.Attributes {
		out.Types[name] = t.Type
		if t.Type == "" {
			out.Types[name] = name
		}
	}
	n, err := d.read("events/" + class + ".json")
	if err != nil {
		return nil, err
	}
	category, err := d.category(n)
	if err != nil {
		return nil, err
	}
	out.UID = category.UID*1000 + n.UID
	if out.Shapes["class"], err = d.shape("events", class, ""); err != nil {
		return nil, err
	}
	number(out.Shapes["class"].Attributes, n, category, out.UID)
	for _, name := range objects {
		if out.Shapes[name], err = d.shape("objects", name, ""); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// number replaces the enumerations of the numbers by which an event names its
// class. It computes them as the schema does: class_uid is the category's
// number times 1,000 plus the class's own number, and type_uid is class_uid
// times 100 plus the activity's number.
func number(attributes map[string]attribute, class, category node, uid int) {
	enum := func(name string, values map[string]string) {
		a := attributes[name]
		a.Enum = values
		attributes[name] = a
	}
	enum("category_uid", map[string]string{strconv.Itoa(category.UID): category.Caption})
	enum("class_uid", map[string]string{strconv.Itoa(uid): class.Caption})
	types := map[string]string{}
	for id, caption := range attributes["activity_id"].Enum {
		if n, err := strconv.Atoi(id); err == nil {
			types[strconv.Itoa(uid*100+n)] = class.Caption + ": " + caption
		}
	}
	enum("type_uid", types)
}

// category finds the category of a class, which may be inherited.
func (d *deriver) category(n node) (node, error) {
	for n.Category == "" && n.Extends != "" {
		var err error
		if n, err = d.parent("events", n.Extends); err != nil {
			return node{}, err
		}
	}
	text, err := fs.ReadFile(d.files, "categories.json")
	if err != nil {
		return node{}, err
	}
	var categories struct {
		Attributes map[string]node `json:"attributes"`
	}
	if err := json.Unmarshal(text, &categories); err != nil {
		return node{}, fmt.Errorf("categories.json: %w", err)
	}
	c, ok := categories.Attributes[n.Category]
	if !ok {
		return node{}, fmt.Errorf("no category %q", n.Category)
	}
	return c, nil
}

// parent finds the file that a class or an object extends.
func (d *deriver) parent(dir, name string) (node, error) {
	file, err := d.find(dir, name)
	if err != nil {
		return node{}, err
	}
	return d.read(file)
}

func (d *deriver) find(dir, name string) (string, error) {
	found := ""
	err := fs.WalkDir(d.files, dir, func(file string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.TrimSuffix(path.Base(file), ".json") == path.Base(name) {
			found = file
		}
		return err
	})
	if err == nil && found == "" {
		err = fmt.Errorf("no %s %s", dir, name)
	}
	return found, err
}

// shape resolves the files that name extends and includes. profile is the
// profile that the attributes belong to.
func (d *deriver) shape(dir, name, profile string) (shape, error) {
	n, err := d.parent(dir, name)
	if err != nil {
		return shape{}, err
	}
	out := shape{Attributes: map[string]attribute{}}
	if n.Extends != "" {
		if out, err = d.shape(dir, n.Extends, profile); err != nil {
			return shape{}, err
		}
	}
	if len(n.Constraints.AtLeastOne) > 0 {
		out.AtLeastOne = n.Constraints.AtLeastOne
	}
	return out, d.add(out.Attributes, n, profile)
}

// add adds the attributes of n to attributes, those of its includes first.
func (d *deriver) add(attributes map[string]attribute, n node, profile string) error {
	if raw, ok := n.Attributes["$include"]; ok {
		var includes []string
		if err := json.Unmarshal(raw, &includes); err != nil {
			return fmt.Errorf("%s: $include: %w", n.Name, err)
		}
		for _, file := range includes {
			part, err := d.read(file)
			if err != nil {
				return err
			}
			of := profile
			if part.Meta == "profile" || strings.HasPrefix(file, "profiles/") {
				of = part.Name
			}
			if err := d.add(attributes, part, of); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Attributes)) {
		if name == "$include" {
			continue
		}
		if err := d.attribute(attributes, name, n.Attributes[name], profile); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	return nil
}

// attribute merges a file's definition of an attribute into the known one.
func (d *deriver) attribute(attributes map[string]attribute, name string, raw json.RawMessage, profile string) error {
	a, known := attributes[name]
	layers := []json.RawMessage{raw}
	if !known {
		a = attribute{Requirement: "optional", Profile: profile}
		general, ok := d.dictionary.Attributes[name]
		if !ok {
			return errors.New("the dictionary does not have " + name)
		}
		layers = []json.RawMessage{general, raw}
	} else if profile == "" {
		a.Profile = "" // the class has it without the profile
	}
	for _, layer := range layers {
		var n attributeNode
		if err := json.Unmarshal(layer, &n); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		set(&a.Type, n.Type)
		set(&a.Array, n.Array)
		set(&a.Requirement, n.Requirement)
		set(&a.Sibling, n.Sibling)
		a.Deprecated = a.Deprecated || n.Deprecated != nil
		for id, e := range n.Enum {
			if a.Enum == nil {
				a.Enum = map[string]string{}
			}
			a.Enum[id] = e.Caption
		}
	}
	attributes[name] = a
	return nil
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}
