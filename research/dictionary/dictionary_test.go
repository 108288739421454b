package dictionary_test

import (
	"os"
	"testing"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
)

// snapshot is a scan made for a test.
type snapshot struct {
	id, sync string
	tables   []*catalog.Table
	profile  *catalog.ProfileInfo
	identity string
}

func (s *snapshot) ConnectionID() string          { return s.id }
func (s *snapshot) SyncID() string                { return s.sync }
func (s *snapshot) Identity() string              { return s.identity }
func (s *snapshot) Tables() []*catalog.Table      { return s.tables }
func (s *snapshot) Profile() *catalog.ProfileInfo { return s.profile }

// rules are access rules that deny columns, or not.
type rules bool

func (r rules) DeniesColumns() bool { return bool(r) }
func (r rules) ID() string          { return map[rules]string{true: "some denied", false: "all open"}[r] }

func open(tb testing.TB) (*os.Root, string) {
	tb.Helper()
	dir := tb.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = root.Close() })
	return root, dir
}

func ref(schema, name string) catalog.Ref { return catalog.Ref{DB: schema, Name: name} }

// table returns a table with textual columns.
func table(r catalog.Ref, columns ...string) *catalog.Table {
	t := &catalog.Table{Name: r.Name, Kind: catalog.KindTable}
	if r.DB != "" {
		t.DB = &r.DB
	}
	for _, c := range columns {
		t.Columns = append(t.Columns, catalog.Column{Name: c, NativeType: "text", NormalizedType: "string", DimensionType: catalog.DimensionString})
	}
	return t
}

// values returns values of which the first are the most frequent.
func values(texts ...string) []dictionary.Value {
	var out []dictionary.Value
	for i, text := range texts {
		out = append(out, dictionary.Value{Text: text, Count: int64(len(texts) - i)})
	}
	return out
}

// columnValues are the values of a column.
type columnValues struct {
	table  catalog.Ref
	column string
	values []dictionary.Value
}

// scan writes the values of a scan, and returns its snapshot.
func scan(tb testing.TB, root *os.Root, id, sync string, list ...columnValues) *snapshot {
	tb.Helper()
	w, err := dictionary.NewWriter(root, id, sync)
	if err != nil {
		tb.Fatal(err)
	}
	s := &snapshot{id: id, sync: sync, identity: id + sync}
	for _, c := range list {
		if err := w.Column(c.table, c.column, c.values, int64(len(c.values)), true); err != nil {
			tb.Fatal(err)
		}
		if n := len(s.tables); n > 0 && s.tables[n-1].Ref() == c.table {
			s.tables[n-1].Columns = append(s.tables[n-1].Columns, table(c.table, c.column).Columns...)
		} else {
			s.tables = append(s.tables, table(c.table, c.column))
		}
	}
	if err := w.Commit(); err != nil {
		tb.Fatal(err)
	}
	return s
}

// setOf returns the values of a snapshot.
func setOf(tb testing.TB, root *os.Root, s *snapshot) *dictionary.Set {
	tb.Helper()
	set, err := dictionary.NewStore(root).Set(s, rules(false))
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// found returns the matches of one value, each as "table.column value type".
func found(value string, sets ...*dictionary.Set) []string {
	out := []string{}
	for _, m := range dictionary.Search([]string{value}, sets...)[0].Matches {
		out = append(out, m.SourceName+"."+m.ColumnName+" "+m.MatchedValue+" "+string(m.MatchType))
	}
	return out
}
