package clickhousedb_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
	"github.com/ktxhq/ktx/sqlguard"
)

// BenchmarkLatency measures a statement through the whole gateway beside the same request
// sent with Go's client and read to its end. Both ask the same engine.
func BenchmarkLatency(b *testing.B) {
	e := chengine.Start(b, chengine.Config{})
	e.Exec(b, "CREATE DATABASE bench", "CREATE TABLE bench.many (n Int64) ENGINE = MergeTree ORDER BY n", "INSERT INTO bench.many SELECT number + 1 FROM numbers(100000)")
	address := e.Serve(b, chengine.Door{}).URL("bench")
	open := func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
		return openBackend(ctx, address, 1, guard)
	}
	executiontest.Beside(b, clickhouse.Dialect{}, open, []executiontest.BesideText{
		{Name: "one", SQL: "SELECT 1"},
		{Name: "aggregate", SQL: "SELECT count(), sum(n), avg(n) FROM many WHERE n % 7 = 3"},
		{Name: "rows", SQL: "SELECT n, n * 2 AS m, concat('row ', toString(n)) AS name, n / 3.0 AS part, now() AS at, n % 2 = 0 AS even FROM many WHERE n <= 1000"},
	}, func(sql string) int {
		post(b, address, sql)
		return -1
	})
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
