package relatetest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate/relatetest"
)

// TestSQLite writes a database and reads it again.
func TestSQLite(t *testing.T) {
	want := relatetest.Generate(relatetest.Habits()[0], 1)
	path := filepath.Join(t.TempDir(), "shop.sqlite")
	if err := relatetest.WriteSQLite(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := relatetest.ReadSQLite(path, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Tables) != len(want.Tables) || len(got.Truth) != 0 {
		t.Fatalf("%d tables, %d declared keys", len(got.Tables), len(got.Truth))
	}
	for _, table := range want.Tables {
		if diff := cmp.Diff(want.Rows[table.Ref()], got.Rows[table.Ref()]); diff != "" {
			t.Errorf("%s: %s", table.Name, diff)
		}
	}
}

// TestHabitsDiffer shows that each habit has its own names or its own data.
func TestHabitsDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, h := range relatetest.Habits() {
		s := relatetest.Generate(h, 1)
		if len(s.Truth) < 20 {
			t.Errorf("%s has %d relationships", h.Name, len(s.Truth))
		}
		var b strings.Builder
		for _, table := range s.Tables {
			for i := range table.Columns {
				b.WriteString(table.Name + "." + table.Columns[i].Name + " " + table.Columns[i].NativeType + "\n")
			}
			if len(s.Rows[table.Ref()]) > 0 {
				b.WriteString(strings.Join(s.Rows[table.Ref()][0], " "))
			}
			if table.Columns[0].PrimaryKey {
				b.WriteString("declared")
			}
		}
		if other, twice := seen[b.String()]; twice {
			t.Errorf("%s is %s", h.Name, other)
		}
		seen[b.String()] = h.Name
	}
}

func TestReadSpider(t *testing.T) {
	got, err := relatetest.ReadSpider([]byte(`[{"db_id": "d", "table_names_original": ["a", "b"], "column_names_original": [[-1, "*"], [0, "id"], [1, "id"], [1, "a_id"]],
		"column_types": ["text", "number", "number", "number"], "primary_keys": [1, [2]], "foreign_keys": [[3, 1]]}]`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || len(got[0].Tables) != 2 || len(got[0].Truth) != 1 || got[0].Truth[0].To.Columns[0] != "id" || !got[0].Tables[1].Columns[0].PrimaryKey {
		t.Errorf("got %+v", got)
	}
	for _, text := range []string{
		``, `[{"db_id": "d", "foreign_keys": [[0, 7]]}]`, `[{"db_id": "d", "primary_keys": [9]}]`, `[{"db_id": "d", "primary_keys": ["x"]}]`,
		`[{"db_id": "d", "column_names_original": [[4, "x"]]}]`, `[{"db_id": "d", "column_names_original": ["x"]}]`,
	} {
		if _, err := relatetest.ReadSpider([]byte(text)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

func TestCompare(t *testing.T) {
	relationship := func(from, to string, columns ...string) catalog.Relationship {
		return catalog.Relationship{
			From: catalog.EndPoint{Table: catalog.Ref{Name: from}, Columns: columns}, To: catalog.EndPoint{Table: catalog.Ref{Name: to}, Columns: columns}, Source: "inferred",
		}
	}
	truth := []catalog.Relationship{relationship("a", "b", "x", "y"), relationship("c", "b", "x"), relationship("d", "b", "x")}
	formal := relationship("z", "b", "x")
	formal.Source = "formal"
	s, wrong, missed := relatetest.Compare(truth, catalog.Relationships{
		Accepted: []catalog.Relationship{relationship("A", "b", "y", "x"), relationship("e", "b", "x"), formal},
		Review:   []catalog.Relationship{relationship("c", "b", "x")},
	})
	if want := (relatetest.Score{Truth: 3, Accepted: 2, AcceptedRight: 1, Review: 1, ReviewRight: 1}); s != want {
		t.Errorf("score %+v", s)
	}
	if len(wrong) != 1 || wrong[0].From.Table.Name != "e" || len(missed) != 1 || missed[0].From.Table.Name != "d" {
		t.Errorf("wrong %v, missed %v", wrong, missed)
	}
}
