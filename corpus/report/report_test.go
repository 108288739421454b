package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/report"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// few returns cases that use every field.
func few() []corpus.Case {
	held := false
	return []corpus.Case{
		{
			ID: "KTX-PG-FN-0001", Class: "side-effect-function", Dialect: "postgres", Title: "Read a file", SQL: "SELECT pg_read_file('/etc/passwd'),\n  1", Expect: corpus.Reject,
			Codes: []string{"function_file_access", "function_not_allowed"}, Engine: &corpus.Engine{Name: "postgresql", Min: "9.1", Needs: []string{"pg_read_server_files"}},
			Effect: &corpus.Effect{Kind: "file_read", ContainedByReadOnlyTx: &held}, BenignTwin: "KTX-PG-FN-0001B", Since: "0.1.0",
			Refs: corpus.Refs{CWE: []string{"CWE-552"}, CVE: []string{"CVE-2019-9193"}, URLs: []string{"https://www.postgresql.org/docs/current/functions-admin.html"}},
			Evidence: []corpus.Evidence{
				{Engine: "postgresql", Version: "15.18", Role: "superuser", Tx: "read_only", Outcome: "executed", Probe: "returned_rows", Date: "2026-11-20"},
				{Engine: "postgresql", Version: "18.1", Role: "reader", Tx: "none", Outcome: "failed 42501", Date: "2026-11-20"},
			},
		},
		{ID: "KTX-PG-FN-0001B", Class: "side-effect-function", Dialect: "postgres", Title: "A pure function", SQL: "SELECT length('/etc/passwd')", Expect: corpus.Allow},
		{ID: "KTX-PG-POL-0001", Class: "access-policy", Dialect: "postgres", Title: "EXPLAIN ANALYZE", SQL: "EXPLAIN ANALYZE SELECT 1", Expect: corpus.Policy, Policy: &corpus.PolicyNote{Key: "guard.explainAnalyze", Default: corpus.Reject}},
		{ID: "KTX-MY-LCK-0001", Class: "locking", Dialect: "mysql", Title: "A lock", SQL: "SELECT id FROM orders FOR UPDATE", Expect: corpus.Reject, Codes: []string{"locking_clause"}},
		{ID: "KTX-LITE-PRG-0001", Class: "pragma", Dialect: "sqlite", Title: "A switch", SQL: "PRAGMA writable_schema = 1", Expect: corpus.Reject, Codes: []string{"pragma_not_allowed"}},
		{
			ID: "KTX-MS-SES-0001", Class: "session-change", Dialect: "sqlserver", Title: "A setting of the session", SQL: "SET ROWCOUNT 1", Expect: corpus.Reject, Codes: []string{"session_change"},
			Evidence: []corpus.Evidence{{Source: "docs", Ref: "https://learn.microsoft.com/en-us/sql/t-sql/statements/set-rowcount-transact-sql"}},
		},
		{ID: "KTX-PG-RAW-0001", Class: "raw-text", Dialect: "postgres", Title: "Turned text", SQL: "SELECT 1 \u202e-- \x00\xff\u200b\r\n", Expect: corpus.Reject},
		{ID: "KTX-PG-LIM-0001", Class: "limits", Dialect: "postgres", Title: "A long text", SQL: "SELECT " + strings.Repeat("(", 9000) + "1", Expect: corpus.Reject},
		{ID: "KTX-PG-RAW-0002", Class: "raw-text", Dialect: "postgres", Title: "Empty text", SQL: "", Expect: corpus.Reject},
	}
}

