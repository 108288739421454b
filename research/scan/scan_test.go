package scan_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan"
	"github.com/ktxhq/ktx/sqlguard"
)

// shop is a small database with some of everything.
func shop(t *testing.T) string {
	t.Helper()
	statements := []string{
		"CREATE TABLE customers (id INTEGER PRIMARY KEY, first_name TEXT, company_name TEXT, email TEXT, phone_model TEXT, bio TEXT, city TEXT)",
		"CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT REFERENCES customers, status TEXT, secret_note TEXT)",
		"CREATE TABLE api_keys (id INTEGER PRIMARY KEY, name TEXT)",
		"CREATE VIEW open_orders AS SELECT id, status AS state FROM orders",
	}
	for i := range 30 {
		statements = append(statements,
			fmt.Sprintf("INSERT INTO customers VALUES (%d, 'Ann', 'ACME %d', 'a%[1]d@example.org', 'X%[2]d', '%[3]s', 'Berlin')", i, i%3, strings.Repeat("words ", 30)),
			fmt.Sprintf("INSERT INTO orders VALUES (%d, %d, '%s', 'x')", i, i%10, []string{"paid", "late", "new"}[i%3]))
	}
	for i := range 7 {
		statements = append(statements, fmt.Sprintf("CREATE TABLE t%d (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t%[1]d VALUES (1, 'one'), (2, 'two')", i))
	}
	return testdb.SQLiteFile(t, statements...)
}

// TestProfile: what is kept of a column depends on its name and its values.
func TestProfile(t *testing.T) {
	t.Parallel()
	s := newStand(t, sqliteAt(shop(t)))
	s.options.Include, s.options.Exclude = scan.Patterns{"customers.first_*"}, scan.Patterns{"main.t1.NAME"}
	result := s.run()
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	for column, want := range map[string]string{
		"main.customers.first_name": "[Ann]", "main.customers.company_name": "[ACME 0 ACME 1 ACME 2]", "main.customers.email": "[]",
		"main.customers.phone_model": "[X0 X1 X2]", "main.customers.bio": "[]", "main.customers.city": "[Berlin]", "main.t1.name": "[]", "main.t2.name": "[one two]",
		"main.customers.id": "[0 1 10 11 12]",
	} {
		c := profile.Columns[column]
		_, kept := s.values.columns[column]
		if fmt.Sprint(c.SampleValues) != want || kept != (want != "[]" && c.Column != "id") || c.RowCount == 0 || c.DistinctCount == 0 {
			t.Errorf("%s: %+v, its values are kept: %v; want %s", column, c, kept, want)
		}
	}
	if c := profile.Columns["main.customers.bio"]; *c.MaxTextLength != 180 || *c.MinTextLength != 180 {
		t.Errorf("bio: %+v", c)
	}
	if v := s.values.columns["main.orders.status"]; len(v.Values) != 3 || v.Values[0].Text != "late" || v.Values[0].Count != 10 || !v.Complete || v.Distinct != 3 || !s.values.done {
		t.Errorf("status: %+v", v)
	}
}

// TestAccess: what access rules deny is not scanned.
func TestAccess(t *testing.T) {
	t.Parallel()
	conn := sqliteAt(shop(t))
	conn.Policy.Tables.Deny = []string{"main.api_keys", "main.customers"}
	conn.Policy.Columns = []sqlguard.ColumnRule{{Match: "main.orders.secret_note"}}
	s := newStand(t, conn)
	result := s.run()
	for path, text := range s.files() {
		if strings.Contains(text, "api_keys") || strings.Contains(text, "customers") || strings.Contains(text, "company_name") {
			t.Errorf("%s names a table that is denied", path)
		}
	}
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	if _, ok := profile.Columns["main.orders.secret_note"]; ok {
		t.Error("a denied column is profiled")
	}
	if c := profile.Columns["main.open_orders.state"]; len(c.SampleValues) != 0 {
		t.Errorf("a view may show a denied column under another name: %+v", c)
	}
	for _, e := range s.log.Events(audit.QueryDecision) {
		if strings.Contains(e.SQL.Text, "secret_note") || strings.Contains(e.SQL.Text, `"api_keys"`) {
			t.Errorf("a statement reads what is denied: %s", e.SQL.Text)
		}
	}
	// A relation that could be a view over the table of a rule is refused.
	if w := result.Report.Warnings; len(w) != 1 || w[0].Code != "profile_refused" || !strings.Contains(w[0].Message, "main.open_orders") || profile.Columns["main.orders.status"].RowCount != 30 {
		t.Errorf("warnings: %+v", w)
	}
}

// denied denies the table a in addition.
type denied struct{ scan.Readable }

func (d denied) Relation(schema, name string) bool {
	return name != "a" && d.Readable.Relation(schema, name)
}

