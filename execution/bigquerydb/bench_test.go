package bigquerydb_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/bigquerydb"
	"github.com/ktxhq/ktx/execution/executiontest/bqserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// BenchmarkLatency measures a statement through the whole gateway, and a job that Go's
// client sends, with its rows read to their end. It reports the first in times of the
// second. Both ask the same stand-in in turn.
func BenchmarkLatency(b *testing.B) {
	s := bqserver.Start(b, bqserver.Config{})
	const many = "SELECT n, name, part FROM items"
	s.On("SELECT 1", bqserver.One(bqserver.Field{Name: "f0_", Type: "INTEGER"}, `"1"`))
	s.On(many, bqserver.Query{
		Fields: []bqserver.Field{{Name: "n", Type: "INTEGER"}, {Name: "name", Type: "STRING"}, {Name: "part", Type: "FLOAT"}}, Rows: 1000,
		Row: func(w io.Writer, i int) {
			_, _ = fmt.Fprintf(w, `{"f": [{"v": "%d"}, {"v": "row %d"}, {"v": "%g"}]}`, i, i, float64(i)/3)
		},
		Tables: table("items"),
	})
	log, err := audit.Open(filepath.Join(b.TempDir(), "audit"), audit.Config{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	g, err := execution.NewGateway(b.Context(), log, execution.Connection{
		ID: "warehouse", Dialect: bigquery.Dialect{}, Policy: sqlguard.DefaultPolicy(),
		Open: func(_ context.Context, guard sqlguard.ID) (execution.Backend, error) {
			cfg := bigquerydb.Config{URL: execution.NewSecret(s.URL()), MaxConnections: 1, Session: bigquery.Dialect{}.Session()}
			return bigquerydb.Open(context.Background(), cfg, guard)
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
	for _, q := range []struct{ name, sql string }{{"one", "SELECT 1"}, {"rows", many}} {
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
				runJob(b, s, q.sql)
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

var ranJobs int

// runJob sends a statement as a job and reads its rows without taking them apart.
func runJob(b *testing.B, s *bqserver.Server, sql string) {
	b.Helper()
	ranJobs++
	id := "bench-" + strconv.Itoa(ranJobs)
	api := s.Address() + "/bigquery/v2/projects/" + bqserver.Project
	body, err := json.Marshal(map[string]any{
		"jobReference": map[string]string{"projectId": bqserver.Project, "jobId": id, "location": bqserver.Location},
		"configuration": map[string]any{
			"query": map[string]any{
				"query": sql, "useLegacySql": false, "maximumBytesBilled": "1000000",
				"defaultDataset": map[string]string{"projectId": bqserver.Project, "datasetId": bqserver.Dataset},
			},
			"jobTimeoutMs": "30000", "labels": map[string]string{"application": "ktx"},
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, request := range []struct {
		method, path string
		body         []byte
	}{
		{http.MethodPost, "/jobs", body},
		{http.MethodGet, "/queries/" + id + "?location=" + bqserver.Location + "&maxResults=10000&formatOptions.useInt64Timestamp=true", nil},
	} {
		req, err := http.NewRequestWithContext(b.Context(), request.method, api+request.path, bytes.NewReader(request.body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK || len(text) == 0 {
			b.Fatalf("%s: %s, %v", resp.Status, text, err)
		}
	}
}
