package mysqldb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestRulesDoNotLeak(t *testing.T) {
	server := testdb.MariaDB(t)
	executiontest.Leaks(t, "mysql", func(t *testing.T, setup []string, deny func(string) sqlguard.Policy) *execution.Gateway {
		t.Helper()
		url := server.NewDatabase(t, setup...)
		name := url[strings.LastIndex(url, "/")+1:]
		name, _, _ = strings.Cut(name, "?")
		return openNamed(t, "leaks", url, true, func(p *sqlguard.Policy) { *p = deny(name) }).Gateway
	})
}

// TestPlansDoNotLeak: an operator lists a view to show a part of a table. Its plan shows values of
// the rest, which the server writes into conditions; so it is refused, and plans of tables are not.
func TestPlansDoNotLeak(t *testing.T) {
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, "CREATE TABLE people (id int PRIMARY KEY, email varchar(50))", "CREATE TABLE docs (id int PRIMARY KEY, body varchar(50))",
		"INSERT INTO people VALUES (1, 'ada@example.com')", "INSERT INTO docs VALUES (1, 'hello')", "CREATE VIEW greeted AS SELECT p.id, d.body FROM people AS p JOIN docs AS d ON d.body <> p.email")
	name := url[strings.LastIndex(url, "/")+1:]
	name, _, _ = strings.Cut(name, "?")
	analyze := "ANALYZE SELECT body FROM greeted WHERE id = 1"
	if server.Product() == "mysql" {
		analyze = "EXPLAIN " + analyze
	}
	const plan = "EXPLAIN FORMAT=JSON SELECT body FROM greeted WHERE id = 1"
	open := openNamed(t, "shop", url, false, func(*sqlguard.Policy) {})
	res, err := open.Query(t.Context(), execution.Request{ConnectionID: "shop", SQL: plan})
	if err != nil || !strings.Contains(fmt.Sprint(res.Rows), "ada@example.com") {
		t.Errorf("without rules the plan shows no value: %v %v", res, err)
	}
	for _, objects := range []bool{false, true} {
		g := openNamed(t, "shop", url, objects, func(p *sqlguard.Policy) { p.Tables.Allow = []string{name + ".greeted", name + ".docs"} })
		for sql, want := range map[string]sqlguard.Code{
			plan: sqlguard.CodeRelationNotAllowed, analyze: sqlguard.CodeRelationNotAllowed,
			"SELECT body FROM greeted WHERE id = 1": "", "EXPLAIN FORMAT=JSON SELECT body FROM docs WHERE id = 1": "",
		} {
			if code, err := g.ask(t, sql); code != want {
				t.Errorf("with objects %v: %s: %v, want %q", objects, sql, err, want)
			}
		}
	}
}
