package dictionary_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
)

// sampled returns a scan of another tool, whose columns have five values at most.
func sampled() *snapshot {
	orders, view := table(ref("s", "orders"), "status", "city", "total", "unknown"), table(ref("s", "recent"), "status")
	orders.Columns[0].SampleValues = []string{"paid", "open"}
	orders.Columns[2].DimensionType = catalog.DimensionNumber
	orders.Columns[2].SampleValues = []string{"12"}
	view.Kind = catalog.KindView
	view.Columns[0].SampleValues = []string{"Paid now"}
	rows := int64(100)
	orders.EstimatedRows = &rows
	orders.Columns[0].Stats = &catalog.Stats{Rows: rows, Distinct: 2}
	orders.Columns[1].SampleValues, orders.Columns[1].Stats = []string{"Ulm", "Köln"}, &catalog.Stats{Rows: rows, Distinct: 9}
	return &snapshot{
		id: "c", sync: "1", identity: "1", tables: []*catalog.Table{orders, view},
		profile: &catalog.ProfileInfo{ProfiledAt: "2026-01-02T03:04:05Z", SampleRows: 1000, ValuesPerColumn: 5},
	}
}

// TestSamples: without a values file, the values of the artifacts are found.
func TestSamples(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	set := setOf(t, root, sampled())
	if d := cmp.Diff([]string{"orders.status paid exact", "recent.status Paid now prefix"}, found("PAID", set)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"orders.city Köln exact"}, found("koln", set)); d != "" {
		t.Error(d)
	}
	if got := found("12", set); len(got) > 0 {
		t.Errorf("a number is found: %v", got)
	}
	match := dictionary.Search([]string{"koln"}, set)[0].Matches[0]
	if match.Cardinality == nil || *match.Cardinality != 9 {
		t.Errorf("the cardinality is %v", match.Cardinality)
	}
	sampledRows, most, sync, at := int64(1000), int64(5), "1", "2026-01-02T03:04:05Z"
	want := dictionary.Coverage{SampledRows: &sampledRows, ValuesPerColumn: &most, ProfiledColumns: 3, SyncID: &sync, ProfiledAt: &at}
	if d := cmp.Diff(want, set.Coverage()); d != "" {
		t.Error(d)
	}
	one := sampled()
	one.tables[0].Columns, one.tables = one.tables[0].Columns[:1], one.tables[:1]
	if !setOf(t, root, one).Coverage().Complete {
		t.Error("a column with all its values is not complete")
	}
}

// TestStatus: the three reasons why a connection has no match.
func TestStatus(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	numbers := sampled()
	numbers.tables[0].Columns, numbers.tables = numbers.tables[0].Columns[2:3], numbers.tables[:1]
	plain := &snapshot{id: "c", sync: "1", tables: []*catalog.Table{table(ref("", "t"), "a")}}
	for _, c := range []struct {
		set    *dictionary.Set
		status dictionary.Status
		reason dictionary.Reason
	}{
		{setOf(t, root, sampled()), dictionary.StatusReady, dictionary.ReasonNotInSample},
		{setOf(t, root, numbers), dictionary.StatusNoCandidates, dictionary.ReasonNoCandidates},
		{setOf(t, root, plain), dictionary.StatusNoProfile, dictionary.ReasonNoProfile},
		{dictionary.Unscanned("c"), dictionary.StatusNoProfile, dictionary.ReasonNoProfile},
	} {
		if c.set.Status() != c.status {
			t.Errorf("the status is %s, want %s", c.set.Status(), c.status)
		}
		if misses := dictionary.Search([]string{"zzz"}, c.set)[0].Misses; len(misses) != 1 || misses[0].Reason != c.reason {
			t.Errorf("the misses are %v, want %s", misses, c.reason)
		}
	}
}

