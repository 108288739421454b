package executiontest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// reportHead is the beginning of the report, before the parts of the engines.
const reportHead = `# What the read-only session stops on its own

Every statement passes two controls: the guard, which judges it, and the read-only session, which runs it. This page shows the second control alone. A test sends each statement below through a backend whose guard refuses nothing. It inspects the database from outside before and after: tables, settings, files, locks, sequences, large objects, roles and other sessions.

- **refused**: the statement failed. The words after it name the control that stopped it.
- **ran, undone**: the statement ran, and its changes were gone after the rollback and the reset of the session.
- **left behind**, **answered**: the session did not stop it. Only the guard refuses such a statement, and a role with fewer rights where a column for that role says so.

The note beside a statement that the session did not stop says why it cannot. The guard refuses every statement on this page when its policy denies the table of secrets. The test replaces the words in braces. Tests write this page: ` + "`go test ./execution/... -update`" + `; otherwise they compare it with what they see.
`

// report compares the outcomes with the engine's part of the report, or
// rewrites that part. It compares row by row, so that a server on which an
// attack is not possible can be compared too.
func (s *suite) report(t *testing.T, outcomes map[string][]outcome) {
	t.Helper()
	raw, err := os.ReadFile(s.Report)
	if err != nil && (!s.Update || !errors.Is(err, fs.ErrNotExist)) {
		t.Fatalf("read the report: %v", err)
	}
	page := string(raw)
	rows := s.rows(outcomes)
	if s.Update {
		if len(outcomes) != len(s.Attacks) {
			t.Fatalf("%d of %d attacks are for this version of the server: update the report with another one", len(outcomes), len(s.Attacks))
		}
		if err := os.WriteFile(s.Report, []byte(s.replacePart(page, s.part(rows, outcomes))), 0o644); err != nil {
			t.Fatalf("write the report: %v", err)
		}
		return
	}
	if !strings.HasPrefix(page, reportHead) {
		t.Errorf("%s does not begin with the text that the test writes; run the test with -update", s.Report)
	}
	_, part, _ := strings.Cut(page, s.mark("begin"))
	part, _, found := strings.Cut(part, s.mark("end"))
	if !found {
		t.Fatalf("%s has no part for %s; run the test with -update", s.Report, s.Engine)
	}
	lines := make(map[string]bool)
	for line := range strings.Lines(part) {
		lines[strings.TrimSuffix(line, "\n")] = true
	}
	for _, a := range s.Attacks {
		if row, ok := rows[a.Name]; ok && !lines[row] {
			t.Errorf("the report differs; run the test with -update and read the change. Now it is:\n%s", row)
		}
	}
	if len(outcomes) == len(s.Attacks) && strings.TrimSpace(part) != strings.TrimSpace(s.part(rows, outcomes)) {
		t.Errorf("%s is not what the test writes; run the test with -update", s.Report)
	}
}

// rows returns the row of each attack that was sent, by its name.
func (s *suite) rows(outcomes map[string][]outcome) map[string]string {
	rows := make(map[string]string, len(outcomes))
	for _, a := range s.Attacks {
		results, ok := outcomes[a.Name]
		if !ok {
			continue
		}
		cells := []string{a.Name, code(a.SQL)}
		for _, o := range results {
			cells = append(cells, o.String())
		}
		note := a.Beyond
		if a.StoppedSince > 0 {
			note = strings.TrimPrefix(fmt.Sprintf("%s; from version %d on the server stops it", note, a.StoppedSince), "; ")
		}
		cells = append(cells, note)
		rows[a.Name] = "| " + strings.Join(cells, " | ") + " |"
	}
	return rows
}

// part returns the engine's part of the page.
func (s *suite) part(rows map[string]string, outcomes map[string][]outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s\n", s.Engine, s.Intro, s.count(outcomes))
	group := ""
	for _, a := range s.Attacks {
		if a.Group != group {
			group = a.Group
			head := []string{"what is tried", "text"}
			for _, role := range s.Roles {
				if role == "" {
					role = "outcome"
				}
				head = append(head, role)
			}
			head = append(head, "note")
			fmt.Fprintf(&b, "\n### %s\n\n| %s |\n|%s\n", group, strings.Join(head, " | "), strings.Repeat("---|", len(head)))
		}
		b.WriteString(rows[a.Name] + "\n")
	}
	b.WriteByte('\n')
	return b.String()
}

// count summarises the outcomes.
func (s *suite) count(outcomes map[string][]outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Of %d texts the session did not stop", len(outcomes))
	for i, role := range s.Roles {
		n := 0
		for _, o := range outcomes {
			if o[i].harmed() {
				n++
			}
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %d", n)
		if role != "" {
			fmt.Fprintf(&b, " (%s)", role)
		}
	}
	b.WriteByte('.')
	return b.String()
}

// replacePart replaces the engine's part of page by part, or appends it.
func (s *suite) replacePart(page, part string) string {
	_, rest, found := strings.Cut(page, "\n<!-- ")
	parts := ""
	if found {
		parts = "\n<!-- " + rest
	}
	own := s.mark("begin") + part + s.mark("end")
	before, tail, found := strings.Cut(parts, s.mark("begin"))
	if !found {
		return reportHead + parts + "\n" + own + "\n"
	}
	_, after, _ := strings.Cut(tail, s.mark("end"))
	return reportHead + before + own + after
}

func (s *suite) mark(at string) string {
	return fmt.Sprintf("<!-- %s: %s, written by a test -->", s.Dialect, at)
}

// code formats sql as code for a table cell.
func code(sql string) string {
	return "`" + strings.ReplaceAll(strings.Join(strings.Fields(sql), " "), "|", `\|`) + "`"
}
