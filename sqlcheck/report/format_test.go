package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// finding returns a finding about a part of a text.
func finding(text, part string, code sqlguard.Code, message string) report.Finding {
	start := strings.Index(text, part)
	f := report.Finding{Severity: report.DefaultSeverity(code), Fingerprint: "f1", Statement: 0}
	f.Finding = sqlguard.Finding{Code: code, Message: message, Hint: sqlguard.HintFor(code), Span: sqlguard.Span{Start: start, End: start + len(part)}}
	f.Line, f.Column = sqlguard.Position(text, start)
	f.EndLine, f.EndColumn = sqlguard.Position(text, start+len(part))
	return f
}

// sample returns a check with a finding of every severity and state.
func sample() *report.Check {
	const text = "SELECT 1;\nDROP TABLE tä, u;\nDELETE\nFROM t;\nSELECT pg_sleep(1)"
	permitted := finding(text, "DELETE\nFROM t", sqlguard.CodeWriteStatement, "DELETE changes data")
	permitted.State, permitted.Suppression = report.StateSuppressed, &report.Suppression{Reason: "clean-up", Until: "2027-01-31", Line: 3}
	old := finding(text, "pg_sleep", sqlguard.CodeFunctionSleep, "function pg_sleep: makes the session wait")
	old.State = report.StateBaseline
	file := finding("", "", sqlguard.CodeNotChecked, "the file is UTF-16, not UTF-8")
	file.Fingerprint, file.Statement = "", -1
	files := []report.File{
		{Path: "good.sql", Dialect: "postgres", Statements: []report.Statement{}, Findings: []report.Finding{}, Judged: 3},
		{Path: "a dir/bad#1.sql", Dialect: "postgres", Text: text, Judged: 4, Refused: 3, Statements: []report.Statement{}, Findings: []report.Finding{
			finding(text, "DROP TABLE tä", sqlguard.CodeDDLStatement, "DROP changes the schema"),
			finding(text, "u", sqlguard.CodeSuppressionUnused, "the statement has no finding x"),
			permitted, old,
		}},
		{Path: "wide.sql", Statements: []report.Statement{}, Findings: []report.Finding{file}},
	}
	return &report.Check{Files: files, Summary: report.Summarize(files), Version: "1.2.3"}
}

func write(t *testing.T, format string, c *report.Check) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, format, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGolden compares every format with its golden file.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, format := range report.Formats() {
		got := write(t, format, sample())
		if format == report.FormatSARIF { // the rules have their own test
			got = regexp.MustCompile(`(?s)"rules": \[.*?\n          \]`).ReplaceAllString(got, `"rules": []`)
		}
		name := filepath.Join("testdata", "sample."+format)
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
	}
	if err := report.Write(io.Discard, "yaml", sample()); err == nil {
		t.Error("a format that is none")
	}
}

// TestAllShowsWhatDoesNotCount: with All, the formats without marks show
// suppressed findings too.
func TestAllShowsWhatDoesNotCount(t *testing.T) {
	t.Parallel()
	for _, format := range report.Formats() {
		c := sample()
		few := write(t, format, c)
		c.All = true
		all := write(t, format, c)
		switch format {
		case report.FormatJSON, report.FormatJSONL, report.FormatSARIF, report.FormatJUnit:
			if all != few || !strings.Contains(all, "clean-up") {
				t.Errorf("%s has marks of its own: %s", format, all)
			}
		default:
			if strings.Contains(few, "clean") || strings.Contains(few, "baseline]") || !strings.Contains(all, "clean") {
				t.Errorf("%s: %s\n%s", format, few, all)
			}
		}
	}
}

// TestSARIFRules: every finding names a rule, and every rule is explained.
func TestSARIFRules(t *testing.T) {
	t.Parallel()
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Rules []struct {
						ID, Name                                string
						ShortDescription, FullDescription, Help struct{ Text, Markdown string }
						DefaultConfiguration                    struct{ Level string }
						HelpURI                                 string
					}
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex int
			}
		}
	}
	if err := json.Unmarshal([]byte(write(t, report.FormatSARIF, sample())), &log); err != nil {
		t.Fatal(err)
	}
	rules := log.Runs[0].Tool.Driver.Rules
	if len(rules) < 40 || len(log.Runs[0].Results) != 5 {
		t.Fatalf("%d rules, %d results", len(rules), len(log.Runs[0].Results))
	}
	for _, r := range rules {
		if r.ID == "" || r.Name == "" || r.ShortDescription.Text == "" || r.FullDescription.Text == "" || r.Help.Text == "" || r.Help.Markdown == "" || r.DefaultConfiguration.Level == "" || !strings.HasSuffix(r.HelpURI, "#"+r.ID) {
			t.Errorf("%+v", r)
		}
	}
	for _, r := range log.Runs[0].Results {
		if rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("%+v", r)
		}
	}
}

