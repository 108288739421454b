package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
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

// pageOf returns the part of a page that is about a case, without tags if plain
// is set.
func pageOf(t *testing.T, page, id string, plain bool) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `id="case-`+id+`"`)
	if !ok {
		t.Fatalf("no page of %s", id)
	}
	part, _, _ := strings.Cut(rest, "</article>")
	if plain {
		part = html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(part, " "))
		part = strings.Join(strings.Fields(part), " ")
	}
	return part
}

func TestPageTellsOfACase(t *testing.T) {
	r := asked(t, few())
	r.Before = earlier()
	page := written(t, r)
	strict(t, page)
	for id, wanted := range map[string][]string{
		"KTX-PG-FN-0001": {
			"Read a file", "must be refused as expected", "SELECT pg_read_file ('/etc/passwd'), 1", "Decision reject Code", "Code function_file_access , one that the case lists",
			"Earlier run allow, expected reject (fixed)", "function_file_access function pg_read_file: reads or writes files of the server line 1, column 8",
			"Syntax tree", "Val FuncCall pg_read_file function_file_access Args A_Const '/etc/passwd'",
			"Codes function_file_access (given), function_not_allowed", "Effect file read. A read-only transaction does not stop it.", "Engine postgresql from 9.1", "Needs pg_read_server_files",
			"Benign twin KTX-PG-FN-0001B", "Sources CWE-552 CVE-2019-9193 https://www.postgresql.org/docs/current/functions-admin.html", "Since 0.1.0",
			"postgresql 15.18 superuser read_only executed returned_rows 2026-11-20", "postgresql 18.1 reader none failed 42501",
		},
		"KTX-PG-FN-0001B":   {"must pass as expected", "Decision allow", "Benign twin of KTX-PG-FN-0001", "Syntax tree SelectStmt"},
		"KTX-PG-POL-0001":   {"depends on policy", "guard.explainAnalyze decides; by default reject"},
		"KTX-MY-LCK-0001":   {"SELECT id FROM orders FOR UPDATE", "LockInfo SelectLockInfo", "Earlier run reject write_statement, expected reject (code)"},
		"KTX-LITE-PRG-0001": {"Syntax tree PragmaStmt"},
		"KTX-MS-SES-0001":   {"What the guard read statement set", "effect", "No engine has run the case. Documents stand for it: https://learn.microsoft.com/"},
		"KTX-PG-RAW-0001":   {"SELECT 1 U+202E -- U+0000 \\xFF U+200B U+000D", "There is none: the text was refused before it was parsed"},
		"KTX-PG-LIM-0001":   {"of 9008 bytes are not shown here", "nesting_too_deep"},
		"KTX-PG-RAW-0002":   {"The text is empty."},
	} {
		got := pageOf(t, page, id, true)
		for _, text := range wanted {
			if !strings.Contains(got, text) {
				t.Errorf("%s: no %q in:\n%s", id, text, got)
			}
		}
	}
	for id, wanted := range map[string]string{
		"KTX-PG-FN-0001":  `SELECT <mark>pg_read_file</mark>(&#39;/etc/passwd&#39;)`,
		"KTX-MY-LCK-0001": `<mark>FOR UPDATE</mark>`,
		"KTX-PG-RAW-0001": `<i>U+202E</i>-- <mark><i>U+0000</i></mark><i>\xFF</i>`,
	} {
		if got := pageOf(t, page, id, false); !strings.Contains(got, wanted) {
			t.Errorf("%s: no %s in:\n%s", id, wanted, got)
		}
	}
	if strings.Contains(pageOf(t, page, "KTX-PG-FN-0001B", false), "<mark>") {
		t.Error("a statement that is allowed has a mark")
	}
}

