package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
)

// project is a project folder with a store over it.
type project struct {
	t     *testing.T
	dir   string
	store *catalog.Store
}

func newProject(t *testing.T) *project {
	t.Helper()
	dir := t.TempDir()
	return &project{t: t, dir: dir, store: catalog.NewStore(catalogtest.Open(t, dir), time.Now)}
}

func (p *project) snapshot() *catalog.Snapshot {
	p.t.Helper()
	s, err := p.store.Snapshot(p.t.Context(), "w", catalogtest.All{})
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// names returns the tables that the store finds, or what is wrong.
func (p *project) names() string {
	p.t.Helper()
	s, err := p.store.Snapshot(p.t.Context(), "w", catalogtest.All{})
	if errors.Is(err, catalog.ErrNoScan) {
		return "no scan"
	}
	if err != nil {
		p.t.Fatal(err)
	}
	names := []string{s.SyncID()}
	for _, t := range s.Tables() {
		names = append(names, s.Display(t.Ref()))
	}
	return strings.Join(names, " ")
}

func scanOf(sync, created string, tables ...string) catalogtest.Scan {
	s := catalogtest.Scan{SyncID: sync, CreatedAt: created}
	for _, name := range tables {
		s.Tables = append(s.Tables, catalogtest.Table(name, "id integer key"))
	}
	return s
}

// TestFreshness changes the files of a project in every way, and wants the change in
// the next answer.
func TestFreshness(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	folder := catalogtest.Folder(p.dir, "w")
	want := func(what, names string) {
		t.Helper()
		if got := p.names(); got != names {
			t.Errorf("%s: %s, want %s", what, got, names)
		}
	}
	remove := func(path ...string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(append([]string{folder}, path...)...)); err != nil {
			t.Fatal(err)
		}
	}
	want("an empty project", "no scan")
	catalogtest.Write(t, p.dir, "w", scanOf("s9", "2026-01-01T00:00:00Z", "a.x", "a.y"))
	want("the first scan", "s9 a.x a.y")
	same := p.snapshot()
	if p.snapshot() != same {
		t.Error("without a change, the snapshot is another one")
	}
	catalogtest.Write(t, p.dir, "w", scanOf("s10", "2026-01-01T00:00:00Z", "a.z"))
	want("a scan of the same time with a greater number", "s10 a.z")
	catalogtest.Write(t, p.dir, "w", scanOf("s1", "2026-01-02T00:00:00.5+01:00", "b.one", "b.two"))
	want("a later scan", "s1 b.one b.two")
	catalogtest.Put(t, filepath.Join(folder, "s1", "tables", "00001.json"), catalogtest.Table("b.2", "id"))
	want("a table file that was replaced", "s1 b.2 b.one")
	path := filepath.Join(folder, "s1", "tables", "00000.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"one"`, `"eno"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	want("a young file that was written with the same size and time", "s1 b.2 b.eno")
	remove("s1", "tables", "00001.json")
	want("a table file that was deleted", "s1 b.eno")
	catalogtest.PutText(t, filepath.Join(folder, "s1", "tables", "00001.json"), `{"name": "torn", "columns": [`)
	want("a table file that is broken", "s1 b.eno")
	if w := p.snapshot().Warnings(); len(w) != 1 || w[0].Code != "unreadable_table" || !strings.HasPrefix(w[0].Message, "tables/00001.json: ") || !w[0].Recoverable {
		t.Errorf("warnings %+v", w)
	}
	catalogtest.Put(t, filepath.Join(folder, "s1", "tables", "00001.json"), catalogtest.Table("b.whole", "id"))
	want("the same file, mended", "s1 b.eno b.whole")
	remove("s1", "scan-report.json")
	want("a scan without a report", "s10 a.z")
	catalogtest.PutText(t, filepath.Join(folder, "s1", "scan-report.json"), `{"createdAt": `)
	want("a scan whose report cannot be read", "s10 a.z")
	catalogtest.PutText(t, filepath.Join(folder, "s1", "scan-report.json"), `{"createdAt": "2027-01-01T00:00:00Z"}`)
	want("a scan whose report is there again", "s1 b.eno b.whole")
	remove("s1")
	want("a scan that was deleted", "s10 a.z")
	remove("s10", "tables")
	want("a scan of an empty database", "s10")
	remove("s10")
	remove("s9")
	want("all scans deleted", "no scan")
	catalogtest.Write(t, p.dir, "w", scanOf("s9", "2026-01-01T00:00:00Z", "a.again"))
	want("a scan after none", "s9 a.again")
	if err := os.RemoveAll(filepath.Join(p.dir, "raw-sources")); err != nil {
		t.Fatal(err)
	}
	want("everything deleted", "no scan")
}

// TestIdentity wants the same identity for the same content, whatever the times of
// the files, and another one for every change.
func TestIdentity(t *testing.T) {
	t.Parallel()
	scan := scanOf("s", "2026-01-01T00:00:00Z", "a.x")
	p, q := newProject(t), newProject(t)
	dir := catalogtest.Write(t, p.dir, "w", scan)
	catalogtest.Write(t, q.dir, "w", scan)
	first := p.snapshot()
	if q.snapshot().Identity() != first.Identity() {
		t.Error("equal files have different identities")
	}
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "tables", "00000.json"), old, old); err != nil {
		t.Fatal(err)
	}
	if p.snapshot() != first {
		t.Error("a file that was touched makes another snapshot")
	}
	seen := []string{first.Identity()}
	for _, change := range []func(){
		func() { catalogtest.Put(t, filepath.Join(dir, "tables", "1.json"), catalogtest.Table("a.y")) },
		func() { catalogtest.PutText(t, filepath.Join(dir, "enrichment", "relationships.json"), "{}") },
		func() { catalogtest.PutText(t, filepath.Join(dir, "connection.json"), "{}") },
	} {
		change()
		id := p.snapshot().Identity()
		if slices.Contains(seen, id) {
			t.Errorf("change %d keeps the identity", len(seen))
		}
		seen = append(seen, id)
	}
}

