package dictionary_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
)

func writer(t *testing.T, root *os.Root, sync string) *dictionary.Writer {
	t.Helper()
	w, err := dictionary.NewWriter(root, "c", sync)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func add(t *testing.T, w *dictionary.Writer, table catalog.Ref, column string, texts ...string) {
	t.Helper()
	if err := w.Column(table, column, values(texts...), int64(len(texts)), true); err != nil {
		t.Fatal(err)
	}
}

func finish(t *testing.T, w *dictionary.Writer, table catalog.Ref) {
	t.Helper()
	if err := w.Finish(table); err != nil {
		t.Fatal(err)
	}
}

func commit(t *testing.T, w *dictionary.Writer) {
	t.Helper()
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestResume: a second writer of a scan keeps the tables that the first one has
// finished, and nothing is visible before Commit.
func TestResume(t *testing.T) {
	t.Parallel()
	root, dir := open(t)
	one, two, three := ref("s", "one"), ref("s", "two"), ref("s", "three")
	s := &snapshot{id: "c", sync: "1", identity: "x", tables: []*catalog.Table{table(one, "a", "b"), table(two, "a"), table(three, "a")}}
	w := writer(t, root, "1")
	add(t, w, one, "b", "bee")
	add(t, w, one, "a", "first", "common")
	finish(t, w, one)
	finish(t, w, three) // without values
	add(t, w, two, "a", "lost")
	if got := setOf(t, root, s).Status(); got != dictionary.StatusNoProfile {
		t.Errorf("before Commit the status is %s", got)
	}
	// The process ends here, without Close, in the middle of writing a table.
	part := filepath.Join(dir, ".ktx/values/c/1/parts")
	if err := os.WriteFile(filepath.Join(part, "ffff.tmp"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(part, "ffff"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}

	w = writer(t, root, "1")
	for _, c := range []struct {
		table catalog.Ref
		want  bool
	}{{one, true}, {two, false}, {three, true}} {
		if got := w.Finished(c.table); got != c.want {
			t.Errorf("%s is finished: %v", c.table.Name, got)
		}
	}
	add(t, w, two, "a", "second", "common")
	commit(t, w)
	if d := cmp.Diff([]string{"one.a common exact", "two.a common exact"}, found("common", setOf(t, root, s))); d != "" {
		t.Error(d)
	}
	if got := found("lost", setOf(t, root, s)); len(got) > 0 {
		t.Errorf("an unfinished table is visible: %v", got)
	}
	if _, err := os.Stat(part); !os.IsNotExist(err) {
		t.Errorf("the parts are still there: %v", err)
	}
	if err := w.Column(one, "a", nil, 0, true); err == nil {
		t.Error("a committed writer takes values")
	}

	// A scan that ended between Commit and its report goes on with what is committed.
	w = writer(t, root, "1")
	if !w.Finished(one) || !w.Finished(two) {
		t.Error("committed tables are not finished")
	}
	add(t, w, two, "a", "changed")
	commit(t, w)
	set := setOf(t, root, s)
	if d := cmp.Diff([][]string{{"one.a common exact"}, {"two.a changed exact"}, {}}, [][]string{found("common", set), found("changed", set), found("second", set)}); d != "" {
		t.Error(d)
	}
	if c := set.Coverage(); c.ProfiledColumns != 3 || !c.Complete || *c.ValuesPerColumn != dictionary.MaxColumnValues {
		t.Errorf("the coverage is %+v", c)
	}
}

// TestCommitIsTheSameInAnyOrder: equal values give equal bytes.
func TestCommitIsTheSameInAnyOrder(t *testing.T) {
	t.Parallel()
	var files [2]string
	for i, order := range [][]string{{"one", "two"}, {"two", "one"}} {
		root, dir := open(t)
		w := writer(t, root, "1")
		for _, name := range order {
			add(t, w, ref("s", name), "b", "x", "y")
			add(t, w, ref("s", name), "a", "Ä", "z")
			finish(t, w, ref("s", name))
		}
		commit(t, w)
		b, err := os.ReadFile(filepath.Join(dir, ".ktx/values/c/1/values"))
		if err != nil {
			t.Fatal(err)
		}
		files[i] = string(b)
	}
	if files[0] != files[1] {
		t.Error("the files differ")
	}
}

// TestLimits: what is beyond a limit is left out, the rarest first, and the column
// is not complete.
func TestLimits(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	r := ref("", "t")
	w := writer(t, root, "1")
	w.Limit(3)
	for _, c := range []struct {
		column string
		values []dictionary.Value
	}{
		{"many", []dictionary.Value{{Text: "rare", Count: 1}, {Text: "common", Count: 9}, {Text: "b", Count: 5}, {Text: "a", Count: 5}}},
		{"long", values(strings.Repeat("x", dictionary.MaxValueBytes+1), "short")},
		{"bytes", values("\xff", "fine")},
		{"blank", values(" ", "", "full")},
	} {
		if err := w.Column(r, c.column, c.values, 77, true); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, w)
	s := &snapshot{id: "c", sync: "1", tables: []*catalog.Table{table(r, "many", "long", "bytes", "blank")}}
	set := setOf(t, root, s)
	if d := cmp.Diff([]string{"t.many a exact"}, found("a", set)[:1]); d != "" {
		t.Error(d)
	}
	if got := found("rare", set); len(got) > 0 {
		t.Errorf("the rarest value is kept: %v", got)
	}
	if set.Coverage().Complete || *set.Coverage().ValuesPerColumn != 3 || set.Len() != 6 {
		t.Errorf("the coverage is %+v, with %d values", set.Coverage(), set.Len())
	}
	if got := *dictionary.Search([]string{"full"}, set)[0].Matches[0].Cardinality; got != 77 {
		t.Errorf("the cardinality is %d", got)
	}
}

// TestBudget: the values of a column and of a connection stay within their bytes, and
// the last column still gets some.
func TestBudget(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	w := writer(t, root, "1")
	text := strings.Repeat("y", 1000)
	list := make([]dictionary.Value, 10000)
	for i := range list {
		list[i] = dictionary.Value{Text: fmt.Sprintf("%05d", i) + text, Count: 1}
	}
	var tables []*catalog.Table
	const columns = 3
	for i := range columns {
		r := ref("", fmt.Sprintf("t%02d", i))
		tables = append(tables, table(r, "c"))
		if err := w.Column(r, "c", list, int64(len(list)), true); err != nil {
			t.Fatal(err)
		}
		finish(t, w, r)
	}
	commit(t, w)
	set := setOf(t, root, &snapshot{id: "c", sync: "1", tables: tables})
	if got, most := set.Len(), columns*dictionary.MaxColumnBytes/1005; got > most || got < most-columns {
		t.Errorf("%d values are kept, want %d", got, most)
	}
	if set.Coverage().Complete {
		t.Error("the coverage is complete")
	}
}

// TestFolders: names that are no folder's name are errors.
func TestFolders(t *testing.T) {
	t.Parallel()
	root, dir := open(t)
	for _, name := range []string{"", ".", "..", "a/b", "../x", `a\b`, "/abs"} {
		if _, err := dictionary.NewWriter(root, name, "1"); err == nil {
			t.Errorf("%q was taken for a connection", name)
		}
		if _, err := dictionary.NewWriter(root, "c", name); err == nil {
			t.Errorf("%q was taken for a scan", name)
		}
		if set := setOf(t, root, &snapshot{id: "c", sync: name}); set.Status() != dictionary.StatusNoProfile {
			t.Errorf("%q has values", name)
		}
	}
	for _, sync := range []string{"1", "2", "3"} {
		commit(t, writer(t, root, sync))
	}
	if err := dictionary.Prune(root, "c", func(sync string) bool { return sync == "2" }); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, ".ktx/values/c"))
	if err != nil || len(entries) != 1 || entries[0].Name() != "2" {
		t.Errorf("after Prune there is %v: %v", entries, err)
	}
	if err := dictionary.Prune(root, "none", func(string) bool { return false }); err != nil {
		t.Error(err)
	}
}
