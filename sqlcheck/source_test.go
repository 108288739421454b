package sqlcheck_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// inSource checks one file of another language. It returns the findings as
// line:column code with the marked text.
func inSource(t *testing.T, name, text string) (judged int, found []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := sqlcheck.Checker{Choose: with(t, "postgres"), Today: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}
	files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: path}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files[0].Findings {
		line := fmt.Sprintf("%d:%d %s %q", f.Line, f.Column, f.Code, text[f.Span.Start:f.Span.End])
		if f.Severity != "error" {
			line += " " + string(f.Severity)
		}
		if f.State != "" {
			line += " " + string(f.State)
		}
		found = append(found, line)
	}
	return files[0].Judged, found
}

func TestGoSource(t *testing.T) {
	t.Parallel()
	const permit = `// ktx:allow write_statement until=2027-01-31 reason="x"`
	for _, test := range []struct {
		name, body string
		judged     int
		want       []string
	}{
		{"nothing", `fmt.Println("SELECT 1")`, 0, nil},
		{"allowed", `db.QueryContext(ctx, "SELECT a FROM t WHERE b = $1", b)`, 1, nil},
		{"refused", `db.ExecContext(ctx, "DELETE FROM t WHERE id = $1", id)`, 1, []string{`4:23 write_statement "DELETE FROM t WHERE id = $1"`}},
		{"in a raw string", "db.ExecContext(ctx, `SELECT 1;\n\tDELETE FROM t`)", 2, []string{`5:2 write_statement "DELETE FROM t"`}},
		{"a function in the middle", `db.QueryContext(ctx, "SELECT 'é', " + "pg_sleep(1)")`, 1, []string{`4:41 function_sleep "pg_sleep"`}},
		{"a name that is filled in", `db.QueryContext(ctx, "SELECT * FROM "+table)`, 1, []string{`4:40 dynamic_sql_unprovable "table"`}},
		{"the same where it may be no SQL", `x.Query("SELECT * FROM "+table)`, 1, []string{`4:27 dynamic_sql_unprovable "table" note`}},
		{"a function and a schema that are filled in", `db.QueryContext(ctx, "SELECT "+f+"(a) FROM "+s+".t")`, 1, []string{`4:33 dynamic_sql_unprovable "f"`, `4:47 dynamic_sql_unprovable "s"`}},
		{"a name and a write", `db.ExecContext(ctx, "DELETE FROM "+table)`, 1, []string{`4:23 write_statement "DELETE FROM \"+table"`, `4:37 dynamic_sql_unprovable "table"`}},
		{"no SQL after all", `x.Get("a", "select best of the")`, 1, []string{`4:29 parse_error "t" note`}},
		{"permitted", permit + "\n\tdb.ExecContext(ctx, \"DELETE FROM t\")", 1, []string{`5:23 write_statement "DELETE FROM t" suppressed`}},
		{"permitted behind", `db.ExecContext(ctx, "DELETE FROM t") ` + permit, 1, []string{`4:23 write_statement "DELETE FROM t" suppressed`}},
		{"permitted behind the line before", `db.ExecContext(ctx, "DELETE FROM a") ` + permit + "\n\tdb.ExecContext(ctx, \"DELETE FROM b\")", 2, []string{`4:23 write_statement "DELETE FROM a" suppressed`, `5:23 write_statement "DELETE FROM b"`}},
		{"permitted elsewhere", permit + "\n\n\n\tdb.ExecContext(ctx, \"DELETE FROM t\")", 1, []string{`4:2 suppression_unused "` + `// ktx:allow write_statement until=2027-01-31 reason=\"x\"" warning`, `7:23 write_statement "DELETE FROM t"`}},
		{"permitted in the text", "db.ExecContext(ctx, `\n-- " + permit[3:] + "\nDELETE FROM a;\nDELETE FROM b`)", 2, []string{`6:1 write_statement "DELETE FROM a" suppressed`, `7:1 write_statement "DELETE FROM b"`}},
		{"permitted in a statement of the text", "db.ExecContext(ctx, `SELECT 1; DELETE /* " + permit[3:] + " */ FROM a`)", 2, []string{`4:33 write_statement "DELETE /* ` + strings.ReplaceAll(permit[3:], `"`, `\"`) + ` */ FROM a" suppressed`}},
		{"permitted behind a statement of the text", "db.ExecContext(ctx, `DELETE FROM a; -- " + permit[3:] + "\nDELETE FROM b`)", 2, []string{`4:23 write_statement "DELETE FROM a" suppressed`, `5:1 write_statement "DELETE FROM b"`}},
		{"permitted in the text, in vain", "db.ExecContext(ctx, `SELECT 1 -- " + permit[3:] + "`)", 1, []string{`4:32 suppression_unused "-- ` + strings.ReplaceAll(permit[3:], `"`, `\"`) + `" warning`}},
		{"bare in the text", "db.ExecContext(ctx, `DELETE FROM a -- ktx:allow write_statement`)", 1, []string{`4:23 write_statement "DELETE FROM a"`, `4:37 suppression_invalid "-- ktx:allow write_statement"`}},
		{"over in an escaped text", `db.ExecContext(ctx, "-- ktx:allow write_statement until=2026-01-31 reason=\"x\"\nDELETE FROM a")`, 1, []string{`4:23 suppression_expired "-- ktx:allow write_statement until=2026-01-31 reason=\\\"x\\\""`, `4:83 write_statement "DELETE FROM a"`}},
		{"permitted before a call of several lines", permit + "\n\tdb.ExecContext(\n\t\tctx,\n\t\t\"DELETE FROM t\",\n\t)", 1, []string{`7:4 write_statement "DELETE FROM t" suppressed`}},
		{"made elsewhere", `x.Query(text)`, 0, []string{`4:10 dynamic_sql_unprovable "text" note`}},
		{"begun elsewhere", `db.ExecContext(ctx, verb+" FROM t")`, 1, []string{`4:22 dynamic_sql_unprovable "verb"`}},
	} {
		judged, found := inSource(t, "x.go", "package p\n\nfunc f() {\n\t"+test.body+"\n}\n")
		if diff := cmp.Diff(test.want, found); diff != "" || judged != test.judged {
			t.Errorf("%s: %d judged: %s", test.name, judged, diff)
		}
	}
	if _, found := inSource(t, "x.go", "package p\nfunc {"); len(found) != 1 || found[0][:15] != "2:6 not_checked" {
		t.Errorf("%q", found)
	}
	// A file without SQL needs no dialect.
	path := filepath.Join(t.TempDir(), "x.go")
	if err := os.WriteFile(path, []byte("package p"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := sqlcheck.Checker{Choose: func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) {
		return nil, &sqlguard.Finding{Code: sqlguard.CodeDialectUnknown}
	}}
	if files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: path}}); err != nil || len(files[0].Findings) != 0 {
		t.Errorf("%+v, %v", files, err)
	}
}

