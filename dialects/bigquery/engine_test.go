package bigquery_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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
	cmd := exec.Command(e.path) //nolint:noctx // the test ends it
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
		name := joined(path...)
		if strings.HasPrefix(name, "current_") { // which may stand without brackets, where the reader sees a column
			continue
		}
		if !called[name] && !called[strings.TrimPrefix(name, "safe.")] {
			return fmt.Sprintf("it sees the function %q, the reader only %v", name, slices.Sorted(maps.Keys(called)))
		}
	}
	return ""
}

// joined folds the parts of a name that are not empty.
func joined(parts ...string) string {
	return strings.ToLower(strings.Join(slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" }), "."))
}

// TestReadsOfTheEngine checks that GoogleSQL calls the reads of these tests, of the corpus
// and of the semantic layer one query each, and that it sees the tables and functions that the reader states.
func TestReadsOfTheEngine(t *testing.T) {
	e := startEngine(t)
	texts := slices.Clone(reads)
	g := dialecttest.NewGuard(t, bigquery.Dialect{})
	for _, c := range dialecttest.Cases(t, "bigquery") {
		if g.CheckOnce(c.SQL).Allowed {
			texts = append(texts, c.SQL)
		}
	}
	files, err := filepath.Glob("../../research/semantic/emit/testdata/bigquery/*.sql")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files of the semantic layer, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "refused: ") {
			texts = append(texts, string(text))
		}
	}
	for _, sql := range texts {
		r := e.ask(t, "p", sql)
		if fault := r.fault(sql); fault != "" {
			t.Errorf("%s\nto GoogleSQL: %s", sql, fault)
		}
	}
	t.Logf("%d reads, %d of them of the semantic layer at most", len(texts), len(files))
}

