package main_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	pgcatalog "github.com/ktxhq/ktx/dialects/internal/gen/pgcatalog"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

var comparedFiles = []string{"functions.tsv", "operators.tsv", "casts.tsv", "types.tsv", "relations.tsv", "settings.tsv"}

func origin(fact string) string {
	name, _, _ := strings.Cut(fact, "\t")
	return name
}

// identity is what names the object of a fact, overloads taken together.
func identity(file, fact string) string {
	columns := strings.SplitN(fact, "\t", 3)
	if file == "settings.tsv" {
		return columns[0]
	}
	return strings.Join(columns[:min(2, len(columns))], "\t")
}

// The facts must contain everything that the server of the test reports for its
// major version. Settings depend on how the server was built, and extensions on
// which are installed, so these are compared in one direction: what the server
// has must be in the facts. A new minor version may add objects. The tables
// refuse their names until they are harvested and reviewed, so the test only logs
// them.
func TestHarvestAgreesWithFacts(t *testing.T) {
	server := testdb.Postgres(t)
	f := readFacts(t)
	var log strings.Builder
	major, seen, err := pgcatalog.Harvest(t.Context(), server.URL("", ""), &log)
	if err != nil {
		t.Fatal(err)
	}
	if major != server.Version() {
		t.Fatalf("harvested major %d of a server of major %d", major, server.Version())
	}
	if major > f.Newest() {
		t.Skipf("the facts end with major %d: harvest %d and review it", f.Newest(), major)
	}
	// A server may have extensions that were never harvested.
	harvested := map[string]bool{}
	for _, file := range comparedFiles {
		for fact := range f.Lines(file) {
			harvested[origin(fact)] = true
		}
	}
	for _, file := range comparedFiles {
		known, named := map[string]bool{}, map[string]bool{}
		for fact, majors := range f.Lines(file) {
			if majors>>(major-13)&1 == 1 {
				known[fact] = true
				named[identity(file, fact)] = true
			}
		}
		var unknown, missing []string
		now := map[string]bool{}
		for _, fact := range seen[file] {
			now[fact] = true
			switch {
			case known[fact], strings.HasPrefix(fact, "ext:") && !harvested[origin(fact)]:
			case !named[identity(file, fact)]:
				t.Logf("%s: new since the harvest, so refused: %s", file, fact)
			default:
				unknown = append(unknown, fact)
			}
		}
		for fact := range known {
			if !now[fact] && !strings.HasPrefix(fact, "ext:") && file != "settings.tsv" {
				missing = append(missing, fact)
			}
		}
		if diff := cmp.Diff([]string(nil), unknown); diff != "" {
			t.Errorf("%s: not in the facts:\n%.2000s", file, diff)
		}
		if diff := cmp.Diff([]string(nil), missing); diff != "" {
			t.Errorf("%s: in the facts but not at the server:\n%.2000s", file, diff)
		}
		t.Logf("%s: %d facts of major %d", file, len(now), major)
	}
}
