package mysql_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/mysql"
)

var (
	nodeMethod      = regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)\) Accept\(`)
	statementStruct = regexp.MustCompile(`(?m)^type (\w+) struct \{\n\t(?:stmtNode|ddlNode|dmlNode)\b`)
)

// parserNodes returns the node types of a parser, from the source of its packages:
// a type is a node by its method Accept, and a statement by what it embeds.
func parserNodes(t *testing.T, packages ...string) (names, statements []string) {
	t.Helper()
	source := ""
	for _, pkg := range packages {
		source += dialecttest.Source(t, pkg)
	}
	names = dialecttest.Names(nodeMethod, source)
	statements = slices.DeleteFunc(dialecttest.Names(statementStruct, source), func(name string) bool {
		return !slices.Contains(names, name) // others embed it
	})
	return names, statements
}

// TestNodeTable checks that the table lists exactly the node types of both parsers.
func TestNodeTable(t *testing.T) {
	names, statements := parserNodes(t, "github.com/pingcap/tidb/pkg/parser/ast", "github.com/pingcap/tidb/pkg/parser/test_driver")
	others, otherStatements := parserNodes(t, "github.com/sqlc-dev/marino/ast")
	if len(names) < 200 || len(others) < 280 || len(statements) < 100 {
		t.Fatalf("only %d and %d node types found, %d of them statements", len(names), len(others), len(statements))
	}
	all := slices.Compact(slices.Sorted(slices.Values(append(names, others...))))
	if diff := cmp.Diff(all, mysql.NodeNames()); diff != "" {
		t.Errorf("node table, - the parsers', + ours:\n%s", diff)
	}
	for _, name := range append(statements, otherStatements...) {
		switch use := mysql.NodeUse(name); use {
		case "root", "refused":
		case "other":
			// Parts that embed a statement.
			if !strings.HasSuffix(name, "Option") {
				t.Errorf("the statement %s is listed as %q", name, use)
			}
		default:
			t.Errorf("the statement %s is listed as %q", name, use)
		}
	}
}
