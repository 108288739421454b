package memory_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/memory"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// counter returns texts that never come twice.
func counter() func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf("r%05d", n.Add(1)) }
}

// commits is a Committer that remembers.
type commits struct {
	mu   sync.Mutex
	list [][]string
	err  error
}

func (c *commits) Commit(_ context.Context, _ string, paths []string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return "", c.err
	}
	c.list = append(c.list, slices.Clone(paths))
	return fmt.Sprintf("hash%d", len(c.list)), nil
}

func open(t *testing.T, dir string, o memory.Options) (*memory.Store, *wiki.Store) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return openRoot(root, o)
}

func openRoot(root *os.Root, o memory.Options) (*memory.Store, *wiki.Store) {
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	if o.Random == nil {
		o.Random = counter()
	}
	o.Wiki = wiki.New(root, wiki.Options{Analyzer: rank.NewAnalyzer(nil), Now: time.Now})
	return memory.New(root, o), o.Wiki
}

// ingest remembers a text and returns its run.
func ingest(t *testing.T, s *memory.Store, r memory.Request) *memory.Run {
	t.Helper()
	if r.Source == "" {
		r.Source, r.Client = "mcp", "tester"
	}
	id, err := s.Ingest(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Run(id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFirstSecondOther: a text becomes a page, the same text changes nothing, and
// another text of the same title is added.
func TestFirstSecondOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := &commits{}
	s, pages := open(t, dir, memory.Options{Committer: git})
	text := "# Net revenue\n\nNet revenue means gross minus refunds, in cents. It is in `orders.net`."
	run := ingest(t, s, memory.Request{Content: text, ConnectionID: "shop", Sources: []string{"orders", "customers"}})
	want := memory.Captured{Wiki: []string{"net-revenue"}, SL: []string{}, Xrefs: []string{"orders"}}
	if run.Status != memory.StatusDone || run.Stage != memory.StageDone || !run.Done || run.Error != nil || *run.CommitHash != "hash1" || cmp.Diff(want, run.Captured) != "" {
		t.Errorf("first: %+v", run)
	}
	if diff := cmp.Diff([][]string{{"wiki/global/net-revenue.md"}}, git.list); diff != "" {
		t.Error(diff)
	}
	const page = `---
summary: Net revenue means gross minus refunds, in cents.
tags: [shop]
sl_refs: [orders]
usage_mode: auto
source: mcp
client: tester
captures:
  - {at: "2026-03-01T12:00:00Z", source: mcp, client: tester, sha256: HASH}
---
# Net revenue

Net revenue means gross minus refunds, in cents. It is in ` + "`orders.net`.\n"
	got := read(t, dir, "wiki/global/net-revenue.md")
	p, err := pages.Read("net-revenue")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page, strings.ReplaceAll(got, p.Captures[0].SHA256, "HASH")); diff != "" {
		t.Error(diff)
	}

	again := ingest(t, s, memory.Request{Content: "  " + strings.ReplaceAll(text, "\n", "\r\n") + "\n\n", ConnectionID: "shop"})
	if again.Status != memory.StatusDone || len(again.Captured.Wiki)+len(again.Captured.SL)+len(again.Captured.Xrefs) != 0 || again.CommitHash != nil {
		t.Errorf("again: %+v", again)
	}
	if now := read(t, dir, "wiki/global/net-revenue.md"); now != got {
		t.Errorf("again, the page is %s", now)
	}

	other := ingest(t, s, memory.Request{Content: "# Net Revenue\nSince March, taxes are taken off too."})
	if diff := cmp.Diff([]string{"net-revenue"}, other.Captured.Wiki); diff != "" {
		t.Error(diff)
	}
	now := read(t, dir, "wiki/global/net-revenue.md")
	for _, part := range []string{"It is in `orders.net`.\n\n## 2026-03-01 (mcp, tester)\n\nSince March, taxes are taken off too.\n", "tags: [shop]\n", "sl_refs: [orders]\n"} {
		if !strings.Contains(now, part) {
			t.Errorf("the page lacks %q:\n%s", part, now)
		}
	}
	if strings.Count(now, "sha256") != 2 {
		t.Errorf("the captures are not both there:\n%s", now)
	}
	found, err := pages.Search("taxes taken off", 5)
	if err != nil || len(found.Hits) != 1 || found.Hits[0].Page.Key != "net-revenue" || !found.Hits[0].Page.Untrusted() {
		t.Errorf("search: %+v, %v", found, err)
	}
}

// TestAuthoredPage: a page that an author wrote keeps its text, its comments and its
// unknown keys.
func TestAuthoredPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := open(t, dir, memory.Options{})
	before := "---\n# by hand\nsummary: Ours.\nowner: ann # stays\n---\n# Churn\n\nOur text.\n"
	write(t, dir, "wiki/global/churn.md", before)
	if run := ingest(t, s, memory.Request{Content: "# Churn\n\nOur text."}); len(run.Captured.Wiki) != 0 {
		t.Errorf("the page's own text was captured: %+v", run)
	}
	if got := read(t, dir, "wiki/global/churn.md"); got != before {
		t.Errorf("the page is now\n%s", got)
	}
	ingest(t, s, memory.Request{Content: "# Churn\n\nTrials never count."})
	got := read(t, dir, "wiki/global/churn.md")
	for _, part := range []string{"# by hand\n", "summary: Ours.\n", "owner: ann # stays\n", "source: mcp\n", "# Churn\n\nOur text.\n\n## 2026-03-01 (mcp, tester)\n\nTrials never count.\n"} {
		if !strings.Contains(got, part) {
			t.Errorf("the page lacks %q:\n%s", part, got)
		}
	}
	write(t, dir, "wiki/global/broken.md", "---\nsummary: [\n---\nText.\n")
	run := ingest(t, s, memory.Request{Content: "# Broken\n\nMore."})
	if run.Status != memory.StatusError || run.Error == nil || !strings.Contains(*run.Error, "line 2") || len(run.Captured.Wiki) != 0 {
		t.Errorf("a head that cannot be read: %+v", run)
	}
	if got := read(t, dir, "wiki/global/broken.md"); got != "---\nsummary: [\n---\nText.\n" {
		t.Errorf("it was written: %s", got)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTitles: which key and summary a text gets.
func TestTitles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, content, key, summary string }{
		{"heading", "Intro.\n\n## Größe der Packung\n\nDie Größe ist in mm.", "grosse-der-packung", "Intro."},
		{"definition", "ARR stands for annual recurring revenue. It is yearly.", "arr", "ARR stands for annual recurring revenue."},
		{"quoted definition", "\"Active user\" means someone who logged in.", "active-user", "\"Active user\" means someone who logged in."},
		{"sentence", "Never sum amounts of different currencies, e.g. USD and EUR. Convert first.", "never-sum-amounts-of-different-currencies-e-g-usd", "Never sum amounts of different currencies, e.g. USD and EUR."},
		{"list", "- first rule\n- second rule", "first-rule", "first rule"},
		{"code only", "```sql\nSELECT 1\n```", "select-1", "SELECT 1"},
		{"Japanese", "# 売上高\n\n売上は出荷日に計上する。返品は除く。", "note-", "売上は出荷日に計上する。"},
		{"signs", "!!! ???", "note-", "!!!"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, pages := open(t, dir, memory.Options{})
			run := ingest(t, s, memory.Request{Content: test.content})
			if len(run.Captured.Wiki) != 1 || !strings.HasPrefix(run.Captured.Wiki[0], test.key) || test.key != "note-" && run.Captured.Wiki[0] != test.key {
				t.Fatalf("captured %q, want %s", run.Captured.Wiki, test.key)
			}
			p, err := pages.Read(run.Captured.Wiki[0])
			if err != nil || p.Summary != test.summary {
				t.Errorf("summary %q, want %q (%v)", p.Summary, test.summary, err)
			}
			if again := ingest(t, s, memory.Request{Content: test.content}); len(again.Captured.Wiki) != 0 {
				t.Errorf("the second time, %q was captured", again.Captured.Wiki)
			}
		})
	}
}

