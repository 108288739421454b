package wiki_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki"
)

// write changes a file of a project.
func write(t *testing.T, root *os.Root, name, text string) {
	t.Helper()
	if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// found returns the pages that a search finds, as SCOPE key.
func found(t *testing.T, s *wiki.Store, query string) []string {
	t.Helper()
	f, err := s.Search(query, 50)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, h := range f.Hits {
		out = append(out, string(h.Page.Scope)+" "+h.Page.Key)
	}
	if f.Total != len(out) {
		t.Errorf("%q: total %d of %d", query, f.Total, len(out))
	}
	return out
}

func TestHead(t *testing.T) {
	t.Parallel()
	p := wiki.Parse(wiki.Global, "net", "wiki/global/net.md", []byte(`---
summary: >
  Gross minus
  refunds.
tags: [finance, "net sales", finance]
refs: gross, churn
sl_refs: [orders]
usage_mode: always
sort_order: -3
tables:
  - public.orders
stale_since: 2026-01-31
archived_since: false
source: notion
---

# Net *revenue* ##

Text.
`))
	want := &wiki.Page{
		Key: "net", Scope: wiki.Global, Path: "wiki/global/net.md", Title: "Net *revenue*", Summary: "Gross minus refunds.",
		Tags: []string{"finance", "net sales"}, Refs: []string{"gross", "churn"}, SLRefs: []string{"orders"}, Tables: []string{"public.orders"},
		Usage: wiki.UsageAlways, SortOrder: -3, Source: "notion", StaleSince: "2026-01-31", Body: "\n# Net *revenue* ##\n\nText.\n",
	}
	if diff := cmp.Diff(want, p, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".bodyLine" }, cmp.Ignore())); diff != "" {
		t.Error(diff)
	}
	if !p.Searchable() || !p.Untrusted() {
		t.Error("it is searchable and untrusted")
	}
}

