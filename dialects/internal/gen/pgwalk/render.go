package main

import (
	"fmt"
	"reflect"
	"slices"
)

// renderKind writes the visit of one kind, and of its fields.
func renderKind(p func(string, ...any), k kind, judged bool, byMessage map[reflect.Type]kind) error {
	p("func (w *walker) visit%s(n *pg.%s) {", k.name, k.message.Name())
	if judged {
		p("if n != nil {\nw.judge%s(n)\n}\n}\n", k.name)
	} else {
		p("if n != nil && w.enter(kind%s) {\nw.fields%s(n)\n}\n}\n", k.name, k.name)
	}

	var body []string
	for _, f := range orderedFields(k.message) {
		line, err := visitField(f, byMessage)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", k.name, f.Name, err)
		}
		if line != "" {
			body = append(body, line)
		}
	}
	param := "n"
	if len(body) == 0 {
		param = "_"
	}
	p("func (w *walker) fields%s(%s *pg.%s) {", k.name, param, k.message.Name())
	for _, line := range body {
		p("%s", line)
	}
	p("}\n")
	return nil
}

// orderedFields returns the exported fields of a message in the order in which
// they are visited: the place first, so that findings inside have one to fall
// back to; then WITH, whose names the rest may use; then the order of the
// message.
func orderedFields(message reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for f := range message.Fields() {
		if f.IsExported() {
			fields = append(fields, f)
		}
	}
	rank := func(f reflect.StructField) int {
		switch f.Name {
		case "Location":
			return 0
		case "WithClause":
			return 1
		default:
			return 2
		}
	}
	slices.SortStableFunc(fields, func(a, b reflect.StructField) int { return rank(a) - rank(b) })
	return fields
}

// visitField returns the statement that visits one field; "" for a field that
// holds no node.
func visitField(f reflect.StructField, byMessage map[reflect.Type]kind) (string, error) {
	t, list := f.Type, false
	if t.Kind() == reflect.Slice {
		t, list = t.Elem(), true
	}
	switch {
	case f.Name == "Location" && t.Kind() == reflect.Int32:
		return "w.at(n.Location)", nil
	case t.Kind() == reflect.Interface && f.Name == "Val" && f.Type.Name() == "isA_Const_Val":
		return "", nil // the value of a constant
	case t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && t.Kind() != reflect.Struct:
		return "", nil // a scalar
	case t.Kind() == reflect.Pointer && t.Elem().Name() == "Node":
		if list {
			return fmt.Sprintf("w.list(n.%s)", f.Name), nil
		}
		return fmt.Sprintf("w.node(n.%s)", f.Name), nil
	case t.Kind() == reflect.Pointer:
		k, ok := byMessage[t.Elem()]
		if !ok {
			break
		}
		if list {
			return fmt.Sprintf("for _, c := range n.%s {\nw.visit%s(c)\n}", f.Name, k.name), nil
		}
		return fmt.Sprintf("w.visit%s(n.%s)", k.name, f.Name), nil
	}
	return "", fmt.Errorf("a field of type %s is none of node, list of nodes and scalar", f.Type)
}
