package audit

import (
	"reflect"
	"slices"
	"strings"
)

// Class says what a field of [Event] holds.
type Class string

// The classes.
const (
	// ClassPublic: codes, numbers, times, hashes.
	ClassPublic Class = "public"
	// ClassIdentifier: names of people, clients, connections, tables and
	// functions, and the normalised statement, which contains such names.
	ClassIdentifier Class = "identifier"
	// ClassSensitive: text that may quote data. It is written only under
	// [SQLFull].
	ClassSensitive Class = "sensitive"
	// ClassSecret: never written. A field without a class has this class.
	ClassSecret Class = "secret"
)

// Classes returns the classes whose fields may be written.
func Classes() []Class { return []Class{ClassPublic, ClassIdentifier, ClassSensitive} }

// classOf returns the class of a field. Any tag that is not one of the classes
// counts as secret.
func classOf(sf reflect.StructField) Class {
	if c := Class(sf.Tag.Get("class")); slices.Contains(Classes(), c) {
		return c
	}
	return ClassSecret
}

// Field is a member of an event as written in the log.
type Field struct {
	// Path is the name, preceded by the names of the objects that contain it:
	// sql.normalized.
	Path  string
	Class Class
	// Type is string, integer, number, time, or list of strings.
	Type string
}

// Fields lists every member that an event can have, in the order in which a
// line has them (RFC 8785).
func Fields() []Field {
	out := []Field{{"chain.hash", ClassPublic, "string"}, {"chain.prev", ClassPublic, "string"}}
	var walk func(path string, t reflect.Type, fields []field)
	walk = func(path string, t reflect.Type, fields []field) {
		for _, f := range fields {
			sf := t.Field(f.index)
			name := path + strings.Trim(f.key, `":`)
			if f.members != nil {
				walk(name+".", sf.Type, f.members)
				continue
			}
			out = append(out, Field{Path: name, Class: f.class, Type: typeName(sf.Type)})
		}
	}
	walk("", reflect.TypeFor[Event](), eventFields)
	return out
}

func typeName(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // fieldsOf returns no other kinds
	case reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "list of strings"
	case reflect.Struct:
		return "time"
	default:
		return "string"
	}
}

// Redacted writes e again, without the fields of the withheld classes and
// without any member of the line that is not a field of [Event]. The chain
// stays: it names the original event, and its hash no longer matches the line.
func Redacted(e Event, withheld ...Class) []byte { return appendAnew(nil, &e, withheld) }

// appendAnew appends the line of e, without its end, under the chain it carries.
func appendAnew(buf []byte, e *Event, withheld []Class) []byte {
	buf = append(buf, prefixOpen+prefixHash...)
	buf = append(buf, quotable(e.Chain.Hash)...)
	buf = append(buf, `",`+prefixPrev...)
	buf = append(buf, quotable(e.Chain.Prev)...)
	buf = append(buf, prefixEnd...)
	return closeObject(appendMembers(buf, reflect.ValueOf(e).Elem(), eventFields, withheld))
}

// quotable returns hash when it is a hash, because a damaged line may hold any
// string there.
func quotable(hash string) string {
	if _, ok := parseHash([]byte(hash)); !ok {
		return ""
	}
	return hash
}
