package search_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/search"
	"github.com/ktxhq/ktx/research/rank"
)

// The words of random names. Few words make many equal scores.
var words = strings.Fields("order customer item price cust amt date id visits 2019 2020 2021 Ordered région 注文 sales web")

// randomInput draws a connection: tables of a few schemas, with families, comments,
// values, foreign keys and relationships.
func randomInput(t *rapid.T, id string) search.Input {
	one := rapid.SampledFrom(words)
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(one, 1, 3).Draw(t, "words"), "_")
	})
	in := search.Input{Connection: search.Connection{ID: id, Name: name.Draw(t, "name"), Description: name.Draw(t, "description")}}
	seen := map[catalog.Ref]bool{}
	for range rapid.IntRange(0, 25).Draw(t, "tables") {
		added := table(rapid.SampledFrom([]string{"sales", "web", "s2"}).Draw(t, "schema"), name.Draw(t, "table"))
		if rapid.IntRange(0, 2).Draw(t, "like the last") == 0 && len(in.Tables) > 0 {
			last := in.Tables[len(in.Tables)-1]
			added = table(*last.DB, fmt.Sprintf("%s_%d", strings.TrimRight(last.Name, "_0123456789"), rapid.IntRange(2019, 2022).Draw(t, "year")))
			added.Columns = last.Columns
		} else {
			columns := map[string]bool{}
			for range rapid.IntRange(0, 6).Draw(t, "columns") {
				c := catalog.Column{Name: name.Draw(t, "column"), NativeType: "text"}
				if rapid.IntRange(0, 3).Draw(t, "commented") == 0 {
					comment := name.Draw(t, "comment")
					c.Comment, c.SampleValues = &comment, []string{one.Draw(t, "value")}
				}
				if !columns[c.Name] {
					columns[c.Name] = true
					added.Columns = append(added.Columns, c)
				}
			}
		}
		if seen[added.Ref()] {
			continue
		}
		seen[added.Ref()] = true
		if len(in.Tables) > 0 && len(added.Columns) > 0 {
			to := rapid.SampledFrom(in.Tables).Draw(t, "to")
			if from := rapid.SampledFrom(added.Columns).Draw(t, "from").Name; len(to.Columns) > 0 && rapid.Bool().Draw(t, "key") {
				target := rapid.SampledFrom(to.Columns).Draw(t, "target").Name
				if rapid.Bool().Draw(t, "declared") {
					added.ForeignKeys = append(added.ForeignKeys, catalog.ForeignKey{FromColumn: from, ToDB: to.DB, ToTable: to.Name, ToColumn: target})
				} else {
					in.Relationships = append(in.Relationships, catalog.Relationship{
						From: catalog.EndPoint{Table: added.Ref(), Columns: []string{from}}, To: catalog.EndPoint{Table: to.Ref(), Columns: []string{target}},
					})
				}
			}
		}
		in.Tables = append(in.Tables, added)
	}
	return in
}

// randomEvidence draws what pages and statements say about objects.
func randomEvidence(t *rapid.T, inputs []search.Input) []search.Evidence {
	var out []search.Evidence
	for _, in := range inputs {
		if len(in.Tables) == 0 || rapid.Bool().Draw(t, "without evidence") {
			continue
		}
		at := rapid.SampledFrom(in.Tables).Draw(t, "evident")
		e := search.Evidence{Connection: in.Connection.ID, Table: at.Ref(), Wiki: rapid.Float64Range(0, 1).Draw(t, "wiki"), Usage: rapid.Float64Range(0, 1).Draw(t, "usage")}
		if len(at.Columns) > 0 && rapid.Bool().Draw(t, "of a column") {
			e.Column = rapid.SampledFrom(at.Columns).Draw(t, "evident column").Name
		}
		out = append(out, e)
	}
	return out
}

// TestSearchIsExhaustive wants the hits of Search to be those of the search that scores
// and sorts everything: the same objects, in the same order, with the same bits in their
// scores. It wants the same of a query that was compared with indexes before.
func TestSearchIsExhaustive(t *testing.T) {
	a := rank.NewAnalyzer(nil)
	rapid.Check(t, func(t *rapid.T) {
		var inputs []search.Input
		var all []*search.Index
		var ranks []*rank.Index
		for i := range rapid.IntRange(1, 3).Draw(t, "connections") {
			in := randomInput(t, fmt.Sprintf("c%d", i))
			inputs = append(inputs, in)
			all = append(all, search.Build(a, in))
			ranks = append(ranks, all[i].Ranks()...)
		}
		for range 4 { // the memory of a search is used again
			separator := rapid.SampledFrom([]string{" ", " ", "_", "."})
			question := ""
			for _, w := range rapid.SliceOfN(rapid.SampledFrom(append(words, "the", "custmer", "order_item", "price_2020")), 1, 5).Draw(t, "question") {
				question += w + separator.Draw(t, "separator")
			}
			o := search.Options{
				Tables: rapid.Bool().Draw(t, "tables"), Columns: rapid.Bool().Draw(t, "columns"), Scoped: len(all) == 1 && rapid.Bool().Draw(t, "scoped"),
				Limit: rapid.SampledFrom([]int{1, 3, 15, 20, 50}).Draw(t, "limit"), Evidence: randomEvidence(t, inputs),
			}
			plain := a.Query(question)
			for _, q := range []*rank.Query{plain, plain.Within(ranks...)} {
				want := search.Exhaustive(q, o, all...)
				got := search.Search(q, o, all...)
				if diff := cmp.Diff(want, got, cmp.Comparer(func(x, y *catalog.Table) bool { return x == y })); diff != "" {
					t.Fatalf("%q, %+v (-exhaustive +search):\n%s", question, o, diff)
				}
			}
		}
	})
}

