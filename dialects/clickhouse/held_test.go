package clickhouse_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// held returns the texts of the statements that KTX_CLICKHOUSE_HELD names.
func held(tb testing.TB) []string {
	tb.Helper()
	var out []string
	for _, s := range dialecttest.Held(tb, "KTX_CLICKHOUSE_HELD") {
		out = append(out, s.SQL)
	}
	return out
}

// TestHeldStatementsOfTheEngine judges statements that others wrote. None that is
// allowed may be anything but one read to the engine, and of those that are one read it
// counts the refused ones by their source and code.
func TestHeldStatementsOfTheEngine(t *testing.T) {
	statements := dialecttest.Held(t, "KTX_CLICKHOUSE_HELD")
	if len(statements) == 0 {
		t.Skip("KTX_CLICKHOUSE_HELD names no statements")
	}
	e := startEngine(t)
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	reads, refused, others, wrong := map[string]int{}, map[string]int{}, 0, 0
	for _, s := range statements {
		v := g.CheckOnce(s.SQL)
		fault := judge(t, e, s.SQL)
		switch {
		case fault != "" && v.Allowed:
			wrong++
			t.Errorf("allowed: %q\nto the engine: %s", s.SQL, fault)
		case fault != "":
			others++
		case v.Allowed:
			reads[s.Source]++
		default:
			reads[s.Source]++
			refused[fmt.Sprint(s.Source, " ", v.Code)]++
			t.Logf("refused\t%s\t%s\t%s\t%q", s.Source, v.Code, v.Findings[0].Message, s.SQL)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(reads)) {
		t.Logf("%s: %d reads", source, reads[source])
	}
	for _, k := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("%d refused: %s", refused[k], k)
	}
	t.Logf("%d texts are no single read to the engine; %d of them allowed", others, wrong)
}
