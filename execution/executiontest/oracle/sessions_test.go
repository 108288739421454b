package oracle_test

import (
	"fmt"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// TestEncodings compares texts in databases whose encoding is not UTF-8. The
// server converts them, for psql as for the backend.
func TestEncodings(t *testing.T) {
	t.Parallel()
	const everyByte = `CREATE TABLE texts AS SELECT n, convert_from(set_byte('\x6120'::bytea, 1, n), '%[1]s') AS t, ARRAY[convert_from(set_byte('\x20', 0, n), '%[1]s')] AS a FROM generate_series(1, 255) AS n`
	for _, v := range []struct{ encoding, client, table string }{
		{"LATIN1", converted, fmt.Sprintf(everyByte, "LATIN1")},
		{"LATIN9", converted, fmt.Sprintf(everyByte, "LATIN9")},
		{"KOI8R", converted, fmt.Sprintf(everyByte, "KOI8R")},
		{"EUC_JP", converted, `CREATE TABLE texts AS SELECT n, convert_from(set_byte(set_byte('\x6120'::bytea, 0, 176 + n / 94), 1, 161 + n % 94), 'EUC_JP') AS t, '{日本語,NULL,"ｱ"}'::text[] AS a FROM generate_series(0, 2900) AS n`},
		// The server does not convert, so UTF-8 arrives unchanged.
		{"SQL_ASCII", asItIs, `CREATE TABLE texts AS SELECT n, repeat('Grün 世界 😀', n) AS t, ARRAY['é'] AS a FROM generate_series(0, 200) AS n`},
	} {
		t.Run(v.encoding, func(t *testing.T) {
			url := testdb.Postgres(t).NewDatabaseWith(t, "ENCODING '"+v.encoding+"' LC_COLLATE 'C' LC_CTYPE 'C'", "SET client_encoding = 'UTF8'", v.table)
			q := query{connection: guarded, sql: "SELECT t, a, ROW(t, a) AS r FROM texts ORDER BY n"}
			want := psql(t, url, v.client, "UTC", []query{q})[0]
			got := ask(t, pgService(t, url, ""), q.connection, q.sql)
			compareRows(t, v.encoding, got, want)
		})
	}
}

// TestTimezones compares times in zones other than UTC, with offsets of half
// hours, and of seconds in the past.
func TestTimezones(t *testing.T) {
	t.Parallel()
	url := testdb.Postgres(t).NewDatabase(t)
	conn, r := connect(t, url), source(t)
	execute(t, conn, "CREATE SCHEMA cells")
	for i, typ := range []string{"timestamptz", "timetz"} {
		q := pgTable(t, conn, r, i, typ, pgValues[typ], randomRows(t, 80))
		for _, zone := range []string{"Asia/Kathmandu", "America/St_Johns", "Europe/Amsterdam", "Pacific/Apia"} {
			want := psql(t, url, asItIs, zone, []query{q})[0]
			got := ask(t, pgService(t, url, zone), q.connection, q.sql)
			compareRows(t, typ+" in "+zone, got, want)
		}
	}
}

// compareRows compares an answer with the cells that psql prints.
func compareRows(t *testing.T, what string, got answer, want []cell) {
	t.Helper()
	if len(want) != len(got.Headers)*len(got.Rows) || len(want) < 100 {
		t.Fatalf("%s: %d rows, psql prints %d cells", what, len(got.Rows), len(want))
	}
	var f figure
	for n, row := range got.Rows {
		for m, c := range row {
			f.compare(t, fmt.Sprintf("%s: row %d, column %s", what, n+1, got.Headers[m]), c, want[len(row)*n+m])
		}
	}
	f.report(t, what, len(want))
}
