package research_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// BenchmarkDiscoverData asks a project of many columns, over all that a call does:
// comparing the files, ranking, and rendering.
func BenchmarkDiscoverData(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var words []string
	for x := range strings.FieldsSeq("order customer product invoice payment supplier employee account shipment region store ticket session campaign contract") {
		for y := range strings.FieldsSeq("id name code status type amount date count rate total price note level group source target owner city email phone") {
			words = append(words, x, y, x+"_"+y)
		}
	}
	word := func() string {
		return words[int(float64(len(words))*random.Float64()*random.Float64())]
	}
	for _, tables := range []int{4_000, 20_000} {
		const columns = 25
		dir := b.TempDir()
		if err := os.Mkdir(filepath.Join(dir, ".ktx"), 0o700); err != nil {
			b.Fatal(err)
		}
		var scan catalogtest.Scan
		for i := range tables {
			table := catalogtest.Table(fmt.Sprintf("schema_%d.%s_%s_%d", i%40, word(), word(), i))
			for c := range columns {
				table.Columns = append(table.Columns, catalogtest.Table("x", fmt.Sprintf("%s_%s_%d integer -- The %s of the %s", word(), word(), c, word(), word())).Columns...)
			}
			scan.Tables = append(scan.Tables, table)
		}
		catalogtest.Write(b, dir, "w", scan)
		scan.Tables = nil
		old := time.Now().Add(-time.Hour)
		err := filepath.WalkDir(filepath.Join(dir, "raw-sources"), func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chtimes(path, old, old)
		})
		if err != nil {
			b.Fatal(err)
		}
		gateway, err := execution.NewGateway(b.Context(), &audittest.Log{}, artifactOnly("w", sqlguard.Policy{}))
		if err != nil {
			b.Fatal(err)
		}
		name := fmt.Sprintf("%dk", tables*columns/1000)
		ask := func(b *testing.B, s *research.Service, query string) {
			b.Helper()
			if out, err := s.DiscoverData(b.Context(), research.DiscoverDataInput{Query: query}); err != nil || len(out.Refs) == 0 {
				b.Fatal(err)
			}
		}
		for _, start := range []string{"cold", "warm"} {
			b.Run(name+"/"+start, func(b *testing.B) {
				for b.Loop() {
					ask(b, research.New(gateway, slog.New(slog.DiscardHandler), storesIn(b, dir)), "customer order total")
				}
			})
		}
		s := research.New(gateway, slog.New(slog.DiscardHandler), storesIn(b, dir))
		ask(b, s, "customer")
		b.Run(name+"/query", func(b *testing.B) {
			for b.Loop() {
				ask(b, s, word()+" per "+word()+" by "+word())
			}
		})
		if err := gateway.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