// TestWrongHeads: what is wrong with a head is said with its line, and the rest of
// the page is read.
func TestWrongHeads(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, problem, body string
	}{
		{"none", "Text.", "", "Text."},
		{"empty", "---\n---\nText.", "", "Text."},
		{"Windows", "\uFEFF---\r\nsummary: a\r\n---\r\nText.", "", "Text."},
		{"only a rule", "Text.\n---\nMore.", "", "Text.\n---\nMore."},
		{"no end", "---\nsummary: a\nText.", "1 error the head has no end", "---\nsummary: a\nText."},
		{"not YAML", "---\nsummary: a\ntags: [a\n---\nText.", "2 error the head is not YAML: did not find", "Text."},
		{"a list", "---\n- a\n---\nText.", "2 error the head is not a list of keys", "Text."},
		{"alias", "---\ntags: &a [x]\nrefs: *a\n---\nText.", "2 error aliases", "Text."},
		{"tag", "---\nsummary: !!binary aGk=\n---\nText.", "2 error YAML tags", "Text."},
		{"wrong kind", "---\nsummary: [a]\n---\nText.", "2 error summary is not a single value", "Text."},
		{"wrong mode", "---\ntags: [x]\nusage_mode: nevr\n---\nText.", "3 error usage_mode \"nevr\"", "Text."},
		{"wrong order", "---\nsort_order: first\n---\nText.", "2 error sort_order \"first\"", "Text."},
		{"unknown key", "---\nsummry: x\n---\nText.", "2 warning ktx does not know the key \"summry\"; did you mean summary?", "Text."},
		{"twice", "---\nsummary: a\nsummary: b\n---\nText.", "3 error the", "Text."},
		{"no date", "---\nstale_since: soon\n---\nText.", "2 warning stale_since \"soon\"", "Text."},
		{"long", "---\nsummary: " + strings.Repeat("x", 20_000) + "\n---\nText.", "2 error the head has", "Text."},
		{"many", "---\ntags: [" + strings.Repeat("a", 300) + "]\n---\nText.", "2 error an item of tags has more", "Text."},
		{"deep", "---\nx: " + strings.Repeat("[", 20) + strings.Repeat("]", 20) + "\n---\nText.", "2 error the head is nested", "Text."},
		{"not UTF-8", "a\xffb", "1 error the page is not valid UTF-8", "a\uFFFDb"},
	} {
		p := wiki.Parse(wiki.Global, "k", "", []byte(test.text))
		got := ""
		if len(p.Problems) > 0 {
			got = fmt.Sprintf("%d %s %s", p.Problems[0].Line, p.Problems[0].Level, p.Problems[0].Message)
		}
		if p.Body != test.body || !strings.HasPrefix(got, test.problem) || (got == "") != (test.problem == "") {
			t.Errorf("%s: problem %q, body %q", test.name, got, p.Body)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"a", "A-b_9", "0", strings.Repeat("x", wiki.MaxKey)} {
		if err := wiki.CheckKey(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"", "-a", "_a", "a b", "../a", "a/b", "a.md", "é", "a\x00", strings.Repeat("x", wiki.MaxKey+1)} {
		if err := wiki.CheckKey(key); !errors.Is(err, wiki.ErrKey) {
			t.Errorf("%q: %v", key, err)
		}
	}
	for text, want := range map[string]string{
		"Net Revenue!": "net-revenue", "  Größe & Maß  ": "grosse-mass", "what's up": "whats-up", "a__b": "a__b", "売上": "", "x.md": "x",
		strings.Repeat("word ", 40): strings.TrimSuffix(strings.Repeat("word-", 16), "-"),
	} {
		if got := wiki.Slug(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if slug := wiki.Slug(rapid.String().Draw(t, "text")); slug != "" && (!wiki.ValidKey(slug) || wiki.Slug(slug) != slug) {
			t.Fatalf("%q", slug)
		}
	})
}

// TestScopes: the page of the user hides the global one on read, and search finds
// both. Pages of other users are not seen.
func TestScopes(t *testing.T) {
	t.Parallel()
	s := storeOf(t, map[string]string{
		"wiki/global/churn.md":   "# Churn\nGlobal text about leaving.",
		"wiki/user/ann/churn.md": "# Churn\nAnn's text about leaving.",
		"wiki/user/bob/other.md": "# Other\nBob's text about leaving.",
		"wiki/global/only.md":    "# Only\nNothing else.",
	})
	p, err := s.Read("churn")
	if err != nil || p.Scope != wiki.User || p.Path != "wiki/user/ann/churn.md" {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := s.Read("only"); err != nil || p.Scope != wiki.Global {
		t.Errorf("%+v, %v", p, err)
	}
	if diff := cmp.Diff([]string{"USER churn", "GLOBAL churn"}, found(t, s, "leaving")); diff != "" {
		t.Error(diff)
	}
	_, err = s.Read("chrn")
	missing, ok := errors.AsType[*wiki.NotFoundError](err)
	if !ok || !slices.Equal(missing.Nearest, []string{"churn"}) || err.Error() != `Wiki page "chrn" was not found. Nearest: churn.` {
		t.Errorf("%v", err)
	}
	if _, err := s.Read("other"); !errors.As(err, &missing) {
		t.Errorf("Bob's page: %v", err)
	}
	if _, err := s.Read("../ktx"); !errors.Is(err, wiki.ErrKey) {
		t.Errorf("%v", err)
	}
}

// TestModes: pages that are not for use or archived are left out of search, and
// stale ones are ranked lower.
func TestModes(t *testing.T) {
	t.Parallel()
	s := storeOf(t, map[string]string{
		"wiki/global/a.md": "---\nstale_since: 2026-01-01\n---\n# Margin\nMargin is margin.",
		"wiki/global/b.md": "---\nusage_mode: never\n---\n# Margin\nMargin is margin.",
		"wiki/global/c.md": "---\narchived_since: 2026-01-01\n---\n# Margin\nMargin is margin.",
		"wiki/global/d.md": "# Profit\nIt is also called margin, among many other words that say nothing.",
		"wiki/global/e.md": "---\nsort_order: 2\n---\n# Twin\nmargin",
		"wiki/global/f.md": "---\nsort_order: 1\n---\n# Twin\nmargin",
	})
	got := found(t, s, "margin")
	if slices.Contains(got, "GLOBAL b") || slices.Contains(got, "GLOBAL c") || slices.Index(got, "GLOBAL f") > slices.Index(got, "GLOBAL e") {
		t.Errorf("%q", got)
	}
	if p, err := s.Read("c"); err != nil || p.Searchable() {
		t.Errorf("%+v, %v", p, err)
	}
	fresh := storeOf(t, map[string]string{"wiki/global/a.md": "# Margin\nMargin is margin.", "wiki/global/d.md": "# Margin\nMargin is margin."})
	if got := found(t, fresh, "margin"); got[0] != "GLOBAL a" {
		t.Errorf("%q", got)
	}
	stale := storeOf(t, map[string]string{"wiki/global/a.md": "---\nstale_since: yes\n---\n# Margin\nMargin is margin.", "wiki/global/d.md": "# Margin\nMargin is margin."})
	if got := found(t, stale, "margin"); got[0] != "GLOBAL d" {
		t.Errorf("%q", got)
	}
}

// TestSearch: names come first, identifiers are found, and a hit says where its
// words are.
func TestSearch(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Filler text about nothing in particular, for a long page. ", 60)
	s := storeOf(t, map[string]string{
		"wiki/global/net-revenue.md": "---\nsummary: What remains.\ntags: [finance]\n---\n# Net revenue\nSee `orders.net_amount`.",
		"wiki/global/revenue.md":     "# Revenue\nNet revenue, net revenue, net revenue and revenue.",
		"wiki/global/long.md":        "# Long\n" + long + "\n\n## Returns\n\nA parcel that comes back is inspected by the quarantine team.\n\n" + long,
	})
	for query, want := range map[string]string{
		"net-revenue": "GLOBAL net-revenue", "Net Revenue": "GLOBAL net-revenue", "[[net-revenue]]": "GLOBAL net-revenue", "orders.net_amount": "GLOBAL net-revenue",
		"net_amount": "GLOBAL net-revenue", "quarantined parcels": "GLOBAL long", "finance": "GLOBAL net-revenue",
	} {
		if got := found(t, s, query); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %q", query, got)
		}
	}
	for _, query := range []string{"", "  ", "\x00\n", "zzzzqqqq"} {
		if got := found(t, s, query); len(got) != 0 {
			t.Errorf("%q: %q", query, got)
		}
	}
	f, err := s.Search("quarantine", 1)
	if err != nil || len(f.Hits) != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	h := f.Hits[0]
	if h.Page.Body[h.Start:h.End] != "quarantine" || h.Field != "body" || !slices.Equal(h.Fields, []string{"body"}) || h.Mass <= 0 {
		t.Errorf("%q at %d, %q, %q", h.Page.Body[h.Start:h.End], h.Start, h.Field, h.Fields)
	}
	f, err = s.Search("net revenue", 1)
	if err != nil || f.Total != 2 || len(f.Hits) != 1 || f.Hits[0].Field != "key" || !f.Hits[0].Named || !slices.Equal(f.Hits[0].Fields, []string{"key", "title", "heading", "body"}) {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestFresh: every kind of change is seen by the next call, also when the time and
// the size of the file stay the same.
func TestFresh(t *testing.T) {
	t.Parallel()
	now := time.Now()
	root := project(t, map[string]string{"wiki/global/a.md": "alpha"})
	s := wiki.New(root, wiki.Options{User: "ann", Analyzer: rank.NewAnalyzer(nil), Now: func() time.Time { return now }})
	stamp := now.Add(-time.Second) // young: the file may change again within the same tick
	set := func(name, text string) {
		t.Helper()
		write(t, root, name, text)
		if err := root.Chtimes(name, stamp, stamp); err != nil {
			t.Fatal(err)
		}
	}
	want := func(query string, pages ...string) {
		t.Helper()
		if got := found(t, s, query); !slices.Equal(got, pages) && len(got)+len(pages) > 0 {
			t.Errorf("%q: %q, want %q", query, got, pages)
		}
	}
	set("wiki/global/a.md", "alpha")
	want("alpha", "GLOBAL a")
	set("wiki/global/a.md", "gamma") // as long and as old
	want("alpha")
	want("gamma", "GLOBAL a")
	now = now.Add(time.Hour)
	want("gamma", "GLOBAL a")
	before, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Snapshot(); err != nil || again != before {
		t.Errorf("nothing changed, and the snapshot is another one: %v", err)
	}
	set("wiki/global/b.md", "delta")
	want("delta", "GLOBAL b")
	if err := root.MkdirAll("wiki/user/ann", 0o750); err != nil {
		t.Fatal(err)
	}
	set("wiki/user/ann/a.md", "gamma")
	want("gamma", "USER a", "GLOBAL a")
	if err := root.Rename("wiki/global/b.md", "wiki/global/c.md"); err != nil {
		t.Fatal(err)
	}
	want("delta", "GLOBAL c")
	if err := root.RemoveAll("wiki"); err != nil {
		t.Fatal(err)
	}
	want("gamma")
}

// TestConcurrent: calls at one time see whole pages, each at least as new as the
// call.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	root := project(t, map[string]string{"wiki/global/a.md": "version0 version0"})
	s := wiki.New(root, wiki.Options{Analyzer: rank.NewAnalyzer(nil), Now: time.Now})
	var mu sync.Mutex
	written := 0
	stop := make(chan struct{})
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				mu.Lock()
				least := written
				mu.Unlock()
				snapshot, err := s.Snapshot()
				if err != nil {
					t.Error(err)
					return
				}
				var a, b int
				if n, err := fmt.Sscanf(snapshot.Pages()[0].Body, "version%d version%d", &a, &b); n != 2 || err != nil || a != b || a < least {
					t.Errorf("%q, at least %d", snapshot.Pages()[0].Body, least)
					return
				}
			}
		})
	}
	for i := 1; i <= 40; i++ {
		before, err := s.Raw(wiki.Global, "a")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(wiki.Global, "a", before, fmt.Appendf(nil, "version%d version%d", i, i)); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		written = i
		mu.Unlock()
	}
	close(stop)
	wait.Wait()
}

