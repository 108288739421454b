package sqlcheck_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// newGuard returns a guard for a dialect with the default policy.
func newGuard(tb testing.TB, dialect string) *sqlguard.Guard {
	tb.Helper()
	d, ok := dialects.Lookup(dialect)
	if !ok {
		tb.Fatalf("no dialect %s", dialect)
	}
	guard, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return guard
}

// with returns a chooser that always chooses one guard.
func with(t *testing.T, dialect string) sqlcheck.Chooser {
	t.Helper()
	guard := newGuard(t, dialect)
	return func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) { return guard, nil }
}

// judge checks one text as standard input.
func judge(t *testing.T, dialect, text string) report.File {
	t.Helper()
	c := sqlcheck.Checker{Stdin: strings.NewReader(text), Choose: with(t, dialect), Whole: true}
	files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: "stdin", Stdin: true}})
	if err != nil {
		t.Fatal(err)
	}
	return files[0]
}

// brief returns the statements of a file as text, and its findings as
// line:column code.
func brief(text string, f report.File) []string {
	var out []string
	for _, s := range f.Statements {
		line := fmt.Sprintf("%q", text[s.Span.Start:s.Span.End])
		for _, finding := range s.Findings {
			line += fmt.Sprintf(" %d:%d %s", finding.Line, finding.Column, finding.Code)
		}
		out = append(out, line)
	}
	for _, finding := range f.Findings {
		if finding.Statement >= 0 {
			continue // it is part of the verdict
		}
		out = append(out, fmt.Sprintf("%d:%d %s: %s", finding.Line, finding.Column, finding.Code, finding.Message))
	}
	return out
}

func TestStatements(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		dialect, text string
		want          []string
	}{
		{"postgres", "", nil},
		{"postgres", " \n;;\n-- x\n/* ; */", nil},
		{"postgres", "SELECT 1", []string{`"SELECT 1"`}},
		{"postgres", "SELECT ';'; SELECT $$;$$ ; SELECT \";\" FROM t", []string{`"SELECT ';'"`, `"SELECT $$;$$"`, `"SELECT \";\" FROM t"`}},
		{"postgres", "SELECT 1;\n\nDELETE FROM t;\nSELECT 2", []string{`"SELECT 1"`, `"DELETE FROM t" 3:1 write_statement`, `"SELECT 2"`}},
		{"postgres", "SELECT FROM WHERE;\nDROP TABLE t", []string{`"SELECT FROM WHERE" 1:13 parse_error`, `"DROP TABLE t" 2:1 ddl_statement`}},
		{"postgres", "\\c db\nSELECT 1;\n\\i x.sql\n", []string{`"\\c db" 1:1 client_command`, `"SELECT 1"`, `"\\i x.sql" 3:1 client_command`}},
		{"postgres", "SELECT 'unterminated;\nSELECT 1", []string{`"SELECT 'unterminated;\nSELECT 1" 1:8 parse_error`}},
		{"mysql", "SELECT 1;\nDELIMITER //\nDROP TABLE a; DROP TABLE b//\nSELECT 2//\ndelimiter ;\nDROP TABLE c", []string{`"SELECT 1"`, `"DROP TABLE a; DROP TABLE b" 3:1 ddl_statement 3:15 multiple_statements 3:15 ddl_statement`, `"SELECT 2"`, `"DROP TABLE c" 6:1 ddl_statement`}},
		{"mysql", "SELECT delimiter FROM t; SELECT `delimiter x` FROM t", []string{`"SELECT delimiter FROM t"`, "\"SELECT `delimiter x` FROM t\""}},
		{"mysql", "source x.dump ;\nSELECT source FROM t; DROP TABLE t", []string{`"source x.dump" 1:1 client_command`, `"SELECT source FROM t"`, `"DROP TABLE t" 2:23 ddl_statement`}},
		{"mysql", "DROP TABLE\ndelimiter x\n", []string{`"DROP TABLE\ndelimiter x" 1:1 ddl_statement`}},
		{"mariadb", "SELECT 1\\G\nDROP TABLE t", []string{`"SELECT 1"`, `"\\G" 1:9 client_command`, `"DROP TABLE t" 2:1 ddl_statement`}},
		{"sqlite", ".tables\nSELECT 1;\n", []string{`".tables" 1:1 client_command`, `"SELECT 1"`}},
		{"sqlite", "\ufeffSELECT 1;\r\nDROP TABLE t;", []string{`"SELECT 1"`, `"DROP TABLE t" 2:1 ddl_statement`}},
		{"sqlite", "SELECT 1; SELECT '\u00e9\U0001F600', x'\n", []string{`"SELECT 1"`, "\"SELECT '\u00e9\U0001F600', x'\\n\" 1:24 parse_error"}},
		{"sqlite", "SELECT \x00;\nSELECT 1", []string{`"SELECT \x00" 1:8 invalid_characters`, `"SELECT 1"`}},
		{"sqlite", "SELECT \xe9", []string{"1:1 not_checked: the file is not UTF-8: byte 7 does not begin a character"}},
		{"sqlite", "\xff\xfeS\x00", []string{"1:1 not_checked: the file is UTF-16, not UTF-8"}},
		{"sqlite", "\xfe\xff\x00S", []string{"1:1 not_checked: the file is UTF-16, not UTF-8"}},
	} {
		if diff := cmp.Diff(test.want, brief(test.text, judge(t, test.dialect, test.text))); diff != "" {
			t.Errorf("%s %q: %s", test.dialect, test.text, diff)
		}
	}
}

