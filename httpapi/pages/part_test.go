package pages_test

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution/audit"
)

// nextPart is the link to the next part of a list, with the address in its first group.
var nextPart = regexp.MustCompile(`<a rel="next" href="([^"]+)"`)

// follow reads all parts of a list, of which an entry is the first group of the pattern. The
// page may have other lists that go on: list is in the address of the one that is meant.
func follow(t *testing.T, d *desk, path, list, entry string, login ...string) (parts int, entries []string) {
	t.Helper()
	one := regexp.MustCompile(entry)
	seen := map[string]bool{}
	for ; path != ""; parts++ {
		got := d.ask(t, "GET", path, "", login...)
		if got.status != http.StatusOK || parts > 60 {
			t.Fatalf("%s: %d %.500s", path, got.status, got.body)
		}
		for _, m := range one.FindAllStringSubmatch(got.body, -1) {
			if seen[m[1]] {
				t.Fatalf("%s has %s again", path, m[1])
			}
			seen[m[1]] = true
			entries = append(entries, m[1])
		}
		if first := strings.Contains(got.body, ">The first</a>"); first != (parts > 0) {
			t.Errorf("%s: leads to the first part: %t", path, first)
		}
		path = ""
		for _, m := range nextPart.FindAllStringSubmatch(got.body, -1) {
			next, fragment, found := strings.Cut(html.UnescapeString(m[1]), "#")
			if fragment == list || !found && strings.Contains(next, list+"=") {
				path = next
			}
		}
	}
	return parts, entries
}

// TestEveryListGoesOn reads lists that are longer than a page shows to their ends: together
// the parts have every entry once.
func TestEveryListGoesOn(t *testing.T) {
	d := openDesk(t, 1, nil)
	answering.Store("many")
	defer answering.Store("")
	for _, c := range []struct {
		path, list, entry string
		parts, entries    int
	}{
		{"/", "connections", `<td><bdi>(shop-[0-9]+)</bdi>`, 8, 75},
		{"/explore?list=connections", "after", `<bdi>(shop-[0-9]+)</bdi>`, 1, 75},
		{"/explore?list=sources", "after", `<bdi>(source-[0-9]+)</bdi>`, 1, 30},
		{"/explore?connection=shop", "tables", `<bdi>(t[0-9]+)</bdi></a>`, 3, 450},
		{"/explore?connection=shop", "schemas", `<li><a href="[^"]*schema=(s[0-9]+)"`, 2, 60},
		{"/explore?q=many", "after", `<bdi>(orders.m[0-9]+)</bdi>`, 3, 120},
		{"/skills?q=many", "after", `<bdi>(skill-[0-9]+)</bdi>`, 3, 120},
		{"/tools", "after", `<bdi>(server-[0-9]+)</bdi>`, 3, 450},
	} {
		if parts, entries := follow(t, d, c.path, c.list, c.entry); parts != c.parts || len(entries) != c.entries {
			t.Errorf("%s: %d parts, %d entries; want %d, %d", c.path, parts, len(entries), c.parts, c.entries)
		}
	}
	if parts, _ := follow(t, d, "/explore", "after", `<td><a href="(/explore\?connection=[^"]+)"`); parts != 2 {
		t.Errorf("from the list among others to the one that stands alone: %d parts", parts)
	}
	got := d.ask(t, "GET", "/explore?q=broken", "")
	if got.status != http.StatusInternalServerError || strings.Contains(got.body, "a file is gone") {
		t.Errorf("a search that fails: %d %.300s", got.status, got.body)
	}
	if got := d.ask(t, "GET", "/explore?q=orders&connection=other", ""); got.status != http.StatusNotFound {
		t.Errorf("a search in a connection of others: %d", got.status)
	}
	for _, path := range []string{"/explore?q=many&after=x", "/explore?q=many&after=-1", "/skills?after=99999999999999999999", "/tools?after=nothing", "/?connections=nothing"} {
		if got := d.ask(t, "GET", path, ""); got.status != http.StatusOK || !strings.Contains(got.body, "<td>") {
			t.Errorf("%s: %d %.300s", path, got.status, got.body)
		}
	}
}