// TestHeldStatementsOfTheEngine judges statements that others wrote. None that is allowed
// may be anything but one query to GoogleSQL. Of those that are one query, and of the
// others, it counts the refused ones by their source and code.
func TestHeldStatementsOfTheEngine(t *testing.T) {
	statements := dialecttest.Held(t, "KTX_BIGQUERY_HELD")
	if len(statements) == 0 {
		t.Skip("KTX_BIGQUERY_HELD names no statements")
	}
	e := startEngine(t)
	dialecttest.JudgeHeld(t, statements, bigquery.Dialect{}, func(sql string) (fault string, read bool) {
		r := e.ask(t, "p", sql)
		return r.fault(sql), r.Error == "" && len(r.Statements) == 1 && r.Statements[0] == "QueryStatement"
	})
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
	for _, s := range dialecttest.Held(t, "KTX_BIGQUERY_HELD") {
		more = append(more, s.SQL)
	}
	m := newMutator(uint64(seed), more...)
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

// columnMaker makes queries of the tables that the engine's catalogue has.
type columnMaker struct{ *rand.Rand }

func (m columnMaker) pick(list ...string) string { return list[m.IntN(len(list))] }

// filled returns a form with its marks filled in: E is an expression, Q a query, F a
// relation with an alias, C a column, R a name of a row, and P a pipe operator.
func (m columnMaker) filled(form string, depth int) string {
	var out strings.Builder
	for i := range len(form) {
		if c := form[i]; c != '$' {
			if i == 0 || form[i-1] != '$' {
				out.WriteByte(c)
			}
			continue
		}
		switch form[i+1] {
		case 'E':
			out.WriteString(m.expression(depth - 1))
		case 'Q':
			out.WriteString(m.query(depth - 1))
		case 'F':
			out.WriteString(m.relation(depth - 1))
		case 'C':
			out.WriteString(m.pick("id", "name", "name", "tags", "address", "data", "born", "note", "day", "amount", "items", "id", "name", "born", "x", "y", "email"))
		case 'R':
			out.WriteString(m.pick("u", "u", "u", "u", "p", "p", "s", "s", "users"))
		case 'P':
			out.WriteString(m.pipe(depth - 1))
		}
	}
	return out.String()
}

func (m columnMaker) expression(depth int) string {
	if depth <= 0 {
		return m.filled(m.pick("$C", "id", "name", "u.id", "u.name", "1", "'a'", "$R.$C", "address.street", "u.address.street", "u.id", "x", "tags", "$R"), 0)
	}
	return m.filled(m.pick("$C", "$R.$C", "$R.$C", "TO_JSON_STRING($R)", "TO_JSON_STRING($E)", "FORMAT('%T', $E)", "STRUCT($E AS x, $E AS y)", "($E).x", "[$E]", "[$E, $E][OFFSET(0)]", "ARRAY(SELECT $E)", "(SELECT $E)",
		"(SELECT AS STRUCT $E AS x, $E AS y)", "($Q LIMIT 1)", "EXISTS ($Q)", "ARRAY($Q)", "IF($E IS NULL, $E, $E)", "COALESCE($E, $E)", "COUNT($E)", "ANY_VALUE($E)", "ARRAY_AGG($E)", "MAX($E)", "COUNT(*)", "ANY_VALUE($E HAVING MAX $C)", "ROW_NUMBER() OVER (ORDER BY $E)",
		"$E = $E", "$E IN ($E, $E)", "$E IN ($Q)", "CAST($E AS STRING)", "TO_JSON($R)", "WITH(x AS $E, x)", "$R = $R", "NULLIF($R, $R)", "$E IS NOT DISTINCT FROM $E", "CONCAT($E, 'a')", "LENGTH($E)", "COUNT(DISTINCT $E)", "STRING_AGG(CAST($E AS STRING))",
		"ARRAY_LENGTH($E)", "(SELECT COUNT(*) FROM UNNEST($E))", "(SELECT x FROM UNNEST([$E]) AS x)"), depth)
}

func (m columnMaker) relation(depth int) string {
	if depth <= 0 {
		return m.pick("users AS u", "users AS u", "users AS u", "users AS u, people AS p")
	}
	return m.filled(m.pick("users AS u", "people AS p", "users", "users AS u JOIN people AS p ON u.id = p.id", "users AS u JOIN people AS p USING (id)", "users AS u JOIN people AS p USING (name)", "users AS u, people AS p", "users AS u LEFT JOIN ($Q) AS s ON TRUE",
		"($Q) AS s", "($Q) AS u", "users AS u, u.tags AS x", "users AS u, UNNEST(u.address.parts) AS x", "people PIVOT (COUNT(*) FOR name IN ('a' AS x))", "people UNPIVOT (x FOR y IN (name))", "users AS u, UNNEST([$E]) AS x", "(users AS u JOIN people AS p ON TRUE)", "people AS s JOIN ($Q) AS u ON TRUE",
		"users AS u TABLESAMPLE SYSTEM (1 PERCENT)", "UNNEST(ARRAY($Q)) AS x"), depth)
}

func (m columnMaker) pipe(depth int) string {
	return m.filled(m.pick("|> SELECT $E AS x, $E AS y", "|> SELECT $R.*", "|> WHERE $E = $E", "|> EXTEND $E AS x", "|> AGGREGATE COUNT(*) AS x GROUP BY $E AS y", "|> AGGREGATE $E AS x", "|> AS s", "|> DROP $C", "|> RENAME $C AS x", "|> SET $C = $E", "|> JOIN people AS p ON TRUE", "|> JOIN people AS p USING (id)",
		"|> DISTINCT", "|> LIMIT 1", "|> ORDER BY $E", "|> UNION ALL ($Q)", "|> WITH c AS ($Q)", "|> UNPIVOT (x FOR y IN (name))"), depth)
}

func (m columnMaker) query(depth int) string {
	if depth <= 0 {
		return m.filled(m.pick("SELECT $E AS x FROM $F", "SELECT $E FROM $F", "SELECT id, name FROM users", "SELECT 1 AS x"), 1)
	}
	return m.filled(m.pick("SELECT $E AS x, $E AS y FROM $F", "SELECT $E AS x FROM $F WHERE $E = $E", "SELECT $E FROM $F", "SELECT $R.* FROM $F", "SELECT * EXCEPT ($C) FROM $F", "SELECT DISTINCT $E AS x FROM $F", "SELECT $E AS x, COUNT(*) AS y FROM $F GROUP BY 1", "SELECT COUNT(*) AS x FROM $F GROUP BY $E",
		"SELECT COUNT(*) AS x FROM $F HAVING $E > 'a'", "SELECT $E AS x FROM $F ORDER BY $E LIMIT 1", "SELECT $E AS x FROM $F QUALIFY ROW_NUMBER() OVER (ORDER BY $E) = 1", "WITH s AS ($Q) SELECT $E AS x FROM s", "WITH s AS ($Q) SELECT $E AS x FROM s, $F", "$Q UNION ALL $Q", "SELECT AS STRUCT $E AS x FROM $F",
		"SELECT AS VALUE $E FROM $F", "SELECT x FROM ($Q)", "FROM $F $P |> SELECT $E AS x", "FROM $F $P $P |> SELECT $E AS x", "FROM $F |> SELECT $E AS x $P", "$Q $P", "SELECT s.$C AS x FROM ($Q) AS s", "SELECT $E AS x FROM $F WINDOW w AS (ORDER BY $E)"), depth)
}

// TestColumnsOfTheEngine makes queries of a catalogue, and asks the analyzer of GoogleSQL
// about each that a guard allows whose rules deny the columns called email: none may read
// one of users or people.
func TestColumnsOfTheEngine(t *testing.T) {
	e := startEngine(t)
	p := sqlguard.DefaultPolicy()
	p.Columns = []sqlguard.ColumnRule{{Match: "shop.users.email"}, {Match: "shop.people.email"}}
	g, err := sqlguard.New(bigquery.Dialect{}, p, &sqlguard.Catalog{Database: "p", SearchPath: []string{"shop"}, Views: []sqlguard.CatalogName{}})
	if err != nil {
		t.Fatal(err)
	}
	total, seed := number(t, "KTX_BIGQUERY_MUTANTS", 50_000), number(t, "KTX_BIGQUERY_SEED", 1)
	m := columnMaker{rand.New(rand.NewPCG(uint64(seed), 9))}
	allowed, analyzed, reading, leaks := 0, 0, 0, 0
	for range total {
		sql := m.query(1 + m.IntN(3))
		may := g.CheckOnce(sql).Allowed
		if !may && m.IntN(20) > 0 {
			continue
		}
		r := e.ask(t, "a", sql)
		reads := slices.ContainsFunc(r.Columns, func(c string) bool {
			return strings.EqualFold(c, "users.email") || strings.EqualFold(c, "people.email")
		})
		switch {
		case may && r.Error == "" && reads:
			if leaks++; leaks <= 100 {
				t.Errorf("allowed: %q\nreads %v", sql, r.Columns)
			}
		case may:
			allowed++
			if r.Error == "" {
				analyzed++
			}
		case reads:
			reading++
		}
	}
	t.Logf("%d queries, %d allowed, %d of them read by the analyzer, %d leaks; of a twentieth of the refused ones %d read such a column", total, allowed, analyzed, leaks, reading)
	if analyzed < total/500 || reading < total/1000 {
		t.Errorf("too few for this test")
	}
}