// TestStatementsAreJudgedAlone: the caps hold for each statement, not for the
// file.
func TestStatementsAreJudgedAlone(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("SELECT 1 + 2;\n", 20_000) + "SELECT " + strings.Repeat("1+", 100_000) + "1;\nSELECT 3"
	f := judge(t, "postgres", text)
	if len(f.Statements) != 20_002 || len(f.Findings) != 1 {
		t.Fatalf("%d statements, findings %v", len(f.Statements), f.Findings)
	}
	for i, s := range f.Statements {
		switch {
		case s.Allowed == (i == 20_000):
			t.Fatalf("statement %d: %v", i, s.Findings)
		case i == 20_000 && (s.Code != sqlguard.CodeInputTooLarge || s.Findings[0].Line != 20_001):
			t.Errorf("statement %d: %v", i, s.Findings)
		}
	}
}

// TestReadFailures: whatever keeps a file from being read is a finding of the
// file.
func TestReadFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := filepath.Join(dir, "large.sql")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 64<<20+1); err != nil {
		t.Fatal(err)
	}
	c := sqlcheck.Checker{Stdin: iotest.ErrReader(errors.New("broken")), Choose: with(t, "sqlite")}
	files, err := c.Run(t.Context(), []sqlcheck.Input{
		{Path: large},
		{Path: filepath.Join(dir, "none.sql")},
		{Path: dir},
		{Path: "stdin", Stdin: true},
		{Path: "x.sql", Problem: "it is a riddle"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"larger than 64 MiB", "no such file", "is a directory", "broken", "it is a riddle"} {
		f := files[i]
		if len(f.Findings) != 1 || f.Findings[0].Code != sqlguard.CodeNotChecked || !strings.Contains(f.Findings[0].Message, want) || len(f.Statements) != 0 || f.Text != "" {
			t.Errorf("%s: %+v", want, f)
		}
		if strings.Contains(f.Findings[0].Message, dir) {
			t.Errorf("the message repeats the path: %s", f.Findings[0].Message)
		}
	}
}

// faulty is a dialect that panics.
type faulty struct{ sqlguard.Dialect }

func (faulty) Lex(string) sqlguard.Tokens { panic("fault") }

func TestFaultOfAReader(t *testing.T) {
	t.Parallel()
	d, _ := dialects.Lookup("sqlite")
	guard, err := sqlguard.New(faulty{d}, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := sqlcheck.Checker{Stdin: strings.NewReader("SELECT 1"), Choose: func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) { return guard, nil }}
	files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: "stdin", Stdin: true}})
	if err != nil || len(files[0].Findings) != 1 || files[0].Findings[0].Code != sqlguard.CodeNotChecked || len(files[0].Statements) != 0 {
		t.Errorf("%+v, %v", files, err)
	}
}