// TestHostileFiles: what is no page is left out with a warning, and never read.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	root := project(t, map[string]string{
		"wiki/global/good.md": "# Good\nneedle", "wiki/global/big.md": strings.Repeat("needle ", wiki.MaxPage/6), "wiki/global/bad name.md": "needle",
		"wiki/global/sub/deep.md": "needle", "wiki/global/notes.txt": "needle", "secret.md": "needle", "wiki/global/broken.md": "---\n[\n---\nneedle",
	})
	outside := filepath.Join(t.TempDir(), "outside.md")
	if err := os.WriteFile(outside, []byte("needle"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(outside, filepath.Join(root.Name(), "wiki/global/escape.md")), root.Mkdir("wiki/global/dir.md", 0o750)); err != nil {
		t.Fatal(err)
	}
	s := wiki.New(root, wiki.Options{Analyzer: rank.NewAnalyzer(nil), Now: time.Now})
	if diff := cmp.Diff([]string{"GLOBAL broken", "GLOBAL good"}, slices.Sorted(slices.Values(found(t, s, "needle")))); diff != "" {
		t.Error(diff)
	}
	if p, err := s.Read("escape"); err == nil {
		t.Errorf("a file outside of the project was read: %+v", p)
	}
	snapshot, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	warnings := strings.Join(snapshot.Warnings(), "\n")
	for _, part := range []string{"wiki/global/big.md: it has ", "wiki/global/escape.md: it cannot be read", "wiki/global/broken.md:2: the head is not YAML"} {
		if !strings.Contains(warnings, part) {
			t.Errorf("no warning %q in\n%s", part, warnings)
		}
	}
	problems, err := s.Lint()
	if err != nil {
		t.Fatal(err)
	}
	var lint []string
	for _, p := range problems {
		if p.Level == wiki.LevelError || p.Path == "wiki/global/sub" || p.Path == "wiki/global/notes.txt" {
			lint = append(lint, p.Path)
		}
	}
	if diff := cmp.Diff([]string{"wiki/global/bad name.md", "wiki/global/big.md", "wiki/global/broken.md", "wiki/global/escape.md", "wiki/global/notes.txt", "wiki/global/sub"}, slices.Compact(lint)); diff != "" {
		t.Error(diff)
	}
}

