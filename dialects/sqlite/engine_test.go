package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sqlite3 "github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
	"github.com/sqlc-dev/meyer/ast"
	"github.com/sqlc-dev/meyer/parser"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/sqlguard"
)

// verdictCase is one line of testdata/verdicts.txt.
type verdictCase struct {
	code     sqlguard.Code
	sql      string
	prepares bool // an allowed text that the engine of the tests can prepare
}

func readVerdicts(tb testing.TB) []verdictCase {
	tb.Helper()
	var cases []verdictCase
	for _, line := range dialecttest.ReadVerdicts(tb, filepath.Join("testdata", "verdicts.txt")) {
		c := verdictCase{code: sqlguard.Code(line.Verdict), sql: line.SQL}
		if rest, ok := strings.CutPrefix(line.Verdict, "ok"); ok {
			c.code, c.prepares = "", rest == ""
		}
		cases = append(cases, c)
	}
	return cases
}

// engine is a database in memory with the schema of the tests, and an
// authorizer that records what a statement would do.
type engine struct {
	conn    *sqlite3.Conn
	actions []action
}

type action struct {
	code             sqlite3.AuthorizerActionCode
	first, second    string
	schema, accessor string
}

func newEngine(tb testing.TB) *engine {
	tb.Helper()
	conn, err := sqlite3.Open(":memory:")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	if err := fts5.Register(conn); err != nil {
		tb.Fatal(err)
	}
	if _, err := conn.Config(sqlite3.DBCONFIG_DQS_DML, true); err != nil {
		tb.Fatal(err)
	}
	schema, err := os.ReadFile("testdata/schema.sql")
	if err != nil {
		tb.Fatal(err)
	}
	if err := conn.Exec(string(schema)); err != nil {
		tb.Fatal(err)
	}
	e := &engine{conn: conn}
	if err := conn.SetAuthorizer(e.authorize); err != nil {
		tb.Fatal(err)
	}
	return e
}

// authorize permits nothing that changes the database.
func (e *engine) authorize(code sqlite3.AuthorizerActionCode, first, second, schema, accessor string) sqlite3.AuthorizerReturnCode {
	e.actions = append(e.actions, action{code, first, second, schema, accessor})
	if slices.Contains(readActions, code) {
		return sqlite3.AUTH_OK
	}
	first = strings.ToLower(first)
	if code == sqlite3.AUTH_PRAGMA &&
		(second == "" || strings.HasSuffix(first, "info") || strings.HasSuffix(first, "list") || strings.HasSuffix(first, "check")) {
		return sqlite3.AUTH_OK
	}
	return sqlite3.AUTH_DENY
}

var readActions = []sqlite3.AuthorizerActionCode{sqlite3.AUTH_SELECT, sqlite3.AUTH_READ, sqlite3.AUTH_FUNCTION, sqlite3.AUTH_RECURSIVE}

// prepare compiles sql. It returns the actions that the engine asked the authorizer about,
// the rest of sql, and the engine's error.
func (e *engine) prepare(sql string) (actions []action, tail string, err error) {
	e.actions = e.actions[:0]
	stmt, tail, err := e.conn.Prepare(sql)
	if stmt != nil {
		if !stmt.ReadOnly() {
			e.actions = append(e.actions, action{first: "not read-only"})
		}
		_ = stmt.Close()
	}
	return e.actions, tail, err
}

// falseAccept returns what the engine would do with an allowed statement and the guard did
// not see, or "". A statement that the engine cannot prepare does nothing.
func falseAccept(e *engine, sql string) string {
	actions, tail, err := e.prepare(sql)
	statements, analyzeErr := sqlite.Dialect{}.Analyze(sql)
	if analyzeErr != nil || len(statements) != 1 {
		return fmt.Sprintf("allowed, but read as %d statements: %v", len(statements), analyzeErr)
	}
	if err == nil && strings.Trim(tail, " \t\r\n\f;") != "" && !onlyComments(tail) {
		return fmt.Sprintf("the engine reads one statement and leaves %q", tail)
	}
	st := &statements[0]
	var faults []string
	for _, a := range actions {
		if fault := a.fault(st, sql); fault != "" {
			faults = append(faults, fault)
		}
	}
	if len(faults) == 0 {
		return ""
	}
	return strings.Join(slices.Compact(faults), "; ")
}

