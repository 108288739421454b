//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package prove_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/cmd/ktx-prove/internal/prove"
	"github.com/ktxhq/ktx/corpus"
)

func TestDuckDB(t *testing.T) {
	dir := corpusDir(t)
	t.Chdir(t.TempDir())
	reports, err := prove.RunCases(
		t.Context(), dir, "duckdb",
		corpus.Case{ID: "delete", SQL: "DELETE FROM orders"},
		corpus.Case{ID: "read", SQL: "SELECT * FROM orders"},
		corpus.Case{ID: "copy", SQL: "SELECT 1; COPY orders TO 'other.csv'"},
		corpus.Case{ID: "setting", SQL: "SET default_order = 'DESC'"},
		corpus.Case{ID: "sequence", SQL: "SELECT nextval('tickets')"},
		corpus.Case{ID: "begin", SQL: "BEGIN"},
		corpus.Case{ID: "endless", SQL: "WITH RECURSIVE n(i) AS (SELECT 1::HUGEINT UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"},
		corpus.Case{ID: "syntax", SQL: "SELEC 1"},
		corpus.Case{ID: "again", SQL: "DELETE FROM orders"},
	)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, r := range reports {
		got[r.Case.ID] = outcomes(r)
	}
	const row = "executed | returned_rows"
	four := func(text string) []string { return []string{text, text, text, text} }
	deleted := []string{"executed | returned_rows; changed: rows orders", "failed duckdb TransactionContext", "failed duckdb Invalid Input", "failed duckdb Invalid Input"}
	want := map[string][]string{
		"delete":   deleted,
		"read":     four(row),
		"copy":     four("executed | returned_rows; changed: file other.csv"),
		"setting":  four("executed | changed: session setting default_order"),
		"sequence": {"executed | returned_rows; changed: catalog sequences", "failed duckdb TransactionContext", "failed duckdb Invalid Input", "failed duckdb Invalid Input"},
		"begin":    {"executed | changed: transaction", "failed duckdb TransactionContext", "executed | changed: transaction", "failed duckdb TransactionContext"},
		"endless":  four("timed_out"),
		"syntax":   four("failed duckdb Parser"),
		"again":    deleted,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
