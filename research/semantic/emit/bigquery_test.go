package emit_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/semantic/emit"
)

// TestTimesOfBigQuery compares columns of each type. A column that is compared with its own
// type stays as it is, so that partitions can be left out.
func TestTimesOfBigQuery(t *testing.T) {
	m := newModel(t, source{name: "x", columns: []string{"a:number", "d:time", "dt:time", "ts:time", "u:time"}})
	for i, native := range []string{"INT64", "DATE", "DATETIME", "TIMESTAMP", ""} {
		m.Sources[0].Columns[i].NativeType = native
	}
	for _, c := range []struct{ where, want string }{
		{"d >= '2024-01-31'", "t0.`d` >= DATE '2024-01-31'"},
		{"d >= '2024-01-31 00:00:00'", "t0.`d` >= DATE '2024-01-31'"},
		{"d >= '2024-01-31 10:00:00'", "CAST(t0.`d` AS DATETIME) >= DATETIME '2024-01-31 10:00:00'"},
		{"dt >= '2024-01-31'", "t0.`dt` >= DATETIME '2024-01-31 00:00:00'"},
		{"ts >= '2024-01-31'", "t0.`ts` >= TIMESTAMP '2024-01-31 00:00:00+00'"},
		{"ts between '2024-01-31' and '2024-02-01 12:30:00'", "t0.`ts` BETWEEN TIMESTAMP '2024-01-31 00:00:00+00' AND TIMESTAMP '2024-02-01 12:30:00+00'"},
		{"u >= '2024-01-31'", "CAST(t0.`u` AS DATETIME) >= DATETIME '2024-01-31 00:00:00'"},
		{"d = ts", "CAST(t0.`d` AS DATETIME) = CAST(t0.`ts` AS DATETIME)"},
		{"d = dt", "CAST(t0.`d` AS DATETIME) = t0.`dt`"},
		{"d > current_date - interval '7 days'", "t0.`d` > DATE_ADD(CURRENT_DATE, INTERVAL -7 DAY)"},
		{"ts > now() - interval '7 days'", "t0.`ts` > TIMESTAMP_ADD(CURRENT_TIMESTAMP, INTERVAL -7 DAY)"},
		{"ts > now() - interval '1 month'", "CAST(t0.`ts` AS DATETIME) > DATETIME_ADD(CAST(CURRENT_TIMESTAMP AS DATETIME), INTERVAL -1 MONTH)"},
		{"d > current_date - interval '12 hours'", "CAST(t0.`d` AS DATETIME) > DATETIME_ADD(CAST(CURRENT_DATE AS DATETIME), INTERVAL -12 HOUR)"},
		{"date_trunc('month', ts) = '2024-01-01'", "DATE_TRUNC(CAST(t0.`ts` AS DATE), MONTH) = DATE '2024-01-01'"},
		{"date_trunc('day', d) = '2024-01-01'", "t0.`d` = DATE '2024-01-01'"},
		{"coalesce(d, ts) < '2024-01-01'", "COALESCE(CAST(t0.`d` AS DATETIME), CAST(t0.`ts` AS DATETIME)) < DATETIME '2024-01-01 00:00:00'"},
		{"coalesce(ts, '2024-01-01') < now()", "COALESCE(t0.`ts`, TIMESTAMP '2024-01-01 00:00:00+00') < CURRENT_TIMESTAMP"},
		{"case when a > 1 then ts else '2024-01-01' end < now()", "CASE WHEN t0.`a` > 1 THEN t0.`ts` ELSE TIMESTAMP '2024-01-01 00:00:00+00' END < CURRENT_TIMESTAMP"},
		{"nullif(ts, dt) < '2024-01-01'", "NULLIF(CAST(t0.`ts` AS DATETIME), t0.`dt`) < DATETIME '2024-01-01 00:00:00'"},
		{"coalesce(ts) < '2024-01-01'", "t0.`ts` < TIMESTAMP '2024-01-01 00:00:00+00'"},
		{"ts in ('2024-01-01', null)", "t0.`ts` IN (TIMESTAMP '2024-01-01 00:00:00+00', CAST(NULL AS TIMESTAMP))"},
	} {
		p := ask{measures: []string{"sum(x.a) as s"}, legs: []leg{{base: "x", where: []string{c.where}}}}.plan(t, m)
		sql, err := emit.Emit(p, emit.BigQuery)
		if err != nil {
			t.Errorf("%s: %v", c.where, err)
			continue
		}
		judge(t, emit.BigQuery, p, sql.Text)
		if _, where, _ := strings.Cut(sql.Text, "WHERE "); !strings.HasPrefix(where, c.want+"\n") {
			t.Errorf("%s is written as\n%s\nwant\n%s", c.where, where, c.want)
		}
	}
}
