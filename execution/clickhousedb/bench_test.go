package clickhousedb_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
	"github.com/ktxhq/ktx/sqlguard"
)

var benchmarkTexts = []struct{ name, sql string }{
	{"one", "SELECT 1"},
	{"aggregate", "SELECT count(), sum(n), avg(n) FROM many WHERE n % 7 = 3"},
	{"rows", "SELECT n, n * 2 AS m, concat('row ', toString(n)) AS name, n / 3.0 AS part, now() AS at, n % 2 = 0 AS even FROM many WHERE n <= 1000"},
}

// BenchmarkLatency measures a statement through the whole gateway, and the same request
// sent with Go's client and read to its end. It reports the first in times of the second.
// Both ask the same engine in turn.
func BenchmarkLatency(b *testing.B) {
	e := chengine.Start(b, chengine.Config{})
	e.Exec(b, "CREATE DATABASE bench", "CREATE TABLE bench.many (n Int64) ENGINE = MergeTree ORDER BY n", "INSERT INTO bench.many SELECT number + 1 FROM numbers(100000)")
	address := e.Serve(b, chengine.Door{}).URL("bench")
	log, err := audit.Open(filepath.Join(b.TempDir(), "audit"), audit.Config{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	g, err := execution.NewGateway(b.Context(), log, execution.Connection{
		ID: "warehouse", Dialect: clickhouse.Dialect{}, Policy: sqlguard.DefaultPolicy(),
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return openBackend(ctx, address, 1, guard)
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(g.Close(context.Background()), log.Close()); err != nil {
			b.Error(err)
		}
	})
	for _, q := range benchmarkTexts {
		b.Run(q.name, func(b *testing.B) {
			var through, bare []time.Duration
			ask := func() {
				if _, err := g.Query(b.Context(), execution.Request{ConnectionID: "warehouse", SQL: q.sql}); err != nil {
					b.Fatal(err)
				}
			}
			ask()
			for b.Loop() {
				start := time.Now()
				post(b, address, q.sql)
				bare = append(bare, time.Since(start))
				start = time.Now()
				ask()
				through = append(through, time.Since(start))
			}
			slices.Sort(through)
			slices.Sort(bare)
			for name, at := range map[string]int{"p50": 50, "p99": 99} {
				b.ReportMetric(float64(through[len(through)*at/100])/float64(bare[len(bare)*at/100]), name)
			}
			b.ReportMetric(float64(bare[len(bare)/2].Nanoseconds()), "http-ns-p50")
			b.ReportMetric(0, "ns/op")
		})
	}
}

var posted int

// post sends a statement as a program would that reads the rows in the same format.
func post(b *testing.B, address, sql string) {
	b.Helper()
	u, err := url.Parse(address)
	if err != nil {
		b.Fatal(err)
	}
	posted++
	password, _ := u.User.Password()
	values := url.Values{
		"database": {strings.TrimPrefix(u.Path, "/")}, "query_id": {"bench-" + strconv.Itoa(posted)},
		"default_format": {"JSONCompactStringsEachRowWithNamesAndTypes"}, "readonly": {"1"},
	}
	to := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/", RawQuery: values.Encode()}
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, to.String(), strings.NewReader(sql))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("X-ClickHouse-User", u.User.Username())
	req.Header.Set("X-ClickHouse-Key", password)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read to its end
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || len(text) == 0 {
		b.Fatalf("%s: %s, %v", resp.Status, text, err)
	}
}