// There is an error in each state, and cases that the run does not have.
func TestPageTellsOfARunOfAnother(t *testing.T) {
	r := report.Report{Cases: few(), Guard: map[string]string{"name": "first word"}, Results: []run.Result{
		{ID: "KTX-PG-FN-0001", Dialect: "postgres", Class: "side-effect-function", Decision: run.Allow, Expect: corpus.Reject, Met: true}, // claims to be met, and is not
		{ID: "KTX-PG-FN-0001B", Dialect: "postgres", Class: "side-effect-function", Decision: run.Reject, Code: "mine", Expect: corpus.Allow},
		{ID: "KTX-PG-POL-0001", Dialect: "postgres", Class: "access-policy", Decision: run.Allow, Expect: corpus.Policy, Met: true},
		{ID: "KTX-MY-LCK-0001", Dialect: "mysql", Class: "locking", Decision: run.Error, Fault: run.Crash, Detail: "signal: killed", Expect: corpus.Reject},
		{ID: "KTX-LITE-PRG-0001", Dialect: "sqlite", Class: "pragma", Decision: run.Reject, Code: "mine", Expect: corpus.Allow},
		{ID: "OTHER", Dialect: "sqlite", Decision: run.Reject, Expect: corpus.Reject, Met: true},
	}}
	page := written(t, r)
	strict(t, page)
	for id, wanted := range map[string]string{
		"KTX-PG-FN-0001":    "must be refused bypass",
		"KTX-PG-FN-0001B":   "must pass false reject mine",
		"KTX-PG-POL-0001":   "depends on policy as expected",
		"KTX-MY-LCK-0001":   "Decision error, crash Detail signal: killed",
		"KTX-LITE-PRG-0001": "Expected by the run must pass",
		"KTX-MS-SES-0001":   "The run has no answer to this case.",
	} {
		if got := pageOf(t, page, id, true); !strings.Contains(got, wanted) {
			t.Errorf("%s: no %q in:\n%s", id, wanted, got)
		}
	}
	plain := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " "))
	plain = strings.Join(strings.Fields(plain), " ")
	for _, wanted := range []string{
		"first word", "Results of the run that are of no case in this report: 1.", "4 were not run.", "postgres 3 1 of 1 · 100.00 % 1 of 1 · 100.00 %",
		"side-effect-function Built-in functions that do more than compute 2 1 bypassed 1 falsely refused", "locking Reads that lock rows, and locks on tables – none 1 1 without an answer",
	} {
		if !strings.Contains(plain, wanted) {
			t.Errorf("no %q in:\n%.3000s", wanted, plain)
		}
	}
	if strings.Contains(page, "Syntax tree") || strings.Contains(page, "Changes since") {
		t.Error("the page tells what nobody knows")
	}
}

// No text of a case or a run becomes part of the markup.
func TestPageHoldsNoMarkupOfStrangers(t *testing.T) {
	page := written(t, hostile())
	found := strict(t, page)
	for _, tag := range []string{"<script>", "<style>", "<title>", "</main>"} {
		if n := len(found) - len(slices.DeleteFunc(slices.Clone(found), func(f string) bool { return f == tag })); n != 1 {
			t.Errorf("%s is there %d times", tag, n)
		}
	}
	for _, tag := range found {
		if strings.HasPrefix(tag, "<a ") && !strings.Contains(tag, `href="#`) && !strings.Contains(tag, `href="https://example.com/%22onmouseover=%22window.pwned=1"`) {
			t.Errorf("the link %s", tag)
		}
	}
	for _, text := range []string{"\u202e", "\x00", "\xff", "\ufffd"} {
		if at := strings.Index(page, text); at >= 0 {
			t.Errorf("%q is there as it is: %.80q", text, page[max(0, at-60):])
		}
	}
}

