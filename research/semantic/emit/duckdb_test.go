//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package emit_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/duckfile"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/expr"
)

// TestRowsOnDuckDB runs the text of every plan on DuckDB.
func TestRowsOnDuckDB(t *testing.T) {
	c := onDuckDB(t, data(emit.DuckDB)...)
	m := shop(t)
	for _, a := range plans {
		t.Run(a.name, func(t *testing.T) { checkRows(t, a, m, emit.DuckDB, c) })
	}
}

// TestTextsOnDuckDB reads literals back, and compares LIKE with a matcher.
func TestTextsOnDuckDB(t *testing.T) {
	c := onDuckDB(t, "CREATE TABLE single (a INTEGER)", "INSERT INTO single VALUES (1)")
	checkLiterals(t, emit.DuckDB, c)
	checkLike(t, map[emit.Dialect]*executiontest.Client{emit.DuckDB: c})
}

// TestTypesOfDuckDB has columns of types that the model calls strings, numbers, and times,
// and doubles that no decimal holds.
func TestTypesOfDuckDB(t *testing.T) {
	c := onDuckDB(t, "CREATE TABLE things (mood ENUM('fine', 'bad'), key UUID, made TIMESTAMPTZ, span INTERVAL, big UHUGEINT, small UTINYINT, ratio DOUBLE, name VARCHAR)",
		`INSERT INTO things VALUES ('fine', '6f9619ff-8b86-d011-b42d-00c04fc964ff', '2024-12-31 23:30:00-01', INTERVAL '1 day', 256, 255, 1.005, 'x'),
			('bad', NULL, NULL, NULL, 1, 0, -1e300, NULL)`)
	m := newModel(t, source{name: "things", columns: []string{"mood:string", "key:string", "made:time", "span:string", "big:number", "small:number", "ratio:number", "name:string"}})
	for i, native := range []string{"ENUM('fine', 'bad')", "UUID", "TIMESTAMP WITH TIME ZONE", "INTERVAL", "UHUGEINT", "UTINYINT", "DOUBLE", "VARCHAR"} {
		m.Sources[0].Columns[i].NativeType = native
	}
	for _, q := range []struct {
		dims, measures, where []string
		want                  string
	}{
		{[]string{"things.mood || '!' as mood"}, []string{"max(upper(things.mood)) as upper", "max(length(things.key)) as length", "max(substring(things.span, 1, 5)) as span"}, nil, "mood | upper | length | span\n\"bad!\" | \"BAD\" | NULL | NULL\n\"fine!\" | \"FINE\" | 36 | \"1 day\"\n"},
		{[]string{"things.made:month as month"}, []string{"max(extract(hour from things.made)) as hour"}, []string{"things.made >= '2025-01-01'"}, "month | hour\n\"2025-01-01\" | 0\n"},
		{nil, []string{"max(round(things.ratio, 2)) as high", "min(round(things.ratio, 2)) as low", "max(things.small) + 1 as more", "max(round(things.small)) as small", "max(things.small - 1) as less", "sum(things.small * -3) as sum", "max(things.big - things.small) as big"}, nil, "high | low | more | small | less | sum | big\n1.01 | -1e+300 | 256 | 255 | 254 | -765 | 1\n"},
		{nil, []string{"count(*) as n", "sum(things.ratio * 1000) as sum"}, []string{"things.mood in ('fine', 'neither')", "things.mood like 'f%'", "things.made < now()"}, "n | sum\n1 | 1005\n"},
	} {
		sql, refused := emit.Emit(ask{dims: q.dims, measures: q.measures, legs: []leg{{base: "things", where: q.where}}}.plan(t, m), emit.DuckDB)
		if refused != nil {
			t.Fatal(refused)
		}
		if got := rows(c.Get(t, sql.Text, execution.Limits{})); got != q.want {
			t.Errorf("got %s\nwant %s\n%s", got, q.want, sql.Text)
		}
	}
	// A percentile of texts is an error of the model, not of the engine.
	if err := emit.Supports(&expr.Expr{Op: expr.OpAggregate, Func: "median", Distinct: true}, emit.DuckDB); err == nil {
		t.Error("the median of DISTINCT values is not refused")
	}
}

func onDuckDB(tb testing.TB, statements ...string) *executiontest.Client {
	tb.Helper()
	g := executiontest.Guard(tb, "duckdb", 0)
	db, err := duckdbdb.Open(tb.Context(), duckdbdb.Config{Path: duckfile.New(tb, statements...), Session: duckdb.Dialect{}.Session(), Reserved: duckdb.Reserved}, g.ID())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return executiontest.NewClient(db, g)
}
