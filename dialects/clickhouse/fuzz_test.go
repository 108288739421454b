package clickhouse_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

func seedFuzz(f *testing.F) {
	f.Helper()
	for _, sql := range append(reads(f), attacks...) {
		f.Add(sql)
	}
}

func FuzzLex(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { dialecttest.CheckTokens(t, clickhouse.Dialect{}, sql, "") })
}

func FuzzAnalyze(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { dialecttest.CheckFacts(t, clickhouse.Dialect{}, sql) })
}

func FuzzCheck(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { dialecttest.CheckVerdict(t, clickhouse.Dialect{}, sql) })
}
