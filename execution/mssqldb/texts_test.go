package mssqldb_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// The package's own queries must parse as T-SQL in the dialect's grammar,
// including its reserved words. Whether the policy allows what they read does
// not matter.
func TestQuestionsAreSQL(t *testing.T) {
	for _, sql := range append(slices.Clone(mssqldb.Questions), executiontest.SQLServerSession) {
		statements, err := sqlserver.Dialect{}.Analyze(sql)
		if err != nil {
			t.Errorf("%v:\n%s", err, sql)
			continue
		}
		if len(statements) != 1 || statements[0].Verb != sqlguard.VerbSelect {
			t.Errorf("not one SELECT:\n%s", sql)
		}
	}
}

// The stand-in server answers every query without an error of its own.
func TestQuestionsAreAnswered(t *testing.T) {
	s := executiontest.StandIn(t, tdsserver.Config{})
	c := open(t, trusted(s), mssqldb.Config{})
	for _, sql := range mssqldb.Questions {
		c.Get(t, sql, execution.Limits{})
	}
}

// Only query.go and session.go send statements, and no file of this package
// imports the driver.
func TestWhoSends(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var senders []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(source, []byte(".SendBatch")) {
			senders = append(senders, name)
		}
		if bytes.Contains(source, []byte(`"github.com/microsoft/`)) {
			t.Errorf("%s imports the driver", name)
		}
	}
	if !slices.Equal(senders, []string{"query.go", "session.go"}) {
		t.Errorf("statements are sent by %v", senders)
	}
}