// fault returns how an action goes beyond the facts of st, or "". It ignores the actions
// inside a view.
func (a action) fault(st *sqlguard.Statement, sql string) string {
	read, function, pragma := a.code == sqlite3.AUTH_READ, a.code == sqlite3.AUTH_FUNCTION, a.code == sqlite3.AUTH_PRAGMA
	switch {
	case a.accessor != "" && (read || function):
	// PRAGMA table_list compiles every view for its columns.
	case read && st.Verb == sqlguard.VerbPragma:
	// If a statement uses no column of a relation, the engine reports only the
	// relation's name. This includes common table expressions and the relations
	// that views read.
	case read && a.second == "" && (definesCTE(sql, a.first) || a.first == "t" && reads(st, "", "tv")):
	case read && !reads(st, a.schema, a.first):
		return "reads " + a.first + " unseen"
	case function && !calls(st, a.second):
		return "calls " + a.second + " unseen"
	case pragma && (st.Verb != sqlguard.VerbPragma || !sqlite.PragmaListed(a.first) || sqlite.PragmaSets(a.first) && a.second != ""):
		return "runs PRAGMA " + a.first + " " + a.second
	case !pragma && !slices.Contains(readActions, a.code):
		return fmt.Sprintf("asks for action %d on %s %s", a.code, a.first, a.second)
	}
	return ""
}

func onlyComments(text string) bool {
	for _, t := range (sqlite.Dialect{}).Lex(text).List {
		if t.Kind != sqlguard.TokenComment && t.Kind != sqlguard.TokenTerminator {
			return false
		}
	}
	return true
}

func reads(st *sqlguard.Statement, schema, table string) bool {
	return slices.ContainsFunc(st.Relations, func(r sqlguard.Relation) bool {
		return schemaTable(r.Schema, r.Name) == schemaTable(schema, table)
	})
}

// schemaTable returns one name for the schema tables, because the engine reports them by
// their old or their new names.
func schemaTable(schema, name string) string {
	name = strings.ToLower(name)
	switch name {
	case "sqlite_schema", "sqlite_master", "sqlite_temp_schema", "sqlite_temp_master":
		if strings.EqualFold(schema, "temp") || strings.HasPrefix(name, "sqlite_temp") {
			return "sqlite_temp_master"
		}
		return "sqlite_master"
	default:
		return name
	}
}

func definesCTE(sql, name string) bool {
	found := false
	statements, err := parser.ParseString(sql)
	if err != nil {
		return false
	}
	for _, n := range statements {
		ast.Walk(n, func(n ast.Node) bool {
			cte, ok := n.(*ast.CTE)
			found = found || ok && strings.EqualFold(cte.Name.Name, name)
			return true
		})
	}
	return found
}

func calls(st *sqlguard.Statement, function string) bool {
	switch strings.ToLower(function) {
	case "like", "glob", "->", "->>", "current_date", "current_time", "current_timestamp", "coalesce":
		return true // operators and keywords of the engine itself; coalesce is how it merges columns of outer joins
	}
	return slices.ContainsFunc(st.Calls, func(c sqlguard.Call) bool { return strings.EqualFold(c.Name, function) })
}

// TestVerdicts checks every line of testdata/verdicts.txt, and compares the allowed
// statements with the engine.
func TestVerdicts(t *testing.T) {
	g := newGuard(t)
	e := newEngine(t)
	for _, c := range readVerdicts(t) {
		v := g.Check(c.sql)
		if v.Code != c.code {
			t.Errorf("%s\n got %q %+v\nwant %q", c.sql, v.Code, v.Findings, c.code)
			continue
		}
		if !v.Allowed {
			continue
		}
		if fault := falseAccept(e, c.sql); fault != "" {
			t.Errorf("%s\nis allowed, but the engine %s", c.sql, fault)
		}
		if _, _, err := e.prepare(c.sql); (err == nil) != c.prepares {
			t.Errorf("%s\nthe engine says %v", c.sql, err)
		}
	}
}