// TestTags: a page gets the tags of the wiki that its text has.
func TestTags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, pages := open(t, dir, memory.Options{})
	write(t, dir, "wiki/global/a.md", "---\ntags: [Finance, Data Quality, rev]\n---\nA.")
	write(t, dir, "wiki/global/b.md", "---\ntags: [secret]\nusage_mode: never\n---\nB.")
	ingest(t, s, memory.Request{Content: "# Rules\nFinance checks data-quality and reviews. A secret.", ConnectionID: "lake"})
	p, err := pages.Read("rules")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lake", "Data Quality", "Finance"}, p.Tags); diff != "" {
		t.Error(diff)
	}
}

// TestRefused: what may not be remembered is refused, without a run and without
// being repeated.
func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := open(t, dir, memory.Options{})
	for _, test := range []struct{ name, content string }{
		{"empty", " \n\t"},
		{"a mark of the byte order", "\ufeff"},
		{"too large", strings.Repeat("word ", 14_000)},
		{"not UTF-8", "a\xffb"},
		{"control character", "a\x00b"},
		{"escape", "a\x1b[31mb"},
		{"direction", "a\u202eb"},
		{"private key", "-----BEGIN RSA PRIVATE KEY-----\nMII"},
		{"AWS", "use AKIAIOSFODNN7EXAMPLE"},
		{"GitHub", "token ghp_abcdefghijklmnopqrstuvwxyz0123456789"},
		{"JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"},
		{"address", "connect to postgres://app:hunter2x@db.internal/shop"},
		{"password", "the password is Sup3rS3cret!"},
		{"password of letters", "user: app\npassword: correcthorse"},
		{"API key", `api_key = "abc123def456ghi789"`},
		{"Russian", "пароль: abc123def456"},
		{"German", "Das Kennwort: abc123def456"},
		{"Chinese", "密码：abc123def456"},
		{"Arabic", "كلمة المرور: abc123def456"},
		{"option", "mysql -u root -pabc123def456 shop"},
		{"account key", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=abc123def456abc123def456abc1+/=="},
		{"SendGrid", "SG.abc123def456abc123de.abc123def456abc123def456"},
		{"bearer", "Authorization: Bearer abcdefghijklmnopqrstuvwxyz"},
	} {
		_, err := s.Ingest(t.Context(), memory.Request{Content: test.content})
		invalid, ok := errors.AsType[*memory.InvalidError](err)
		if !ok {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		for _, secret := range []string{"hunter2x", "Sup3rS3cret", "correcthorse", "abc123def456", "ghp_", "AKIA"} {
			if strings.Contains(invalid.Error(), secret) {
				t.Errorf("%s: the error repeats it: %v", test.name, invalid)
			}
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("something was written: %v", entries)
	}
	for _, content := range []string{
		"The column password_hash is never exported.", "password: ${DB_PASSWORD}", "url: postgres://app:***@host/db", "api_key: env:API_KEY",
		"Token counts are in thousands: token_count = 1000000.", "The primary key is (id, secret_id).", "password: varchar(64), hashed",
		"Passwort: siehe Tresor", "密码 steht im Tresor", "mysqldump -p shop", "mysql --port 3306 -u app", "SG. is Singapore", "AccountKey = the key of the account",
		"sk_customer is the surrogate key of dim_customer.", "secret = md5(concat(a, b))",
	} {
		if err := memory.Validate(content); err != nil {
			t.Errorf("%q: %v", content, err)
		}
	}
}

// TestSignals: what a text seems to hold.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		content                string
		knowledge, sl, dialect bool
	}{
		{"hello there", false, false, false},
		{"# Heading", true, false, false},
		{"MRR means monthly recurring revenue", true, false, false},
		{"ARPU is the revenue over users", true, false, false},
		{"Always filter test accounts", true, false, false},
		{"treat blanks as unknown", true, false, false},
		{"amounts are stored in cents", true, false, false},
		{"| a | b |\n|---|---|\n| 1 | 2 |", true, false, false},
		{"```sql\nSELECT sum(x) FROM t\n```", false, true, false},
		{"revenue = sum(net_amount)", false, true, false},
		{"```yaml\nmeasures:\n  - name: x\n```", false, true, false},
		{"view: orders {\n  measure: total {\n", false, true, false},
		{"```yaml\nmodels:\n  - name: x\n```", false, true, false},
		{"```sql\nselect * from {{ ref('x') }}\n```", false, true, false},
		{"On BigQuery, divide with SAFE_DIVIDE(a, b)", false, false, true},
		{"```sql\nSELECT x::date FROM t\n```", false, true, true},
	} {
		s := memory.Detect(test.content)
		if s.Knowledge != test.knowledge || s.SL != test.sl || s.Dialect != test.dialect {
			t.Errorf("%q: %+v", test.content, s)
		}
		if s.Reasons == nil || (len(s.Reasons) > 0) != (s.Knowledge || s.SL || s.Dialect) || !slices.IsSorted(s.Reasons) {
			t.Errorf("%q: reasons %q", test.content, s.Reasons)
		}
	}
}

