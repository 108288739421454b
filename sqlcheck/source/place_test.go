package source_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck/source"
	"github.com/ktxhq/ktx/sqlguard"
)

// placed finds the one text of SQL in code, and compares the position of the
// word drop in it with the marks « and » around that word in the code.
func placed(t *testing.T, name, code string) {
	t.Helper()
	start := strings.Index(code, "«")
	code = strings.Replace(code, "«", "", 1)
	end := strings.Index(code, "»")
	code = strings.Replace(code, "»", "", 1)
	d, _ := dialects.Lookup("postgres")
	found, err := source.Find(name, code, source.Options{})
	if err != nil || len(found.Texts) != 1 {
		t.Fatalf("%s: %v, %v", code, found, err)
	}
	f := found.Texts[0].Fill(d)
	at := strings.Index(f.SQL, "drop")
	if got, want := f.Place(sqlguard.Span{Start: at, End: at + 4}), (sqlguard.Span{Start: start, End: end}); got != want {
		t.Errorf("%s: %v is %q, want %v", code, got, code[got.Start:got.End], want)
	}
	inside(t, found, code, d)
}

// inside checks that all positions of the texts are inside of the code.
func inside(t *testing.T, found *source.Source, code string, d sqlguard.Dialect) {
	t.Helper()
	for _, text := range found.Texts {
		filled := text.Fill(d)
		for i := range len(filled.SQL) + 1 {
			if p := filled.Place(sqlguard.Span{Start: i, End: len(filled.SQL)}); p.Start < 0 || p.End > len(code) || p.Start > p.End {
				t.Fatalf("%q: offset %d is at %v, outside of the file", code, i, p)
			}
		}
	}
}

// fuzzed reads code as a file, and checks the positions in it if it can be read.
func fuzzed(t *testing.T, name, code, dialect string) {
	t.Helper()
	d, ok := dialects.Lookup(dialect)
	if !ok {
		d, _ = dialects.Lookup("sqlite")
	}
	if found, err := source.Find(name, code, source.Options{}); err == nil {
		inside(t, found, code, d)
	}
}
