//go:build cgo

package postgres_test

import pg "github.com/pganalyze/pg_query_go/v6"

// scan splits sql with the parser's own scanner.
func scan(sql string) ([][2]int, error) {
	result, err := pg.Scan(sql)
	if err != nil {
		return nil, err
	}
	tokens := make([][2]int, 0, len(result.Tokens))
	for _, t := range result.Tokens {
		tokens = append(tokens, [2]int{int(t.Start), int(t.End)})
	}
	return tokens, nil
}

// bareParse calls the parser and nothing else.
func bareParse(sql string) error {
	_, err := pg.Parse(sql)
	return err
}

// pgNode is the node type of this build's parser.
type pgNode = pg.Node

// otherKinds are the kinds of the table that only the other build's parser
// knows.
var otherKinds = []string{"ATAlterConstraint", "ReturningClause", "ReturningExpr", "ReturningOption"}

// newNodes returns an empty node of every kind that the parser knows, with its
// name.
func newNodes() (names []string, nodes []*pgNode) {
	fields := (&pg.Node{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		n := &pg.Node{}
		r := n.ProtoReflect()
		r.Set(field, r.NewField(field))
		names, nodes = append(names, string(field.Message().Name())), append(nodes, n)
	}
	return names, nodes
}

// paramNode returns the node of $n.
func paramNode(n int32) *pgNode {
	return &pg.Node{Node: &pg.Node_ParamRef{ParamRef: &pg.ParamRef{Number: n}}}
}