// hostile are texts that a reader of some format would act on.
var hostile = []string{
	"::error file=x::pwned", "\n::set-output name=x::y", "\r\n::add-mask::x", "%0A::stop-commands::x", "a,line=9,title=b::c", "a%b:c,d",
	"<script>alert(1)</script>", "</failure><testcase/>", "]]>", "&lt;&amp;\x00\x01\ufffe", "\"><x y=\"",
	"[a](https://example.com)", "![x](y)", "`x`", "| a | b |", "\n# head", "@somebody", "#1", "{0}", "\\[", "<!--", "</code><b>",
	"##vso[task.setvariable variable=x]y", "##[error]x", "###[add-path]/tmp", "##teamcity[message text='x']", "x ##vso[task.complete]y", " ::error::x", "\t::error::x", "\u00a0::error::x", "\ufeff::error::x",
	"--- x", "+++ x", "~~~ x", "section_start:1:x\r\x1b[0K", "travis_fold:start:x", "%3A%3Aerror%3A%3Ax", "%2525", "%25%0A::x",
	"\x1b]8;;https://example.com\x1b\\x\x1b]8;;\x1b\\", "\x9b2J", "\u0085::error::x", "\u2029::error::x", "\u2066x\u2069", "\u200b::error::x", "\U000e0041", "\b\b\b", "\r::error::x",
	"<details open ontoggle=alert(1)>", "<!DOCTYPE x [<!ENTITY a \"b\">]>", "<?xml version=\"1.0\"?>", "<![CDATA[x]]>", "&#x3c;b&#x3e;", "&amp;lt;", "\ud7ff\ue000\ufffd",
	"<https://example.com>", "https://example.com", "www.example.com", "[x]: https://example.com", "[^1]", "```\nx\n```", "~~~\nx", "- [ ] x", "***x***", "__x__", "~~x~~", "$x$", ":smile:", "x\\|y", "|---|", "> x", "1. x", "<img src=x onerror=y>",
	"{0} {{1}} [0](1)", "](javascript:x)", "\x1b[2J", "\x1b]0;x\x07", "\u009b2J", "\u202e", "\u2028", "\t", "\xff\xfe", "😀", "'; DROP TABLE x",
}

// TestNothingIsInjected puts hostile texts wherever a text of the checked files
// can appear, and reads the reports back.
func TestNothingIsInjected(t *testing.T) {
	t.Parallel()
	for _, bad := range hostile {
		f := report.Finding{Severity: report.SeverityError, EndLine: 1, EndColumn: 2, Fingerprint: "f", Suppression: &report.Suppression{Reason: bad, Until: "2027-01-31", Line: 1}}
		f.Finding = sqlguard.Finding{Code: sqlguard.CodeParseError, Message: "near " + bad, Hint: bad, Object: bad, Path: bad, Span: sqlguard.Span{End: len(bad)}, Line: 1, Column: 1}
		permitted := f
		permitted.State = report.StateSuppressed
		c := &report.Check{Version: "1", All: true, Files: []report.File{{Path: strings.ReplaceAll(bad, "/", "") + ".sql", Dialect: bad, Text: bad + bad, Findings: []report.Finding{f, permitted}, Statements: []report.Statement{}}}}
		c.Summary = report.Summarize(c.Files)
		for _, format := range report.Formats() {
			text := write(t, format, c)
			if m := regexp.MustCompile(`##[^\s\[]*\[`).FindString(text); m != "" {
				t.Errorf("%s: %q is a command of Azure Pipelines or GitHub Actions: %q", format, bad, m)
			}
			if format != report.FormatGitHub && regexp.MustCompile(`(?m)^[\s\p{Z}\x{feff}]*(?:::|---|\+\+\+|~~~)`).MatchString(text) {
				t.Errorf("%s: %q: a line begins as a command does: %q", format, bad, text)
			}
			acts := func(r rune) bool { return r != '\n' && report.Control(r) }
			if strings.ContainsFunc(text, acts) || !utf8.ValidString(text) {
				t.Errorf("%s: %q has characters that act on a terminal: %q", format, bad, text)
			}
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			switch format {
			case report.FormatHuman:
				if len(lines) != 8 {
					t.Errorf("human: %q: %q", bad, lines)
				}
			case report.FormatCompact:
				if len(lines) != 2 {
					t.Errorf("compact: %q: %q", bad, lines)
				}
			case report.FormatGitHub:
				readGitHub(t, bad, lines)
			case report.FormatMarkdown:
				row := regexp.MustCompile(`^\| error(?: \| <code>(?:[A-Za-z0-9 ]|&#\d+;|[^\x00-\x7f])*</code>){3} \|$`)
				if len(lines) != 8 || !row.MatchString(lines[6]) || !row.MatchString(lines[7]) {
					t.Errorf("markdown: %q: %s", bad, text)
				}
			case report.FormatJUnit, report.FormatCheckstyle:
				readXML(t, format, bad, text)
			case report.FormatSARIF:
				readMessages(t, bad, text)
			default:
				d := json.NewDecoder(strings.NewReader(text))
				for {
					var v any
					if err := d.Decode(&v); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatalf("%s: %q: %v", format, bad, err)
					}
				}
			}
		}
	}
}

