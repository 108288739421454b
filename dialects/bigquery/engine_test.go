package bigquery_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// reading is what GoogleSQL says about a text (tools/engines/bigquery).
type reading struct {
	Error      string     `json:"error"`
	Statements []string   `json:"statements"`
	Tables     [][]string `json:"tables"`
	Calls      [][]string `json:"calls"`
	Names      []string   `json:"names"`
	Others     []string   `json:"others"`
	Columns    []string   `json:"columns"`
}

// engine is GoogleSQL in a process of its own, which starts anew when it has ended.
type engine struct {
	path  string
	in    io.WriteCloser
	out   *bufio.Reader
	stop  func()
	asked int
}

// startEngine returns the engine that KTX_TEST_GOOGLESQL names.
func startEngine(tb testing.TB) *engine {
	tb.Helper()
	e := &engine{path: os.Getenv("KTX_TEST_GOOGLESQL")}
	if e.path == "" {
		tb.Skip("KTX_TEST_GOOGLESQL names no engine: scripts/test-bigquery builds one")
	}
	tb.Cleanup(func() { e.end() })
	return e
}

func (e *engine) end() {
	if e.stop != nil {
		e.stop()
	}
	e.stop = nil
}

func (e *engine) start(tb testing.TB) {
	tb.Helper()
	cmd := exec.Command(e.path) //nolint:gosec,noctx // the test names it, and ends it
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	e.in, e.out, e.asked = in, bufio.NewReaderSize(out, 1<<16), 0
	e.stop = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
}

// ask asks about a text: "p" for the parser, "a" for the analyzer. An engine that ends
// without an answer has not read the text.
func (e *engine) ask(tb testing.TB, kind, text string) reading {
	tb.Helper()
	if e.asked >= 50_000 {
		e.end() // its memory never shrinks
	}
	if e.stop == nil {
		e.start(tb)
	}
	e.asked++
	if _, err := fmt.Fprintf(e.in, "%s %d\n%s", kind, len(text), text); err != nil {
		tb.Fatal(err)
	}
	line, err := e.out.ReadBytes('\n')
	if err != nil {
		e.end()
		return reading{Error: "the engine has ended"}
	}
	var r reading
	if err := json.Unmarshal(line, &r); err != nil {
		tb.Fatalf("%q: %v", line, err)
	}
	return r
}

// fault returns "" when the parser of GoogleSQL calls a text exactly one query without a
// part that is refused, and the reader states every table and function that it sees.
func (r *reading) fault(sql string) string {
	switch {
	case r.Error != "":
		return "it does not read it: " + r.Error
	case len(r.Statements) != 1 || r.Statements[0] != "QueryStatement":
		return fmt.Sprintf("it is %v", r.Statements)
	case len(r.Others) > 0:
		return fmt.Sprintf("it has %v", r.Others)
	}
	list, err := bigquery.Dialect{}.Analyze(sql)
	if err != nil || len(list) != 1 {
		return fmt.Sprintf("the reader has %d statements, %v", len(list), err)
	}
	known := make(map[string]bool) // all that a name can mean
	for _, name := range r.Names {
		known[strings.ToLower(name)] = true
	}
	stated := make(map[string]bool)
	for _, rel := range list[0].Relations {
		stated[joined(rel.Database, rel.Schema, rel.Name)] = true
		if rel.System {
			stated[strings.ToLower(rel.Name)] = true
		}
		known[strings.ToLower(rel.Name)] = true
	}
	for _, path := range r.Tables {
		name := joined(path...)
		switch {
		case stated[name] || known[strings.ToLower(path[0])]:
		case strings.Contains(name, "information_schema.") && stated[name[strings.LastIndexByte(name, '.')+1:]]:
		default:
			return fmt.Sprintf("it sees the table %q, the reader only %v", name, slices.Sorted(maps.Keys(stated)))
		}
	}
	called := make(map[string]bool)
	for _, call := range list[0].Calls {
		called[joined(call.Schema, call.Name)] = true
	}
	for _, path := range r.Calls {
		if name := joined(path...); !called[name] && !called[strings.TrimPrefix(name, "safe.")] {
			return fmt.Sprintf("it sees the function %q, the reader only %v", name, slices.Sorted(maps.Keys(called)))
		}
	}
	return ""
}