// asked returns a report with the answers of the built-in guard.
func asked(t *testing.T, cases []corpus.Case) report.Report {
	t.Helper()
	guard, err := run.NewBuiltin("1.2.3", dialects.All())
	if err != nil {
		t.Fatal(err)
	}
	results, err := run.Run(t.Context(), guard, cases, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range results {
		results[i].LatencyUS = 7 // so that the pages of two runs are equal
	}
	return report.Report{
		Source: map[string]any{"name": "ktx", "version": "9.9.9"}, Guard: map[string]string{"name": "builtin", "version": "1.2.3"}, Cases: cases, Results: results,
		Read: func(c corpus.Case) (report.Reading, bool) {
			g := guard.Of(c.Dialect)
			if g == nil {
				return report.Reading{}, false
			}
			return report.Read(g, c.SQL), true
		},
	}
}

// earlier is an earlier run to compare few with.
func earlier() *run.File {
	return &run.File{Guard: map[string]string{"name": "builtin", "version": "1.2.2"}, Results: []run.Result{
		{ID: "KTX-PG-FN-0001", Dialect: "postgres", Class: "side-effect-function", Decision: run.Allow, Expect: corpus.Reject},
		{ID: "KTX-PG-FN-0001B", Dialect: "postgres", Class: "side-effect-function", Decision: run.Allow, Expect: corpus.Allow, Met: true},
		{ID: "KTX-MY-LCK-0001", Dialect: "mysql", Class: "locking", Decision: run.Reject, Code: "write_statement", Expect: corpus.Reject, Met: true},
		{ID: "GONE-1", Dialect: "mysql", Class: "locking", Decision: run.Reject, Expect: corpus.Reject, Met: true},
	}}
}

// hostile returns cases and a run in which every text tries to be markup.
func hostile() report.Report {
	const evil = "\"'><script>window.pwned=1</script><img src=x onerror=window.pwned=1></style></title><!--]]>{{.}}\u202e\u0000\xff"
	r := report.Report{
		Source: map[string]any{"files": []string{evil}}, Guard: map[string]string{"name": evil, "version": evil, evil: evil},
		Before: &run.File{Guard: map[string]string{"name": evil}},
	}
	for i, state := range []run.Decision{run.Allow, run.Reject, run.Error} {
		for j, expect := range []corpus.Expect{corpus.Reject, corpus.Allow, corpus.Policy} {
			id := evil + strings.Repeat("x", i*3+j)
			r.Cases = append(r.Cases, corpus.Case{
				ID: id, Class: evil, Dialect: evil, Flavour: evil, Title: evil, SQL: evil + "</code></pre>" + evil, Expect: expect, Codes: []string{evil, evil},
				Policy: &corpus.PolicyNote{Key: evil, Default: corpus.Expect(evil)}, Engine: &corpus.Engine{Name: evil, Min: evil, Max: evil, Needs: []string{evil}}, Effect: &corpus.Effect{Kind: evil},
				Refs: corpus.Refs{
					CWE: []string{evil, "CWE-1\" onclick=\"window.pwned=1"}, CVE: []string{evil, "CVE-2020-1234\"><script>"},
					URLs: []string{"javascript:window.pwned=1", "JaVaScRiPt:window.pwned=1", " javascript:window.pwned=1", "java\nscript:window.pwned=1", "data:text/html,<script>window.pwned=1</script>", "//example.com/x", "https://u:p@example.com/", "https://example.com/\"onmouseover=\"window.pwned=1", "vbscript:x", evil},
				},
				Evidence: []corpus.Evidence{
					{Engine: evil, Version: evil, Role: evil, Tx: evil, Outcome: evil, Probe: evil, Date: evil}, {Source: evil, Ref: "javascript:window.pwned=1"}, {Source: "docs", Ref: evil},
				},
				BenignTwin: evil, Since: evil,
			})
			r.Results = append(r.Results, run.Result{ID: id, Dialect: evil, Class: evil, Decision: state, Code: sqlguard.Code(evil), Detail: evil, Expect: expect, Met: true})
			r.Before.Results = append(r.Before.Results, run.Result{ID: id, Dialect: evil, Class: evil, Decision: run.Reject, Code: sqlguard.Code(evil + evil), Expect: expect})
		}
	}
	r.Results = append(r.Results, run.Result{ID: "stranger" + evil, Dialect: evil, Decision: run.Allow, Expect: corpus.Reject})
	r.Read = func(c corpus.Case) (report.Reading, bool) {
		return report.Reading{
			Verdict: sqlguard.Verdict{Findings: []sqlguard.Finding{{Code: sqlguard.Code(evil), Message: evil, Hint: evil, Path: evil, Object: evil, Span: sqlguard.Span{Start: 3, End: 40}}}},
			Nodes:   []sqlguard.Node{{Role: evil, Kind: evil, Text: evil, Span: sqlguard.Span{Start: 0, End: 50}, Children: []sqlguard.Node{{Kind: evil, Text: c.SQL}}}},
		}, true
	}
	return r
}

func written(t *testing.T, r report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The tags and attributes that the page has.
var (
	tagForm = regexp.MustCompile(`^</?([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>`)
	attForm = regexp.MustCompile(` ([a-z-]+)(?:="([^"<>]*)")?`)
	tags    = strings.Fields("html head meta title style body script noscript a header p h1 h2 h3 h4 h5 nav ul ol li main section strong span div table thead tbody tr th td abbr form label select option article pre code mark i b dl dt dd br details summary")
	atts    = strings.Fields("lang charset http-equiv content name class id href rel aria-labelledby aria-label aria-hidden role tabindex scope title for value autocomplete open")
)

// strict parses a page that must be in a subset of HTML with only one reading:
// every "<" opens a tag that the page may have, with attributes in double
// quotes that it may have. It returns the tags in order.
func strict(t *testing.T, page string) (found []string) {
	t.Helper()
	rest, ok := strings.CutPrefix(page, "<!doctype html>")
	if !ok {
		t.Fatal("no doctype")
	}
	for rest != "" {
		at := strings.IndexAny(rest, "<>")
		if at < 0 {
			break
		}
		m := tagForm.FindStringSubmatch(rest[at:])
		if m == nil {
			t.Fatalf("a bracket outside of a tag that the page has: %.80q", rest[at:])
		}
		if !slices.Contains(tags, m[1]) {
			t.Fatalf("the tag %q", m[0])
		}
		for _, att := range attForm.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(atts, att[1]) {
				t.Fatalf("the attribute %q", att[0])
			}
			if att[1] == "href" && !strings.HasPrefix(att[2], "#") && !strings.HasPrefix(att[2], "https://") && !strings.HasPrefix(att[2], "http://") {
				t.Fatalf("the address %q", att[2])
			}
		}
		found = append(found, m[0])
		rest = rest[at+len(m[0]):]
		if m[0] == "<style>" || m[0] == "<script>" {
			_, after, ok := strings.Cut(rest, "</"+m[1]+">")
			if !ok {
				t.Fatalf("%s has no end", m[0])
			}
			rest = "</" + m[1] + ">" + after
		}
	}
	return found
}

func save(t *testing.T, name, page string) (url string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}
