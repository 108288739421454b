package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
)

// TestSQLServerShapes reads rows of many columns of all types, with and without
// NULLs, in packets of many sizes, so that values of every type cross the
// border of two packets.
func TestSQLServerShapes(t *testing.T) {
	t.Parallel()
	r := source(t)
	var f figure
	for _, size := range []int{512, 513, 1000, 4096, 16383, 32767} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			for _, encrypt := range []string{"true", "disable"} {
				encryption := tdsserver.EncryptOff
				server := tdsserver.Start(t, tdsserver.Config{Encryption: &encryption})
				s := sqlServerAt(t, server.URL("encrypt", encrypt, "certificate", server.CertificateFile(), "packet size", strconv.Itoa(size)))
				for range randomRows(t, 60) / 10 {
					name := fmt.Sprintf("t%d", r.Uint32())
					table, want := randomTable(r)
					server.SetTable(name, table)
					got := ask(t, s, guarded, "SELECT * FROM dbo."+name)
					if len(got.Rows) != len(want) {
						t.Fatalf("%d rows, want %d", len(got.Rows), len(want))
					}
					for i, row := range got.Rows {
						for n, c := range row {
							f.cells++
							if c == want[i][n] {
								f.equal++
							} else if f.cells-f.equal <= maxShown {
								t.Errorf("encrypt %s, row %d, column %d of %d, %s: ktx has %s, want %s", encrypt, i+1, n+1, len(row), table.Columns[n].Type, shortened(c), shortened(want[i][n]))
							}
						}
					}
				}
			}
		})
	}
	f.report(t, "SQL Server, random tables", least()/5)
}

// randomTable makes a table of random types and values.
func randomTable(r *rand.Rand) (table tdsserver.Table, want [][]cell) {
	all := sqlServerRandom()
	types := make([]randomType, 1+r.IntN(80))
	for i := range types {
		types[i] = all[r.IntN(len(all))]
		table.Columns = append(table.Columns, tdsserver.Column{Name: "c" + strconv.Itoa(i), Type: types[i].typ})
	}
	nulls := pick(r, 0, 3, 50)
	for range r.IntN(60) {
		var row []any
		var cells []cell
		for _, typ := range types {
			v, c := typ.make(r)
			if r.IntN(100) < nulls {
				v, c = nil, cell{}
			}
			row, cells = append(row, v), append(cells, c)
		}
		table.Rows, want = append(table.Rows, row), append(want, cells)
	}
	return table, want
}
