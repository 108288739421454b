package semantictest_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb"
	"github.com/ktxhq/ktx/execution/clickhousedb"
	duckengine "github.com/ktxhq/ktx/execution/duckdbdb/engine"
	"github.com/ktxhq/ktx/execution/executiontest/bqemulator"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
	"github.com/ktxhq/ktx/research/semantic/semantictest"
	"github.com/ktxhq/ktx/sqlguard"
)

var (
	first   = flag.Uint64("first", 0, "the seed of the first case")
	cases   = flag.Int("cases", 2000, "how many cases are compared")
	engines = flag.String("engines", "sqlite", "the engines, separated by commas: sqlite, postgres, mysql, clickhouse, duckdb, bigquery")
	most    = flag.Int("most", 20, "how many differences are printed in full")
)

// batch is how many cases share a database.
const batch = 250

func TestMain(m *testing.M) {
	if duckengine.Asked(os.Args[1:]) {
		os.Exit(duckengine.Run(os.Stdin, os.Stdout))
	}
	testdb.Main(m)
}

// engine runs statements that the guard has passed.
type engine struct {
	backend execution.Backend
	guard   *sqlguard.Guard
	other   *sqlguard.Guard // of SQL Server, for which only the parser can be asked here
}

func open(t *testing.T, d semantictest.Dialect, ddl []string) engine {
	t.Helper()
	g := guardOf(t, string(d))
	var b execution.Backend
	var err error
	switch d {
	case semantictest.Postgres:
		b, err = pgdb.Open(t.Context(), pgdb.Config{URL: execution.NewSecret(testdb.Postgres(t).NewDatabase(t, ddl...))}, g.ID())
	case semantictest.MariaDB:
		b, err = mysqldb.Open(t.Context(), mysqldb.Config{URL: execution.NewSecret(testdb.MariaDB(t).NewDatabase(t, ddl...))}, g.ID())
	case semantictest.SQLite:
		ddl = append(append([]string{"BEGIN"}, ddl...), "COMMIT")
		b, err = sqlitedb.Open(t.Context(), sqlitedb.Config{Path: testdb.SQLiteFile(t, ddl...), MaxConnections: 1}, g.ID())
	case semantictest.ClickHouse:
		server := chengine.Start(t, chengine.Config{})
		server.Exec(t, ddl...)
		b, err = clickhousedb.Open(t.Context(), clickhousedb.Config{URL: execution.NewSecret(server.Serve(t, chengine.Door{}).URL("default")), Session: clickhouse.Dialect{}.Session()}, g.ID())
	case semantictest.DuckDB:
		if onDuckDB == nil {
			t.Skip("this build has no DuckDB; it needs the tag duckdb")
		}
		b, err = onDuckDB(t, g.ID(), ddl)
	case semantictest.BigQuery:
		b, err = bigquerydb.Open(t.Context(), bigquerydb.Config{URL: execution.NewSecret(bqemulator.Need(t).NewDataset(t, ddl...)), Session: bigquery.Dialect{}.Session()}, g.ID())
	default:
		t.Fatalf("%s is no engine", d)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return engine{b, g, guardOf(t, "sqlserver")}
}

// onDuckDB opens a database file. It is nil in a build without DuckDB.
var onDuckDB func(t *testing.T, guard sqlguard.ID, ddl []string) (execution.Backend, error)

// guardOf returns the guard of a dialect with the strictest policy.
func guardOf(t *testing.T, dialect string) *sqlguard.Guard {
	t.Helper()
	d, ok := dialects.Lookup(dialect)
	if !ok {
		t.Fatalf("there is no dialect %s", dialect)
	}
	g, err := sqlguard.New(d, sqlguard.Policy{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestCompiler compares the compiler with the evaluator: the rows on each engine, their
// order, their headers, and the classes of refusals.
func TestCompiler(t *testing.T) { compareAll(t, *engines) }

// TestCompilerOnDuckDB does so on DuckDB.
func TestCompilerOnDuckDB(t *testing.T) {
	if onDuckDB == nil {
		t.Skip("this build has no DuckDB; it needs the tag duckdb")
	}
	compareAll(t, string(semantictest.DuckDB))
}

// TestCompilerOnTheEngine does so on ClickHouse.
func TestCompilerOnTheEngine(t *testing.T) {
	chengine.Need(t)
	compareAll(t, string(semantictest.ClickHouse))
}

// TestCompilerOnEmulator does so on an emulator of BigQuery, which takes a second for a
// statement.
func TestCompilerOnEmulator(t *testing.T) {
	bqemulator.Need(t)
	all := *cases
	defer func() { *cases = all }()
	*cases = min(all, 40)
	compareAll(t, string(semantictest.BigQuery))
}

func compareAll(t *testing.T, engines string) {
	t.Helper()
	t.Logf("seeds %d to %d", *first, *first+uint64(*cases)-1)
	for name := range strings.SplitSeq(engines, ",") {
		t.Run(name, func(t *testing.T) {
			d := semantictest.Dialect(name)
			refused, permitted, differences := 0, 0, 0
			for at := 0; at < *cases; at += batch {
				t.Run("from "+strconv.FormatUint(*first+uint64(at), 10), func(t *testing.T) {
					var list []semantictest.Case
					var ddl []string
					for i := at; i < min(at+batch, *cases); i++ {
						c := semantictest.New(*first + uint64(i))
						list, ddl = append(list, c), append(ddl, c.DDL(d)...)
					}
					e := open(t, d, ddl)
					for _, c := range list {
						sql, difference := e.compare(t, c, d)
						switch {
						case difference != "":
							differences++
							if t.Fail(); differences <= *most {
								t.Logf("seed %d on %s: %s\n%s%s", c.Seed, d, difference, describe(c), sql)
							} else {
								t.Logf("seed %d on %s: %.200s", c.Seed, d, strings.SplitN(difference, "\n", 2)[0])
							}
						case sql == "" && len(c.Want.Classes) == 0:
							permitted++
						case sql == "":
							refused++
						}
					}
				})
			}
			t.Logf("%d cases: %d refused as they must be, %d refused as they may be, %d differences", *cases, refused, permitted, differences)
			if permitted > *cases/20 {
				t.Errorf("%d of %d cases are refused where the rules define rows", permitted, *cases)
			}
		})
	}
}

// compare compiles and runs one case. It returns the SQL, if the request is not refused,
// and what differs.
func (e engine) compare(t *testing.T, c semantictest.Case, d semantictest.Dialect) (sql, difference string) {
	t.Helper()
	files := fstest.MapFS{}
	for name, text := range c.Files {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	m := model.Load(files, "test", judge)
	if len(m.Problems) > 0 {
		return "", fmt.Sprintf("the model has problems: %+v", m.Problems)
	}
	p, refusal := plan.Build(m, request(c.Request))
	if refusal != nil {
		class := string(refusal.Class)
		if slices.Contains(c.Want.Classes, class) || len(c.Want.Classes) == 0 && slices.Contains(c.Want.MayRefuse, class) {
			return "", ""
		}
		return "", fmt.Sprintf("refused with %s, want %v\n%s (%s)", class, orRows(c.Want), refusal.Message, refusal.Hint)
	}
	text, refusal := emit.Emit(p, emit.Dialect(d))
	if refusal != nil {
		if lacks(refusal, emit.Dialect(d)) {
			return "", ""
		}
		return "", "not written as SQL: " + refusal.Error()
	}
	if len(c.Want.Classes) > 0 {
		return text.Text, fmt.Sprintf("not refused, want %v", c.Want.Classes)
	}
	approved, err := e.guard.Approve(text.Text)
	if err != nil {
		return text.Text, "the guard refuses the SQL: " + err.Error()
	}
	if difference := e.onSQLServer(p, e.guard.Check(text.Text)); difference != "" {
		return text.Text, difference
	}
	result, err := e.backend.Query(t.Context(), approved, execution.Limits{})
	if err != nil && d == semantictest.BigQuery && emulatorLacks(err) {
		t.Logf("seed %d: the emulator cannot run it: %.200v", c.Seed, errors.Unwrap(err))
		return text.Text, ""
	}
	if err != nil {
		return text.Text, fmt.Sprintf("the engine fails: %v (%v)", err, errors.Unwrap(err))
	}
	if d == semantictest.BigQuery { // whose columns have names of their own
		for i := range result.Columns {
			result.Columns[i].Name = text.Columns[i].Name
		}
	}
	return text.Text, compareRows(c.Want, result, tolerance)
}

// emulatorLacks reports whether a statement needs what BigQuery has and its emulator has not: a
// minus before an expression, and WITH as an expression.
func emulatorLacks(err error) bool {
	return strings.Contains(err.Error(), "no such function: googlesqlite_unary_minus") || strings.Contains(err.Error(), "WITH expressions are not enabled")
}

// tolerance is how far a number may be from the exact one, relative to it if it is more
// than 1.
const tolerance = 1e-9

// onSQLServer writes a plan for SQL Server, and says what is wrong with the text: it must
// be one statement that the guard passes, with the tables of the text that runs.
func (e engine) onSQLServer(p *plan.Plan, ran sqlguard.Verdict) string {
	text, refusal := emit.Emit(p, emit.SQLServer)
	if refusal != nil {
		if lacks(refusal, emit.SQLServer) {
			return ""
		}
		return "not written for SQL Server: " + refusal.Error()
	}
	v := e.other.Check(text.Text)
	if !v.Allowed {
		return fmt.Sprintf("the guard of SQL Server refuses %s: %+v", text.Text, v.Findings)
	}
	if a, b := tables(v), tables(ran); !slices.Equal(a, b) {
		return fmt.Sprintf("on SQL Server the tables are %q, and %q where it runs: %s", a, b, text.Text)
	}
	return ""
}

// lacks reports whether a request is refused because the engine has no percentiles.
func lacks(refusal *expr.Error, d emit.Dialect) bool {
	return d != emit.Postgres && d != emit.ClickHouse && d != emit.DuckDB && refusal.Class == expr.UnsupportedInDialect &&
		(strings.Contains(refusal.Message, "median") || strings.Contains(refusal.Message, "percentile"))
}

// tables are the names of the tables that a statement reads.
func tables(v sqlguard.Verdict) []string {
	var names []string
	for _, r := range v.Relations {
		names = append(names, strings.ToLower(r.Name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func orRows(w semantictest.Want) string {
	if len(w.Classes) == 0 {
		return "rows"
	}
	return strings.Join(w.Classes, " or ")
}

// compareRows says how a result differs from the answer; "" if it does not.
func compareRows(want semantictest.Want, result *execution.Result, tolerance float64) string {
	var headers []string
	for _, c := range result.Columns {
		headers = append(headers, c.Name)
	}
	if d := cmp.Diff(want.Headers, headers); d != "" {
		return "headers (-want +got):\n" + d
	}
	same := len(want.Rows) == len(result.Rows)
	for i := 0; same && i < len(want.Rows); i++ {
		for k, v := range want.Rows[i] {
			same = same && equal(v, result.Rows[i][k], tolerance)
		}
	}
	if same {
		return ""
	}
	var w, g strings.Builder
	for _, r := range want.Rows {
		for _, v := range r {
			fmt.Fprintf(&w, "%s:%s | ", v.Kind, v.Text)
		}
		w.WriteString("\n")
	}
	for _, r := range result.Rows {
		for _, v := range r {
			fmt.Fprintf(&g, "%v:%s | ", v.Kind, v.Text)
		}
		g.WriteString("\n")
	}
	return fmt.Sprintf("rows\nwant %s\n%sgot\n%s", strings.Join(want.Headers, " | "), w.String(), g.String())
}

// equal compares a value with that of an engine: numbers up to the rounding of doubles.
func equal(want semantictest.Value, got execution.Value, tolerance float64) bool {
	if want.Kind == semantictest.Null || got.Kind == execution.Null {
		return want.Kind == semantictest.Null && got.Kind == execution.Null
	}
	switch want.Kind {
	case semantictest.Number:
		a, err1 := strconv.ParseFloat(want.Text, 64)
		b, err2 := strconv.ParseFloat(got.Text, 64)
		return err1 == nil && err2 == nil && math.Abs(a-b) <= tolerance*max(1, math.Abs(a))
	case semantictest.Boolean:
		return (want.Text == "true") == (got.Text == "1" || strings.HasPrefix(got.Text, "t")) && (got.Kind == execution.Bool || got.Text == "0" || got.Text == "1")
	case semantictest.Time:
		s, _, _ := strings.Cut(strings.TrimSuffix(strings.Replace(got.Text, "T", " ", 1), "Z"), ".")
		return strings.TrimSuffix(s, " 00:00:00") == want.Text
	case semantictest.Text, semantictest.Null:
	}
	return want.Text == got.Text
}

func request(r semantictest.Request) plan.Request {
	out := plan.Request{Filters: r.Filters, Segments: r.Segments, Limit: r.Limit, NoEmpty: r.NoEmpty}
	for _, m := range r.Measures {
		out.Measures = append(out.Measures, plan.MeasureRequest{Expr: m.Expr, Name: m.Name})
	}
	for _, d := range r.Dimensions {
		out.Dimensions = append(out.Dimensions, plan.DimensionRequest{Field: d.Field, Granularity: d.Granularity})
	}
	for _, o := range r.OrderBy {
		out.OrderBy = append(out.OrderBy, plan.OrderRequest{Field: o.Field, Desc: o.Desc})
	}
	return out
}

// judge reads the bodies of sources with sql, which are all SELECT columns FROM table.
func judge(sql string) (relations, columns []string, err error) {
	list, table, found := strings.Cut(strings.TrimPrefix(sql, "select "), " from ")
	if !found {
		return nil, nil, errors.New("not a query of this test")
	}
	return []string{table}, strings.Split(list, ", "), nil
}

func describe(c semantictest.Case) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		b.WriteString(c.Files[name])
	}
	fmt.Fprintf(&b, "measures %+v\ndimensions %+v\nfilters %q\nsegments %q\norder %+v limit %d no empty %v\n", c.Request.Measures, c.Request.Dimensions, c.Request.Filters, c.Request.Segments, c.Request.OrderBy, c.Request.Limit, c.Request.NoEmpty)
	for _, s := range c.DDL(semantictest.SQLite) {
		if strings.HasPrefix(s, "INSERT") {
			b.WriteString(s + "\n")
		}
	}
	return b.String()
}
