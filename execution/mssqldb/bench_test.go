package mssqldb_test

import (
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
)

// BenchmarkOneRow measures a whole statement: pins, the statement itself,
// rollback and reset. The time includes the work of the stand-in server.
func BenchmarkOneRow(b *testing.B) {
	s := tdsserver.Start(b, tdsserver.Config{})
	c := open(b, trusted(s), mssqldb.Config{MaxConnections: 1})
	c.One(b, "SELECT 1 AS n")
	b.ReportAllocs()
	for b.Loop() {
		c.One(b, "SELECT 1 AS n")
		s.Forget()
	}
}

// BenchmarkRows measures 10,000 rows of five columns, which the stand-in server
// sends from memory.
func BenchmarkRows(b *testing.B) {
	const text, rows = "SELECT many", 10_000
	s := tdsserver.Start(b, tdsserver.Config{})
	s.On(text, func(r *tdsserver.Reply) error {
		err := r.Columns(
			tdsserver.Column{Name: "id", Type: tdsserver.IntFixed}, tdsserver.Column{Name: "name", Type: tdsserver.NVarChar(50)},
			tdsserver.Column{Name: "total", Type: tdsserver.Float}, tdsserver.Column{Name: "at", Type: tdsserver.DateTime2(3)},
			tdsserver.Column{Name: "note", Type: tdsserver.VarChar(100)},
		)
		at := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
		for i := int64(0); i < rows && err == nil; i++ {
			err = r.Row(i, "a name of some length", float64(i)/3, at, "a note that is somewhat longer than the name is")
		}
		return err
	})
	c := open(b, trusted(s), mssqldb.Config{MaxConnections: 1})
	b.ReportAllocs()
	for b.Loop() {
		res, err := c.Try(b.Context(), b, text, execution.Limits{})
		if err != nil || len(res.Rows) != rows {
			b.Fatal(err)
		}
		s.Forget()
	}
}
