package bigquery_test

import (
	"os"
	"testing"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

func TestZZLarge(t *testing.T) {
	for _, n := range []string{"bigquery", "clickhouse", "duckdb"} {
		t.Setenv("ZZ", os.Getenv("ZZDIR")+n+".jsonl")
		d, _ := dialects.Lookup(n)
		g := dialecttest.NewGuard(t, d)
		k := 0
		for _, s := range dialecttest.Held(t, "ZZ") {
			k++
			v := g.CheckOnce(s.SQL)
			if !v.Allowed && v.Code == "input_too_large" && len(s.SQL) > 0 {
				t.Logf("LARGE\t%s\t%s\t%s\t%q", n, s.Source, v.Findings[0].Message, s.SQL)
			}
		}
		t.Log(n, k)
	}
}
