package mysql_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/mysql"
)

var (
	nodeMethod      = regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)\) Accept\(`)
	statementStruct = regexp.MustCompile(`(?m)^type (\w+) struct \{\n\t(?:stmtNode|ddlNode|dmlNode)\b`)
)

// parserNodes are the node types of a parser, from its source: a type is a node
// by its method Accept, and a statement by what it embeds.
func parserNodes(t *testing.T, module string, folders ...string) (names, statements []string) {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no source of the parser in %s: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range nodeMethod.FindAllSubmatch(source, -1) {
				names = append(names, string(m[1]))
			}
			for _, m := range statementStruct.FindAllSubmatch(source, -1) {
				// Those that others embed are no nodes themselves.
				if name := string(m[1]); slices.Contains(names, name) {
					statements = append(statements, name)
				}
			}
		}
	}
	slices.Sort(names)
	slices.Sort(statements)
	return slices.Compact(names), slices.Compact(statements)
}

// TestNodeTable holds that the table lists the node types of both parsers, all
// of them and no others.
func TestNodeTable(t *testing.T) {
	names, statements := parserNodes(t, "github.com/pingcap/tidb/pkg/parser", "ast", "test_driver")
	others, otherStatements := parserNodes(t, "github.com/sqlc-dev/marino", "ast")
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