// The page of the corpus is strict HTML, every link has a target, and the file
// is small enough to be sent to others.
func TestPageOfTheCorpus(t *testing.T) {
	page := written(t, asked(t, corpus.Cases()))
	found := strict(t, page)
	if len(page) > 12<<20 { // mail servers commonly take 20 MB
		t.Errorf("the page has %d bytes", len(page))
	}
	// A rule that asks for what lies among the cases makes a browser without scripts look
	// through all of them for each part that it reads, for half a minute.
	style, _, _ := strings.Cut(page, "</style>")
	if all, ofForm := strings.Count(style, ":has("), strings.Count(style, "#filters:has("); all != ofForm+1 || ofForm == 0 { // one asks whether the browser knows the selector
		t.Errorf("%d rules look for elements, %d of them in the form", all, ofForm)
	}
	ids := map[string]bool{}
	for _, tag := range found {
		for _, att := range attForm.FindAllStringSubmatch(tag, -1) {
			if att[1] != "id" {
				continue
			}
			if ids[att[2]] {
				t.Errorf("two elements have the id %s", att[2])
			}
			ids[att[2]] = true
		}
	}
	for _, tag := range found {
		for _, att := range attForm.FindAllStringSubmatch(tag, -1) {
			switch att[1] {
			case "href":
				if to, ok := strings.CutPrefix(att[2], "#"); ok && !ids[to] {
					t.Errorf("%s leads nowhere", tag)
				}
			case "aria-labelledby", "for":
				if !ids[att[2]] {
					t.Errorf("%s names nothing", tag)
				}
			}
		}
	}
	for _, c := range corpus.Cases() {
		if !ids["case-"+c.ID] {
			t.Errorf("no page of %s", c.ID)
		}
	}
}

// The policy of the page allows exactly its own style and script.
func TestPagePermitsItsOwnPartsOnly(t *testing.T) {
	page := written(t, asked(t, few()))
	_, rest, _ := strings.Cut(page, `http-equiv="Content-Security-Policy" content="`)
	policy, _, _ := strings.Cut(rest, `"`)
	policy = html.UnescapeString(policy)
	part := func(tag string) string {
		_, rest, _ := strings.Cut(page, "<"+tag+">")
		text, _, _ := strings.Cut(rest, "</"+tag+">")
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	want := "default-src 'none'; style-src " + part("style") + "; script-src " + part("script") + "; base-uri 'none'; form-action 'none'"
	if policy != want {
		t.Errorf("the policy is\n%s, not\n%s", policy, want)
	}
}

func TestPageIsDeterministic(t *testing.T) {
	if one, other := written(t, asked(t, few())), written(t, asked(t, few())); one != other {
		t.Error("two pages of one run differ")
	}
}

func TestTwoCasesOfOneIDAreAnError(t *testing.T) {
	cases := few()
	cases[1].ID = cases[0].ID
	if err := report.Write(&strings.Builder{}, report.Report{Cases: cases}); err == nil || !strings.Contains(err.Error(), "two cases have the id") {
		t.Errorf("the error is %v", err)
	}
}

// In every case of the corpus that was parsed, the tree has the statements that
// the guard read, and each finding is at a node.
func TestTreesOfTheCorpus(t *testing.T) {
	guards := map[string]*sqlguard.Guard{}
	for _, d := range dialects.All() {
		g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
		if err != nil {
			t.Fatal(err)
		}
		guards[d.Name()] = g
	}
	trees, facts := map[string]int{}, map[string]int{}
	for _, c := range corpus.Cases() {
		g := guards[c.Dialect]
		r := report.Read(g, c.SQL)
		if len(r.Nodes) != r.Verdict.Statements {
			t.Errorf("%s: %d trees of %d statements", c.ID, len(r.Nodes), r.Verdict.Statements)
		}
		if len(r.Nodes) == 0 {
			continue
		}
		if r.Facts {
			facts[c.Dialect]++
		} else {
			trees[c.Dialect]++
		}
		if marked := report.Marked(r); !marked {
			t.Errorf("%s: a finding without a node: %s", c.ID, c.SQL)
		}
	}
	for dialect := range guards {
		factsOnly := dialect == "sqlserver" || dialect == "clickhouse" || dialect == "duckdb" // their parsers build no tree
		switch {
		case factsOnly && trees[dialect] > 0:
			t.Errorf("%s has %d trees; say so in the documentation", dialect, trees[dialect])
		case !factsOnly && trees[dialect] < 3*facts[dialect]:
			t.Errorf("%s has %d trees, and %d texts without one", dialect, trees[dialect], facts[dialect])
		}
	}
	t.Logf("trees %v, facts alone %v", trees, facts)
}