// TestLint: links, references, titles and names.
func TestLint(t *testing.T) {
	t.Parallel()
	s := storeOf(t, map[string]string{
		"wiki/global/good.md":  "---\nsummary: Fine.\nrefs: [other]\n---\n# Good\nSee [[other]], [[other|that one]] and [[other#part]]. Code: `[[no]]`.\n\n```\n[[none]]\n```\n",
		"wiki/global/other.md": "---\nsummary: Fine.\n---\n# Other\nText.\n",
		"wiki/global/links.md": "---\nsummary: Links.\nrefs: [othr]\n---\n# Links\n\n[[othr]] and [[Other Page]].\n",
		"wiki/global/Links.md": "# Good\nText.\n",
		"wiki/global/empty.md": "",
	})
	problems, err := s.Lint()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%s:%d: %s: %s", strings.TrimPrefix(p.Path, "wiki/global/"), p.Line, p.Level, p.Message))
	}
	want := []string{
		`Links.md:1: warning: the page has no summary; write one sentence as summary in its head`,
		`empty.md:1: warning: the page has no summary; write one sentence as summary in its head`,
		`empty.md:1: warning: the page has no text`,
		`good.md:1: warning: it has the title of wiki/global/Links.md; join the two, or give one another title`,
		`links.md:1: error: its name differs from wiki/global/Links.md in case only, and some systems cannot hold both`,
		`links.md:1: error: refs names "othr", which is no page; did you mean other?`,
		`links.md:7: error: [[Other Page]] is no key; did you mean other?`,
		`links.md:7: error: [[othr]] leads to no page; did you mean other?`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMentions: identifiers of pages, with the words that are used for them.
func TestMentions(t *testing.T) {
	t.Parallel()
	s := storeOf(t, map[string]string{
		"wiki/global/net.md": "---\nsummary: Gross minus refunds.\ntags: [finance]\ntables: [public.orders]\n---\n# Net revenue\nUse `orders.net_amount`, not `gross`; e.g. see readme.md, 3.5 or ktx.com.\n\n```sql\nSELECT net_cents FROM t\n```\n",
		"wiki/global/two.md": "# Turnover\nAlso orders.net_amount here.",
		"wiki/global/off.md": "---\nusage_mode: never\n---\nhidden_name",
	})
	snapshot, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	about := "Net revenue Gross minus refunds. finance"
	line := " Use `orders.net_amount`, not `gross`; e.g. see readme.md, 3.5 or ktx.com."
	want := []wiki.Mention{
		{Identifier: "gross", Text: about + line},
		{Identifier: "net_cents", Text: about},
		{Identifier: "orders.net_amount", Text: about + line + " Turnover Also orders.net_amount here."},
		{Identifier: "public.orders", Text: about},
	}
	if diff := cmp.Diff(want, snapshot.Mentions()); diff != "" {
		t.Error(diff)
	}
}

// TestWrite: a page is written whole, and only over what its writer has read.
func TestWrite(t *testing.T) {
	t.Parallel()
	root := project(t, nil)
	s := wiki.New(root, wiki.Options{User: "ann", Analyzer: rank.NewAnalyzer(nil), Now: time.Now})
	if err := s.Write(wiki.User, "a", nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(wiki.User, "a", nil, []byte("two")); !errors.Is(err, wiki.ErrChanged) {
		t.Errorf("a page was made twice: %v", err)
	}
	if err := s.Write(wiki.User, "a", []byte("other"), []byte("two")); !errors.Is(err, wiki.ErrChanged) {
		t.Errorf("another text was replaced: %v", err)
	}
	if err := s.Write(wiki.Global, "b", []byte("gone"), []byte("two")); !errors.Is(err, wiki.ErrChanged) {
		t.Errorf("a page that is gone was replaced: %v", err)
	}
	if err := s.Write(wiki.User, "a", []byte("one"), []byte("two")); err != nil {
		t.Error(err)
	}
	if text, err := s.Raw(wiki.User, "a"); err != nil || string(text) != "two" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := s.Raw(wiki.Global, "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, text := range []string{"a\x00", "\xff", "---\n[\n---\n", strings.Repeat("x", wiki.MaxPage+1)} {
		if err := s.Write(wiki.User, "c", nil, []byte(text)); !errors.As(err, new(*wiki.InvalidPageError)) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{"wiki/user/ann/.ktx-page-old", "wiki/user/ann/.ktx-page-new"} {
		write(t, root, name, "half a pa")
	}
	if err := root.Chtimes("wiki/user/ann/.ktx-page-old", old, old); err != nil {
		t.Fatal(err)
	}
	s.Sweep(wiki.User)
	if _, err := root.Stat("wiki/user/ann/.ktx-page-new"); err != nil {
		t.Error(err)
	}
	if err := root.Remove("wiki/user/ann/.ktx-page-new"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(root.Name(), "wiki/user/ann"))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestWriteThenRead: what is written is read back byte for byte.
func TestWriteThenRead(t *testing.T) {
	t.Parallel()
	root := project(t, nil)
	s := wiki.New(root, wiki.Options{Analyzer: rank.NewAnalyzer(nil), Now: time.Now})
	var before []byte
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		if runs++; runs > 50 {
			return // each write is flushed to disk
		}
		text := []byte(rapid.String().Draw(r, "body"))
		if rapid.Bool().Draw(r, "head") {
			text = fmt.Appendf(nil, "---\nsummary: %q\n---\n%s", rapid.StringMatching(`[a-z ]*`).Draw(r, "summary"), text)
		}
		err := s.Write(wiki.Global, "k", before, text)
		if invalid := wiki.Validate("k", text); (invalid == nil) != (err == nil) {
			r.Fatalf("%v, and validation said %v", err, invalid)
		}
		if err != nil {
			return
		}
		before = text
		got, err := s.Raw(wiki.Global, "k")
		if err != nil || string(got) != string(text) {
			r.Fatalf("%q, want %q (%v)", got, text, err)
		}
		p, err := s.Read("k")
		if err != nil || !strings.HasSuffix(string(text), p.Body) {
			r.Fatalf("%q, want the end of %q (%v)", p.Body, text, err)
		}
	})
}

// TestEdit: a head that is changed keeps the rest of the page, and reads as it was
// set.
func TestEdit(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[\pL:#'"&*!|>%@\[\]{},?. -]{1,20}`)
	rapid.Check(t, func(r *rapid.T) {
		body := rapid.String().Draw(r, "body")
		if !strings.HasPrefix(body, "\uFEFF") && !strings.HasPrefix(body, "---") {
			if _, got, err := wiki.Split([]byte(body)); err != nil || got != body {
				r.Fatalf("%q, %v", got, err)
			}
		}
		summary, tag, unknown := word.Draw(r, "summary"), word.Draw(r, "tag"), word.Draw(r, "unknown")
		text := fmt.Appendf(nil, "---\nowner: %q # who\ntags: [one]\n---\n%s", unknown, body)
		head, rest, err := wiki.Split(text)
		if err != nil {
			r.Fatal(err)
		}
		head.Set("summary", summary)
		head.Add("tags", tag, "one")
		head.AddCapture(wiki.Capture{At: "2026-01-01T00:00:00Z", Source: "mcp", Client: tag, SHA256: "ff"})
		out, err := wiki.Join(head, rest)
		if err != nil {
			r.Fatal(err)
		}
		p := wiki.Parse(wiki.Global, "k", "", out)
		if !strings.Contains(body, "\uFFFD") && p.Body != strings.ToValidUTF8(body, "\uFFFD") {
			r.Fatalf("body %q, want %q", p.Body, body)
		}
		clean := func(s string) string { return strings.Join(strings.Fields(s), " ") }
		if p.Summary != clean(summary) || clean(tag) != "" && clean(tag) != "one" && !slices.Equal(p.Tags, []string{"one", clean(tag)}) {
			r.Fatalf("%q and %q from\n%s", p.Summary, p.Tags, out)
		}
		if !strings.Contains(string(out), "# who\n") || len(p.Captures) != 1 || p.Captures[0].Client != clean(tag) {
			r.Fatalf("%+v from\n%s", p.Captures, out)
		}
	})
}

// FuzzPage: any file is read without a panic, the same way twice, and what the lint
// says has a line.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		"", "# A\n[[b]] `[[c]]`", "---\nsummary: a\n---\nb", "---\ntags: [a, {b: c}]\n---", "---\n- a\n---\n", "---\n\xff\n---\n", "```\n[[a]]\n~~~\n````\n[[[[b]]|c]]",
		"---\ncaptures: [{at: 1, sha256: [x]}, y]\n---\n", "# " + strings.Repeat("a", 300), "``` `` ` [[x]]", "---\n? [a]\n: b\n---\n", "---\na: &x [*x]\n---\n",
	} {
		f.Add([]byte(seed))
	}
	root := project(f, nil)
	f.Fuzz(func(t *testing.T, text []byte) {
		first, second := wiki.Parse(wiki.Global, "k", "p", text), wiki.Parse(wiki.Global, "k", "p", text)
		if diff := cmp.Diff(first, second, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".bodyLine" }, cmp.Ignore())); diff != "" {
			t.Error(diff)
		}
		for _, p := range first.Problems {
			if p.Line < 1 || p.Message == "" {
				t.Errorf("%+v", p)
			}
		}
		if err := root.MkdirAll("wiki/global", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := root.WriteFile("wiki/global/k.md", text, 0o600); err != nil {
			t.Fatal(err)
		}
		s := wiki.New(root, wiki.Options{Analyzer: rank.NewAnalyzer(nil), Now: time.Now})
		if _, err := s.Lint(); err != nil {
			t.Error(err)
		}
		hits, err := s.Search("a b c", 5)
		if err != nil {
			t.Error(err)
		}
		for _, h := range hits.Hits {
			if h.Start < 0 || h.End < h.Start || h.End > len(h.Page.Body) {
				t.Errorf("%d to %d of %d", h.Start, h.End, len(h.Page.Body))
			}
		}
		if head, body, err := wiki.Split(text); err == nil {
			head.Set("summary", "new")
			out, err := wiki.Join(head, body)
			if err == nil && wiki.Parse(wiki.Global, "k", "p", out).Summary != "new" {
				t.Errorf("%q became %q", text, out)
			}
		}
	})
}
