package bigquerydb_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/bqserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// BenchmarkLatency measures a statement through the whole gateway beside a job that Go's
// client sends, with its rows read to their end. Both ask the same stand-in.
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
	open := func(_ context.Context, guard sqlguard.ID) (execution.Backend, error) {
		cfg := bigquerydb.Config{URL: execution.NewSecret(s.URL()), MaxConnections: 1, Session: bigquery.Dialect{}.Session()}
		return bigquerydb.Open(context.Background(), cfg, guard)
	}
	executiontest.Beside(b, bigquery.Dialect{}, open, []executiontest.BesideText{{Name: "one", SQL: "SELECT 1"}, {Name: "rows", SQL: many}}, func(sql string) int {
		runJob(b, s, sql)
		return -1
	})
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
