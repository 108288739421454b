package report_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// reported returns a check with n equal findings in each of some files, and one
// of its own in each.
func reported(files, n int) *report.Check {
	c := &report.Check{Version: "1"}
	for i := range files {
		f := report.File{Path: fmt.Sprintf("db/v%d/a.sql", i), Text: "DROP TABLE t"}
		for j := range n {
			f.Findings = append(f.Findings, report.Finding{
				Finding:  sqlguard.Finding{Code: sqlguard.CodeDDLStatement, Message: "DROP changes the schema", Hint: "the hint", Line: j + 1, Column: 1},
				Severity: report.SeverityError, Fingerprint: "same",
			})
		}
		f.Findings = append(f.Findings, report.Finding{
			Finding:  sqlguard.Finding{Code: sqlguard.CodeWriteStatement, Message: fmt.Sprint("own ", i), Line: n + 1, Column: 1},
			Severity: report.SeverityNote, Fingerprint: fmt.Sprint("own ", i),
		})
		c.Files = append(c.Files, f)
	}
	c.Summary = report.Summarize(c.Files)
	return c
}

// TestSeveritiesOfACode: a code that has several severities is counted for each.
func TestSeveritiesOfACode(t *testing.T) {
	t.Parallel()
	c := reported(2, 3)
	c.Files[0].Findings[0].Severity = report.SeverityNote
	want := []report.Counts{
		{Name: "ddl_statement", Severity: report.SeverityError, Findings: 5, Files: 2},
		{Name: "write_statement", Severity: report.SeverityNote, Findings: 2, Files: 2},
		{Name: "ddl_statement", Severity: report.SeverityNote, Findings: 1, Files: 1},
	}
	if got := report.Count(c).Codes; !slices.EqualFunc(want, got, func(x, y report.Counts) bool {
		return x.Name == y.Name && x.Severity == y.Severity && x.Findings == y.Findings && x.Files == y.Files
	}) {
		t.Errorf("%+v", got)
	}
}

// TestManyFindings: the report of many findings begins with their counts, shows
// equal ones once, and shows no more than Max of them.
func TestManyFindings(t *testing.T) {
	t.Parallel()
	write := func(c *report.Check, format string) string {
		var b bytes.Buffer
		if err := report.Write(&b, format, c); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := write(reported(4, 9), report.FormatHuman)
	for _, want := range []string{
		"40 findings in 4 files\n     36  error    ddl_statement            4 files\n      4  note     write_statement          4 files\n",
		"     10  db/v0 (ddl_statement, write_statement)\n",
		"  also at 2:1, 3:1, 4:1, 5:1, 6:1, 7:1 and 29 more\n",
		"db/v3/a.sql:10:1: write_statement: note: own 3\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "DROP changes"); n != 1 {
		t.Errorf("equal findings are shown %d times", n)
	}
	unknown := &report.Check{Version: "1"}
	for i := range 30 {
		unknown.Files = append(unknown.Files, report.File{Path: fmt.Sprintf("q/%d.sql", i), Findings: []report.Finding{{
			Finding: sqlguard.Finding{Code: sqlguard.CodeDialectUnknown, Message: "nothing says which", Line: 1, Column: 1}, Severity: report.SeverityError,
		}}})
	}
	if got := write(unknown, report.FormatHuman); strings.Count(got, "nothing says which") != 1 || !strings.Contains(got, "  also at q/1.sql:1:1, q/2.sql:1:1, q/3.sql:1:1, q/4.sql:1:1, q/5.sql:1:1, q/6.sql:1:1 and 23 more\n") {
		t.Error(got)
	}
	if few := write(reported(2, 3), report.FormatHuman); strings.Count(few, "DROP changes") != 6 || strings.Contains(few, "also at") {
		t.Errorf("few findings are grouped:\n%s", few)
	}
	c := reported(4, 9)
	c.Max = 2
	if got := write(c, report.FormatHuman); !strings.HasSuffix(got, "3 more findings not shown; --max 0 shows all\n") {
		t.Error(got)
	}
	if got := write(c, report.FormatCompact); strings.Count(got, "\n") != 2 {
		t.Error(got)
	}
	if got := write(c, report.FormatMarkdown); !strings.HasSuffix(got, "38 more are not shown.\n") {
		t.Error(got)
	}
	if got := write(c, report.FormatJSONL); strings.Count(got, "\n") != 41 {
		t.Error("a format for programs is cut")
	}
}
