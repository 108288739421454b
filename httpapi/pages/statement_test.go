package pages_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// TestNeighbours leads from a statement to those before and after it, of the same session
// and of the same form, and to nothing of another principal.
func TestNeighbours(t *testing.T) {
	d := openDesk(t, 0, tokens())
	log, err := audit.Open(d.dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		who := []string{"ada", "bob"}[i%2]
		write(t, log, who, "q"+strconv.Itoa(i), []string{"SELECT a FROM t", "SELECT a FROM t", "SELECT b FROM t"}[i%3])
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	links := func(who, id string) (list []string) {
		text := d.ask(t, "GET", "/audit/"+id, "", who).body
		for _, part := range strings.Split(text, "<a rel=")[1:] {
			kind, rest, _ := strings.Cut(part[1:], `" href="/audit/`)
			to, _, _ := strings.Cut(rest, `"`)
			list = append(list, kind+" "+to)
		}
		return list
	}
	// q10 is of ada, and of the form b with q2, q5, q8, q11, q14, q17, which are of both.
	for _, r := range []struct {
		who, id string
		want    []string
	}{
		{bearer("root"), "q8", []string{"prev q6", "next q10", "prev q5", "next q11"}},
		{bearer("root"), "q0", []string{"next q2", "next q1"}},
		{bearer("root"), "q19", []string{"prev q17", "prev q18"}},
		{d.login(t, "bob"), "q11", []string{"prev q9", "next q13", "prev q5", "next q17"}},
	} {
		if got := links(r.who, r.id); !slices.Equal(got, r.want) {
			t.Errorf("%s as %.20s: %v, want %v", r.id, r.who, got, r.want)
		}
	}
}

// rows follows the log as a principal, and returns what comes.
func (d *desk) rows(t *testing.T, path string, headers ...string) (<-chan audit.Row, <-chan string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.origin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r) //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		t.Fatal(err)
	}
	rows, places := make(chan audit.Row, 5000), make(chan string, 100)
	go func() {
		defer close(rows)
		defer res.Body.Close() //nolint:errcheck // it was read
		event := ""
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case field == "event":
				event = value
			case field == "id":
				places <- value
			case field == "data" && event == "row":
				var row audit.Row
				if json.Unmarshal([]byte(value), &row) == nil {
					rows <- row
				}
			}
		}
	}()
	return rows, places
}

// TestTheTailLosesNothing writes more than the tail reads at a time, a statement that ends
// later, and goes on where a stream ended.
func TestTheTailLosesNothing(t *testing.T) {
	d := openDesk(t, 1, tokens())
	all, places := d.rows(t, "/v1/audit/tail", bearer("root"))
	slow, _ := d.rows(t, "/v1/audit/tail?"+url.Values{"status": {"ok"}, "text": {"slow"}}.Encode(), bearer("root"))
	log, err := audit.Open(d.dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, log, "ada", "first", "SELECT 1")
	decision := audit.Event{
		Type: audit.QueryDecision, QueryID: "slow", Principal: "ada", Connection: audit.Connection{ID: "shop"},
		SQL: audit.SQL{Normalized: "SELECT slow"}, Decision: audit.Decision{Verdict: audit.VerdictAllow},
	}
	if err := log.Append(t.Context(), decision); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	take := func(until func() bool) {
		t.Helper()
		for !until() {
			row, ok := <-all
			if !ok {
				t.Fatalf("the stream ended after %d statements", len(seen))
			}
			seen[row.QueryID+" "+row.Status]++
		}
	}
	take(func() bool { return seen["slow unfinished"] == 1 })
	const many = 1500
	for i := range many {
		write(t, log, "bob", "many-"+strconv.Itoa(i), "SELECT 2")
	}
	if err := log.Append(t.Context(), audit.Event{Type: audit.QueryFinished, QueryID: "slow", Principal: "ada", Result: audit.Result{Status: audit.StatusOK}}); err != nil {
		t.Fatal(err)
	}
	take(func() bool { return seen["slow ok"] == 1 && len(seen) == many+3 })
	if row := <-slow; row.QueryID != "slow" || row.Status != audit.StatusOK {
		t.Errorf("a statement that meets the conditions when it ends: %+v", row)
	}
	place := <-places // of before the many
	if again, _ := d.rows(t, "/v1/audit/tail", bearer("root"), "Last-Event-ID: "+place); (<-again).QueryID == "" {
		t.Error("nothing comes after the place where a stream ended")
	}
	if own, _ := d.rows(t, "/v1/audit/tail?from=0", bearer("ada")); (<-own).QueryID != "ada-0" {
		t.Error("the stream does not begin where the page was")
	}
	if got := d.ask(t, "GET", "/v1/audit/tail?from=x", "", bearer("root")); got.status != http.StatusBadRequest {
		t.Errorf("from=x: %d", got.status)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestQueryByScript: a script gets progress and at the end the page, and each way to ask
// reaches its tool.
func TestQueryByScript(t *testing.T) {
	d := openDesk(t, 1, tokens())
	form, cookie, origin := "Content-Type: application/x-www-form-urlencoded", d.login(t, "root"), "Origin: "+d.origin
	got := d.ask(t, "POST", "/query", url.Values{"connection": {"shop"}, "sql": {"SELECT 1"}}.Encode(), form, cookie, origin, "Accept: text/html, text/event-stream")
	if !strings.HasPrefix(got.body, "event: progress\ndata: \"Executing\"\n\nevent: page\ndata: \"") || !strings.Contains(got.body, "9007199254740993") {
		t.Errorf("by a script: %.300s", got.body)
	}
	for _, r := range []struct {
		values url.Values
		want   string
	}{
		{url.Values{"sql": {"SELECT 1"}}, `sql_execution {"connectionId":"shop","sql":"SELECT 1"}`},
		{url.Values{"sql": {"SELECT 1"}, "as": {"plan"}}, `sql_execution {"connectionId":"shop","sql":"EXPLAIN SELECT 1"}`},
		{url.Values{"measures": {"a.b, c.d"}, "dimensions": {"e.f"}, "filters": {"x = 1\r\ny in (1, 2)"}, "order": {"e.f"}, "limit": {"7"}}, `sl_query {"connectionId":"shop","dimensions":["e.f"],"filters":["x = 1","y in (1, 2)"],"include":["sql"],"limit":7,"measures":["a.b","c.d"],"order_by":["e.f"]}`},
		{url.Values{"measures": {"a.b"}, "as": {"plan"}}, `sl_query {"connectionId":"shop","dimensions":[],"filters":[],"include":["sql","plan"],"limit":0,"measures":["a.b"],"order_by":[]}`},
	} {
		r.values.Set("connection", "shop")
		if got := d.ask(t, "POST", "/query", r.values.Encode(), form, cookie, origin); got.status != http.StatusOK || lastCall.Load() != r.want {
			t.Errorf("%v: %d %s", r.values, got.status, lastCall.Load())
		}
	}
}
