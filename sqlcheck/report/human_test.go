package report_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// human prints one finding about a span of text.
func human(text string, start, end int, color bool) string {
	line, column := sqlguard.Position(text, start)
	finding := sqlguard.Finding{Code: "some_code", Message: "message", Hint: "hint", Span: sqlguard.Span{Start: start, End: end}, Line: line, Column: column}
	var b strings.Builder
	report.Human(&b, []report.Result{{Name: "f.sql", Text: text, Findings: []sqlguard.Finding{finding}}}, report.Style{Color: color})
	return b.String()
}

// TestCaret marks the text between « and », and compares the two lines of the
// excerpt. On a terminal, the carets must be under the marked text.
func TestCaret(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("abcdefghi ", 30)
	for _, test := range []struct{ name, text, line, carets string }{
		{"start", "«SELECT» 1", "   1 | SELECT 1", "     | ^^^^^^"},
		{"middle", "SELECT «1» + 2", "   1 | SELECT 1 + 2", "     |        ^"},
		{"end", "SELECT «1»", "   1 | SELECT 1", "     |        ^"},
		{"whole", "«SELECT 1»", "   1 | SELECT 1", "     | ^^^^^^^^"},
		{"zero length", "SELECT «»1", "   1 | SELECT 1", "     |        ^"},
		{"zero length at the end", "SELECT 1«»", "   1 | SELECT 1", "     |         ^"},
		{"behind the last line", "SELECT 1\n«»", "   2 | ", "     | ^"},
		{"second line", "SELECT\n  «x» FROM t\n", "   2 |   x FROM t", "     |   ^"},
		{"over line ends", "SELECT «a,\n  b,\n  c» FROM t", "   1 | SELECT a,", "     |        ^^"},
		{"CR LF", "SELECT\r\n\t«x»,\r\n1", "   2 |  x,", "     |  ^"},
		{"over CR LF", "SELECT «x\r\n,» 1", "   1 | SELECT x", "     |        ^"},
		{"the middle of CR LF", "SELECT x\r«\n», 1", "   2 | , 1", "     | ^"},
		{"lone CR", "SELECT\rx«y»", "   2 | xy", "     |  ^"},
		{"tabs", "\tSELECT\t«x»", "   1 |  SELECT x", "     |         ^"},
		{"byte order mark", "\ufeff«DROP» x", "   1 | DROP x", "     | ^^^^"},
		{"byte order mark marked", "«\ufeffDROP» x", "   1 | ·DROP x", "     | ^^^^^"},
		{"accents", "SELECT 'é', «x»", "   1 | SELECT 'é', x", "     |             ^"},
		{"combining", "SELECT 'e\u0301', «x»", "   1 | SELECT 'e\u0301', x", "     |             ^"},
		{"wide", "SELECT '日本', «x»", "   1 | SELECT '日本', x", "     |                ^"},
		{"wide marked", "SELECT «'日本'»", "   1 | SELECT '日本'", "     |        ^^^^^^"},
		{"astral", "SELECT '😀', «x»", "   1 | SELECT '😀', x", "     |              ^"},
		{"control", "SELECT '\x1b[2J', «x»", "   1 | SELECT '·[2J', x", "     |                ^"},
		{"bidi", "SELECT '\u202e', «x»", "   1 | SELECT '·', x", "     |             ^"},
		{"invalid UTF-8", "SELECT '\xff', «x»", "   1 | SELECT '·', x", "     |             ^"},
		{"long before", long + "«x»", "   1 | …" + long[len(long)-49:] + "x", "     | " + strings.Repeat(" ", 50) + "^"},
		{"long after", "«x»" + long, "   1 | x" + long[:98] + "…", "     | ^"},
		{"long marked", "«" + long + "»", "   1 | " + long[:99] + "…", "     | " + strings.Repeat("^", 100)},
		{"long around", long + "«x»" + long, "   1 | …" + long[len(long)-49:] + "x" + long[:48] + "…", "     | " + strings.Repeat(" ", 50) + "^"},
		{"exactly as wide", "«x»" + strings.Repeat("y", 99), "   1 | x" + strings.Repeat("y", 99), "     | ^"},
		{"wide at the cut", strings.Repeat("日", 40) + "«x»" + strings.Repeat("本", 40), "   1 | …" + strings.Repeat("日", 24) + "x" + strings.Repeat("本", 24) + "…", "     | " + strings.Repeat(" ", 49) + "^"},
		{"line 12345", strings.Repeat("\n", 12344) + "«x»", "12345 | x", "     | ^"},
	} {
		start := strings.Index(test.text, "«")
		text := strings.Replace(test.text, "«", "", 1)
		end := strings.Index(text, "»")
		text = strings.Replace(text, "»", "", 1)
		lines := strings.Split(human(text, start, end, false), "\n")
		if len(lines) != 5 {
			t.Errorf("%s: %d lines: %q", test.name, len(lines), lines)
			continue
		}
		if diff := cmp.Diff([]string{test.line, test.carets, "  hint: hint"}, lines[1:4]); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestHuman(t *testing.T) {
	t.Parallel()
	want := "\x1b[1mf.sql:1:8\x1b[0m: \x1b[31msome_code\x1b[0m: message\n" +
		"\x1b[2m   1 | \x1b[0mSELECT x\n" +
		"\x1b[2m     | \x1b[0m       \x1b[31m^\x1b[0m\n" +
		"  hint: hint\n"
	if diff := cmp.Diff(want, human("SELECT x", 7, 8, true)); diff != "" {
		t.Error(diff)
	}
	// A finding of a file that was not read has no excerpt.
	if diff := cmp.Diff("f.sql:1:1: some_code: message\n  hint: hint\n", human("", 0, 0, false)); diff != "" {
		t.Error(diff)
	}
	// Names and messages cannot control the terminal.
	var b strings.Builder
	report.Human(&b, []report.Result{{Name: "a\x1b[2J\n.sql", Text: "x", Findings: []sqlguard.Finding{{Message: "near \"\x1b[31m\u202e\"", Hint: "\r\x00"}}}}, report.Style{})
	if strings.ContainsAny(b.String(), "\x1b\r\x00\u202e") || strings.Count(b.String(), "\n") != 4 {
		t.Errorf("%q", b.String())
	}
}

// FuzzHuman: for any text and span, the excerpt is two lines of printable text
// within the limits, with at least one caret.
func FuzzHuman(f *testing.F) {
	f.Add("SELECT 1", 0, 6)
	f.Add("\ufeff\r\n\t日本😀e\u0301\xff\x1b", 3, 30)
	f.Add(strings.Repeat("日", 200), 100, 900)
	f.Add(strings.Repeat("x", 20_000)+"\n", 9_000, 19_000)
	f.Add("\r\n\r\n", 1, 2)
	f.Fuzz(func(t *testing.T, text string, start, end int) {
		out := human(text, start, end, false)
		if !utf8.ValidString(out) {
			t.Errorf("%q is not UTF-8", out)
		}
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if text == "" {
			if len(lines) != 2 {
				t.Errorf("%q", lines)
			}
			return
		}
		if len(lines) != 4 || strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e) }) {
			t.Fatalf("%q", lines)
		}
		_, excerpt, _ := strings.Cut(lines[1], " | ")
		carets := strings.TrimPrefix(lines[2], "     | ")
		if w := report.Width(excerpt); w > 100 {
			t.Errorf("%d columns: %q", w, excerpt)
		}
		blank := strings.TrimLeft(carets, " ")
		if blank == "" || strings.Trim(blank, "^") != "" || report.Width(carets) > report.Width(excerpt)+1 {
			t.Errorf("%q\n%q", excerpt, carets)
		}
	})
}
