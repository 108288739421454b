//go:build !cgo

package main

import pg "github.com/sqlc-dev/oliphant"

const (
	buildTag   = "!cgo"
	importPath = "github.com/sqlc-dev/oliphant"
)

// kinds returns every kind of node of the parser, in the order of its own
// enumeration.
func kinds() []kind {
	fields := (&pg.Node{}).ProtoReflect().Descriptor().Fields()
	out := make([]kind, 0, fields.Len())
	for i := range fields.Len() {
		field := fields.Get(i)
		n := &pg.Node{}
		r := n.ProtoReflect()
		r.Set(field, r.NewField(field))
		out = append(out, newKind(string(field.Message().Name()), n.Node))
	}
	return out
}
