package postgres_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
)

// The functions that can return a row are those of the servers' catalogues.
func TestRowResults(t *testing.T) {
	text, err := os.ReadFile("../internal/gen/pgcatalog/facts/functions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(text)) {
		fact := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		origin, name, result := fact[0], fact[1], fact[4]
		facts, _ := postgres.LookupFunction("", name)
		switch result {
		case "record", "anyelement", "anynonarray", "anycompatible", "anycompatiblenonarray":
		default:
			continue
		}
		switch name {
		case "lower", "upper": // bounds of ranges
			continue
		}
		if origin == "pg_catalog" && facts.Class != postgres.FunctionDenied && facts.Class != postgres.FunctionUnknown && !internal(name) {
			rows = append(rows, name)
		}
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	for _, name := range rows {
		if !slices.Contains(postgres.RowResults, name) {
			t.Errorf("%s can return a row", name)
		}
	}
	for _, name := range postgres.RowResults {
		if !slices.Contains(rows, name) {
			t.Errorf("%s can return no row", name)
		}
	}
	if !slices.IsSorted(postgres.RowResults) {
		t.Error("the list is not sorted")
	}
}

// internal reports whether only types and aggregates use a function, and no query does.
func internal(name string) bool {
	return strings.HasSuffix(name, "_in") || strings.HasSuffix(name, "_recv") || strings.HasSuffix(name, "_final") || strings.HasSuffix(name, "_transfn")
}
