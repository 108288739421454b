package pgdb_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// benchmarkConnections is how many connections the gateway and pgx each have.
const benchmarkConnections = 8

var gatewayTexts = []struct{ name, sql string }{
	{"one", "SELECT 1"},
	{"millisecond", "SELECT count(*), sum(n), avg(n) FROM many WHERE n % 7 = 3"},
	{"rows", "SELECT n, n * 2 AS m, 'row ' || n AS name, n / 3.0 AS part, now() AS at, n % 2 = 0 AS even FROM many WHERE n <= 1000"},
}

// The table has a size at which the aggregate takes about a millisecond.
const gatewayTable = "CREATE TABLE many AS SELECT n FROM generate_series(1, 17000) AS n; ANALYZE many"

// throughGateway returns a function that runs a statement through the whole
// gateway: the guard, the audit log on disk, the queue and the backend.
func throughGateway(b *testing.B, url string, sync audit.SyncMode) func(context.Context, string) error {
	b.Helper()
	log, err := audit.Open(filepath.Join(b.TempDir(), "audit"), audit.Config{Sync: sync}, nil)
	if err != nil {
		b.Fatal(err)
	}
	g, err := execution.NewGateway(b.Context(), log, execution.Connection{
		ID: "warehouse", Dialect: postgres.Dialect{}, Policy: sqlguard.DefaultPolicy(),
		Concurrency: benchmarkConnections, Queue: 1024,
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return pgdb.Open(ctx, pgdb.Config{URL: execution.NewSecret(url), MaxConnections: benchmarkConnections}, guard)
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			b.Error(err)
		}
		if err := log.Close(); err != nil {
			b.Error(err)
		}
	})
	return func(ctx context.Context, sql string) error {
		_, err := g.Query(ctx, execution.Request{ConnectionID: "warehouse", SQL: sql})
		return err
	}
}

// throughPgx returns a function that runs a statement through pgx in its
// default mode. pgx prepares the statement once per connection and reads values
// in the binary format.
func throughPgx(b *testing.B, url string) func(context.Context, string) error {
	b.Helper()
	connections := make(chan *pgx.Conn, benchmarkConnections)
	for range benchmarkConnections {
		conn, err := pgx.Connect(b.Context(), url)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close(context.Background()) })
		connections <- conn
	}
	return func(ctx context.Context, sql string) error {
		conn := <-connections
		defer func() { connections <- conn }()
		rows, err := conn.Query(ctx, sql)
		if err != nil {
			return err
		}
		for rows.Next() {
			if _, err := rows.Values(); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}

// warm runs a statement on every connection.
func warm(b *testing.B, sql string, ways ...func(context.Context, string) error) {
	b.Helper()
	for _, way := range ways {
		took(b, 2*benchmarkConnections, 4*benchmarkConnections, sql, way)
	}
}

// took runs a statement n times with that many clients and returns the time.
func took(b *testing.B, clients, n int, sql string, way func(context.Context, string) error) time.Duration {
	b.Helper()
	var next atomic.Int64
	var users sync.WaitGroup
	start := time.Now()
	for range clients {
		users.Go(func() {
			for next.Add(1) <= int64(n) {
				if err := way(b.Context(), sql); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	users.Wait()
	return time.Since(start)
}

// BenchmarkLatency compares p50 and p99 of a statement through the gateway with
// those through pgx, and reports the ratios. One client runs both in turn.
func BenchmarkLatency(b *testing.B) {
	url := testdb.Postgres(b).NewDatabase(b, gatewayTable)
	door, direct := throughGateway(b, url, audit.SyncInterval), throughPgx(b, url)
	for _, q := range gatewayTexts {
		b.Run(q.name, func(b *testing.B) {
			warm(b, q.sql, door, direct)
			var through, bare []time.Duration
			for b.Loop() {
				bare = append(bare, took(b, 1, 1, q.sql, direct))
				through = append(through, took(b, 1, 1, q.sql, door))
			}
			slices.Sort(through)
			slices.Sort(bare)
			for name, at := range map[string]int{"p50": 50, "p99": 99} {
				t, d := through[len(through)*at/100], bare[len(bare)*at/100]
				b.ReportMetric(float64(d.Nanoseconds()), "pgx-ns-"+name)
				b.ReportMetric(float64(t)/float64(d), name)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkThroughput reports how many statements the gateway runs in the time
// in which pgx runs one. Both have the same number of clients and take turns.
func BenchmarkThroughput(b *testing.B) {
	url := testdb.Postgres(b).NewDatabase(b, gatewayTable)
	door, direct := throughGateway(b, url, audit.SyncInterval), throughPgx(b, url)
	for _, q := range gatewayTexts {
		warm(b, q.sql, door, direct)
		for _, clients := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/%d", q.name, clients), func(b *testing.B) {
				const turn = 64
				var through, bare time.Duration
				n := 0
				for b.Loop() {
					bare += took(b, clients, turn, q.sql, direct)
					through += took(b, clients, turn, q.sql, door)
					n += turn
				}
				b.ReportMetric(float64(n)/bare.Seconds(), "pgx/s")
				b.ReportMetric(float64(n)/through.Seconds(), "gateway/s")
				b.ReportMetric(float64(bare)/float64(through), "throughput")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkAuditModes compares the throughput of 16 clients in each mode of the
// audit log with that in the mode off, and reports the ratios. The modes take
// turns.
func BenchmarkAuditModes(b *testing.B) {
	url := testdb.Postgres(b).NewDatabase(b, gatewayTable)
	off := throughGateway(b, url, audit.SyncOff)
	for _, mode := range []audit.SyncMode{audit.SyncInterval, audit.SyncAlways} {
		door := throughGateway(b, url, mode)
		for _, q := range gatewayTexts[:2] {
			b.Run(fmt.Sprintf("%s/%s", mode, q.name), func(b *testing.B) {
				warm(b, q.sql, door, off)
				const turn = 64
				var with, without time.Duration
				for b.Loop() {
					without += took(b, 16, turn, q.sql, off)
					with += took(b, 16, turn, q.sql, door)
				}
				b.ReportMetric(float64(without)/float64(with), "throughput")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