// readMessages reads the messages of SARIF. In them, unless they are escaped,
// [text](target) is a link and {0} is a placeholder (3.11.5, 3.11.6).
func readMessages(t *testing.T, bad, text string) {
	t.Helper()
	var log struct {
		Runs []struct {
			Results []struct {
				Message   map[string]string
				Locations []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatalf("sarif: %q: %v", bad, err)
	}
	escaped := regexp.MustCompile(`\\\\|\\\[|\\\]|\{\{|\}\}`)
	for _, r := range log.Runs[0].Results {
		rest := escaped.ReplaceAllString(r.Message["text"], "")
		if len(r.Message) != 1 || strings.ContainsAny(rest, `[]\`) || regexp.MustCompile(`\{\d+\}`).MatchString(rest) {
			t.Errorf("sarif: %q: %q", bad, r.Message)
		}
		uri, err := url.Parse(r.Locations[0].PhysicalLocation.ArtifactLocation.URI)
		if err != nil || uri.Scheme != "" || uri.Host != "" || uri.RawQuery != "" || uri.Fragment != "" {
			t.Errorf("sarif: %q: %v, %v", bad, uri, err)
		}
	}
}

// readGitHub reads lines as the runner of GitHub Actions does: a line that
// begins with "::" is a command, its properties end at the next "::", and "%3A"
// and the like are decoded. Other runners take the last "::" as the end.
func readGitHub(t *testing.T, bad string, lines []string) {
	t.Helper()
	command := regexp.MustCompile(`^::(error|warning|notice) ([^:]*)::(.*)$`)
	if len(lines) != 2 {
		t.Errorf("github: %q: %q", bad, lines)
	}
	for _, line := range lines {
		m := command.FindStringSubmatch(line)
		if m == nil || strings.Contains(m[3], "::") || strings.HasPrefix(m[3], ":") {
			t.Errorf("github: %q: %q", bad, line)
			continue
		}
		var keys []string
		for property := range strings.SplitSeq(m[2], ",") {
			key, _, _ := strings.Cut(property, "=")
			keys = append(keys, key)
		}
		if diff := cmp.Diff([]string{"file", "line", "endLine", "col", "endColumn", "title"}, keys); diff != "" {
			t.Errorf("github: %q: %s", bad, diff)
		}
	}
}

// readXML counts the elements of a report.
func readXML(t *testing.T, format, bad, text string) {
	t.Helper()
	counts := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %q: %v", format, bad, err)
		}
		if start, ok := token.(xml.StartElement); ok {
			counts[start.Name.Local]++
		}
	}
	want := map[string]map[string]int{
		report.FormatJUnit:      {"testsuites": 1, "testsuite": 1, "testcase": 2, "failure": 1, "skipped": 1},
		report.FormatCheckstyle: {"checkstyle": 1, "file": 1, "error": 2},
	}[format]
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("%s: %q: %s", format, bad, diff)
	}
}
