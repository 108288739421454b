package research_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSLQuerySources: a source over a query is served whatever shows the columns of the
// query's result, a list, a star, or a part of each. A column that the list does not
// have is refused.
func TestSLQuerySources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conn := salesProject(t, dir)
	bodies := map[string]string{
		"listed":  "SELECT id, total AS paid FROM main.orders",
		"star":    "SELECT * FROM (SELECT id, total AS paid FROM main.orders)",
		"partly":  "SELECT o.*, total AS paid FROM main.orders AS o",
		"hoisted": "WITH x AS (SELECT id, total AS paid FROM main.orders) SELECT * FROM x",
		"both":    "SELECT id, total AS paid FROM main.orders WHERE id < 2 UNION ALL SELECT * FROM (SELECT id, total FROM main.orders WHERE id >= 2)",
		"valued":  "VALUES (1, 2), (3, 4)",
	}
	for name, body := range bodies {
		columns := "[{name: id, type: number}, {name: paid, type: number}]"
		measure := "sum(paid)"
		grain := "id"
		if name == "valued" {
			columns, measure, grain = "[{name: column1, type: number}, {name: column2, type: number}]", "sum(column2)", "column1"
		}
		put(t, fmt.Sprintf("name: %s\nsql: %q\ngrain: [%s]\ncolumns: %s\nmeasures: [{name: sum, expr: %s}]\n", name, body, grain, columns, measure),
			dir, "semantic-layer", "a", name+".yaml")
	}
	put(t, "name: missing\nsql: SELECT id, total AS paid FROM main.orders\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: payd, type: number}]\nmeasures: [{name: sum, expr: sum(payd)}]\n",
		dir, "semantic-layer", "a", "missing.yaml")
	ask := callerOf(t, serviceOver(t, dir, conn), analyst("ana", "a"))
	want := ""
	for name := range bodies {
		got := ask.must("sl_query", fmt.Sprintf(`{"measures":["%s.sum"]}`, name))
		if name == "valued" {
			if !strings.Contains(got, "[[6]]") {
				t.Errorf("valued: %s", got)
			}
			continue
		}
		_, rows, _ := strings.Cut(got, `"rows"`)
		rows, _, _ = strings.Cut(rows, "]]")
		if want == "" {
			want = rows
		}
		if rows != want {
			t.Errorf("%s: %s, but another source of the same rows has %s", name, rows, want)
		}
	}
	if got := ask.answer("sl_query", `{"measures":["missing.sum"]}`); !strings.Contains(got, "the query has no column payd in its result") {
		t.Errorf("a column that the query does not have: %s", got)
	}
}
