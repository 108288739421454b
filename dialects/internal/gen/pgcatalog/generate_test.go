package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	pgcatalog "github.com/ktxhq/ktx/dialects/internal/gen/pgcatalog"
)

const (
	factsDir    = "facts"
	postgresDir = "../../../postgres"
)

func readFacts(t *testing.T) *pgcatalog.Facts {
	t.Helper()
	f, err := pgcatalog.ReadFacts(factsDir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The committed tables are what the committed facts and review generate.
func TestGenerateLeavesNoDiff(t *testing.T) {
	files, err := pgcatalog.Generate(readFacts(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("nothing was generated")
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(postgresDir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s is not what go generate writes (-committed +generated):\n%.2000s", name, diff)
		}
	}
}

// The committed facts are in the form that harvest writes, so that a new major
// shows as a small diff.
func TestFactsAreCanonical(t *testing.T) {
	dir := t.TempDir()
	if err := readFacts(t).Write(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(factsDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		committed, err := os.ReadFile(filepath.Join(factsDir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		written, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(committed), string(written)); diff != "" {
			t.Errorf("%s (-committed +written):\n%.2000s", entry.Name(), diff)
		}
	}
}

// A new major leaves the lines of what it keeps unchanged.
func TestNewMajorIsASmallDiff(t *testing.T) {
	f := readFacts(t)
	before := f.Lines("functions.tsv")
	var kept []string
	dropped := "pg_catalog\tabs\tf\tbigint\tbigint\ti"
	for fact, majors := range before {
		if majors>>5 == 1 && fact != dropped { // in 18
			kept = append(kept, fact)
		}
	}
	added := "pg_catalog\tnewcomer\tf\tinteger\tinteger\ti"
	f.Replace(19, map[string][]string{
		"servers.tsv":   {"19\t19.0"},
		"functions.tsv": append(kept, added),
	})
	dir := t.TempDir()
	if err := f.Write(dir); err != nil {
		t.Fatal(err)
	}
	lines := func(dir string) map[string]bool {
		data, err := os.ReadFile(filepath.Join(dir, "functions.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]bool{}
		for line := range strings.Lines(string(data)) {
			out[strings.TrimSuffix(line, "\n")] = true
		}
		return out
	}
	old, now := lines(factsDir), lines(dir)
	var diff []string
	for line := range old {
		if !now[line] {
			diff = append(diff, "-"+line)
		}
	}
	for line := range now {
		if !old[line] {
			diff = append(diff, "+"+line)
		}
	}
	for _, want := range []string{"-" + dropped + "\t13-", "+" + dropped + "\t13-18", "+" + added + "\t19-"} {
		if !strings.Contains(strings.Join(diff, "\n"), want) {
			t.Errorf("the diff lacks %q", want)
		}
	}
	// Facts that ended with 17 or earlier have closed ranges already.
	if len(diff) != 3 {
		t.Errorf("the diff has %d lines, want 3:\n%s", len(diff), strings.Join(diff, "\n"))
	}
}

// Every function of the facts has exactly one row, unless its extension's review
// leaves it off the list.
func TestEveryFunctionHasOneVerdict(t *testing.T) {
	f := readFacts(t)
	files, err := pgcatalog.Generate(f)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\t\{name: "([^"]+)", majors`).FindAllStringSubmatch(string(files["functions_table.go"]), -1) {
		rows[m[1]]++
	}
	for name, n := range rows {
		if n != 1 {
			t.Errorf("%s has %d rows", name, n)
		}
	}
	seen := map[string]bool{}
	for fact := range f.Lines("functions.tsv") {
		fields := strings.Split(fact, "\t")
		if fields[0] != "pg_catalog" {
			continue
		}
		seen[fields[1]] = true
		if rows[fields[1]] != 1 {
			t.Errorf("%s has no row", fields[1])
		}
	}
	t.Logf("%d names of the server, %d rows", len(seen), len(rows))
	if len(seen) < 2500 {
		t.Errorf("only %d names in the facts", len(seen))
	}
}

// Each case adds one fact that the review does not cover. Generation must fail
// and name it.
func TestUnreviewedFactsFail(t *testing.T) {
	tests := map[string]struct {
		file, fact, majors string
		want               string
	}{
		"volatile": {"functions.tsv", "pg_catalog\tbrew\tf\ttext\ttext\tv", "18-", "brew is volatile"},
		"allowed before, volatile in one version": {"functions.tsv", "pg_catalog\tabs\tf\tinterval\tinterval\tv", "17", "abs is volatile"},
		"closed to PUBLIC":                        {"functions.tsv", "pg_catalog\tbrew\tf\ttext\ttext\tsX", "13-", "brew is volatile, privileged"},
		"security definer":                        {"functions.tsv", "pg_catalog\tbrew\tf\ttext\ttext\tiD", "13-", "brew is volatile, privileged"},
		"reserved prefix":                         {"functions.tsv", "pg_catalog\tpg_brew\tf\ttext\ttext\ti", "18-", "pg_brew is volatile, privileged or reserved"},
		"large object prefix":                     {"functions.tsv", "pg_catalog\tlo_brew\tf\ttext\ttext\ti", "18-", "lo_brew"},
		"information_schema":                      {"functions.tsv", "information_schema\t_pg_brew\tf\ttext\ttext\ti", "18-", "information_schema._pg_brew"},
		"extension":                               {"functions.tsv", "ext:brewery\tbrew\tf\ttext\ttext\ti", "18-", "extension brewery is not reviewed"},
		"member of a denied extension":            {"functions.tsv", "ext:dblink\tdblink_brew\tf\ttext\ttext\ti", "18-", "dblink_brew of dblink is not reviewed"},
		"privileged member":                       {"functions.tsv", "ext:hstore\tbrew\tf\ttext\ttext\tiX", "18-", "brew of hstore is privileged"},
		"refused here, allowed there":             {"functions.tsv", "ext:hstore\tpg_sleep\tf\thstore\ttext\ti", "18-", "pg_sleep is functionDenied"},
		"operator":                                {"operators.tsv", "pg_catalog\t!!!\t\ttext\tpg_read_file", "18-", "operator !!! rests on pg_read_file"},
		"operator on an unknown function":         {"operators.tsv", "ext:hstore\t!!!\t\ttext\tbrew", "18-", "operator !!! rests on brew"},
		"cast":                                    {"casts.tsv", "pg_catalog\ttext\tbytea\tpg_read_binary_file", "18-", "the cast from text to bytea"},
		"relation":                                {"relations.tsv", "pg_catalog\tpg_brew\tv\t\ta,b", "18-", "relation pg_catalog.pg_brew is not reviewed"},
		"relation closed to PUBLIC":               {"relations.tsv", "pg_catalog\tpg_class\tr\tX\toid", "13", "relation pg_catalog.pg_class is allowed but closed"},
		"relation without prefix":                 {"relations.tsv", "pg_catalog\tbrew\tv\t\ta,b", "18-", "relation pg_catalog.brew is not reviewed"},
		"extension's relation":                    {"relations.tsv", "ext:hstore\tbrew\tv\t\ta,b", "18-", "relation .brew is not reviewed"},
		"setting":                                 {"settings.tsv", "search_path\tuser\tstring\tX", "13", "setting search_path is allowed but hidden"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := readFacts(t)
			if err := f.Add(tt.file, tt.fact, tt.majors); err != nil {
				t.Fatal(err)
			}
			_, err := pgcatalog.Generate(f)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Generate: %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestNewMajorNeedsReview(t *testing.T) {
	f := readFacts(t)
	f.SetNewest(19)
	if _, err := pgcatalog.Generate(f); err == nil || !strings.Contains(err.Error(), "the facts hold major 19, the review covers 18") {
		t.Errorf("Generate: %v", err)
	}
}

// A setting that one version hides from plain roles is off the list.
func TestHiddenSettingIsOffTheList(t *testing.T) {
	f := readFacts(t)
	if err := f.Add("settings.tsv", "work_mem\tuser\tinteger\tX", "13"); err != nil {
		t.Fatal(err)
	}
	files, err := pgcatalog.Generate(f)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(files["system_catalog_table.go"]), `"work_mem"`) {
		t.Error("work_mem is on the list though 13 hides it")
	}
}

func TestMajorsAreChecked(t *testing.T) {
	f := readFacts(t)
	for _, majors := range []string{"", "12", "12-", "19", "15-14", "13-19", "x", "13-x", "13,"} {
		if err := f.Add("types.tsv", "pg_catalog\tbrew\tb", majors); err == nil {
			t.Errorf("majors %q were accepted", majors)
		}
	}
}
