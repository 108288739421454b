package sqlguard

import (
	"slices"
	"strings"
)

// typeAliases are names of SQL for types whose catalogue name is another one.
var typeAliases = map[string]string{
	"bigint": "int8", "bit varying": "varbit", "boolean": "bool", "char": "bpchar", "character": "bpchar", "character varying": "varchar",
	"dec": "numeric", "decimal": "numeric", "double precision": "float8", "int": "int4", "integer": "int4", "real": "float4", "smallint": "int2",
	"time with time zone": "timetz", "time without time zone": "time", "timestamp with time zone": "timestamptz", "timestamp without time zone": "timestamp",
}

// signatureOf splits "schema.name(type, type)" into the function and the types of its
// arguments. A type without a schema has none here, and an array type begins with _, as
// in the catalogue.
func signatureOf(text string) (function CatalogName, arguments []CatalogName, ok bool) {
	head, list, open := strings.Cut(text, "(")
	list, closed := strings.CutSuffix(list, ")")
	if !open || !closed || validName(head, 2, false) != nil || strings.ContainsAny(list, "()") {
		return CatalogName{}, nil, false
	}
	function.Schema, function.Name, _ = strings.Cut(head, ".")
	if strings.TrimSpace(list) == "" {
		return function, nil, true
	}
	for part := range strings.SplitSeq(list, ",") {
		name := strings.Join(strings.Fields(part), " ")
		name, array := strings.CutSuffix(name, "[]")
		schema, base, dotted := strings.Cut(name, ".")
		if !dotted {
			schema, base = "", name
		}
		if base == "" || dotted && schema == "" {
			return CatalogName{}, nil, false
		}
		if alias, ok := typeAliases[strings.ToLower(base)]; ok && !dotted {
			base = alias
		}
		if array {
			base = "_" + base
		}
		arguments = append(arguments, CatalogName{schema, base})
	}
	return function, arguments, true
}

// trusts reports whether the operator vouches for a function of the catalogue: for its
// name and the types of all its arguments. A type without a schema is one of the server
// or of the function's own schema.
func (q *inquiry) trusts(f *CatalogFunction) bool {
	return slices.ContainsFunc(q.g.policy.Trusted, func(text string) bool {
		function, arguments, ok := signatureOf(text)
		return ok && function == f.CatalogName && slices.EqualFunc(arguments, f.Arguments, func(a, b CatalogName) bool {
			return a.Name == b.Name && (a.Schema == b.Schema || a.Schema == "" && (q.objects.serverOwn(b.Schema) || b.Schema == f.Schema))
		})
	})
}

// trustedNames are the names of the trusted functions that a call can be of. With a catalogue,
// the types of the arguments decide later, by [inquiry.trusts]. Without one, they are not
// known, and at least their number must be that of the call.
func (g *Guard) trustedNames(c *Call) []string {
	var names []string
	for _, text := range g.policy.Trusted {
		_, arguments, ok := signatureOf(text)
		if ok && (g.objects != nil || len(arguments) == c.Arguments) {
			name, _, _ := strings.Cut(text, "(")
			names = append(names, name)
		}
	}
	return names
}
