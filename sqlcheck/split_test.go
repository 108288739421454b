package sqlcheck_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlguard"
)

// pieces are the parts of random texts: everything that could make a reader
// mistake the middle of a text for its start.
var pieces = []string{
	"SELECT 1", ";", "; ", ";\n", ";\r\n", ";\n\n", ";;\n", "\n", "\r", " ", "\t", "'", "''", "'a;\nb'", "\"", "\"x;\n\"", "$$", "$$;\n$$", "$a$", "$a$;\n$b$;\n$a$",
	"--x;\n", "-- x", "/*", "*/", "/* ; \n*/", "/* /* ;\n */", "\\c db\n", "\\", ".tables\n", ".5", "(", ")", "(;\n)", "[", "]", "[x;\n]", "`", "`;\n`",
	"BEGIN", "END", "CASE", "CREATE TRIGGER t BEGIN\n", "CREATE TEMP TRIGGER t AFTER INSERT ON x BEGIN SELECT 1;\n", "END;\n",
	"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC\n", "CREATE OR REPLACE PROCEDURE p() BEGIN ATOMIC SELECT 1;\n", "EXPLAIN ", "E'\\';\n'", "U&'x;\n'", "x'", "X'00;\n'", "B'1'",
	"a", "1", "1;\n2", "\x00", "\u202e", "é", "\ufeff", "#;\n", "@x", "?1", ":a;\n", "::int", "\x1a", "\x0c", "\v",
}

// TestWindows: windows of any size split a text in the same way.
func TestWindows(t *testing.T) {
	t.Parallel()
	rounds := 2_000
	if os.Getenv("KTX_TEST_FULL") == "1" {
		rounds = 20_000
	}
	r := rand.New(rand.NewPCG(3, 4))
	several := 0
	for range rounds {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text, window := b.String(), 1+r.IntN(60)
		for _, d := range dialects.All() {
			want := slices.Clone(sqlguard.Split(d, text))
			got, done := sqlcheck.Statements(d, text, window, 1<<20)
			if diff := cmp.Diff(want, got); diff != "" || done != len(text) {
				t.Fatalf("%s in windows of %d: %q: %s", d.Name(), window, text, diff)
			}
			if len(want) > 3 && len(text) > window {
				several++
			}
		}
	}
	if several < rounds/4 {
		t.Errorf("only %d texts were of several statements and windows", several)
	}
}

// TestPartsOfFiles: a file of SQL is split as the tools split it that run it.
func TestPartsOfFiles(t *testing.T) {
	t.Parallel()
	const routine = "CREATE DEFINER=CURRENT_USER PROCEDURE p(IN a INT)\nBEGIN\n  IF a > 1 THEN SELECT CASE a WHEN 1 THEN 2 END; END IF;\n" +
		"  one: BEGIN CASE a WHEN 2 THEN SET @x = 1; ELSE BEGIN END; END CASE; END one;\n  WHILE a DO SET a = 0; END WHILE;\nEND"
	for _, test := range []struct {
		dialect, text string
		want          []string
	}{
		{"mysql", routine + ";\nSELECT 1;\nDROP TABLE x;", []string{fmt.Sprintf("%q 1:1 ddl_statement", routine), `"SELECT 1"`, `"DROP TABLE x" 8:1 ddl_statement`}},
		{"mysql", "DELIMITER //\n" + routine + "//\nDELIMITER ;\nSELECT 1;", []string{`"SELECT 1"`, fmt.Sprintf("%q 2:1 ddl_statement", routine)}},
		{"mysql", "CREATE PROCEDURE p() SELECT 1; DELETE FROM t; BEGIN", []string{"delete"}},
		{"mysql", "CREATE TABLE event (a INT); DELETE FROM t", []string{"delete"}},
		{"mysql", "CREATE TABLE t AS SELECT 1 AS begin; DELETE FROM t", []string{"delete"}},
		{"mysql", "CREATE FUNCTION f() RETURNS INT BEGIN RETURN 1; END; DELETE FROM t", []string{"delete"}},
		{"mysql", "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; END; DELETE FROM t", []string{"delete"}},
		{"mysql", "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET @a = 1; DELETE FROM t; SELECT CASE 1 WHEN 1 THEN 2 END", []string{"delete"}},
		{"mysql", "CREATE PROCEDURE p() BEGIN SELECT 1; DELETE FROM t", []string{"delete"}},
		{"postgres", "-- +goose Up\nDELETE FROM t\n-- +goose Down\nSELECT 1\n", []string{"delete", `"SELECT 1"`}},
		{"postgres", "-- migrate:up\nSELECT 1\n-- migrate:down\nDELETE FROM t", []string{"delete", `"SELECT 1"`}},
		{"postgres", "SELECT 1 -- +goose Upwards\nFROM t", []string{`"SELECT 1 -- +goose Upwards\nFROM t"`}},
	} {
		got := brief(test.text, judge(t, test.dialect, test.text))
		for _, want := range test.want {
			found := slices.Contains(got, want)
			if want == "delete" {
				found = slices.ContainsFunc(got, func(line string) bool {
					return strings.HasPrefix(line, `"DELETE FROM t" `) && strings.HasSuffix(line, " write_statement")
				})
			}
			if !found {
				t.Errorf("%s: no %s in %q", test.text, want, got)
			}
		}
		if strings.Contains(strings.Join(got, "\n"), "parse_error") {
			t.Errorf("%s: %q", test.text, got)
		}
	}
}

// TestWindowsOfLongFiles uses windows of the real size.
func TestWindowsOfLongFiles(t *testing.T) {
	t.Parallel()
	window := 1 << 15
	if os.Getenv("KTX_TEST_FULL") == "1" {
		window = 1 << 20 // as the check has it
	}
	long := "SELECT '" + strings.Repeat("x;\n", window/2) + "';\n"
	text := strings.Repeat("SELECT ';' AS a; -- one\nSELECT 2;\n", window/17) + long + "SELECT 3;\n" + long + "SELECT 4"
	for _, d := range dialects.All() {
		got, done := sqlcheck.Statements(d, text, window, 8*window)
		if diff := cmp.Diff(slices.Clone(sqlguard.Split(d, text)), got); diff != "" || done != len(text) {
			t.Errorf("%s: %.2000s", d.Name(), diff)
		}
	}
}

// TestLimitOfStatements: splitting ends at an extremely long statement, whose
// tokens would need gigabytes of memory.
func TestLimitOfStatements(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return "SELECT 1;\nSELECT " + strings.Repeat("1,", n) + "1;\nSELECT 2;" }
	for _, d := range dialects.All() {
		got, done := sqlcheck.Statements(d, long(5<<14), 1<<14, 8<<14)
		if len(got) != 1 || done != 10 {
			t.Errorf("%s: %d statements, %d bytes", d.Name(), len(got), done)
		}
	}
	text := long(4<<20 + 1) // two bytes each: just over the limit
	f := judge(t, "sqlite", text)
	want := []string{`"SELECT 1"`, "2:1 not_checked: a statement longer than 8 MiB begins here; it and the rest of the file were not checked"}
	if diff := cmp.Diff(want, brief(text, f)); diff != "" {
		t.Error(diff)
	}
}
