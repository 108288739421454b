package kit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/executable"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate/relatetest"
	"github.com/ktxhq/ktx/tools/eval/kit"
)

func TestMain(m *testing.M) { os.Exit(executable.Run(m.Run)) }

// data returns a folder with the databases of testdata, which nobody else has, and a
// SQLite file of one of them.
func data(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "data"))); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "spider", "tables.json"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := relatetest.ReadSpider(text)
	if err != nil {
		t.Fatal(err)
	}
	bakery := &relatetest.Sample{Database: list[0], Rows: map[catalog.Ref][][]string{}}
	for i := range 30 {
		bakery.Rows[bakery.Tables[0].Ref()] = append(bakery.Rows[bakery.Tables[0].Ref()], []string{fmt.Sprint(i), "rye", fmt.Sprint(100 + i%9)})
	}
	for i := range 9 {
		bakery.Rows[bakery.Tables[1].Ref()] = append(bakery.Rows[bakery.Tables[1].Ref()], []string{fmt.Sprint(100 + i), "220"})
	}
	folder := filepath.Join(dir, "spider", "database", "bakery")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := relatetest.WriteSQLite(filepath.Join(folder, "bakery.sqlite"), bakery); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs the kit and returns its exit code and what it wrote.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	code = kit.Run(t.Context(), args, &out, &said)
	return code, out.String(), said.String()
}

// report runs the kit with -json.
func report(t *testing.T, args ...string) kit.Report {
	t.Helper()
	code, out, said := run(t, append(args, "-json", "-ktx", executable.KTX(t))...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	var r kit.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if !strings.Contains(said, " of ") {
		t.Errorf("no progress in %q", said)
	}
	return r
}

// figure returns one figure of a report.
func figure(t *testing.T, r kit.Report, name, question, measure string) kit.Figure {
	t.Helper()
	for _, f := range r.Figures {
		if f.Data == name && f.Question == question && f.Measure == measure {
			return f
		}
	}
	t.Fatalf("there is no figure %s, %s, %s in %+v", name, question, measure, r.Figures)
	return kit.Figure{}
}

// TestSearchAndPages asks a running ktx about databases that it finds all of.
func TestSearchAndPages(t *testing.T) {
	r := report(t, "-data", data(t), "-only", "search,pages")
	for _, want := range []struct {
		data, question, measure string
		value                   float64
		count                   int
		result                  string
	}{
		{"Spider", "tables, over all databases", "recall@10", 1, 4, "met"},
		{"Spider", "tables, in the right database", "MRR", 1, 4, "met"},
		{"Spider", "columns, in the right database", "MRR", 1, 3, ""},
		{"Spider", "tables among all kinds, over all databases", "recall@15", 1, 4, "met"},
		{"Spider", "equal calls of discover_data to two servers", "differing answers", 0, 18, "met"},
		{"Spider", "entity_details by the ids of discover_data", "wrong answers", 0, 4, "met"},
		{"Spider", "tables among all kinds and 90 pages, over all databases", "all@15", 1, 4, ""},
		{"BIRD", "tables, over all databases", "recall@10", 1, 2, "met"},
		{"BIRD", "columns, in the right database", "all@10", 1, 2, ""},
	} {
		f := figure(t, r, want.data, want.question, want.measure)
		if f.Value != want.value || f.Count != want.count || f.Result != want.result {
			t.Errorf("%+v; want %+v", f, want)
		}
	}
	if f := figure(t, r, "BIRD", "pages among all kinds, chosen on", "hit@5"); f.Count < 100 || f.Value < 0.8 {
		t.Errorf("%+v", f)
	}
	if f := figure(t, r, "BIRD", "pages of letting among all kinds", "hit@5"); f.Count != 43 || f.Value < 0.5 {
		t.Errorf("%+v", f)
	}
	if f := figure(t, r, "pages", "all questions", "hit@5"); f.Count < 200 || f.Value < 0.8 || f.Bar == nil || *f.Bar != 0.9 {
		t.Errorf("%+v", f)
	}
}

// TestGenerated measures values and relationships, the latter on a file of the data set
// too.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("it scans more than fifty databases")
	}
	r := report(t, "-data", data(t), "-only", "values,relationships")
	for _, want := range []struct {
		data, question, measure string
		least                   float64
	}{
		{"values, seed 1", "habits of spelling, held out", "right column found", 0.95},
		{"values, seed 2", "habits of spelling, held out", "right column first", 0.93},
		{"generated databases", "relationships, held out", "accepted: precision", 0.97},
		{"generated databases", "relationships, held out", "with review: recall", 0.95},
	} {
		if f := figure(t, r, want.data, want.question, want.measure); f.Value < want.least || f.Count < 300 {
			t.Errorf("%+v; want %g", f, want.least)
		}
	}
	for _, name := range []string{"Spider, names alone", "Spider, with rows"} {
		found := 0
		for _, half := range []string{"chosen on", "held out"} {
			f := figure(t, r, name, "relationships, "+half, "accepted: recall")
			found += f.Count
			if f.Value != 1 {
				t.Errorf("%+v", f)
			}
		}
		if found == 0 {
			t.Errorf("%s: no relationship", name)
		}
	}
}

// TestWithoutData says what is not measured, and prints a table.
func TestWithoutData(t *testing.T) {
	code, out, said := run(t, "-only", "pages", "-ktx", executable.KTX(t))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for _, want := range []string{"DATA ", "BAR", "RESULT", "pages", "hit@5", "Spider and BIRD were not measured", "spider/tables.json"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

func TestExitCodes(t *testing.T) {
	broken := data(t)
	if err := os.WriteFile(filepath.Join(broken, "spider", "dev.json"), []byte(`[{"db_id": "nowhere"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "no-ktx")
	for _, test := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"an unknown part", []string{"-only", "poems"}, 2, `no part "poems"`},
		{"an argument", []string{"here"}, 2, `"here" is no flag`},
		{"no seed", []string{"-seeds", "0"}, 2, "-seeds"},
		{"a folder without data", []string{"-data", t.TempDir()}, 2, "neither spider nor bird"},
		{"no program", []string{"-only", "pages", "-ktx", none}, 1, "no-ktx"},
		{"a broken file", []string{"-data", broken, "-only", "search", "-ktx", executable.KTX(t)}, 1, `"nowhere"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, _, said := run(t, test.args...)
			if code != test.code || !strings.Contains(said, test.says) {
				t.Errorf("exit code %d, want %d; it says %s", code, test.code, said)
			}
		})
	}
}

// TestStops ends a run whose context ended.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, said bytes.Buffer
	if code := kit.Run(ctx, []string{"-only", "pages", "-ktx", executable.KTX(t)}, &out, &said); code != 1 {
		t.Errorf("exit code %d: %s", code, said.String())
	}
}
