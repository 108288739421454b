package pgdb

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// tree is a node of an expression as the server stores it (pg_node_tree): its
// kind and its named fields. A list has neither a kind nor names.
type tree struct {
	kind   string
	fields []treeField
}

// treeField is one field: the words of its value, and the nodes and lists among
// them.
type treeField struct {
	name  string
	words []string
	trees []*tree
}

// maxTreeDepth bounds how deep an expression may be nested.
const maxTreeDepth = 5_000

var errTree = errors.New("an expression of the catalogue cannot be read")

// readTree reads one stored expression. Its grammar is that of nodeToString:
// {KIND :name value …}, (value …), and words. In a word, a backslash precedes
// each character that would end the word.
func readTree(text string) (*tree, error) {
	r := treeReader{text: text}
	root := &tree{}
	field := &treeField{}
	for {
		word, ok := r.next()
		if !ok {
			break
		}
		if err := r.value(field, word, 0); err != nil {
			return nil, err
		}
	}
	root.fields = []treeField{*field}
	return root, nil
}

type treeReader struct {
	text string
	at   int
}

// next returns the next word or bracket.
func (r *treeReader) next() (string, bool) {
	for r.at < len(r.text) && strings.IndexByte(" \n\t", r.text[r.at]) >= 0 {
		r.at++
	}
	start := r.at
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case '(', ')', '{', '}':
			if r.at == start {
				r.at++
			}
			return r.text[start:r.at], true
		case ' ', '\n', '\t':
			return r.text[start:r.at], true
		case '\\':
			r.at = min(r.at+2, len(r.text))
		default:
			r.at++
		}
	}
	return r.text[start:], start < r.at
}

// value adds a value that begins with word to a field.
func (r *treeReader) value(to *treeField, word string, depth int) error {
	if depth > maxTreeDepth {
		return errTree
	}
	switch word {
	case "(":
		list, field := &tree{}, treeField{}
		for {
			item, ok := r.next()
			if !ok {
				return errTree
			}
			if item == ")" {
				break
			}
			if err := r.value(&field, item, depth+1); err != nil {
				return err
			}
		}
		list.fields = []treeField{field}
		to.trees = append(to.trees, list)
	case "{":
		node, err := r.node(depth)
		if err != nil {
			return err
		}
		to.trees = append(to.trees, node)
	case ")", "}":
		return errTree
	default:
		to.words = append(to.words, word)
	}
	return nil
}

// node reads a node after its opening brace.
func (r *treeReader) node(depth int) (*tree, error) {
	kind, ok := r.next()
	if !ok || strings.ContainsAny(kind, "(){}:") {
		return nil, errTree
	}
	n := &tree{kind: kind}
	var field *treeField
	for {
		word, ok := r.next()
		switch {
		case !ok:
			return nil, errTree
		case word == "}":
			return n, nil
		case word[0] == ':':
			n.fields = append(n.fields, treeField{name: word[1:]})
			field = &n.fields[len(n.fields)-1]
		case field == nil:
			return nil, errTree
		default:
			if err := r.value(field, word, depth+1); err != nil {
				return nil, err
			}
		}
	}
}

// field returns a field of the node, or an empty one.
func (n *tree) field(name string) treeField {
	for _, f := range n.fields {
		if f.name == name {
			return f
		}
	}
	return treeField{}
}

// children returns the nodes in a field, including the elements of its lists.
func (f treeField) children() []*tree {
	var out []*tree
	for _, t := range f.trees {
		if t.kind != "" {
			out = append(out, t)
			continue
		}
		for _, item := range t.fields {
			out = append(out, item.children()...)
		}
	}
	return out
}

// firstNormalOID is the first OID of objects that do not come with the server
// (FirstNormalObjectId).
const firstNormalOID = 16384

// made returns the OIDs in a field of objects that do not come with the server.
func (f treeField) made() []string {
	words := slices.Clone(f.words)
	for _, list := range f.trees {
		if list.kind == "" {
			for _, item := range list.fields {
				words = append(words, item.words...)
			}
		}
	}
	return slices.DeleteFunc(words, func(w string) bool {
		n, err := strconv.ParseUint(w, 10, 32)
		return err != nil || n < firstNormalOID
	})
}