// layer is a semantic layer that takes some forms.
type layer struct{ dir string }

func (l layer) Write(_ context.Context, connectionID string, form memory.Form) (string, []string, error) {
	if form.Name != "revenue" {
		return "", nil, errors.New("the expression does not parse")
	}
	name := "semantic-layer/" + connectionID + "/orders.yaml"
	if err := os.MkdirAll(filepath.Join(l.dir, filepath.Dir(name)), 0o750); err != nil {
		return "", nil, err
	}
	return connectionID + "/orders", []string{name}, os.WriteFile(filepath.Join(l.dir, name), []byte(form.Expr), 0o600)
}

// TestSemantic: exact definitions go to the semantic layer, and the run says why
// others do not.
func TestSemantic(t *testing.T) {
	t.Parallel()
	content := "# Measures\n\n- `revenue` = sum(orders.net)\n- odd = sum(((\n\n```yaml\nmeasures:\n  - name: x\n```\n"
	forms := memory.Forms(content)
	want := []memory.Form{
		{Name: "revenue", Expr: "sum(orders.net)", Line: 3},
		{Name: "odd", Expr: "sum(((", Line: 4},
		{YAML: "measures:\n  - name: x\n", Line: 7},
	}
	if diff := cmp.Diff(want, forms); diff != "" {
		t.Error(diff)
	}
	reason := func(run *memory.Run, part string) bool {
		return slices.ContainsFunc(run.Signals.Reasons, func(r string) bool { return strings.Contains(r, part) })
	}
	dir := t.TempDir()
	none, _ := open(t, dir, memory.Options{})
	if run := ingest(t, none, memory.Request{Content: content, ConnectionID: "shop"}); len(run.Captured.SL) != 0 || !reason(run, "because there is none") {
		t.Errorf("without a semantic layer: %+v", run)
	}
	dir = t.TempDir()
	git := &commits{}
	s, _ := open(t, dir, memory.Options{Committer: git})
	if run := ingest(t, s, memory.Request{Content: content, Semantic: layer{dir}}); len(run.Captured.SL) != 0 || !reason(run, "no connection was named") {
		t.Errorf("without a connection: %+v", run)
	}
	run := ingest(t, s, memory.Request{Content: content, ConnectionID: "shop", Semantic: layer{dir}})
	if diff := cmp.Diff([]string{"shop/orders"}, run.Captured.SL); diff != "" || !reason(run, "line 4 is not written: the expression does not parse") {
		t.Errorf("%s %q", diff, run.Signals.Reasons)
	}
	if last := git.list[len(git.list)-1]; !slices.Contains(last, "semantic-layer/shop/orders.yaml") {
		t.Errorf("committed: %q", last)
	}
}

