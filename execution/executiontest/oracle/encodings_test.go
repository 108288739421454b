package oracle_test

import (
	"fmt"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// TestEncodings compares the texts of databases whose encoding is not UTF-8.
// The server converts, for psql as for us.
func TestEncodings(t *testing.T) {
	t.Parallel()
	const everyByte = `CREATE TABLE texts AS SELECT n, convert_from(set_byte('\x6120'::bytea, 1, n), '%[1]s') AS t, ARRAY[convert_from(set_byte('\x20', 0, n), '%[1]s')] AS a FROM generate_series(1, 255) AS n`
	for _, v := range []struct{ encoding, client, table string }{
		{"LATIN1", converted, fmt.Sprintf(everyByte, "LATIN1")},
		{"LATIN9", converted, fmt.Sprintf(everyByte, "LATIN9")},
		{"KOI8R", converted, fmt.Sprintf(everyByte, "KOI8R")},
		{"EUC_JP", converted, `CREATE TABLE texts AS SELECT n, convert_from(set_byte(set_byte('\x6120'::bytea, 0, 176 + n / 94), 1, 161 + n % 94), 'EUC_JP') AS t, '{日本語,NULL,"ｱ"}'::text[] AS a FROM generate_series(0, 2900) AS n`},
		// No conversion: UTF-8 passes for what it is.
		{"SQL_ASCII", asItIs, `CREATE TABLE texts AS SELECT n, repeat('Grün 世界 😀', n) AS t, ARRAY['é'] AS a FROM generate_series(0, 200) AS n`},
	} {
		t.Run(v.encoding, func(t *testing.T) {
			url := testdb.Postgres(t).NewDatabaseWith(t, "ENCODING '"+v.encoding+"' LC_COLLATE 'C' LC_CTYPE 'C'", "SET client_encoding = 'UTF8'", v.table)
			q := query{connection: guarded, sql: "SELECT t, a, ROW(t, a) AS r FROM texts ORDER BY n"}
			want := psql(t, url, v.client, []query{q})[0]
			got := ask(t, pgService(t, url), q.connection, q.sql)
			if len(want) != 3*len(got.Rows) {
				t.Fatalf("%d rows, psql prints %d cells", len(got.Rows), len(want))
			}
			var f figure
			for n, row := range got.Rows {
				for m, c := range row {
					f.compare(t, fmt.Sprintf("row %d, column %d", n+1, m+1), c, want[3*n+m])
				}
			}
			f.report(t, v.encoding, 600)
		})
	}
}
