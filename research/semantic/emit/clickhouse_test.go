package emit_test

import (
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/clickhousedb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// otherMeanings are settings of a profile that change what statements mean.
const otherMeanings = "<join_use_nulls>1</join_use_nulls><transform_null_in>1</transform_null_in><aggregate_functions_null_for_empty>1</aggregate_functions_null_for_empty>" +
	"<count_distinct_implementation>uniq</count_distinct_implementation><prefer_column_name_to_alias>1</prefer_column_name_to_alias><group_by_use_nulls>1</group_by_use_nulls>" +
	"<cast_keep_nullable>1</cast_keep_nullable><union_default_mode>DISTINCT</union_default_mode><join_default_strictness>ANY</join_default_strictness><join_algorithm>partial_merge</join_algorithm>"

// TestRowsOfTheEngine runs the text of every plan on ClickHouse, also with a profile that
// gives statements another meaning, and with the types that a scan finds.
func TestRowsOfTheEngine(t *testing.T) {
	for name, profile := range map[string]string{"defaults": "", "another profile": otherMeanings} {
		t.Run(name, func(t *testing.T) {
			c := onClickHouse(t, profile, data(emit.ClickHouse))
			m := shop(t)
			for _, typed := range []bool{false, true} {
				if typed {
					withTypes(m)
				}
				for _, a := range plans {
					t.Run(a.name, func(t *testing.T) { checkRows(t, a, m, emit.ClickHouse, c) })
				}
			}
		})
	}
}

// withTypes gives the columns of shop the types that a scan finds in data.
func withTypes(m *model.Model) {
	for _, s := range m.Sources {
		for _, c := range s.Columns {
			switch {
			case c.Expr != nil:
			case c.Type == expr.Number && (c.Name == "amount" || c.Name == "balance"):
				c.NativeType = "Nullable(Decimal(10, 2))"
			case c.Type == expr.Number && c.Name == "id":
				c.NativeType = "Int32"
			case c.Type == expr.Number:
				c.NativeType = "Nullable(Int32)"
			case c.Type == expr.Time && (c.Name == "created_at" || c.Name == "from"):
				c.NativeType = "Nullable(DateTime64(0))"
			case c.Type == expr.Time:
				c.NativeType = "Nullable(Date32)"
			case c.Type == expr.Boolean:
				c.NativeType = "Nullable(Bool)"
			default:
				c.NativeType = "Nullable(String)"
			}
		}
	}
}

func onClickHouse(tb testing.TB, profile string, statements []string) *executiontest.Client {
	tb.Helper()
	engine := chengine.Start(tb, chengine.Config{Profile: profile})
	engine.Exec(tb, statements...)
	g := executiontest.Guard(tb, "clickhouse", 0)
	db, err := clickhousedb.Open(tb.Context(), clickhousedb.Config{URL: execution.NewSecret(engine.Serve(tb, chengine.Door{}).URL("default"))}, g.ID())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return executiontest.NewClient(db, g)
}

// TestTextsOnTheEngine reads literals back, and compares LIKE with a matcher.
func TestTextsOnTheEngine(t *testing.T) {
	c := onClickHouse(t, "", []string{"CREATE TABLE single (a Int32) ENGINE = Memory", "INSERT INTO single VALUES (1)"})
	checkLiterals(t, emit.ClickHouse, c)
	checkLike(t, map[emit.Dialect]*executiontest.Client{emit.ClickHouse: c})
}