// TestOnce: what several calls share is reported once, and counts unless each of
// them permits it.
func TestOnce(t *testing.T) {
	t.Parallel()
	const allow = "\t// ktx:allow write_statement until=2026-12-01 reason=\"x\"\n"
	for _, test := range []struct {
		first, second string
		state         report.State
	}{
		{"", "", ""},
		{allow, "", ""},
		{"", allow, ""},
		{allow, allow, report.StateSuppressed},
	} {
		text := "package p\n\nconst q = `DELETE FROM t`\n\nfunc f() {\n" + test.first + "\tdb.Exec(q)\n\n" + test.second + "\tdb.Exec(q)\n}\n"
		c := sqlcheck.Checker{Stdin: strings.NewReader(text), Choose: with(t, "postgres"), Today: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
		files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: "x.go", Stdin: true}})
		if err != nil {
			t.Fatal(err)
		}
		if f := files[0]; f.Judged != 2 || len(f.Findings) != 1 || f.Findings[0].State != test.state {
			t.Errorf("%s: %+v", text, f.Findings)
		}
	}
}

// TestPartsOfStatements: what a program may never send as it is, is a note.
func TestPartsOfStatements(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, code string
		want       []string
	}{
		{"a template that is put together", "const q = sql`SELECT a FROM t WHERE b IN (`; q.append(sql`1)`)", []string{`1:42 parse_error "(" note`}},
		{"a template that writes", "const q = sql`DELETE FROM t WHERE b IN (`", []string{`1:40 parse_error "("`}},
		{"a whole template", "p.$queryRaw`SELECT a FROM t WHERE b IN (`", []string{`1:40 parse_error "("`}},
		{"branches that never meet", "const q = 'SELECT a FROM t ' + (x ? 'WHERE b = 1 ' : '') + (x ? 'AND c = 2' : ''); db.queryRaw(q)", []string{`1:66 parse_error "A" note`}},
		{"no branch can be read", "db.queryRaw('SELECT a FROM FROM t' + (x ? ' WHERE b = 1' : ''))", []string{`1:28 parse_error "F"`}},
		{"a connection to another engine", "clickhouse.query('SELECT finalizeAggregation(a) FROM t'); clickhouse.query('DELETE FROM t')", []string{`1:26 function_not_allowed "finalizeAggregation" note`, `1:77 write_statement "DELETE FROM t"`}},
	} {
		if _, found := inSource(t, "x.ts", test.code); !cmp.Equal(test.want, found) {
			t.Errorf("%s: %s", test.name, cmp.Diff(test.want, found))
		}
	}
}