// joined folds the parts of a name that are not empty.
func joined(parts ...string) string {
	return strings.ToLower(strings.Join(slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" }), "."))
}

// TestReadsOfTheEngine checks that GoogleSQL calls the reads of these tests and of the
// corpus one query each, and that it sees the tables and functions that the reader states.
func TestReadsOfTheEngine(t *testing.T) {
	e := startEngine(t)
	texts := slices.Clone(reads)
	g := dialecttest.NewGuard(t, bigquery.Dialect{})
	for _, c := range dialecttest.Cases(t, "bigquery") {
		if g.CheckOnce(c.SQL).Allowed {
			texts = append(texts, c.SQL)
		}
	}
	for _, sql := range texts {
		r := e.ask(t, "p", sql)
		if fault := r.fault(sql); fault != "" {
			t.Errorf("%s\nto GoogleSQL: %s", sql, fault)
		}
	}
	t.Logf("%d reads", len(texts))
}

// heldStatement is a statement that others wrote.
type heldStatement struct{ Source, SQL string }

// held reads the file that KTX_BIGQUERY_HELD names, with a line
// {"source": …, "sql": …} for each statement.
func held(tb testing.TB) []heldStatement {
	tb.Helper()
	path := os.Getenv("KTX_BIGQUERY_HELD")
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var out []heldStatement
	for line := range bytes.Lines(data) {
		var s heldStatement
		if err := json.Unmarshal(line, &s); err != nil {
			tb.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// TestHeldStatementsOfTheEngine judges statements that others wrote. None that is allowed
// may be anything but one query to GoogleSQL. Of those that are one query, and of the
// others, it counts the refused ones by their source and code.
func TestHeldStatementsOfTheEngine(t *testing.T) {
	statements := held(t)
	if len(statements) == 0 {
		t.Skip("KTX_BIGQUERY_HELD names no statements")
	}
	e := startEngine(t)
	g := dialecttest.NewGuard(t, bigquery.Dialect{})
	queries, refused, others := map[string]int{}, map[string]int{}, map[string]int{}
	for _, s := range statements {
		v := g.CheckOnce(s.SQL)
		r := e.ask(t, "p", s.SQL)
		one := r.Error == "" && len(r.Statements) == 1 && r.Statements[0] == "QueryStatement"
		switch {
		case v.Allowed:
			if fault := r.fault(s.SQL); fault != "" {
				t.Errorf("allowed: %s: %q\nto GoogleSQL: %s", s.Source, s.SQL, fault)
			}
			queries[s.Source]++
		case one:
			queries[s.Source]++
			refused[fmt.Sprint(s.Source, " ", v.Code)]++
			t.Logf("refused\t%s\t%s\t%s\t%q", s.Source, v.Code, v.Findings[0].Message, s.SQL)
		default:
			others[s.Source]++
		}
	}
	for _, source := range slices.Sorted(maps.Keys(queries)) {
		t.Logf("%s: %d queries; %d texts that are none are refused", source, queries[source], others[source])
	}
	for _, k := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("%d queries refused: %s", refused[k], k)
	}
}

// number returns the number that an environment variable holds, or another one.
func number(tb testing.TB, name string, otherwise int) int {
	tb.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// TestMutationsAgainstTheEngine makes statements from reads and from refused statements,
// and asks GoogleSQL about each that is allowed: it must be exactly one query.
// KTX_BIGQUERY_MUTANTS is how many are made, 50,000 unless it is set, and KTX_BIGQUERY_SEED
// from which seed. The statements of KTX_BIGQUERY_HELD, if it is set, are changed too.
func TestMutationsAgainstTheEngine(t *testing.T) {
	e := startEngine(t)
	total, seed := number(t, "KTX_BIGQUERY_MUTANTS", 50_000), number(t, "KTX_BIGQUERY_SEED", 1)
	g := dialecttest.NewGuard(t, bigquery.Dialect{})
	var more []string
	for _, s := range held(t) {
		more = append(more, s.SQL)
	}
	m := newMutator(uint64(seed), more...) //nolint:gosec // a seed
	asked, wrong := 0, 0
	for range total {
		sql := m.Next()
		dialecttest.CheckFacts(t, bigquery.Dialect{}, sql)
		if !g.CheckOnce(sql).Allowed {
			continue
		}
		asked++
		r := e.ask(t, "p", sql)
		if fault := r.fault(sql); fault != "" {
			if wrong++; wrong <= 100 {
				t.Errorf("allowed: %q\nto GoogleSQL: %s", sql, fault)
			}
		}
	}
	t.Logf("%d statements, %d of them allowed and shown to GoogleSQL, %d wrong", total, asked, wrong)
}

// TestLimitsOfTheEngine asks GoogleSQL about statements of every shape that are allowed.
// What is too deep for it fails there, and is no concern of the guard.
func TestLimitsOfTheEngine(t *testing.T) {
	e := startEngine(t)
	g := dialecttest.NewGuard(t, bigquery.Dialect{})
	asked, unread := 0, 0
	for _, s := range shapes {
		for _, n := range []int{1, 2, 3, 10, 60, 120, 250, 900, 1900} {
			sql := s.Text(n)
			if !g.CheckOnce(sql).Allowed {
				continue
			}
			asked++
			start := time.Now()
			r := e.ask(t, "p", sql)
			if took := time.Since(start); took > dialecttest.Hang {
				t.Errorf("%s, %d times: GoogleSQL took %v", s.Name, n, took)
			}
			fault := r.fault(sql)
			if r.Error != "" {
				unread++
			}
			if fault != "" && (r.Error == "" || n <= 60) {
				t.Errorf("%s, %d times: to GoogleSQL: %.300s", s.Name, n, fault)
			}
		}
	}
	t.Logf("%d statements are allowed; %d of them are too deep or too large for GoogleSQL", asked, unread)
}

// columnQueries are queries of the tables that the engine's catalogue has. Some read a
// column whose name is email.
var columnQueries = []string{
	"SELECT id, name FROM users", "SELECT email FROM users", "SELECT u.email FROM users AS u", "SELECT * FROM users", "SELECT u.* FROM users AS u", "SELECT * EXCEPT (email) FROM users", "SELECT u FROM users AS u", "SELECT TO_JSON_STRING(u) FROM users AS u",
	"SELECT users.name FROM users", "SELECT users FROM users", "SELECT AS STRUCT u.* FROM users AS u", "SELECT AS VALUE u FROM users AS u", "SELECT (SELECT AS STRUCT u.*) FROM users AS u", "SELECT ARRAY(SELECT AS STRUCT name, id FROM users)",
	"SELECT x FROM (SELECT name AS x, email AS y FROM users)", "WITH c AS (SELECT * FROM users) SELECT name FROM c", "WITH c AS (SELECT id, email AS name FROM users) SELECT name FROM c", "SELECT name FROM users ORDER BY email", "SELECT COUNT(*) FROM users GROUP BY email",
	"SELECT name FROM users JOIN people USING (email)", "SELECT name FROM users NATURAL JOIN people", "SELECT u.name FROM users AS u JOIN orders AS o ON o.user_id = u.id", "SELECT t FROM users AS u, u.tags AS t", "SELECT t FROM users, UNNEST(tags) AS t", "SELECT p.name FROM users AS u, u.address.parts AS p",
	"SELECT address.street FROM users", "SELECT i.price FROM orders AS o, o.items AS i", "SELECT i.name, off FROM orders, UNNEST(items) AS i WITH OFFSET AS off", "SELECT * FROM users PIVOT (COUNT(*) FOR name IN ('a', 'b'))", "SELECT n, v FROM people UNPIVOT (v FOR n IN (name, email))",
	"FROM users |> SELECT name", "FROM users |> WHERE email > '' |> SELECT name", "FROM users |> EXTEND email AS x |> SELECT x", "FROM users |> AGGREGATE COUNT(*) GROUP BY name", "FROM users |> AS u |> SELECT u.name", "FROM users |> DROP name |> SELECT id", "FROM users AS u |> JOIN orders AS o ON o.user_id = u.id |> SELECT o.note",
	"FROM users |> RENAME email AS name2 |> SELECT name2", "FROM users |> SET name = email |> SELECT name", "SELECT SUM(amount) OVER (PARTITION BY user_id ORDER BY day) FROM orders", "SELECT name FROM users QUALIFY ROW_NUMBER() OVER (PARTITION BY name ORDER BY id) = 1",
	"SELECT name FROM users WHERE id IN (SELECT user_id FROM orders)", "SELECT (SELECT MAX(email) FROM people AS p WHERE p.id = u.id) FROM users AS u", "SELECT name FROM users UNION ALL SELECT email FROM people", "SELECT ANY_VALUE(name HAVING MAX email) FROM users", "SELECT ARRAY_AGG(STRUCT(name, id)) FROM users",
	"SELECT STRING_AGG(name ORDER BY email) FROM users", "SELECT JSON_VALUE(data, '$.email') FROM users", "SELECT data.email FROM users", "SELECT FORMAT('%t', u) FROM users AS u", "WITH RECURSIVE c AS (SELECT id, name FROM users UNION ALL SELECT id, name FROM c WHERE id < 0) SELECT * FROM c",
	"SELECT u.name FROM users AS u WHERE EXISTS (SELECT 1 FROM people AS p WHERE p.email = u.email)", "SELECT STRUCT(u.name, u.id) FROM users AS u", "SELECT [u.name] FROM users AS u", "SELECT IF(u.id > 1, u.name, NULL) FROM users AS u", "SELECT users.address.email FROM users", "SELECT address.* FROM users",
	"SELECT COUNT(u) FROM users AS u", "SELECT COUNT(DISTINCT name) FROM users", "TABLE users", "(FROM users) |> SELECT id", "SELECT WITH(a AS u.name, a || 'x') FROM users AS u", "SELECT ARRAY_TRANSFORM(tags, x -> x || name) FROM users", "SELECT * FROM (users AS u JOIN people AS p ON u.id = p.id)",
	"SELECT u.name FROM users AS u LEFT JOIN people AS email ON email.id = u.id", "SELECT email.name FROM people AS email", "SELECT email FROM people AS email", "SELECT name FROM users AS u, (SELECT u2.email FROM people AS u2)", "SELECT p FROM (SELECT email FROM people) AS p", "SELECT ROW_NUMBER() OVER w FROM users WINDOW w AS (ORDER BY email)",
	"SELECT name FROM users GROUP BY ALL HAVING MAX(email) > ''", "SELECT o.* EXCEPT (note) REPLACE (o.id + 1 AS id) FROM orders AS o", "FROM people |> UNPIVOT (v FOR n IN (name)) |> SELECT v", "FROM users |> DISTINCT |> SELECT id", "FROM users |> LIMIT 1 |> SELECT id", "SELECT name FROM users TABLESAMPLE SYSTEM (1 PERCENT)",
	"SELECT * FROM MATCH_NUMBER", "SELECT * FROM people MATCH_RECOGNIZE (ORDER BY id MEASURES FIRST(a.name) AS n PATTERN (a) DEFINE a AS id > 1)", "SELECT NULLIF(u, u) FROM people AS u", "SELECT u = u FROM people AS u", "SELECT u IN ((SELECT AS STRUCT 1, 'a', 'b')) FROM people AS u", "SELECT DISTINCT name FROM people WHERE STARTS_WITH(email, 'a')",
}

// TestColumnsOfTheEngine makes queries of a catalogue, and asks the analyzer of GoogleSQL
// about each that a guard allows whose rules deny the columns called email: none may read
// one of users or people.
func TestColumnsOfTheEngine(t *testing.T) {
	e := startEngine(t)
	p := sqlguard.DefaultPolicy()
	p.Columns = []sqlguard.ColumnRule{{Match: "shop.users.email"}, {Match: "shop.people.email"}}
	p.SearchPath = []string{"shop"}
	g, err := sqlguard.New(bigquery.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	total, seed := number(t, "KTX_BIGQUERY_MUTANTS", 50_000), number(t, "KTX_BIGQUERY_SEED", 1)
	m := dialecttest.NewMutator(bigquery.Dialect{}, mutations, columnQueries, uint64(seed)) //nolint:gosec // a seed
	allowed, analyzed, leaks := 0, 0, 0
	judge := func(sql string) {
		if !g.CheckOnce(sql).Allowed {
			return
		}
		allowed++
		r := e.ask(t, "a", sql)
		if r.Error != "" {
			return
		}
		analyzed++
		for _, c := range r.Columns {
			if c = strings.ToLower(c); c == "users.email" || c == "people.email" {
				if leaks++; leaks <= 100 {
					t.Errorf("allowed: %q\nreads %v", sql, r.Columns)
				}
				return
			}
		}
	}
	for _, sql := range columnQueries {
		judge(sql)
	}
	for range total {
		judge(m.Next())
	}
	t.Logf("%d statements, %d allowed, %d of them read by the analyzer, %d leaks", total+len(columnQueries), allowed, analyzed, leaks)
	if analyzed < len(columnQueries)/3 {
		t.Errorf("the analyzer read only %d statements", analyzed)
	}
}