// TestHostileFiles wants a warning or nothing for every file that is not what it
// should be, and the rest of the scan.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	outside := t.TempDir()
	catalogtest.Put(t, filepath.Join(outside, "t.json"), catalogtest.Table("a.outside"))
	dir := catalogtest.Write(t, p.dir, "w", scanOf("s", "2026-01-01T00:00:00Z", "a.good"))
	tables := filepath.Join(dir, "tables")
	for name, text := range map[string]string{
		"empty.json": "", "list.json": "[]", "nameless.json": `{"name": ""}`, "column.json": `{"name":"x","columns":[{}]}`,
		"long.json": `{"name": "` + strings.Repeat("n", 1025) + `"}`, "deep.json": strings.Repeat("[", 20_000),
		"type.json": `{"name": 7}`, ".hidden.json": `{"name":"hidden"}`, "note.txt": "x",
		"wide.json": `{"name":"wide","columns":[` + strings.Repeat(`{"name":"c"},`, 30_001) + `{"name":"c"}]}`,
	} {
		catalogtest.PutText(t, filepath.Join(tables, name), text)
	}
	for _, link := range []struct{ to, at string }{
		{filepath.Join(outside, "t.json"), filepath.Join(tables, "link.json")},
		{filepath.Join(tables, "00000.json"), filepath.Join(tables, "inside.json")},
		{outside, filepath.Join(catalogtest.Folder(p.dir, "w"), "zz")},
		{outside, filepath.Join(p.dir, "raw-sources", "elsewhere")},
	} {
		if err := os.Symlink(link.to, link.at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(tables, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	catalogtest.PutText(t, filepath.Join(outside, "scan-report.json"), `{"createdAt":"2030-01-01T00:00:00Z"}`)
	if got := p.names(); got != "s a.good" {
		t.Errorf("got %s", got)
	}
	if w := p.snapshot().Warnings(); len(w) != 11 {
		t.Errorf("%d warnings: %+v", len(w), w)
	}
	for _, name := range []string{"connection.json", "enrichment/relationships.json", "enrichment/relationship-profile.json"} {
		catalogtest.PutText(t, filepath.Join(dir, name), "{")
	}
	if w := p.snapshot().Warnings(); len(w) != 14 {
		t.Errorf("%d warnings: %+v", len(w), w)
	}
	if s := p.snapshot(); s.Driver() != "postgres" || s.ExtractedAt() != "2026-01-01T00:00:00Z" || s.ScanRunID() != "r1" {
		t.Errorf("without connection.json: %q %q", s.Driver(), s.ExtractedAt())
	}
	for _, id := range []string{"elsewhere", "../w", "", "w/live-database"} {
		if _, err := p.store.Snapshot(t.Context(), id, catalogtest.All{}); err == nil {
			t.Errorf("the connection %q has a scan", id)
		}
	}
}

// TestOtherTools reads artifacts with the liberties that other tools take.
func TestOtherTools(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	dir := catalogtest.Write(t, p.dir, "w", catalogtest.Scan{})
	catalogtest.PutText(t, filepath.Join(dir, "tables", "any name.json"), `{
		"catalog": "", "db": "public", "name": "orders", "kind": "MATERIALIZED VIEW", "comment": " ", "estimatedRows": -1, "more": 1,
		"descriptions": {"db": "", "zz": "last", "dbt": "From dbt"},
		"columns": [
			{"name": "id", "nativeType": null, "sampleValues": [1, 2.50, null, true, "x", [1], {"a": 1}]},
			{"name": "status", "nativeType": "text", "dimensionType": "STRING"},
			{"name": "at", "dimensionType": "time", "sampleValues": "none"}],
		"foreignKeys": null}`)
	catalogtest.PutText(t, filepath.Join(dir, "tables", "2.json"), `{"db": "hr", "name": "people", "kind": "foreign table", "estimatedRows": 12.0, "columns": [{"name": "a.b"}]}`)
	catalogtest.PutText(t, filepath.Join(dir, "enrichment", "relationship-profile.json"), `{
		"profiledAt": "2026-01-02T00:00:00Z", "profileSampleRows": 100, "sampleValuesPerColumn": "5", "tables": [{"table": "orders", "rowCount": 3}],
		"columns": {
			"orders.id": {"sampleValues": ["lost"], "rowCount": 100},
			"orders.status": {"table": "orders", "column": "status", "rowCount": 100, "nullCount": 10, "distinctCount": 2, "sampleValues": ["paid", "open"], "minTextLength": 4, "maxTextLength": null},
			"hr.people.a.b": {"table": {"db": "hr", "name": "people"}, "column": "a.b", "sampleValues": ["y"]},
			"nobody.x": {"table": "nobody", "column": "x"}, "odd": 7}}`)
	s := p.snapshot()
	orders := s.Table(catalog.Ref{DB: "public", Name: "orders"})
	people := s.Table(catalog.Ref{DB: "hr", Name: "people"})
	if orders == nil || people == nil || len(s.Tables()) != 2 {
		t.Fatalf("tables %+v, warnings %+v", s.Tables(), s.Warnings())
	}
	if orders.Kind != catalog.KindView || orders.Comment != nil || orders.EstimatedRows != nil || catalog.Describe(orders.Descriptions, orders.Comment) != "From dbt" {
		t.Errorf("orders: %+v", orders)
	}
	if people.Kind != catalog.KindExternal || people.EstimatedRows == nil || *people.EstimatedRows != 12 {
		t.Errorf("people: %+v", people)
	}
	want := []catalog.Column{
		{Name: "id", DimensionType: "string", SampleValues: []string{"1", "2.50", "true", "x"}, Stats: &catalog.Stats{Rows: 100, MinLength: -1, MaxLength: -1}},
		{
			Name: "status", NativeType: "text", DimensionType: "string", SampleValues: []string{"paid", "open"},
			Stats: &catalog.Stats{Rows: 100, Nulls: 10, Distinct: 2, MinLength: 4, MaxLength: -1},
		},
		{Name: "at", DimensionType: "time"},
	}
	if diff := cmp.Diff(want, orders.Columns); diff != "" {
		t.Error(diff)
	}
	if got := people.Columns[0].SampleValues; !slices.Equal(got, []string{"y"}) {
		t.Errorf("people: %q", got)
	}
	if info := s.Profile(); info == nil || *info != (catalog.ProfileInfo{ProfiledAt: "2026-01-02T00:00:00Z", SampleRows: 100}) {
		t.Errorf("profile %+v", s.Profile())
	}
	// A table that changes alone keeps what the profile says of it.
	catalogtest.Put(t, filepath.Join(dir, "tables", "2.json"), catalogtest.Table("hr.people", "a.b", "c"))
	if got := p.snapshot().Table(catalog.Ref{DB: "hr", Name: "people"}).Columns[0].SampleValues; !slices.Equal(got, []string{"y"}) {
		t.Errorf("after a change: %q", got)
	}
	// A profile that goes away takes its values along.
	if err := os.Remove(filepath.Join(dir, "enrichment", "relationship-profile.json")); err != nil {
		t.Fatal(err)
	}
	if s := p.snapshot(); s.Profile() != nil || s.Table(orders.Ref()).Columns[1].SampleValues != nil || len(s.Table(orders.Ref()).Columns[0].SampleValues) == 0 {
		t.Errorf("without a profile: %+v", s.Table(orders.Ref()).Columns)
	}
}

func TestNaturalOrder(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for i, name := range []string{"r9", "r10", "r010x", "r11", "R99"} {
		catalogtest.Write(t, p.dir, "w", scanOf(name, "2026-01-01T00:00:00Z", fmt.Sprintf("a.t%d", i)))
	}
	if got := p.names(); got != "r11 a.t3" {
		t.Errorf("got %s", got)
	}
}