// TestFailedCommit: a commit that fails is a note of a run that is done.
func TestFailedCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := open(t, dir, memory.Options{Committer: &commits{err: errors.New("index.lock exists")}})
	run := ingest(t, s, memory.Request{Content: "# A\n\nB."})
	if run.Status != memory.StatusDone || run.CommitHash != nil || !slices.Contains(run.Signals.Reasons, "the files are written, and not committed: index.lock exists") {
		t.Errorf("%+v", run)
	}
}

// TestDisk: a run that cannot write its page has failed and says so.
func TestDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := open(t, dir, memory.Options{})
	write(t, dir, "wiki/global/full.md", "# Full\n"+strings.Repeat("x", wiki.MaxPage-100))
	run := ingest(t, s, memory.Request{Content: "# Full\n\n" + strings.Repeat("more ", 1000)})
	if run.Status != memory.StatusError || !run.Done || run.Stage != memory.StageWiki || !strings.Contains(*run.Error, "divide it") {
		t.Errorf("%+v", run)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "outside")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "wiki"), filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "outside"), filepath.Join(dir, "wiki")); err != nil {
		t.Fatal(err)
	}
	id, err := s.Ingest(t.Context(), memory.Request{Content: "# X\n\nY."})
	if err == nil {
		if run, err := s.Run(id); err != nil || run.Status != memory.StatusError {
			t.Errorf("a wiki outside of the project was written: %+v, %v", run, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "outside")); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestRuns: ids that name no run, and records that are damaged.
func TestRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := open(t, dir, memory.Options{})
	run := ingest(t, s, memory.Request{Content: "# A\n\nB."})
	for _, id := range []string{"", "nope", "../lock", "a/b", strings.Repeat("a", 100), run.RunID + ".json"} {
		if _, err := s.Run(id); !errors.Is(err, memory.ErrNoRun) {
			t.Errorf("%q: %v", id, err)
		}
	}
	write(t, dir, ".ktx/memory/runs/damaged.json", "{")
	if _, err := s.Run("damaged"); err == nil || errors.Is(err, memory.ErrNoRun) {
		t.Errorf("damaged: %v", err)
	}
	write(t, dir, ".ktx/memory/state.json", "not JSON")
	if again := ingest(t, s, memory.Request{Content: "# C\n\nD."}); again.Status != memory.StatusDone {
		t.Errorf("after a damaged state: %+v", again)
	}
}

