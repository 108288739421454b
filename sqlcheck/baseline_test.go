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
)

// judged writes files below a folder and checks them. It uses the cache if it
// is not nil.
func judged(t *testing.T, dir string, cache *sqlcheck.Cache, texts map[string]string) []report.File {
	t.Helper()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	inputs, err := sqlcheck.Find([]string{dir}, "stdin")
	if err != nil {
		t.Fatal(err)
	}
	c := sqlcheck.Checker{Choose: with(t, "postgres"), Today: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), Cache: cache}
	files, err := c.Run(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	before := map[string]string{
		"a.sql": "DROP TABLE t;\nSELECT pg_sleep(1);\nDELETE FROM t WHERE id = 1;\nDELETE FROM t WHERE id = 2;\n",
		"b.sql": "DROP TABLE b;\n",
	}
	for _, test := range []struct {
		name    string
		after   map[string]string
		removed string
		counts  []string // findings that count
		gone    int
	}{
		{"the same", nil, "", nil, 0},
		{"moved in the file, and formatted", map[string]string{"a.sql": "select\n  pg_sleep( 10 )\n;\nSELECT 1;\ndelete from t where id=3; DELETE /* x */ FROM t WHERE id = 4; DROP TABLE t;"}, "", nil, 0},
		{"once more", map[string]string{"b.sql": "DROP TABLE b;\nDROP TABLE b;\n"}, "", []string{"b.sql:2 ddl_statement"}, 0},
		{"another", map[string]string{"b.sql": "DROP TABLE b;\nDROP TABLE c;\n"}, "", []string{"b.sql:2 ddl_statement"}, 0},
		{"mended", map[string]string{"b.sql": "SELECT 1"}, "", nil, 1},
		{"copied to another file", map[string]string{"c.sql": "DROP TABLE b;\n"}, "", []string{"c.sql:1 ddl_statement"}, 0},
		{"moved to another file", map[string]string{"c.sql": "DROP TABLE b;\n"}, "b.sql", nil, 0},
		{"moved between files that are there", map[string]string{"a.sql": "SELECT 1;\n", "b.sql": before["b.sql"] + before["a.sql"]}, "", nil, 0},
		{"removed", nil, "b.sql", nil, 1},
		{"another code in the statement", map[string]string{"b.sql": "DROP TABLE b\n, \x01c;\n"}, "", []string{"b.sql:2 invalid_characters"}, 1},
		{"a file that is not SQL", map[string]string{"b.sql": "\xff\xfe"}, "", []string{"b.sql:1 not_checked"}, 1},
		{"permitted now", map[string]string{"b.sql": "DROP TABLE b; -- ktx:allow ddl_statement until=2027-01-01 reason=\"x\""}, "", nil, 1},
		{"permitted by what ended", map[string]string{"b.sql": "DROP TABLE b; -- ktx:allow ddl_statement until=2026-01-01 reason=\"x\""}, "", []string{"b.sql:1 suppression_expired"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			name := filepath.Join(dir, "base.json")
			b, err := sqlcheck.NewBaseline(name)
			if err != nil {
				t.Fatal(err)
			}
			b.Update(judged(t, dir, nil, before))
			content, err := b.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if test.removed != "" {
				if err := os.Remove(filepath.Join(dir, test.removed)); err != nil {
					t.Fatal(err)
				}
			}
			if b, err = sqlcheck.ReadBaseline(name, content); err != nil {
				t.Fatal(err)
			}
			files := judged(t, dir, nil, test.after)
			if gone := b.Apply(files, false); gone != test.gone {
				t.Errorf("%d findings are gone, want %d", gone, test.gone)
			}
			var counts []string
			for _, f := range files {
				for _, found := range f.Findings {
					if found.Counts() {
						counts = append(counts, fmt.Sprintf("%s:%d %s", filepath.Base(f.Path), found.Line, found.Code))
					}
				}
			}
			if diff := cmp.Diff(test.counts, counts); diff != "" {
				t.Error(diff)
			}
			// The last entry counts.
			b.Update(files)
			again := judged(t, dir, nil, nil)
			if gone := b.Apply(again, false); gone != 0 {
				t.Errorf("after the update %d are gone", gone)
			}
			for _, f := range again {
				for _, found := range f.Findings {
					if found.Statement >= 0 && found.Counts() {
						t.Errorf("after the update: %+v", found)
					}
				}
			}
		})
	}
}

// TestBaselineOfOtherFiles: a run on some files keeps the baseline of the
// others.
func TestBaselineOfOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := sqlcheck.NewBaseline(filepath.Join(dir, "base.json"))
	if err != nil {
		t.Fatal(err)
	}
	b.Update(judged(t, dir, nil, map[string]string{"a/a.sql": "DROP TABLE t", "b/b.sql": "DROP TABLE u"}))
	other := judged(t, filepath.Join(dir, "a"), nil, map[string]string{"a/../new.sql": "DROP TABLE u"})
	if gone := b.Apply(other, false); gone != 0 {
		t.Errorf("%d are gone", gone)
	}
	for _, f := range other {
		for _, found := range f.Findings {
			if found.Counts() != strings.HasSuffix(f.Path, "new.sql") {
				t.Errorf("%s: %+v", f.Path, found)
			}
		}
	}
	b.Update(other)
	content, err := b.JSON()
	if err != nil || strings.Count(string(content), `"path"`) != 3 || !strings.Contains(string(content), `"b/b.sql"`) {
		t.Errorf("%s, %v", content, err)
	}
}

func TestBaselineThatIsNone(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"":               "is not a baseline",
		"[]":             "is not a baseline",
		`{"schema":"x"}`: `its schema is "x"`,
		`{"schema":"ktx-baseline/1","findings":[{"code":"x","fingerprint":"y","path":"z","count":0}]}`: "a count above 0",
		`{"schema":"ktx-baseline/1","findings":[{"code":"x","fingerprint":"y","count":1}]}`:            "lacks",
		`{"schema":"ktx-baseline/1","more":1}`:                                                         "unknown field",
	} {
		if _, err := sqlcheck.ReadBaseline("b.json", []byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", content, err)
		}
	}
}