// TestActivityGoesOn reads the lists of a principal with many days, sessions, tables and
// runs of refusals to their ends.
func TestActivityGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const all = 130
	for i := range all * 3 {
		e := audit.Event{
			Time: time.Now().Add(time.Duration(i/3-all) * 24 * time.Hour), Type: audit.QueryDecision, QueryID: fmt.Sprintf("q-%d", i), Principal: "ada", Session: fmt.Sprintf("session-%d", i/3),
			Connection: audit.Connection{ID: "shop", Dialect: "postgres"}, SQL: audit.SQL{Normalized: "DELETE", Tables: []string{fmt.Sprintf("table-%d", i/3)}},
			Decision: audit.Decision{Verdict: audit.VerdictReject, Codes: []string{"write_statement"}},
		}
		if err := log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	d := serve(t, dir, nil)
	for _, c := range []struct{ path, list, entry string }{
		{"/principal?name=ada&since=365d", "days", `<td><a href="/audit\?[^"]*">(20[0-9]+-[0-9]+-[0-9]+)</a></td>`},
		{"/principal?name=ada&since=365d", "sessions", `<td><a href="[^"]*"><bdi>(session-[0-9]+)</bdi></a></td><td><time[^>]*>[^<]*</time></td><td><time[^>]*>[^<]*</time></td><td class="n">`},
		{"/session?id=session-7", "sessions", `<td><a href="[^"]*"(?: aria-current="true")?><bdi>(session-[0-9]+)</bdi></a></td><td><time[^>]*>[^<]*</time></td><td><time[^>]*>[^<]*</time></td><td class="n">`},
		{"/principal?name=ada&since=365d", "tables", `<bdi>(table-[0-9]+)</bdi></a></td><td><strong`},
		{"/principal?name=ada&since=365d", "streaks", `<td class="n"><a [^>]*session=(session-[0-9]+)`},
	} {
		if parts, entries := follow(t, d, c.path, c.list, c.entry); parts < 3 || len(entries) != all {
			t.Errorf("%s, %s: %d parts, %d entries", c.path, c.list, parts, len(entries))
		}
	}
}

// TestChangedFormsGoOn judges statements of more forms than a page lists.
func TestChangedFormsGoOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const all = 1250
	at := time.Now().Add(-time.Hour)
	for i := range all {
		e := audit.Event{
			Time: at, Type: audit.QueryDecision, QueryID: fmt.Sprintf("q-%d", i), Principal: "ada", Connection: audit.Connection{ID: "shop", Dialect: "postgres"},
			SQL: audit.SQL{Normalized: fmt.Sprintf("DELETE FROM t%d", i)}, Decision: audit.Decision{Verdict: audit.VerdictAllow},
		}
		if err := log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	d := serve(t, dir, nil)
	form := `<a href="/audit/(q-[0-9]+)">`
	if parts, forms := follow(t, d, "/audit/rejudge", "forms", form); parts != 7 || len(forms) != all {
		t.Errorf("%d parts, %d forms", parts, len(forms))
	}
	// Each part of the list is of the statements that the first one judged.
	begun := time.Now()
	d.pages.SetClock(func() time.Time {
		begun = begun.Add(time.Minute)
		return begun
	})
	if parts, forms := follow(t, d, "/audit/rejudge?since=2020-01-01", "forms", form); parts != 3 || len(forms) != 500 {
		t.Errorf("with little time: %d parts, %d forms", parts, len(forms))
	}
}

// runOf returns a file with the first n results of the guard.
func runOf(t *testing.T, n int) string {
	t.Helper()
	book, err := sqliteCases()
	if err != nil {
		t.Fatal(err)
	}
	guard, err := run.NewBuiltin("v0", dialects.All())
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := run.WriteFile(&file, nil, guard, book.Results[:n]); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// TestChangesGoOn compares two runs that differ in more cases than a page lists. Nobody
// else sees them.
func TestChangesGoOn(t *testing.T) {
	d := openDesk(t, 1, tokens())
	book, err := sqliteCases()
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("before", "run.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(part, runOf(t, 1)); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	root := d.login(t, "root")
	sent := d.ask(t, "POST", "/corpus/compare", body.String(), "Content-Type: "+form.FormDataContentType(), "Origin: "+d.origin, root)
	path := sent.header.Get("Location")
	if sent.status != http.StatusSeeOther || path == "" {
		t.Fatalf("%d %.500s", sent.status, sent.body)
	}
	if got := d.ask(t, "GET", path, "", d.login(t, "bob")); got.status != http.StatusNotFound {
		t.Errorf("the comparison of another principal: %d", got.status)
	}
	if parts, cases := follow(t, d, path, "changes", `<th scope="row"><a href="/corpus/([^"]+)"`, root); parts < 2 || len(cases) != len(book.Results)-1 {
		t.Errorf("%d parts, %d of %d cases", parts, len(cases), len(book.Results))
	}
	if _, cases := follow(t, d, path+"&kind=added", "changes", `<th scope="row"><a href="/corpus/([^"]+)"`, root); len(cases) != len(book.Results)-1 {
		t.Errorf("added: %d of %d cases", len(cases), len(book.Results))
	}
	if got := d.ask(t, "GET", path+"&kind=removed", "", root); got.status != http.StatusOK || strings.Contains(got.body, `<th scope="row">`) {
		t.Errorf("removed: %d", got.status)
	}
}