// crowd is a connection of so many tables of one family and as many others, which is
// more than a search selects at first.
func crowd(n int) search.Input {
	in := search.Input{Connection: search.Connection{ID: "crowd"}}
	for i := range n {
		in.Tables = append(in.Tables, table("logs", fmt.Sprintf("visits_%d", 20_000_000+i), "visitor", "page"))
	}
	for i := range n {
		in.Tables = append(in.Tables, table("logs", fmt.Sprintf("things_%s", strings.Repeat("x", 1+i%40)+strings.Repeat("y", i/40)), "visits", "page"))
	}
	return in
}

// TestSearchOfCrowds asks for what is behind more tables than a search selects at
// first.
func TestSearchOfCrowds(t *testing.T) {
	a := rank.NewAnalyzer(nil)
	x := search.Build(a, crowd(400))
	for _, question := range []string{"visits", "visits 20000300", "logs", "logs.things_x", "page visits 20000001 20000002"} {
		for _, o := range []search.Options{{Tables: true, Limit: 50}, {Tables: true, Columns: true, Limit: 15}, {Columns: true, Limit: 1}} {
			q := a.Query(question)
			if diff := cmp.Diff(names(search.Exhaustive(q, o, x)), names(search.Search(q, o, x))); diff != "" {
				t.Errorf("%q, %+v (-exhaustive +search):\n%s", question, o, diff)
			}
		}
	}
}

// TestBuildDoesNotDependOnProcessors wants equal hits from one processor and from
// several.
func TestBuildDoesNotDependOnProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	ask := func() string {
		a := rank.NewAnalyzer(nil)
		return fmt.Sprintf("%+v", names(search.Search(a.Query("visits page"), search.Options{Tables: true, Columns: true, Limit: 50}, search.Build(a, crowd(300)))))
	}
	one := ask()
	runtime.GOMAXPROCS(8)
	if several := ask(); several != one {
		t.Errorf("on one processor %s\non several %s", one, several)
	}
}

// TestOpen wants the index of a cache to find what a new one finds, and a cache that is
// damaged or of something else to be replaced.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".ktx"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	cache := search.Cache(catalog.NewStore(root, time.Now), "crowd")
	file := filepath.Join(dir, ".ktx", "search", "crowd.bin")
	a, in := rank.NewAnalyzer(nil), crowd(300)
	hits := func(a *rank.Analyzer, x *search.Index) string {
		return fmt.Sprintf("%+v", search.Search(a.Query("visits page 20000003 visiter"), search.Options{Tables: true, Columns: true, Limit: 50}, x))
	}
	content := func() string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := hits(a, search.Build(a, in))
	if got := hits(a, search.Open(a, in, "one", cache)); got != want {
		t.Errorf("at first: %s", got)
	}
	stored := content()
	for _, damage := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(file, nil, 0o600) },
		func() error { return os.WriteFile(file, []byte(stored[:len(stored)/2]), 0o600) },
		func() error { return os.WriteFile(file, []byte(stored+"x"), 0o600) },
		func() error {
			return os.WriteFile(file, []byte(stored[:100]+string(rune(stored[100]^1&0x7f))+stored[101:]), 0o600)
		},
		func() error { return os.WriteFile(file, []byte("something else"), 0o600) },
		func() error { return os.Remove(file) },
		func() error { search.Open(a, crowd(260), "one", cache); return os.Remove(file) },
		func() error { search.Open(a, in, "two", cache); return nil },
		func() error {
			search.Open(rank.NewAnalyzer(map[string]string{"p": "page"}), in, "one", cache)
			return nil
		},
		func() error {
			other := in
			other.Connection.Name = "other"
			search.Open(a, other, "one", cache)
			return nil
		},
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if got := hits(a, search.Open(a, in, "one", cache)); got != want {
			t.Errorf("want %s\ngot %s", want, got)
		}
		if content() != stored {
			t.Error("the cache is not what it was")
		}
	}
	// A cache of the same key for other tables does not fit, and is not used.
	other := crowd(270)
	if got := hits(a, search.Open(a, other, "one", cache)); got != hits(a, search.Build(a, other)) {
		t.Errorf("with a cache for other tables: %s", got)
	}
	// A folder in place of the file is no error either.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(file, "within"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := hits(a, search.Open(a, in, "one", cache)); got != want {
		t.Errorf("with a folder in place of the cache: %s", got)
	}
	if left, err := filepath.Glob(file + ".*"); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// TestOpenReadsTheCache wants an index to be read, not made again.
func TestOpenReadsTheCache(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".ktx"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	cache := search.Cache(catalog.NewStore(root, time.Now), "crowd")
	a := rank.NewAnalyzer(nil)
	search.Open(a, crowd(300), "one", cache)
	// The same identity promises the same tables. What it says of others shows where the
	// index is from.
	renamed := crowd(300)
	for _, t := range renamed.Tables {
		t.Name = "unlike"
	}
	o := search.Options{Tables: true, Limit: 5}
	if got := search.Search(a.Query("visits"), o, search.Open(a, renamed, "one", cache)); len(got) == 0 || got[0].Table.Name != "unlike" {
		t.Errorf("the cache is not used: %v", names(got))
	}
}
