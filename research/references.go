package research

import (
	"context"
	"strings"
)

// references returns a function that reports whether the name of a table or a source
// on a page may be shown to the caller. The access rules of no connection that the
// caller may use may deny it. A name without a schema is denied by any rule on
// schemas or tables, because it may mean a table that the rule denies.
func (s *Service) references(ctx context.Context) (visible func(name string) bool, err error) {
	type rules struct {
		id       string
		readable interface {
			Relation(schema, name string) bool
		}
	}
	var all []rules
	for _, c := range s.gateway.Connections(ctx) {
		readable, err := s.gateway.Readable(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, rules{c.ID, readable})
	}
	return func(name string) bool {
		for _, r := range all {
			ref := name
			for _, mark := range []string{"/", ".", ":"} { // warehouse/orders means one connection only
				if rest, ok := strings.CutPrefix(name, r.id+mark); ok {
					ref = rest
				}
			}
			if !r.readable.Relation(schemaOf(ref)) {
				return false
			}
		}
		return true
	}, nil
}

// schemaOf divides a name with dots into its schema and the name within it.
func schemaOf(ref string) (schema, name string) {
	parts := strings.Split(ref, ".")
	if len(parts) < 2 {
		return "", ref
	}
	return parts[len(parts)-2], parts[len(parts)-1]
}
