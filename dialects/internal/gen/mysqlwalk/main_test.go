package main

import (
	"strings"
	"testing"
)

func TestTranslate(t *testing.T) {
	got, err := translate("tidb_x.go", "package mysql\n\nimport tidbtypes \"github.com/pingcap/tidb/pkg/parser/mysql\"\n\n"+
		"func (w tidbWalker) f() { tidbNames(tidbtypes.TypeBit); w.tidbits() }\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"DO NOT EDIT.", `marinotypes "github.com/sqlc-dev/marino/mysql"`, "func (w marinoWalker) f() { marinoNames(marinotypes.TypeBit); w.tidbits() }"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if _, err := translate("tidb_x.go", "// Comment\npackage mysql\n"); err == nil {
		t.Error("a file with a comment before its package clause is translated")
	}
}
