//go:build cgo

package sqlcheck_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
	tidb "github.com/pingcap/tidb/pkg/parser"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	benchmarkFiles = 2_000
	perFile        = 5
)

// tree writes 2,000 files of five statements, all different, and returns their
// folder and the statements.
func tree(b *testing.B) (dir string, statements []string) {
	b.Helper()
	dir = b.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	columns := []string{"region", "status", "channel", "brand", "country", "month"}
	for f := range benchmarkFiles {
		var text strings.Builder
		for s := range perFile {
			column := columns[r.IntN(len(columns))]
			sql := fmt.Sprintf("SELECT o.%s, count(*) AS orders, sum(i.price * i.quantity) AS revenue\nFROM orders_%d o JOIN items i ON i.order_id = o.id\nWHERE o.status <> 'cancelled' AND o.total > %d AND i.name LIKE 'a%d%%'\nGROUP BY o.%s ORDER BY revenue DESC LIMIT %d",
				column, f*perFile+s, r.IntN(1000), r.IntN(1000), column, 1+r.IntN(100))
			statements = append(statements, sql)
			text.WriteString("-- report " + column + "\n" + sql + ";\n\n")
		}
		folder := filepath.Join(dir, fmt.Sprintf("%02d", f%40))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%04d.sql", f)), []byte(text.String()), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir, statements
}

// parseAll parses statements on every processor with nothing but the parser.
func parseAll(b *testing.B, dialect string, statements []string) time.Duration {
	b.Helper()
	start := time.Now()
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			p := tidb.New()
			for i := w; i < len(statements); i += workers {
				var err error
				if dialect == "postgres" {
					_, err = pg.Parse(statements[i])
				} else {
					_, _, err = p.ParseSQL(statements[i])
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// BenchmarkTree checks 10,000 statements in 2,000 files, without and with the
// cache, and runs the bare parser in turns with it on the same processors.
func BenchmarkTree(b *testing.B) {
	for _, dialect := range []string{"postgres", "mysql"} {
		b.Run(dialect, func(b *testing.B) {
			dir, statements := tree(b)
			store := b.TempDir()
			run := func(cache *sqlcheck.Cache, choose sqlcheck.Chooser) time.Duration {
				start := time.Now()
				inputs, err := sqlcheck.Find([]string{dir}, "stdin")
				if err != nil {
					b.Fatal(err)
				}
				c := sqlcheck.Checker{Choose: choose, Cache: cache, Today: start}
				files, err := c.Run(b.Context(), inputs)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for _, f := range files {
					n += f.Judged
					if len(f.Findings) > 0 {
						b.Fatalf("%+v", f.Findings)
					}
				}
				if n != benchmarkFiles*perFile {
					b.Fatalf("%d statements", n)
				}
				return time.Since(start)
			}
			guards := func() sqlcheck.Chooser { // a guard caches verdicts
				guard := newGuard(b, dialect)
				return func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) { return guard, nil }
			}
			filled := sqlcheck.OpenCache(store, dir, "build", time.Now())
			run(filled, guards())
			if err := filled.Save(); err != nil {
				b.Fatal(err)
			}
			var bare, cold, warm time.Duration
			for b.Loop() {
				bare += parseAll(b, dialect, statements)
				cold += run(nil, guards())
				start := time.Now()
				run(sqlcheck.OpenCache(store, dir, "build", start), guards())
				warm += time.Since(start)
			}
			b.ReportMetric(float64(cold)/float64(bare), "check/parse")
			b.ReportMetric(warm.Seconds()/float64(b.N), "s/median")
		})
	}
}