// TestDenied: what a snapshot leaves out is in no answer, although the values file
// has it. The values of views are left out when any column is denied.
func TestDenied(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	users, pay, view := ref("s", "users"), ref("s", "pay"), ref("s", "v")
	full := scan(t, root, "c", "1",
		columnValues{users, "name", values("secret", "open")}, columnValues{users, "email", values("secret@x")},
		columnValues{pay, "grade", values("secret grade")}, columnValues{view, "mail", values("secret@x")},
	)
	full.tables[2].Kind = catalog.KindView
	permitted := *full
	permitted.identity = "permitted"
	permitted.tables = []*catalog.Table{table(users, "name"), full.tables[2]}
	store := dictionary.NewStore(root)
	for _, c := range []struct {
		snapshot *snapshot
		rules    rules
		want     []string
	}{
		{full, false, []string{"users.name secret exact", "users.email secret@x prefix", "v.mail secret@x prefix", "pay.grade secret grade prefix"}},
		{&permitted, false, []string{"users.name secret exact", "v.mail secret@x prefix"}},
		{&permitted, true, []string{"users.name secret exact"}},
	} {
		set, err := store.Set(c.snapshot, c.rules)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, found("secret", set)); d != "" {
			t.Error(d)
		}
		if got := set.Coverage().ProfiledColumns; got != len(c.want) {
			t.Errorf("%d columns are counted, want %d", got, len(c.want))
		}
	}
}

// TestDamaged: a file that is cut, changed or foreign is a warning, and the samples
// are found.
func TestDamaged(t *testing.T) {
	t.Parallel()
	root, dir := open(t)
	add := columnValues{ref("s", "orders"), "status", values("paid", "shipped")}
	scan(t, root, "c", "1", add)
	name := filepath.Join(dir, ".ktx/values/c/1/values")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	store := dictionary.NewStore(root)
	look := func(what string, content []byte, warned bool) {
		t.Helper()
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := store.Set(sampled(), rules(false))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(set.Warnings()) > 0; got != warned {
			t.Errorf("%s: warnings %v", what, set.Warnings())
		}
		if got := len(found("paid", set)) > 0; !got {
			t.Errorf("%s: nothing is found", what)
		}
		if got := len(found("shipped", set)) > 0; got == warned {
			t.Errorf("%s: the values of the file are found: %v", what, got)
		}
		for _, w := range set.Warnings() {
			if !strings.Contains(w, "ktx scan c") || strings.Contains(w, dir) {
				t.Errorf("%s: %s", what, w)
			}
		}
	}
	look("whole", whole, false)
	for i := range len(whole) {
		changed := bytes.Clone(whole)
		changed[i] ^= 0x20
		look(fmt.Sprintf("byte %d changed", i), changed, true)
		look(fmt.Sprintf("cut at %d", i), whole[:i], true)
	}
	look("one byte more", append(bytes.Clone(whole), 0), true)
	look("whole again", whole, false)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if set := setOf(t, root, sampled()); len(set.Warnings()) > 0 {
		t.Errorf("a missing file is a warning: %v", set.Warnings())
	}
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	if set := setOf(t, root, sampled()); len(set.Warnings()) != 1 {
		t.Errorf("a folder is no warning: %v", set.Warnings())
	}
}

// TestFreshness: a call sees the scan, the file and the rules as they are, and
// calls that run meanwhile see one state or the other.
func TestFreshness(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	store := dictionary.NewStore(root)
	r := ref("", "t")
	const states = 20
	scans := make([]*snapshot, states)
	for i := range scans {
		scans[i] = scan(t, root, "c", fmt.Sprint(i), columnValues{r, "a", values("state", fmt.Sprintf("value %d", i))}, columnValues{r, "b", values(fmt.Sprintf("also %d", i))})
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for n := range states * 5 {
				i := (n/5 + worker) % states
				set, err := store.Set(scans[i], rules(false))
				if err != nil {
					t.Error(err)
					return
				}
				got := dictionary.Search([]string{fmt.Sprintf("value %d", i), fmt.Sprintf("also %d", i)}, set)
				if len(got[0].Matches) == 0 || len(got[1].Matches) == 0 || *set.Coverage().SyncID != fmt.Sprint(i) {
					t.Errorf("state %d: %v", i, got)
				}
			}
		})
	}
	wg.Wait()

	before, err := store.Set(scans[0], rules(false))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := store.Set(scans[0], rules(false)); err != nil || again != before {
		t.Errorf("the same state was built twice: %v", err)
	}
	if denied, err := store.Set(scans[0], rules(true)); err != nil || denied == before {
		t.Errorf("other rules have the same set: %v", err)
	}
	scan(t, root, "c", "0", columnValues{r, "a", values("valuX 0", "state")}) // of the same length
	after, err := store.Set(scans[0], rules(false))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"t.a valuX 0 exact"}, found("valux 0", after)); d != "" {
		t.Error(d)
	}
	if got := found("valux 0", before); len(got) > 0 && strings.HasSuffix(got[0], "exact") {
		t.Errorf("a set has changed: %v", got)
	}
}
