package research_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/research/catalog/search"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/usage"
	"github.com/ktxhq/ktx/sqlguard"
)

const lastUsed = "2026-05-06T07:08:09Z"

func ref(name string) catalog.Ref {
	t := catalogtest.Table(name)
	return t.Ref()
}

// usedFile returns an artifact. A text is "schema.table N", "schema.table.column N" or
// "schema.table.column = schema.table.column N".
func usedFile(t *testing.T, id string, counts ...string) *usage.File {
	t.Helper()
	f := &usage.File{ConnectionID: id, BuiltAt: lastUsed, Tables: []usage.Table{}, Columns: []usage.Column{}, Joins: []usage.Join{}}
	end := func(path string) usage.End {
		table, column := path[:strings.LastIndex(path, ".")], path[strings.LastIndex(path, ".")+1:]
		return usage.End{Table: ref(table), Column: column}
	}
	for _, text := range counts {
		words := strings.Fields(text)
		var n int64
		if _, err := fmt.Sscan(words[len(words)-1], &n); err != nil {
			t.Fatal(err)
		}
		switch {
		case len(words) == 4:
			f.Joins = append(f.Joins, usage.Join{From: end(words[0]), To: end(words[2]), Statements: n})
		case strings.Count(words[0], ".") == 1:
			f.Tables = append(f.Tables, usage.Table{Table: ref(words[0]), Statements: n, LastUsed: lastUsed})
		default:
			e := end(words[0])
			f.Columns = append(f.Columns, usage.Column{Table: e.Table, Column: e.Column, Statements: n, LastUsed: lastUsed})
		}
	}
	return f
}

func putUsage(t *testing.T, dir string, f *usage.File) {
	t.Helper()
	text, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	put(t, string(text), dir, filepath.FromSlash(usage.Path(f.ConnectionID)))
}

