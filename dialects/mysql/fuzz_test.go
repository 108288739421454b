package mysql_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/mysql"
)

func seedFuzz(f *testing.F) {
	f.Helper()
	for _, c := range readVerdicts(f) {
		f.Add(c.sql)
	}
	for _, s := range shapes {
		f.Add(s.Text(3))
	}
	for _, sql := range []string{"\x00", "SELECT 1\x00; DROP TABLE t", "\xff", "'\xff'", "\uFEFFSELECT 1", "SELECT\u00a01", "\v", "SELECT '\v'", "DELIMITER", "delimiter ;;\nSELECT 1;;", "SELECT @@", "SELECT @", "SELECT `", "SELECT x'", "SELECT 0x", "SELECT b'2'"} {
		f.Add(sql)
	}
}

func FuzzLex(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { dialecttest.CheckTokens(t, mysql.Dialect{}, sql, "") })
}

// FuzzAnalyze analyzes the statements that the screen accepts, for both products.
func FuzzAnalyze(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) {
		if !utf8.ValidString(sql) || strings.Contains(sql, "\x00") {
			return
		}
		for _, d := range []mysql.Dialect{{}, mysql.MariaDB} {
			dialecttest.CheckFacts(t, d, sql)
		}
	})
}

func FuzzCheck(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { dialecttest.CheckVerdict(t, mysql.Dialect{}, sql) })
}