// TestDiff: the report counts what changed since the scan before.
func TestDiff(t *testing.T) {
	t.Parallel()
	path := testdb.SQLiteFile(t, "CREATE TABLE a (x INT, y INT, z INT)", "CREATE TABLE b (x INT)", "CREATE TABLE c (x INT, y INT)")
	s := newStand(t, sqliteAt(path))
	if d := s.run().Report.DiffSummary; d != (catalog.DiffSummary{TablesAdded: 3, ColumnsAdded: 6}) {
		t.Errorf("the first scan: %+v", d)
	}
	changed := testdb.SQLiteFile(t, "CREATE TABLE a (x INT, y TEXT, w INT)", "CREATE TABLE b (x INT)", "CREATE TABLE d (x INT)", "INSERT INTO b VALUES (1)")
	next := newStand(t, sqliteAt(changed))
	next.dir, next.options.Root = s.dir, s.options.Root
	next.again()
	want := catalog.DiffSummary{TablesAdded: 1, TablesModified: 1, TablesDeleted: 1, TablesUnchanged: 1, ColumnsAdded: 2, ColumnsModified: 1, ColumnsDeleted: 3}
	next.options.DryRun = true
	before := s.files()
	if d := next.run().Report.DiffSummary; d != want {
		t.Errorf("a dry run: %+v", d)
	}
	if d := cmp.Diff(before, next.files()); d != "" {
		t.Errorf("a dry run wrote: %s", d)
	}
	next.options.DryRun = false
	result := next.run()
	if d := result.Report.DiffSummary; d != want {
		t.Errorf("the second scan: %+v", d)
	}
	changes := []scan.Change{
		{Table: "main.a", Change: "modified", Added: []string{"w"}, Modified: []string{"y"}, Deleted: []string{"z"}},
		{Table: "main.c", Change: "deleted"},
		{Table: "main.d", Change: "added"},
	}
	if d := cmp.Diff(changes, result.Changes); d != "" {
		t.Errorf("what is named: %s", d)
	}
	// What a rule denies by now is named no more, although the scan before has it.
	next.options.Readable = denied{next.options.Readable}
	if result := next.run(); len(result.Changes) != 0 || result.Report.DiffSummary.TablesDeleted != 1 {
		t.Errorf("a denied table is named: %+v", result.Changes)
	}
}

// TestEqualBytes: equal databases give equal artifacts, whatever the concurrency.
func TestEqualBytes(t *testing.T) {
	t.Parallel()
	path := shop(t)
	var first map[string]string
	for _, concurrency := range []int{1, 2, 4} {
		s := newStand(t, sqliteAt(path))
		s.options.Concurrency = concurrency
		s.run()
		if first == nil {
			first = s.files()
		} else if d := cmp.Diff(first, s.files()); d != "" {
			t.Errorf("with %d statements at once: %s", concurrency, d)
		}
	}
}

// TestAuthoredFilesStay: the manifest is written again, and files of people are not
// touched.
func TestAuthoredFilesStay(t *testing.T) {
	t.Parallel()
	s := newStand(t, sqliteAt(shop(t)))
	folder := filepath.Join(s.dir, "semantic-layer", "shop")
	if err := os.MkdirAll(filepath.Join(folder, "_schema"), 0o750); err != nil {
		t.Fatal(err)
	}
	authored := map[string]string{"orders.yaml": "name: orders\n", "_schema/mine.yaml": "tables: {}\n", "_schema/old.yaml": "# Generated by ktx scan. Do not edit: the next scan writes this file again.\ntables: {}\n"}
	for name, text := range authored {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.run()
	files := s.files()
	if files["semantic-layer/shop/orders.yaml"] != authored["orders.yaml"] || files["semantic-layer/shop/_schema/mine.yaml"] != authored["_schema/mine.yaml"] {
		t.Error("a file that people wrote was changed")
	}
	if _, ok := files["semantic-layer/shop/_schema/old.yaml"]; ok {
		t.Error("a file of a schema that is gone is still there")
	}
	if !strings.Contains(files["semantic-layer/shop/_schema/main.yaml"], "to: customers") {
		t.Error("the manifest has no join to customers")
	}
}

// stopping is a gateway that ends a context before a statement, as an interrupt does.
type stopping struct {
	scan.Gateway
	left atomic.Int64
	stop func()
}

func (g *stopping) Query(ctx context.Context, r execution.Request) (*execution.Result, error) {
	if g.left.Add(-1) == 0 {
		g.stop()
	}
	return g.Gateway.Query(ctx, r)
}

// TestResume: a scan that is stopped at any statement goes on there, and writes the
// same bytes as one that was not stopped.
func TestResume(t *testing.T) {
	t.Parallel()
	path := shop(t)
	whole := newStand(t, sqliteAt(path))
	whole.run()
	want := whole.files()
	statements := int64(len(whole.log.Events(audit.QueryDecision)))
	step := int64(4)
	if executiontest.Full() {
		step = 1
	}
	for stop := int64(1); stop <= statements; stop += step {
		s := newStand(t, sqliteAt(path))
		ctx, cancel := context.WithCancel(t.Context())
		gateway := &stopping{Gateway: s.options.Gateway, stop: cancel}
		gateway.left.Store(stop)
		s.options.Gateway = gateway
		_, err := scan.Run(ctx, s.options)
		stopped, ok := errors.AsType[*scan.StoppedError](err)
		if !ok || stopped.Budget || !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at statement %d: %v", stop, err)
		}
		for file := range s.files() {
			if strings.HasSuffix(file, "scan-report.json") {
				t.Errorf("stopped at statement %d, it left a report", stop)
			}
		}
		result := s.run()
		if result.Resumed != stopped.Tables {
			t.Errorf("stopped at statement %d with %d tables, it went on with %d", stop, stopped.Tables, result.Resumed)
		}
		if d := cmp.Diff(want, s.files()); d != "" {
			t.Errorf("stopped at statement %d, it wrote: %s", stop, d)
		}
		if s.again(); s.run().Resumed != 0 {
			t.Error("a scan that is done leaves nothing to go on with")
		}
	}
}