// TestConcurrent: runs at one time all end well, and no text is lost.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, _ := open(t, dir, memory.Options{})
	second, pages := open(t, dir, memory.Options{Random: func() func() string {
		next := counter()
		return func() string { return "s" + next() }
	}()})
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			s := first
			if i%2 == 1 {
				s = second
			}
			run := ingest(t, s, memory.Request{Content: fmt.Sprintf("# Page\n\nText number%d.", i/2)})
			if run.Status != memory.StatusDone {
				t.Errorf("%+v", run)
			}
		})
	}
	wait.Wait()
	p, err := pages.Read("page")
	if err != nil || len(p.Captures) != 8 {
		t.Fatalf("%d captures, %v", len(p.Captures), err)
	}
	for i := range 8 {
		if strings.Count(p.Body, fmt.Sprintf("number%d.", i)) != 1 {
			t.Errorf("text %d is there %d times", i, strings.Count(p.Body, fmt.Sprintf("number%d.", i)))
		}
	}
}

// TestTwiceIsOnce: whatever the text, the second time captures nothing and leaves
// the page as it is, and the page says where it came from.
func TestTwiceIsOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, pages := open(t, dir, memory.Options{})
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		if runs++; runs > 40 {
			return // each run flushes files to disk
		}
		content := rapid.StringN(1, 60, 300).Draw(r, "content")
		if rapid.Bool().Draw(r, "structured") {
			content = "---\n" + content + "\n---\n# " + content + "\n\n" + content
		}
		if memory.Validate(content) != nil {
			return
		}
		first := ingest(t, s, memory.Request{Content: content})
		if first.Status != memory.StatusDone {
			r.Fatalf("%+v: %s", first, *first.Error)
		}
		again := ingest(t, s, memory.Request{Content: content})
		if again.Status != memory.StatusDone || len(again.Captured.Wiki) != 0 {
			r.Fatalf("the second time: %+v", again)
		}
		for _, key := range first.Captured.Wiki {
			p, err := pages.Read(key)
			if err != nil || !p.Untrusted() || len(p.Captures) == 0 || len(p.Problems) != 0 {
				r.Fatalf("%v: %+v", err, p)
			}
		}
	})
}

// FuzzDetect: the rules take any text, and answer the same way twice.
func FuzzDetect(f *testing.F) {
	for _, seed := range []string{"# A\nb", "```sql\nselect 1", "x = sum(y)", "|a|\n|-|", "~~~\n~~~~", "password: x", "`````"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if diff := cmp.Diff(memory.Detect(content), memory.Detect(content)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(memory.Forms(content), memory.Forms(content)); diff != "" {
			t.Error(diff)
		}
		_ = memory.Validate(content)
	})
}
