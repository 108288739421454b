package pages_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

var (
	judged    = regexp.MustCompile(`<dt>judged</dt><dd>([0-9,]+)</dd>`)
	continued = regexp.MustCompile(`rel="next" href="([^"#]*[?;]after=[^"#]+)"`)
)

// TestJudgingGoesOn judges more statements than a page has the time for. Each page goes on
// where the one before ended: together they have every statement once, also when all are
// of the same moment.
func TestJudgingGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const all = 1234
	at := time.Now().Add(-time.Hour)
	for i := range all {
		e := audit.Event{
			Time: at, Type: audit.QueryDecision, QueryID: fmt.Sprintf("q-%d", i), Principal: []string{"ada", "bob"}[i%2], Connection: audit.Connection{ID: "shop", Dialect: "postgres"},
			SQL: audit.SQL{Normalized: fmt.Sprintf("DELETE FROM t%d", i), Fingerprint: strconv.Itoa(i)}, Decision: audit.Decision{Verdict: audit.VerdictAllow},
		}
		if err := log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	d := serve(t, dir, tokens())
	root, bob := d.login(t, "root"), d.login(t, "bob")
	follow := func(login, path string) (pages, sum int) {
		t.Helper()
		for ; path != ""; pages++ {
			got := d.ask(t, "GET", path, "", login)
			found := judged.FindStringSubmatch(got.body)
			if got.status != http.StatusOK || found == nil || pages > 9 {
				t.Fatalf("%s: %d %.500s", path, got.status, got.body)
			}
			n, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
			if err != nil {
				t.Fatal(err)
			}
			sum += n
			if first := strings.Contains(got.body, "Begin with the newest"); first != (pages > 0) {
				t.Errorf("%s: page %d leads to the newest: %t", path, pages, first)
			}
			next := continued.FindStringSubmatch(got.body)
			if cut := strings.Contains(got.body, "more statements than one page"); cut != (next != nil) {
				t.Errorf("%s: says that it is cut: %t, goes on: %t", path, cut, next != nil)
			}
			path = ""
			if next != nil {
				path = html.UnescapeString(next[1])
				if !strings.Contains(path, "verdict=allow") {
					t.Errorf("%s has lost a condition", path)
				}
			}
		}
		return pages, sum
	}
	if pages, sum := follow(root, "/audit/rejudge?verdict=allow"); pages != 1 || sum != all {
		t.Errorf("with time enough: %d pages, %d statements", pages, sum)
	}
	begun := time.Now()
	d.pages.SetClock(func() time.Time { // each look at the clock is a minute later
		begun = begun.Add(time.Minute)
		return begun
	})
	if pages, sum := follow(root, "/audit/rejudge?verdict=allow&since=2020-01-01"); pages != 3 || sum != all {
		t.Errorf("of all principals: %d pages, %d statements", pages, sum)
	}
	if pages, sum := follow(bob, "/audit/rejudge?verdict=allow&since=2020-01-01"); pages != 2 || sum != all/2 {
		t.Errorf("of one principal: %d pages, %d statements", pages, sum)
	}
	for _, bad := range []string{"0", "-1", "x", "99999999999999999999"} {
		if got := d.ask(t, "GET", "/audit/rejudge?after="+bad, "", root); got.status != http.StatusBadRequest {
			t.Errorf("after=%s: %d", bad, got.status)
		}
	}
}

// TestJudgingTakesTurns has two readers who judge at the same time: the second one waits
// for the first, and when it leaves, nothing waits for it.
func TestJudgingTakesTurns(t *testing.T) {
	d := openDesk(t, 5, nil)
	leave := d.pages.Reviewing()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.origin+"/audit/rejudge", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err == nil {
		_ = answer.Body.Close()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the second reader did not wait: %v", err)
	}
	got := make(chan int)
	go func() { got <- d.ask(t, "GET", "/audit/rejudge", "").status }()
	select {
	case status := <-got:
		t.Fatalf("the third reader did not wait: %d", status)
	case <-time.After(200 * time.Millisecond):
	}
	leave()
	select {
	case status := <-got:
		if status != http.StatusOK {
			t.Errorf("the third reader: %d", status)
		}
	case <-time.After(30 * time.Second):
		t.Error("the place was not given back")
	}
}
