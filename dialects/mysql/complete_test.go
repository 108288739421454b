package mysql_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestComplete compares a statement with the tree of another one. If the tree lacks a part
// of the statement, complete returns an error.
func TestComplete(t *testing.T) {
	for _, c := range []struct{ text, tree, unmet string }{
		{"SELECT 1", "SELECT 1", ""},
		{"SELECT 1, 2", "SELECT 1", "2"},
		{"SELECT 1, 1", "SELECT 1", "1"},
		{"SELECT 'a'", "SELECT 'b'", "'a'"},
		{"SELECT 'a'", "SELECT 'A'", "'a'"},
		{"SELECT a", "SELECT A", ""},
		{"SELECT a, sleep(1)", "SELECT a, 1", "sleep"},
		{"SELECT left(a, 1)", "SELECT a, 1", "left"},
		{"SELECT a.b", "SELECT a", "b"},
		{"SELECT a.date", "SELECT a", "date"},
		{"SELECT a FROM t", "SELECT a", "t"},
		{"SELECT a FROM date", "SELECT a", "date"},
		{"SELECT a FROM t, first", "SELECT a FROM t", "first"},
		{"SELECT a FROM t JOIN next", "SELECT a FROM t", "next"},
		{"SELECT `select`", "SELECT 1", "`select`"},
		{"SELECT a AS b", "SELECT a", "b"},
		{"SELECT a, 'x' 'y'", "SELECT a, 'xy'", ""},
		{"SELECT a, 'x' 'y'", "SELECT a, 'x'", "'x'"},
		{"SELECT 0x41", "SELECT 'A'", "0x41"},
		{"SELECT 1.50", "SELECT 1.5", "1.50"},
		{"SELECT 1e2", "SELECT 100", "1e2"},
		{"SELECT x'4142'", "SELECT 0x4142", ""},
		{"SELECT b'1'", "SELECT 0b00000001", ""},
		{"SELECT date '2020-01-01'", "SELECT DATE '2020-01-01'", ""},
		{"SELECT some(1)", "SELECT 1", "some"},
		{"SELECT nextval", "SELECT 1", "nextval"},
		{"SELECT ''", "SELECT 1", ""}, // holds nothing
		{"SELECT COUNT(*)", "SELECT COUNT(*)", ""},
		{"SELECT COUNT(1)", "SELECT COUNT(1)", ""},
		{"SELECT COUNT(*), 1", "SELECT COUNT(*)", "1"}, // the tree has a 1 for *
		{"SELECT COUNT(*) OVER (), 1", "SELECT COUNT(*) OVER ()", "1"},
		{"SELECT GROUP_CONCAT(a), ','", "SELECT GROUP_CONCAT(a)", "','"}, // the tree has a separator
		{"SELECT GROUP_CONCAT(a SEPARATOR ','), ','", "SELECT GROUP_CONCAT(a SEPARATOR ',')", "','"},
		{"SELECT GROUP_CONCAT(a ORDER BY b SEPARATOR ',')", "SELECT GROUP_CONCAT(a ORDER BY b SEPARATOR ',')", ""},
		{"SELECT TRIM(BOTH FROM a), ' '", "SELECT TRIM(BOTH FROM a)", "' '"}, // the tree has a space
		{"SELECT TRIM(LEADING ' ' FROM a), ' '", "SELECT TRIM(LEADING ' ' FROM a)", "' '"},
		{"SELECT TRIM(TRAILING FROM ' ')", "SELECT TRIM(TRAILING FROM ' ')", ""},
		{"SELECT COUNT(1)", "SELECT COUNT(*)", ""}, // nothing but the tokens of the text counts
	} {
		err := mysql.Complete(c.text, c.tree)
		syntax, _ := errors.AsType[*sqlguard.SyntaxError](err)
		switch {
		case c.unmet == "" && err != nil:
			t.Errorf("%s with the tree of %s: %v", c.text, c.tree, err)
		case c.unmet != "" && syntax == nil:
			t.Errorf("%s with the tree of %s: %v, want an error at %s", c.text, c.tree, err, c.unmet)
		case c.unmet != "" && !strings.HasPrefix(c.text[syntax.Offset:], c.unmet):
			t.Errorf("%s with the tree of %s: an error at %s, want %s", c.text, c.tree, c.text[syntax.Offset:], c.unmet)
		}
	}
}

// TestParsersNamed compares the parsers that the dialect names with the linked ones.
func TestParsersNamed(t *testing.T) {
	module, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	version := mysql.Dialect{}.Version()
	for _, c := range []struct{ module, named string }{
		{"github.com/pingcap/tidb/pkg/parser v0.0.0-20260418072757-ce92298d1124", "tidb/pkg/parser ce92298d1124"},
		{"github.com/sqlc-dev/marino v0.3.1", "marino v0.3.1"},
	} {
		if !strings.Contains(string(module), c.module) || !strings.Contains(version, c.named) {
			t.Errorf("go.mod lacks %q, or %q lacks %q", c.module, version, c.named)
		}
	}
}
