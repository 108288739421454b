// Package bqemulator asks an emulator of BigQuery that runs, for tests.
//
// [Need] returns the emulator that the environment variable KTX_TEST_BIGQUERY names, which
// scripts/test-bigquery starts. It is github.com/goccy/bigquery-emulator: a real API with
// values, pages and the analyzer of GoogleSQL, over SQLite. Its dry run says SELECT of every
// statement, runs it, lists no tables and leaves out bytes that are 0, so a door before it
// answers dry runs. A statement runs within the request that makes its job. So it shows
// nothing of what a dry run stops, and of cancellation.
package bqemulator

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// Project is the project of the emulator.
const Project = "ktx-test"

// Emulator is the address of an emulator.
type Emulator string

// Need returns the emulator, and skips the test when there is none.
func Need(tb testing.TB) Emulator {
	tb.Helper()
	address := os.Getenv("KTX_TEST_BIGQUERY")
	if address == "" {
		tb.Skip("KTX_TEST_BIGQUERY names no emulator: scripts/test-bigquery starts one")
	}
	return Emulator(address)
}

var made atomic.Int64

// NewDataset makes a dataset, runs statements in it, and returns its URL for the backend.
func (e Emulator) NewDataset(tb testing.TB, statements ...string) string {
	tb.Helper()
	dataset := "d" + strconv.Itoa(os.Getpid()) + "_" + strconv.FormatInt(made.Add(1), 10)
	e.post(tb, "/datasets", map[string]any{"datasetReference": map[string]string{"projectId": Project, "datasetId": dataset}})
	for _, sql := range statements {
		e.Query(tb, dataset, sql)
	}
	return "bigquery://" + Project + "/" + dataset + "?" + url.Values{"endpoint": {e.door(tb)}}.Encode()
}

// door starts a server that answers dry runs, and passes other requests on. It returns its
// address.
func (e Emulator) door(tb testing.TB) string {
	tb.Helper()
	to, err := url.Parse(string(e))
	if err != nil {
		tb.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var sent struct {
			Configuration struct {
				DryRun bool `json:"dryRun"`
			} `json:"configuration"`
		}
		if json.Unmarshal(raw, &sent) == nil && sent.Configuration.DryRun {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"status": {"state": "DONE"}, "statistics": {"totalBytesProcessed": "0", "query": {"statementType": "SELECT", "totalBytesProcessed": "0"}}}`)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		proxy.ServeHTTP(w, r)
	}))
	tb.Cleanup(server.Close)
	return server.URL
}

// Query runs a statement in a dataset and returns the answer of the API, with timestamps as
// microseconds.
func (e Emulator) Query(tb testing.TB, dataset, sql string) []byte {
	tb.Helper()
	return e.post(tb, "/queries", map[string]any{
		"query": sql, "useLegacySql": false, "formatOptions": map[string]any{"useInt64Timestamp": true},
		"defaultDataset": map[string]string{"projectId": Project, "datasetId": dataset},
	})
}

func (e Emulator) post(tb testing.TB, path string, body map[string]any) []byte {
	tb.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		tb.Fatal(err)
	}
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, string(e)+"/bigquery/v2/projects/"+Project+path, bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	out, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		tb.Fatalf("%s: %s %.500s %v", body["query"], resp.Status, out, err)
	}
	return out
}