// TestRunKeepsOrderAndTexts checks many files at a time.
func TestRunKeepsOrderAndTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var inputs []sqlcheck.Input
	for i := range 200 {
		path := filepath.Join(dir, fmt.Sprintf("%03d.sql", i))
		text := "SELECT " + fmt.Sprint(i)
		if i%2 == 1 {
			text = "DROP TABLE t" + fmt.Sprint(i)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, sqlcheck.Input{Path: path})
	}
	var done atomic.Int64
	c := sqlcheck.Checker{Choose: with(t, "sqlite"), Whole: true, OnFile: func() { done.Add(1) }}
	files, err := c.Run(t.Context(), inputs)
	if err != nil || done.Load() != 200 {
		t.Fatalf("%d files, %v", done.Load(), err)
	}
	for i, f := range files {
		if f.Path != filepath.ToSlash(inputs[i].Path) || f.Statements[0].Allowed == (i%2 == 1) {
			t.Errorf("%d: %+v", i, f)
		}
		if want := i%2 == 1; (f.Text != "") != want {
			t.Errorf("%d: text %q", i, f.Text)
		}
	}
}

// TestOnlyFindingsAreKept: without Whole, verdicts are not held in memory.
func TestOnlyFindingsAreKept(t *testing.T) {
	t.Parallel()
	c := sqlcheck.Checker{Stdin: strings.NewReader("SELECT 1; DROP TABLE t; SELECT 2"), Choose: with(t, "sqlite")}
	files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: "stdin", Stdin: true}})
	if err != nil {
		t.Fatal(err)
	}
	f := files[0]
	if f.Judged != 3 || f.Refused != 1 || len(f.Statements) != 0 || len(f.Findings) != 1 || f.Findings[0].Column != 11 || f.Text == "" {
		t.Errorf("%+v", f)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	reading, silent := make(chan struct{}), make(chan struct{})
	defer close(silent)
	c := sqlcheck.Checker{Choose: with(t, "sqlite"), Stdin: readerFunc(func([]byte) (int, error) {
		close(reading)
		<-silent
		return 0, errors.New("over")
	})}
	go func() {
		<-reading
		cancel()
	}()
	// The read ends only after Run has returned.
	if _, err := c.Run(ctx, []sqlcheck.Input{{Path: "stdin", Stdin: true}}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want %v", err, context.Canceled)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestLinePositions compares the positions found in one pass with those found
// from the start each time.
func TestLinePositions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "\n", "\r\n", "\r", "é", "😀", "\t", "\xff", "x y", "\n\n", "\r\r\n"}
	for range 2000 {
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := b.String()
		offsets := make([]int, 20)
		for i := range offsets {
			offsets[i] = r.IntN(len(text)+4) - 2
		}
		if r.IntN(2) == 0 {
			slices.Sort(offsets)
		}
		for i, got := range sqlcheck.LinePositions(text, offsets) {
			if line, column := sqlguard.Position(text, offsets[i]); got != [2]int{line, column} {
				t.Fatalf("%q at %d of %v: %v, want %d:%d", text, offsets[i], offsets, got, line, column)
			}
		}
	}
}

// FuzzCheck: for any text, every span is inside of it, statements do not
// overlap, and every finding has its position.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"", "SELECT 1; DROP TABLE t", "\ufeff.tables\r\nSELECT '", "-- x\n;;/*", "\\c\nSELECT $a$;$a$", "SELECT \x00\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := judge(t, "sqlite", text)
		last := 0
		for _, s := range file.Statements {
			if s.Span.Start < last || s.Span.End <= s.Span.Start || s.Span.End > len(text) {
				t.Fatalf("span %v after %d of %d", s.Span, last, len(text))
			}
			last = s.Span.End
			if s.Allowed == (len(s.Findings) > 0) {
				t.Errorf("allowed is %t with %v", s.Allowed, s.Findings)
			}
			for _, finding := range s.Findings {
				if finding.Span.Start < s.Span.Start || finding.Span.End > s.Span.End || finding.Line < 1 || finding.Column < 1 {
					t.Errorf("finding %+v in %v", finding, s.Span)
				}
			}
		}
	})
}
