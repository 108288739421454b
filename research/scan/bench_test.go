package scan_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/scan"
)

var benchTables = flag.Int("tables", 1000, "tables of BenchmarkPostgres, of 20 columns and 1,000 rows each")

// BenchmarkPostgres scans many tables with their profile: 1,000 tables of 20 columns
// and 1,000 rows, unless -tables says otherwise. It reports the most memory that the
// process had, which includes the test itself.
func BenchmarkPostgres(b *testing.B) {
	server := testdb.Postgres(b)
	var statements []string
	for i := range *benchTables {
		statements = append(statements, benchTable(i))
	}
	var batches []string
	for begin := 0; begin < len(statements); begin += 50 {
		batches = append(batches, strings.Join(statements[begin:min(begin+50, len(statements))], ";\n"))
	}
	conn := postgresAt(server.NewDatabase(b, batches...))
	conn.ID, conn.Limits = "shop", execution.Limits{Rows: 1_000_000, Bytes: 256 << 20}
	for b.Loop() {
		benchScan(b, conn)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "scan-s")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(peakMemory(b), "MB-peak")
}

func benchScan(b *testing.B, conn execution.Connection) {
	b.Helper()
	gateway, err := execution.NewGateway(b.Context(), &audittest.Log{}, conn)
	if err != nil {
		b.Fatal(err)
	}
	root, err := os.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	info, err := gateway.Connection(b.Context(), "shop")
	if err != nil {
		b.Fatal(err)
	}
	readable, err := gateway.Readable(b.Context(), "shop")
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	stage := map[scan.Stage]time.Duration{}
	result, err := scan.Run(b.Context(), scan.Options{
		Gateway: gateway, Connection: info, Driver: "postgres", Root: root, Readable: readable, Now: startTime, RunID: "bench",
		OpenValues: func(sync string) (scan.Values, error) { return dictionary.NewWriter(root, "shop", sync) },
		OnProgress: func(p scan.Progress) { stage[p.Stage] = time.Since(start) },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d tables, %d columns, %d rows, %d relationships, %d warnings; stages ended after %v, all after %s",
		result.Tables, result.Columns, result.Rows, result.Report.Relationships.Accepted, len(result.Report.Warnings), stage, time.Since(start))
	if err := gateway.Close(context.WithoutCancel(b.Context())); err != nil {
		b.Fatal(err)
	}
}

// benchTable makes a table that refers to an earlier one without saying so.
func benchTable(i int) string {
	return fmt.Sprintf(`CREATE TABLE %[1]s (id int PRIMARY KEY, %[2]s_id int, name text, city text, status text, code text, category text, country text, label text, kind text,
a int, b bigint, c numeric(10,2), d double precision, e boolean, f date, g timestamptz, h uuid, i int, j text);
INSERT INTO %[1]s SELECT n, 1 + n %% 1000, 'Name ' || n, 'City ' || n %% 200, (ARRAY['new','paid','late'])[1 + n %% 3], 'C-' || n * 7, 'cat ' || n %% 20, 'country ' || n %% 50, 'label ' || n, 'kind ' || n %% 5,
n, n * 1000, n / 4.0, n / 7.0, n %% 2 = 0, date '2020-01-01' + n, timestamptz '2020-01-01 00:00:00+00' + n * interval '1 hour', md5(n::text)::uuid, n %% 10, 'text ' || n %% 300 FROM generate_series(1, 1000) n`,
		benchName(i), benchName(i/2))
}

// benchName returns one of many names of two words.
func benchName(i int) string {
	first := strings.Fields("sales stock tax cash staff fleet web shop bank loan claim crew dock farm film game golf heat iron jazz kilo lake mine news oil park rail salt tour yard zinc wind")
	second := strings.Fields("order item invoice ticket session batch parcel visit rating budget contract device segment voucher route sample recipe lesson meter refund survey tariff vendor wallet zone quota pallet notice ledger journal parade census docket basket")
	return first[i%len(first)] + "_" + second[i/len(first)%len(second)]
}

// peakMemory returns the most memory that the process had, in MB.
func peakMemory(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0 // not Linux
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kb / 1024
}