// TestResumeOnlyTheSame: a scan goes on only from a scan with the same options, not too
// long ago, and not with a table that has changed.
func TestResumeOnlyTheSame(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*stand){
		"options": func(s *stand) { s.options.SampleRows = 7 },
		"time":    func(s *stand) { s.options.Now = s.options.Now.Add(25 * time.Hour) },
		"values":  func(s *stand) { s.values = newMemory() },
		"damage": func(s *stand) {
			if err := os.WriteFile(filepath.Join(s.dir, ".ktx/scan/shop/journal.jsonl"), []byte("{\"format\":1,"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		s := newStand(t, sqliteAt(shop(t)))
		ctx, cancel := context.WithCancel(t.Context())
		gateway := &stopping{Gateway: s.options.Gateway, stop: cancel}
		gateway.left.Store(8)
		s.options.Gateway = gateway
		if _, err := scan.Run(ctx, s.options); err == nil {
			t.Fatal("it was not stopped")
		}
		change(s)
		if result := s.run(); result.Resumed != 0 {
			t.Errorf("%s: it went on with %d tables", name, result.Resumed)
		}
	}
}

// TestBudget: a scan that has used up its budget says how to continue.
func TestBudget(t *testing.T) {
	t.Parallel()
	s := newStand(t, sqliteAt(shop(t)))
	s.options.Budget = time.Nanosecond
	_, err := scan.Run(t.Context(), s.options)
	stopped, ok := errors.AsType[*scan.StoppedError](err)
	if !ok || !stopped.Budget || !strings.Contains(err.Error(), "scan.budget") || !strings.Contains(err.Error(), "Run ktx scan shop again") {
		t.Errorf("err = %v", err)
	}
	s.options.Budget = 0
	s.run()
}

// TestStatements: statements run one at a time unless the options say so, and none is
// longer than the guard permits.
func TestStatements(t *testing.T) {
	t.Parallel()
	conn := sqliteAt(shop(t))
	conn.Policy.MaxBytes = 1000
	s := newStand(t, conn)
	s.options.MaxBytes = 1000
	watch := &watching{Gateway: s.options.Gateway}
	s.options.Gateway = watch
	result := s.run()
	if watch.most.Load() != 1 || len(result.Report.Warnings) != 0 {
		t.Errorf("%d statements at once; warnings %v", watch.most.Load(), result.Report.Warnings)
	}
	if result.Report.Mode != "full" || result.Report.Relationships.Accepted == 0 {
		t.Errorf("report: %+v", result.Report)
	}
}

type watching struct {
	scan.Gateway
	running, most atomic.Int64
}

func (g *watching) Query(ctx context.Context, r execution.Request) (*execution.Result, error) {
	n := g.running.Add(1)
	defer g.running.Add(-1)
	if n > g.most.Load() {
		g.most.Store(n)
	}
	return g.Gateway.Query(ctx, r)
}

// TestTwoAtOnce: a connection is scanned by one process at a time.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	s := newStand(t, sqliteAt(shop(t)))
	second := s.options
	var err error
	s.options.OnProgress = func(p scan.Progress) {
		if p.Stage == scan.StageProfile && err == nil {
			_, err = scan.Run(t.Context(), second)
		}
	}
	s.run()
	if err == nil || !strings.Contains(err.Error(), "another scan of this connection is running") {
		t.Errorf("err = %v", err)
	}
}

// TestUnknownEngine: an engine without a reader is an error that says so.
func TestUnknownEngine(t *testing.T) {
	t.Parallel()
	conn := execution.Connection{Engine: "BIGQUERY", Unavailable: execution.NewError(sqlguard.CodeNoBackend, "this version runs no statements on bigquery", nil)}
	s := newStand(t, conn)
	if _, err := scan.Run(t.Context(), s.options); err == nil || !strings.Contains(err.Error(), "cannot scan BIGQUERY") {
		t.Errorf("err = %v", err)
	}
}

// TestProgress: progress is reported in order.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := newStand(t, sqliteAt(shop(t)))
	var stages []scan.Stage
	var last scan.Progress
	s.options.OnProgress = func(p scan.Progress) {
		if !slices.Contains(stages, p.Stage) {
			stages = append(stages, p.Stage)
		}
		last = p
	}
	result := s.run()
	if fmt.Sprint(stages) != "[structure profile relationships writing]" || last.Tables != result.Tables || last.Total != result.Tables || last.Rows != result.Rows {
		t.Errorf("stages %v, last %+v, result %+v", stages, last, result)
	}
}
