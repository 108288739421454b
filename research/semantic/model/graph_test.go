package model_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// table is a source with the columns id, a, b and the given joins, each written as
// "to on relationship [alias]" with the on of a join between a column and another.
func table(name string, joins ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\ntable: %s\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: a, type: number}, {name: b, type: number}]\n", name, name)
	if len(joins) > 0 {
		b.WriteString("joins:\n")
	}
	for _, j := range joins {
		part := strings.Fields(j)
		fmt.Fprintf(&b, "  - {to: %s, on: %s, relationship: %s", part[0], strings.ReplaceAll(part[1], "=", " = "), part[2])
		if len(part) > 3 {
			b.WriteString(", alias: " + part[3])
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func tables(list ...string) files {
	f := files{}
	for i, text := range list {
		f[fmt.Sprintf("%d.yaml", i)] = text
	}
	return f
}

func TestPath(t *testing.T) {
	t.Parallel()
	chain := tables(
		table("items", "orders a=orders.id many_to_one"),
		table("orders", "customers a=customers.id many_to_one"),
		table("customers", "regions a=regions.id many_to_one"),
		table("regions"), table("island"),
	)
	diamond := tables(
		table("a", "b a=b.id many_to_one", "c b=c.id many_to_one"),
		table("b", "d a=d.id many_to_one"), table("c", "d a=d.id many_to_one"), table("d"),
	)
	short := tables(table("a", "b a=b.id many_to_one", "d b=d.id many_to_one"), table("b", "d a=d.id many_to_one"), table("d"))
	parallel := tables(table("a", "b a=b.id many_to_one", "b b=b.id many_to_one"), table("b"))
	same := tables(table("a", "b a=b.id many_to_one"), table("b", "a b.id=a.a one_to_many"))
	facts := tables(table("x", "d a=d.id many_to_one"), table("y", "d a=d.id many_to_one"), table("d"))
	one := tables(table("a", "b id=b.id one_to_one", "c a=c.id many_to_one"), table("b"), table("c"))
	reverse := tables(table("a", "b id=b.a one_to_many"), table("b"))
	alias := tables(table("a", "b a=x.id many_to_one x", "b b=y.id many_to_one y"), table("b", "c a=c.id many_to_one"), table("c"))
	self := tables(table("a", "a a=up.id many_to_one up", "b b=b.id many_to_one"), table("b"))
	tests := []struct {
		name     string
		files    files
		from, to string
		want     string // names along the path, with + if there is a longer one
		class    expr.Class
		message  string
	}{
		{"itself", chain, "items", "items", "items", "", ""},
		{"one step", chain, "items", "orders", "items orders", "", ""},
		{"three steps", chain, "items", "regions", "items orders customers regions", "", ""},
		{"against the direction", chain, "customers", "items", "", expr.FanOut, "the step from customers to orders (on a = customers.id)"},
		{"nowhere", chain, "items", "island", "", expr.Disconnected, "no joins lead from items to island"},
		{"two of one length", diamond, "a", "d", "", expr.AmbiguousJoinPath, "a → b (on a = b.id) → d (on a = d.id), and a → c (on b = c.id) → d (on a = d.id)"},
		{"a longer one", short, "a", "d", "a d +", "", ""},
		{"parallel joins", parallel, "a", "b", "", expr.AmbiguousJoinPath, "a → b (on a = b.id), and a → b (on b = b.id)"},
		{"one join in both files", same, "a", "b", "a b", "", ""},
		{"two facts", facts, "x", "y", "", expr.FanOut, "the step from d to y (on a = d.id) is not safe, because one row of d may have many rows of y"},
		{"one_to_one", one, "a", "b", "a b", "", ""},
		{"one_to_one the other way", one, "b", "c", "b a c", "", ""},
		{"one_to_many the other way", reverse, "b", "a", "b a", "", ""},
		{"one_to_many", reverse, "a", "b", "", expr.FanOut, "the step from a to b"},
		{"an alias", alias, "a", "x", "a x", "", ""},
		{"what joins from an alias", alias, "x", "c", "x c", "", ""},
		{"over two aliases", alias, "a", "c", "", expr.AmbiguousJoinPath, "a → x"},
		{"a table that is joined under aliases", alias, "a", "b", "", expr.FanOut, ""},
		{"a self join", self, "a", "up", "a up", "", ""},
		{"a self join and its table", self, "up", "b", "up b", "", ""},
		{"a self join and on", self, "a", "b", "a b +", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := valid(t, tt.files)
			from, to := node(t, m, tt.from), node(t, m, tt.to)
			edges, longer, err := m.Path(from, to)
			if classOf(err) != tt.class {
				t.Fatalf("class %q, want %q: %v", classOf(err), tt.class, err)
			}
			reaches := err == nil || err.Class == expr.AmbiguousJoinPath
			if m.Reaches(from, to) != reaches {
				t.Errorf("Reaches is %v", !reaches)
			}
			if err != nil {
				if !strings.Contains(err.Message, tt.message) || err.Hint == "" {
					t.Errorf("message %q, hint %q", err.Message, err.Hint)
				}
				return
			}
			got := tt.from
			for _, e := range edges {
				got += " " + m.Nodes[m.Edges[e].To].Name
			}
			if longer {
				got += " +"
			}
			if got != tt.want {
				t.Errorf("path %s, want %s", got, tt.want)
			}
		})
	}
}

// What two files say of one join is one edge, and one_to_one says more. The other join of an
// alias to itself would need a second alias: it is no edge.
func TestEdges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files files
		want  []string
	}{
		{"many_to_one first", tables(table("a", "b id=b.id many_to_one"), table("b", "a id=a.id one_to_one")), []string{"a b one_to_one", "b a one_to_one"}},
		{"one_to_one first", tables(table("a", "b id=b.id one_to_one"), table("b", "a id=a.id one_to_many")), []string{"a b one_to_one", "b a one_to_one"}},
		{"many_to_one in both", tables(table("a", "b a=b.id many_to_one"), table("b", "a id=a.a one_to_many")), []string{"a b many_to_one"}},
		{"a self join", tables(table("a", "a a=up.id many_to_one up")), []string{"a up many_to_one"}},
		{"two self joins", tables(table("a", "a a=up.id many_to_one up", "a b=top.id many_to_one top")), []string{"a top many_to_one", "a up many_to_one", "top up many_to_one", "up top many_to_one"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := valid(t, tt.files)
			var got []string
			for _, e := range m.Edges {
				kind := "many_to_one"
				if e.Kind == model.OneToOne {
					kind = "one_to_one"
				}
				got = append(got, fmt.Sprintf("%s %s %s", m.Nodes[e.From].Name, m.Nodes[e.To].Name, kind))
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFanOutNamesTheLegalWay(t *testing.T) {
	t.Parallel()
	m := valid(t, tables(table("orders", "customers a=customers.id many_to_one"), table("customers", "regions a=regions.id many_to_one"), table("regions")))
	_, _, err := m.Path(node(t, m, "customers"), node(t, m, "orders"))
	want := "aggregate columns of orders instead, from which customers can be reached; from customers these can be reached: regions"
	if err == nil || err.Hint != want {
		t.Errorf("%v", err)
	}
}

// Every path is compared with all simple paths, found by trying.
func TestPathsAreTheShortestOfAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(rt, "sources")
		joins := make([][]string, n)
		type edge struct{ from, to int }
		edges := map[edge]int{}
		seen := map[string]bool{}
		for range rapid.IntRange(0, 12).Draw(rt, "joins") {
			from, to := rapid.IntRange(0, n-1).Draw(rt, "from"), rapid.IntRange(0, n-1).Draw(rt, "to")
			column := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "column")
			text := fmt.Sprintf("t%d %s=t%d.id many_to_one", to, column, to)
			key := fmt.Sprint(from, text)
			if rapid.Bool().Draw(rt, "reversed") {
				text, key = fmt.Sprintf("t%d id=t%d.%s one_to_many", from, from, column), fmt.Sprint(from, text)
				if from != to && !seen[key] {
					joins[to] = append(joins[to], text)
				}
			} else if from != to && !seen[key] {
				joins[from] = append(joins[from], text)
			}
			if from != to && !seen[key] {
				seen[key] = true
				edges[edge{from, to}]++
			}
		}
		var list []string
		for i := range n {
			list = append(list, table(fmt.Sprintf("t%d", i), joins[i]...))
		}
		m := load(tables(list...))
		if len(m.Problems) > 0 {
			rt.Fatalf("problems %v", m.Problems)
		}
		for from := range n {
			for to := range n {
				counts := map[int]int{} // by length
				var walk func(at, length, ways int, visited []int)
				walk = func(at, length, ways int, visited []int) {
					if at == to {
						counts[length] += ways
						return
					}
					for next := range n {
						if k := edges[edge{at, next}]; k > 0 && !slices.Contains(visited, next) {
							walk(next, length+1, ways*k, append(slices.Clone(visited), next))
						}
					}
				}
				walk(from, 0, 1, []int{from})
				shortest, all := -1, 0
				for length, ways := range counts {
					all += ways
					if shortest < 0 || length < shortest {
						shortest = length
					}
				}
				path, longer, err := m.Path(from, to)
				if m.Reaches(from, to) != (all > 0) {
					rt.Fatalf("%d→%d: Reaches is %v, and there are %d paths", from, to, m.Reaches(from, to), all)
				}
				switch {
				case all == 0:
					if classOf(err) != expr.FanOut && classOf(err) != expr.Disconnected {
						rt.Fatalf("%d→%d: %v", from, to, err)
					}
				case counts[shortest] > 1:
					if classOf(err) != expr.AmbiguousJoinPath {
						rt.Fatalf("%d→%d: %v", from, to, err)
					}
				default:
					if err != nil || len(path) != shortest || longer != (all > 1) {
						rt.Fatalf("%d→%d: %v %v %v, want length %d of %d paths", from, to, path, longer, err, shortest, all)
					}
				}
			}
		}
	})
}

func TestEqualFilesGiveEqualModels(t *testing.T) {
	t.Parallel()
	f := files{"orders.yaml": shop, "customers.yaml": people, "ports.yaml": ports, "regions.yaml": regions, "_schema/m.yaml": manifest, "x.yaml": "name: x\nnme: y\nz: 1\n"}
	a, b := load(f), load(f)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("two models of the same files differ:\n%s", cmp.Diff(problems(a), problems(b)))
	}
	f["x.yaml"] += "#"
	if c := load(f); c.Hash == a.Hash {
		t.Error("the hash of other files is the same")
	}
	if !slices.IsSortedFunc(a.Edges, func(x, y model.Edge) int { return x.From*1000 + x.To - y.From*1000 - y.To }) {
		t.Error("the edges are not sorted")
	}
}