// usedService serves connections of the project in dir, with search.usage on or off.
func usedService(t *testing.T, dir string, on bool, logs *lockedBuffer, conns ...execution.Connection) *research.Service {
	t.Helper()
	gateway, err := execution.NewGateway(t.Context(), &audittest.Log{}, conns...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	stores := storesIn(t, dir)
	if on {
		stores.Usage = usage.NewStore(catalogtest.Open(t, dir), time.Now)
	}
	return research.New(gateway, slog.New(slog.NewTextHandler(logs, nil)), stores)
}

// answers returns what tools that use the counts answer about the connection w.
func answers(t *testing.T, s *research.Service) string {
	t.Helper()
	ctx := audit.WithActor(t.Context(), audit.Actor{Principal: "analyst", Connections: []string{"w"}})
	var b strings.Builder
	for _, query := range []string{"orders", "orders of customers", "net amount", "status of orders", "what the customer is called"} {
		out, err := s.DiscoverData(ctx, research.DiscoverDataInput{Query: query, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(jsonOf(t, out) + "\n")
	}
	out, err := s.EntityDetails(ctx, research.EntityDetailsInput{ConnectionID: "w", Entities: []research.EntityInput{
		{Table: "public.orders"}, {Table: "sales.orders"}, {Table: "public.customers"}, {Table: "nothing"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return b.String() + jsonOf(t, out)
}

var someUse = []string{
	"public.orders 7", "sales.orders 90", "public.customers 3", "public.orders.customer_id 6", "public.orders.status 5", "public.customers.id 4",
	"public.customers.id = public.orders.customer_id 4", "public.customers.name = public.orders.status 1", "public.orders.id = sales.orders.id 2",
}

// TestUsageIsOffByDefault: without search.usage, no answer depends on the artifact.
func TestUsageIsOffByDefault(t *testing.T) {
	dir := t.TempDir()
	warehouse(t, dir, "w")
	logs := &lockedBuffer{}
	s := usedService(t, dir, false, logs, artifactOnly("w", sqlguard.Policy{}))
	before := answers(t, s)
	putUsage(t, dir, usedFile(t, "w", someUse...))
	if diff := cmp.Diff(before, answers(t, s)); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(before, `"usage"`) || strings.Contains(before, `"statements"`) {
		t.Errorf("counts without search.usage: %s", before)
	}
	// On, and without an artifact, it is the same.
	if diff := cmp.Diff(before, answers(t, usedService(t, t.TempDir(), true, logs, artifactOnly("w", sqlguard.Policy{})))); diff == "" {
		t.Error("an empty project answers as the warehouse")
	}
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(usage.Path("w")))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, answers(t, usedService(t, dir, true, logs, artifactOnly("w", sqlguard.Policy{})))); diff != "" {
		t.Error(diff)
	}
	if logs.String() != "" {
		t.Errorf("logged: %s", logs)
	}
}

func TestEntityDetailsShowsUsage(t *testing.T) {
	dir := t.TempDir()
	warehouse(t, dir, "w")
	putUsage(t, dir, usedFile(t, "w", append(slices.Clone(someUse), "public.gone 8", "public.orders.gone 8", "public.orders.id = public.gone.id 8", "public.orders.gone = public.customers.id 8")...))
	s := usedService(t, dir, true, &lockedBuffer{}, artifactOnly("w", sqlguard.Policy{}))
	out, err := s.EntityDetails(t.Context(), research.EntityDetailsInput{ConnectionID: "w", Entities: []research.EntityInput{{Table: "public.orders"}, {Table: "wide"}}})
	if err != nil {
		t.Fatal(err)
	}
	orders, wide := out.Results[0].Entity, out.Results[1].Entity
	want := &research.EntityUsage{Statements: 7, LastUsed: lastUsed, JoinedWith: []research.EntityJoin{
		{Column: "customer_id", ToTable: "public.customers", ToColumn: "id", Statements: 4},
		{Column: "id", ToTable: "sales.orders", ToColumn: "id", Statements: 2},
		{Column: "status", ToTable: "public.customers", ToColumn: "name", Statements: 1},
	}}
	if diff := cmp.Diff(want, orders.Usage); diff != "" {
		t.Error(diff)
	}
	var columns []string
	for _, c := range orders.Columns {
		columns = append(columns, fmt.Sprintf("%s %d", c.Name, c.Statements))
	}
	if got := strings.Join(columns, ", "); got != "id 0, customer_id 6, net_amount 0, status 5" {
		t.Error(got)
	}
	if wide.Usage != nil {
		t.Errorf("a table that no statement read: %+v", wide.Usage)
	}
	text := jsonOf(t, orders)
	for _, part := range []string{
		`"usage":{"statements":7,"lastUsed":"2026-05-06T07:08:09Z","joinedWith":[{"column":"customer_id","toTable":"public.customers","toColumn":"id","statements":4},`,
		`"primaryKey":false,"comment":null,"statements":6}`, `"primaryKey":true,"comment":"The number"}`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	validate(t, "entity_details", json.RawMessage(jsonOf(t, out)))
}

// TestUsageIsBounded: many joins are cut and counted, and an answer keeps its size.
func TestUsageIsBounded(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 800)
	hub := catalogtest.Table("s.hub", "id integer")
	tables, use := []catalog.Table{hub}, []string{"s.hub 9"}
	for i := range 40 {
		tables = append(tables, catalogtest.Table(fmt.Sprintf("s.t%d%s", i, long), "hub_id integer"))
		use = append(use, fmt.Sprintf("s.hub.id = s.t%d%s.hub_id %d", i, long, 40-i))
	}
	catalogtest.Write(t, dir, "w", catalogtest.Scan{Tables: tables})
	putUsage(t, dir, usedFile(t, "w", use...))
	s := usedService(t, dir, true, &lockedBuffer{}, artifactOnly("w", sqlguard.Policy{}))
	for _, entities := range []int{1, 20} {
		out, err := s.EntityDetails(t.Context(), research.EntityDetailsInput{ConnectionID: "w", Entities: slices.Repeat([]research.EntityInput{{Table: "s.hub"}}, entities)})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(jsonOf(t, out)); n > 256<<10 {
			t.Errorf("%d bytes", n)
		}
		for _, r := range out.Results {
			u := r.Entity.Usage
			if u == nil || len(u.JoinedWith)+u.OmittedJoins != 40 || len(u.JoinedWith) > 20 || len(r.Entity.Columns) != 1 {
				t.Errorf("%d entities: %+v", entities, u)
			}
		}
	}
}

// TestUsageHidesWhatIsDenied: what the rules deny, and what other connections have,
// changes no answer.
func TestUsageHidesWhatIsDenied(t *testing.T) {
	policy := sqlguard.Policy{
		Schemas: sqlguard.Names{Deny: []string{"sales"}}, Tables: sqlguard.Names{Deny: []string{"public.customers"}},
		Columns: []sqlguard.ColumnRule{{Match: "public.orders.status"}},
	}
	visible := []string{"public.orders 7", "public.wide 3", "public.orders.id 5", "public.orders.customer_id 2", "public.orders.id = public.wide.c0001 2"}
	var got []string
	for _, denied := range [][]string{nil, {
		"sales.orders 1000000", "public.customers 1000000", "sales.orders.id 1000000", "public.orders.status 1000000", "public.customers.id 1000000",
		"public.orders.id = sales.orders.id 9", "public.customers.id = public.orders.customer_id 9", "public.orders.status = public.wide.c0001 9",
	}} {
		dir := t.TempDir()
		warehouse(t, dir, "w")
		warehouse(t, dir, "other")
		putUsage(t, dir, usedFile(t, "w", slices.Concat(denied, visible)...))
		putUsage(t, dir, usedFile(t, "other", denied...))
		s := usedService(t, dir, true, &lockedBuffer{}, artifactOnly("w", policy), artifactOnly("other", sqlguard.Policy{}))
		text := answers(t, s)
		if !strings.Contains(text, `"joinedWith":[{"column":"id","toTable":"public.wide","toColumn":"c0001","statements":2}]`) {
			t.Errorf("no use of what may be read: %s", text)
		}
		got = append(got, text)
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		t.Errorf("(-without +with counts of what is denied): %s", diff)
	}
}

// TestBadUsageIsAWarning: an artifact that cannot be read changes no answer, and the
// operator reads about it once.
func TestBadUsageIsAWarning(t *testing.T) {
	dir := t.TempDir()
	warehouse(t, dir, "w")
	logs := &lockedBuffer{}
	s := usedService(t, dir, true, logs, artifactOnly("w", sqlguard.Policy{}))
	without := answers(t, s)
	file := filepath.Join(dir, filepath.FromSlash(usage.Path("w")))
	for _, text := range []string{"{", `{"connectionId":"other"}`, "", `[]`, `{"connectionId":"w","tables":[{"table":{"name":"orders"},"statements":-1,"lastUsed":"2026-01-01T00:00:00Z"}]}`, `{"connectionId":"w","joins":[{"statements":9007199254740993}]}`} {
		put(t, text, file)
		before := strings.Count(logs.String(), "cannot be used")
		for range 2 {
			if diff := cmp.Diff(without, answers(t, s)); diff != "" {
				t.Errorf("%s: %s", text, diff)
			}
		}
		if n := strings.Count(logs.String(), "cannot be used") - before; n > 1 || before == 0 && n == 0 {
			t.Errorf("%s: %d warnings: %s", text, n, logs)
		}
	}
	if n := strings.Count(logs.String(), "cannot be used"); n < 4 {
		t.Errorf("%d warnings: %s", n, logs)
	}
	// A folder in its place, then a good one, then none.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o750); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(without, answers(t, s)); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	putUsage(t, dir, usedFile(t, "w", someUse...))
	if !strings.Contains(answers(t, s), `"usage":{"statements":7,`) {
		t.Error("a new artifact does not count")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(without, answers(t, s)); diff != "" {
		t.Error(diff)
	}
}

// TestUsageOrdersEqualMatches: of equal matches the more used comes first. A better
// match stays before them.
func TestUsageOrdersEqualMatches(t *testing.T) {
	dir := t.TempDir()
	var tables []catalog.Table
	for _, schema := range []string{"a", "b", "c"} {
		tables = append(tables, catalogtest.Table(schema+".invoices", "id integer", "amount numeric", "paid_at date"))
	}
	tables = append(tables, catalogtest.Table("d.payments", "id integer", "invoices integer", "note text"), catalogtest.Table("d.other", "x integer"))
	catalogtest.Write(t, dir, "w", catalogtest.Scan{Tables: tables})
	s := usedService(t, dir, true, &lockedBuffer{}, artifactOnly("w", sqlguard.Policy{}))
	find := func(kind research.Kind, query string) string {
		t.Helper()
		out, err := s.DiscoverData(t.Context(), research.DiscoverDataInput{Query: query, Kinds: []research.Kind{kind}})
		if err != nil {
			t.Fatal(err)
		}
		return ids(out)
	}
	const column = "column a.invoices.amount; column b.invoices.amount; column c.invoices.amount"
	if got := find(research.KindTable, "invoices"); got != "table a.invoices; table b.invoices; table c.invoices; table d.payments" {
		t.Fatal(got)
	}
	if got := find(research.KindColumn, "amount"); got != column {
		t.Fatal(got)
	}
	for _, test := range []struct {
		use  []string
		want string
	}{
		{[]string{"c.invoices 5", "b.invoices 1"}, "table c.invoices; table b.invoices; table a.invoices; table d.payments"},
		{[]string{"c.invoices 5", "b.invoices 6"}, "table b.invoices; table c.invoices; table a.invoices; table d.payments"},
		{[]string{"c.invoices 5", "a.invoices 5", "b.invoices 5"}, "table a.invoices; table b.invoices; table c.invoices; table d.payments"},
		{[]string{"d.payments 900000", "d.other 900000", "c.invoices 1"}, "table c.invoices; table a.invoices; table b.invoices; table d.payments"},
	} {
		putUsage(t, dir, usedFile(t, "w", test.use...))
		for range 3 {
			if got := find(research.KindTable, "invoices"); got != test.want {
				t.Errorf("%v: got %s, want %s", test.use, got, test.want)
			}
		}
		if got := find(research.KindColumn, "amount"); got != column {
			t.Errorf("%v: %s", test.use, got)
		}
	}
	putUsage(t, dir, usedFile(t, "w", "b.invoices.amount 3"))
	if got := find(research.KindColumn, "amount"); got != "column b.invoices.amount; column a.invoices.amount; column c.invoices.amount" {
		t.Error(got)
	}
}

// TestUsageLiftsATenth: whatever is used, an object whose score is a tenth better
// stays before the other, and no score grows by more than a tenth.
func TestUsageLiftsATenth(t *testing.T) {
	words := []string{"order", "customer", "total", "city", "amount", "paid", "note"}
	rapid.Check(t, func(r *rapid.T) {
		word := rapid.SampledFrom(words)
		var tables []*catalog.Table
		var refs []catalog.Ref
		for i := range rapid.IntRange(2, 8).Draw(r, "tables") {
			t := catalogtest.Table(fmt.Sprintf("s%c.%s_%s", 'a'+i, word.Draw(r, "name"), word.Draw(r, "name")))
			for range rapid.IntRange(1, 4).Draw(r, "columns") {
				name := word.Draw(r, "column")
				if t.Column(name) == nil {
					t.Columns = append(t.Columns, catalog.Column{Name: name})
				}
			}
			tables, refs = append(tables, &t), append(refs, t.Ref())
		}
		analyzer := rank.NewAnalyzer(nil)
		index := search.Build(analyzer, search.Input{Connection: search.Connection{ID: "w"}, Tables: tables})
		q := analyzer.Query(word.Draw(r, "query") + " " + word.Draw(r, "query"))
		var evidence []search.Evidence
		for _, ref := range refs {
			evidence = append(evidence, search.Evidence{Connection: "w", Table: ref, Usage: usage.Share(rapid.Int64Range(0, 1000).Draw(r, "statements"), 1000)})
		}
		plain := search.Search(q, search.Options{Tables: true, Limit: 50}, index)
		used := search.Search(q, search.Options{Tables: true, Limit: 50, Evidence: evidence}, index)
		if len(plain) != len(used) {
			r.Fatalf("%d hits, %d with usage", len(plain), len(used))
		}
		at, score := map[*catalog.Table]int{}, map[*catalog.Table]float64{}
		for i, h := range used {
			at[h.Table], score[h.Table] = i, h.Score
		}
		const rounding = 1 + 1e-9
		for i, a := range plain {
			if score[a.Table] < a.Score/rounding || score[a.Table] > 1.1*a.Score*rounding {
				r.Fatalf("%s: the score %v became %v", a.Table.Name, a.Score, score[a.Table])
			}
			for _, b := range plain[i+1:] {
				if a.Score > 1.1*b.Score*rounding && at[a.Table] > at[b.Table] {
					r.Fatalf("%s with %v is behind %s with %v", a.Table.Name, a.Score, b.Table.Name, b.Score)
				}
			}
		}
	})
}
