package research_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/semantic"
)

// TestSLVerified: checks of the data find duplicates, orphans and missing keys, plans
// then name the joins that were found right, and a changed file ends that.
func TestSLVerified(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conn := salesProject(t, dir)
	put(t, "name: doubled\ntable: main.items\ngrain: [order_id]\ncolumns: [{name: id, type: number}, {name: order_id, type: number}]\n", dir, "semantic-layer", "a", "doubled.yaml")
	put(t, "name: orders\nmeasures: [{name: revenue, expr: sum(total)}]\njoins: [{to: doubled, on: id = doubled.order_id, relationship: many_to_one}]\n", dir, "semantic-layer", "a", "orders.yaml")
	s := serviceOver(t, dir, conn)
	ask := callerOf(t, s, analyst("ana", "a"))
	steps := 0
	checks, err := s.SLValidateData(t.Context(), "a", "", func() { steps++ })
	if err != nil || steps != len(checks) {
		t.Fatal(err, steps)
	}
	found := map[string]int64{}
	for _, c := range checks {
		if c.Count > 0 {
			found[c.Source+" "+c.Path+" "+string(c.Kind)] = c.Count
		}
	}
	for what, n := range map[string]int64{
		"doubled grain " + string(semantic.GrainDuplicates): 1, "orders joins[1] " + string(semantic.KeyDuplicates): 1,
		"orders joins[0] " + string(semantic.NullKeys): 1, "orders joins[1] " + string(semantic.Orphans): 1,
	} {
		if found[what] != n {
			t.Errorf("%s: %d, want %d: %v", what, found[what], n, found)
		}
	}
	for _, c := range checks {
		p := c.Problem()
		if c.Source != "orders" || p == nil {
			continue
		}
		if p.File != "orders.yaml" || p.Path != "joins[0]" || p.Line != 3 || !strings.Contains(p.Message, "1 keys of doubled") {
			t.Errorf("the problem of a join of orders.yaml: %+v", p)
		}
	}
	const sound = `{"measures":["orders.revenue"],"dimensions":["customers.country"],"include":["plan"]}`
	if got := ask.must("sl_query", sound); !strings.Contains(got, `"verified":"20`) {
		t.Errorf("a join that was found right: %s", got)
	}
	if got := ask.must("sl_query", `{"measures":["orders.revenue"],"dimensions":["doubled.order_id"],"include":["plan"]}`); strings.Contains(got, `"verified"`) {
		t.Errorf("a join that was found wrong: %s", got)
	}
	file := filepath.Join(dir, "semantic-layer", "a", "items.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put(t, string(text)+"# changed\n", dir, "semantic-layer", "a", "items.yaml")
	if got := ask.must("sl_query", sound); strings.Contains(got, `"verified"`) {
		t.Errorf("after a file changed: %s", got)
	}
	put(t, string(text), dir, "semantic-layer", "a", "items.yaml")
	if got := ask.must("sl_query", sound); !strings.Contains(got, `"verified":"20`) {
		t.Errorf("after it changed back: %s", got)
	}
	put(t, "{", dir, ".ktx", "semantic", "a.json")
	if got := ask.must("sl_query", sound); strings.Contains(got, `"verified"`) {
		t.Errorf("a damaged record: %s", got)
	}
}
