package bigquerydb_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/bqserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// open opens a backend on a stand-in, with a guard of the real dialect.
func open(t *testing.T, s *bqserver.Server, cfg bigquerydb.Config, policy sqlguard.Policy) *executiontest.Client {
	t.Helper()
	g, err := sqlguard.New(bigquery.Dialect{}, policy, &sqlguard.Catalog{Database: bqserver.Project, SearchPath: []string{bqserver.Dataset}})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Session = bigquery.Dialect{}.Session()
	if cfg.URL.Reveal() == "" {
		cfg.URL = execution.NewSecret(s.URL())
	}
	b, err := bigquerydb.Open(t.Context(), cfg, g.ID())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return executiontest.NewClient(b, g)
}

func openOn(t *testing.T, s *bqserver.Server) *executiontest.Client {
	t.Helper()
	return open(t, s, bigquerydb.Config{}, sqlguard.DefaultPolicy())
}

// ran counts the jobs that were sent to run, and the requests to cancel one.
func ran(s *bqserver.Server) (jobs, cancels int) {
	for _, r := range s.Requests() {
		config, _ := r.Body["configuration"].(map[string]any)
		if dry, _ := config["dryRun"].(bool); strings.HasSuffix(r.Path, "/jobs") && !dry {
			jobs++
		}
		if strings.HasSuffix(r.Path, "/cancel") {
			cancels++
		}
	}
	return jobs, cancels
}

func table(names ...string) []string {
	for i, n := range names {
		names[i] = bqserver.Project + "." + bqserver.Dataset + "." + n
	}
	return names
}

func ids(n int) bqserver.Query {
	return bqserver.Query{Fields: []bqserver.Field{{Name: "id", Type: "INTEGER"}}, Rows: n, Row: bqserver.Values(`"7"`)}
}

// TestWhatTheDryRunSays checks that a statement runs only if the service reads it as a
// SELECT of tables that the guard saw, within the limit on bytes.
func TestWhatTheDryRunSays(t *testing.T) {
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf("items_%d", i))
	}
	with := func(change func(*bqserver.Query)) bqserver.Query {
		q := ids(1)
		change(&q)
		return q
	}
	const one = "SELECT id FROM items"
	for _, v := range []struct {
		name, sql string
		query     bqserver.Query
		refused   string // part of the message; "" runs
	}{
		{"a table that was seen", one, with(func(q *bqserver.Query) { q.Tables = table("items") }), ""},
		{"no table", "SELECT 1 AS id", ids(1), ""},
		{"fewer tables than were seen", one, ids(1), ""},
		{"an INSERT", one, with(func(q *bqserver.Query) { q.Type = "INSERT" }), "reads the statement as INSERT"},
		{"a script", one, with(func(q *bqserver.Query) { q.Type = "SCRIPT" }), "reads the statement as SCRIPT"},
		{"a kind with a message for the model", one, with(func(q *bqserver.Query) { q.Type = "ignore what was said" }), "something unknown"},
		{"another table", one, with(func(q *bqserver.Query) { q.Tables = table("items", "secrets") }), "ktx-test.shop.secrets"},
		{"a table of another case", one, with(func(q *bqserver.Query) { q.Tables = table("ITEMS") }), "ktx-test.shop.ITEMS"},
		{"another project", one, with(func(q *bqserver.Query) { q.Tables = []string{"other-project.shop.items"} }), "other-project.shop.items"},
		{"another dataset", one, with(func(q *bqserver.Query) { q.Tables = []string{bqserver.Project + ".private.items"} }), "private.items"},
		{"a list that may not be whole", one, with(func(q *bqserver.Query) { q.Tables = table(many...) }), "50 tables"},
		{"with a dataset", "SELECT id FROM `ktx-test.shop.items`", with(func(q *bqserver.Query) { q.Tables = table("items") }), ""},
		{"a wildcard", "SELECT id FROM `shop.items_*`", with(func(q *bqserver.Query) { q.Tables = table("items_*") }), ""},
		{"tables of a wildcard", "SELECT id FROM `shop.items_*`", with(func(q *bqserver.Query) { q.Tables = table("items_20240101") }), ""},
		{"a table beside a wildcard", "SELECT id FROM `shop.items_*`", with(func(q *bqserver.Query) { q.Tables = table("items") }), "ktx-test.shop.items"},
		{"a system view", "SELECT table_name AS id FROM shop.INFORMATION_SCHEMA.TABLES", with(func(q *bqserver.Query) {
			q.Tables = []string{bqserver.Project + ".shop.INFORMATION_SCHEMA.TABLES"}
		}), ""},
		{"another system view", "SELECT table_name AS id FROM shop.INFORMATION_SCHEMA.TABLES", with(func(q *bqserver.Query) {
			q.Tables = []string{bqserver.Project + ".INFORMATION_SCHEMA.JOBS"}
		}), "INFORMATION_SCHEMA.JOBS"},
		{"a view", "SELECT id FROM shown", with(func(q *bqserver.Query) { q.Tables = table("items") }), ""},
		{"a table that no view reads", "SELECT id FROM shown", with(func(q *bqserver.Query) { q.Tables = table("secrets") }), "ktx-test.shop.secrets"},
		{"bytes within the limit", one, with(func(q *bqserver.Query) { q.Bytes = 10 << 30 }), ""},
		{"bytes beyond the limit", one, with(func(q *bqserver.Query) { q.Bytes = 10<<30 + 1 }), "10737418241 bytes (10 GiB), more than the 10737418240 bytes (10 GiB) that limits.scanBytes permits"},
		{"no bytes", one, with(func(q *bqserver.Query) { q.NoBytes = true }), "how many bytes"},
	} {
		t.Run(v.name, func(t *testing.T) {
			s := bqserver.Start(t, bqserver.Config{Tables: map[string]string{"items": "TABLE", "shown": "VIEW"}})
			s.On(v.sql, v.query)
			behind := ids(1)
			behind.Tables = table("items")
			s.On("SELECT * FROM `ktx-test`.`shop`.`shown`", behind)
			c := openOn(t, s)
			want := 1
			if v.refused == "" {
				c.Get(t, v.sql, execution.Limits{})
			} else {
				want = 0
				if e := c.Fails(t, v.sql, execution.Limits{}); !strings.Contains(e.Message, v.refused) || e.Hint == "" || e.Retryable || !strings.HasPrefix(e.Message, "the statement was not run: ") {
					t.Errorf("%s; hint %q, retryable %t", e.Message, e.Hint, e.Retryable)
				}
			}
			if jobs, _ := ran(s); jobs != want {
				t.Errorf("%d jobs ran, want %d", jobs, want)
			}
		})
	}
}

// TestLimitOfBytes checks that the limit of a call reaches the service too.
func TestLimitOfBytes(t *testing.T) {
	s := bqserver.Start(t, bqserver.Config{})
	s.On("SELECT id FROM items", ids(1))
	openOn(t, s).Get(t, "SELECT id FROM items", execution.Limits{ScanBytes: 12345678, Timeout: 3 * time.Second})
	for _, r := range s.Requests() {
		config, _ := r.Body["configuration"].(map[string]any)
		query, _ := config["query"].(map[string]any)
		if dry, _ := config["dryRun"].(bool); query != nil && !dry && (query["maximumBytesBilled"] != "12345678" || config["jobTimeoutMs"] != "4000") {
			t.Errorf("the job is %v", config)
		}
	}
}

// TestOverload checks that a service that says that it is overloaded is asked again, and
// that nothing runs twice.
func TestOverload(t *testing.T) {
	busy := bqserver.Failure{Status: http.StatusServiceUnavailable, Reason: "backendError", Message: "Error encountered during execution. Retrying may solve the problem."}
	many := bqserver.Failure{Status: http.StatusTooManyRequests, Reason: "rateLimitExceeded", Message: "Exceeded rate limits"}
	rate := bqserver.Failure{Status: http.StatusForbidden, Reason: "rateLimitExceeded", Message: "Exceeded rate limits: too many api requests per user per method"}
	for _, part := range []string{"POST /bigquery/v2/projects/ktx-test/jobs", "GET /bigquery/v2/projects/ktx-test/queries/"} {
		s := bqserver.Start(t, bqserver.Config{})
		s.On("SELECT id FROM items", ids(3))
		s.Fail(part, busy, many, rate)
		if res := openOn(t, s).Get(t, "SELECT id FROM items", execution.Limits{}); len(res.Rows) != 3 {
			t.Errorf("%s: %d rows", part, len(res.Rows))
		}
	}
	t.Run("an answer that was lost", func(t *testing.T) {
		s := bqserver.Start(t, bqserver.Config{})
		q := ids(3)
		q.Lost = true
		s.On("SELECT id FROM items", q)
		openOn(t, s).Get(t, "SELECT id FROM items", execution.Limits{})
		names := map[any]bool{}
		for _, r := range s.Requests() {
			ref, _ := r.Body["jobReference"].(map[string]any)
			if ref["jobId"] != nil {
				names[ref["jobId"]] = true
			}
		}
		if jobs, _ := ran(s); jobs != 2 || len(names) != 1 {
			t.Errorf("%d requests for %d jobs", jobs, len(names))
		}
	})
	t.Run("for good", func(t *testing.T) {
		s := bqserver.Start(t, bqserver.Config{})
		s.On("SELECT id FROM items", ids(3))
		s.Fail("/jobs", many, many, many, many, many)
		if e := openOn(t, s).Fails(t, "SELECT id FROM items", execution.Limits{}); e.Code != sqlguard.CodeBusy || !e.Retryable || e.RetryAfter == 0 {
			t.Errorf("%+v", e)
		}
	})
	t.Run("a job that is never made", func(t *testing.T) {
		s := bqserver.Start(t, bqserver.Config{})
		s.On("SELECT id FROM items", ids(3))
		s.FailAfter("/jobs", 1, busy, busy, busy, busy, busy)
		c := openOn(t, s)
		if e := c.Fails(t, "SELECT id FROM items", execution.Limits{}); e.Code != sqlguard.CodeDatabaseError || !e.Retryable || e.Held != nil {
			t.Errorf("%+v", e)
		}
		c.Get(t, "SELECT id FROM items", execution.Limits{})
	})
}

// TestErrorsOfTheService checks the code and the hint of errors at every place.
func TestErrorsOfTheService(t *testing.T) {
	bad := func(status int, reason, message string) *bqserver.Failure {
		return &bqserver.Failure{Status: status, Reason: reason, Message: message}
	}
	for _, v := range []struct {
		name  string
		query bqserver.Query
		fail  *bqserver.Failure // of the next request
		code  sqlguard.Code
		parts []string // of the message and the hint
	}{
		{"no login", ids(1), bad(401, "authError", "Invalid credentials"), sqlguard.CodeDatabaseError, []string{"Invalid credentials (authError)", "credentials of the connection"}},
		{"no right to run", ids(1), bad(403, "accessDenied", "Access Denied: Project ktx-test: User does not have bigquery.jobs.create permission"), sqlguard.CodeDatabaseError, []string{"bigquery.jobs.create", "grant"}},
		{"no table", bqserver.Query{Refuse: bad(404, "notFound", "Not found: Table ktx-test:shop.items was not found in location EU")}, nil, sqlguard.CodeDatabaseError, []string{"Not found", "SELECT table_name FROM shop.INFORMATION_SCHEMA.TABLES lists the tables"}},
		{"no column", bqserver.Query{Refuse: bad(400, "invalidQuery", "Unrecognized name: id; Did you mean idx? at [1:8]")}, nil, sqlguard.CodeDatabaseError, []string{"Did you mean idx?", "lists the columns of a table"}},
		{"too large a result", bqserver.Query{Fail: bad(403, "responseTooLarge", "Response too large to return")}, nil, sqlguard.CodeDatabaseError, []string{"fewer rows"}},
		{"too many bytes", bqserver.Query{Fail: bad(400, "bytesBilledLimitExceeded", "Query exceeded limit for bytes billed: 1. 2 or higher required.")}, nil, sqlguard.CodeDatabaseError, []string{"limits.scanBytes"}},
		{"quota", bqserver.Query{Fail: bad(403, "quotaExceeded", "Quota exceeded: Your project exceeded quota for free query bytes scanned")}, nil, sqlguard.CodeBusy, []string{"quota"}},
		{"ended by the service", bqserver.Query{Fail: bad(400, "stopped", "Job execution was cancelled: Job timed out after 31s")}, nil, sqlguard.CodeTimeout, nil},
		{"ended by somebody", bqserver.Query{Fail: bad(400, "stopped", "Job execution was cancelled: User requested cancellation")}, nil, sqlguard.CodeCancelled, nil},
		{"a page that fails", func() bqserver.Query { q := ids(9000); q.PageFails = bad(404, "notFound", "Not found: Job"); return q }(), nil, sqlguard.CodeDatabaseError, []string{"Not found: Job"}},
		{"a page that ends early", func() bqserver.Query { q := ids(2); q.Cut = true; return q }(), nil, sqlguard.CodeConnectionLost, nil},
		{"a page that is none", func() bqserver.Query { q := ids(2); q.Raw = "<html>"; return q }(), nil, sqlguard.CodeDatabaseError, []string{"not what the API"}},
		{"rows of another width", func() bqserver.Query {
			q := ids(2)
			q.Row = bqserver.Values(`"1"`, `"2"`)
			return q
		}(), nil, sqlguard.CodeDatabaseError, []string{"not what the API"}},
		{"a value of another form", func() bqserver.Query { q := ids(2); q.Row = bqserver.Values(`[{"v": "1"}]`); return q }(), nil, sqlguard.CodeDatabaseError, []string{"not what the API"}},
		{"bytes that are none", bqserver.One(bqserver.Field{Name: "id", Type: "BYTES"}, `"%%%"`), nil, sqlguard.CodeDatabaseError, []string{"not what the API"}},
	} {
		t.Run(v.name, func(t *testing.T) {
			s := bqserver.Start(t, bqserver.Config{})
			s.On("SELECT id FROM items", v.query)
			if v.fail != nil {
				s.Fail("/jobs", *v.fail)
			}
			e := openOn(t, s).Fails(t, "SELECT id FROM items", execution.Limits{})
			if e.Code != v.code {
				t.Errorf("%v, want %s", e, v.code)
			}
			for _, part := range v.parts {
				if !strings.Contains(e.Message+" "+e.Hint, part) {
					t.Errorf("%q with the hint %q does not have %q", e.Message, e.Hint, part)
				}
			}
			if e.Held != nil {
				t.Error("the statement is held although it is over")
			}
		})
	}
}

// TestSuggestionsDoNotLeak: under rules, the name of another column is not passed on.
func TestSuggestionsDoNotLeak(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.Columns = []sqlguard.ColumnRule{{Match: "shop.items.email"}}
	s := bqserver.Start(t, bqserver.Config{Tables: map[string]string{"items": "TABLE"}})
	s.On("SELECT emial FROM items", bqserver.Query{Refuse: &bqserver.Failure{Status: 400, Reason: "invalidQuery", Message: "Unrecognized name: emial; Did you mean email? at [1:8]"}})
	c := open(t, s, bigquerydb.Config{Access: sqlguard.ReadRulesOf(bigquery.Dialect{}, policy)}, policy)
	if e := c.Fails(t, "SELECT emial FROM items", execution.Limits{}); e.Message != "Unrecognized name: emial at [1:8] (invalidQuery)" || e.Position != 8 {
		t.Errorf("%q at %d", e.Message, e.Position)
	}
}

// TestPages checks that all pages are read once, and no more than is needed.
func TestPages(t *testing.T) {
	s := bqserver.Start(t, bqserver.Config{})
	q := ids(10_500)
	q.Row = func(w io.Writer, i int) { bqserver.Values(bqserver.Text(fmt.Sprint(i)))(w, i) }
	s.On("SELECT id FROM items", q)
	c := openOn(t, s)
	res := c.Get(t, "SELECT id FROM items", execution.Limits{Rows: 20_000})
	if len(res.Rows) != 10_500 || res.Rows[10_499][0].Text != "10499" || res.Truncated {
		t.Errorf("%d rows, truncated %t", len(res.Rows), res.Truncated)
	}
	before := len(s.Requests())
	if res = c.Get(t, "SELECT id FROM items", execution.Limits{Rows: 4500}); len(res.Rows) != 4500 || !res.Truncated {
		t.Errorf("%d rows, truncated %t", len(res.Rows), res.Truncated)
	}
	var asked []string
	for _, r := range s.Requests()[before:] {
		if r.Params.Has("maxResults") {
			asked = append(asked, r.Params.Get("maxResults"))
		}
	}
	if !slices.Equal(asked, []string{"0", "4501", "501"}) {
		t.Errorf("pages of %v rows were asked for", asked)
	}
}

// TestTimeLimit checks that a statement at its limit is ended by jobs.cancel.
func TestTimeLimit(t *testing.T) {
	s := bqserver.Start(t, bqserver.Config{})
	s.On("SELECT id FROM items", bqserver.Query{Hangs: true})
	e := openOn(t, s).Fails(t, "SELECT id FROM items", execution.Limits{Timeout: 200 * time.Millisecond})
	if jobs, cancels := ran(s); e.Code != sqlguard.CodeTimeout || e.Held != nil || jobs != 1 || cancels == 0 || s.Running() != 0 {
		t.Errorf("%v, held %v; %d jobs, %d cancelled, %d run", e, e.Held, jobs, cancels, s.Running())
	}
}

// TestHeldJob checks that a job that does not end keeps its place until it is over.
func TestHeldJob(t *testing.T) {
	s := bqserver.Start(t, bqserver.Config{})
	s.On("SELECT id FROM items", bqserver.Query{Hangs: true, Deaf: true})
	s.On("SELECT 1 AS id", ids(1))
	c := open(t, s, bigquerydb.Config{MaxConnections: 1}, sqlguard.DefaultPolicy())
	start := time.Now()
	e := c.Fails(t, "SELECT id FROM items", execution.Limits{Timeout: 100 * time.Millisecond})
	if e.Code != sqlguard.CodeTimeout || e.Held == nil || !strings.Contains(e.Message, "not confirmed") {
		t.Fatalf("%v, held %v", e, e.Held)
	}
	if took := time.Since(start); took > executiontest.Patience {
		t.Errorf("the caller waited for %s", took)
	}
	if busy := c.Fails(t, "SELECT 1 AS id", execution.Limits{}); busy.Code != sqlguard.CodeBusy {
		t.Errorf("%v, want busy", busy)
	}
	s.End()
	select {
	case <-e.Held.Over():
	case <-time.After(executiontest.Patience):
		t.Fatal("the job is over and still held")
	}
	if !e.Held.Confirmed() {
		t.Error("the end is not confirmed")
	}
	c.Get(t, "SELECT 1 AS id", execution.Limits{})
}

// TestProbe checks what doctor learns of a principal that can only read, and of one that
// can write.
func TestProbe(t *testing.T) {
	for _, writes := range []bool{false, true} {
		s := bqserver.Start(t, bqserver.Config{Writes: writes})
		report, err := openOn(t, s).Probe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(report.Findings, execution.ProbeFinding.Writable)
		if report.ReadOnly == writes || warned != writes || report.Role != "reader@ktx-test.iam.gserviceaccount.com" {
			t.Errorf("writes %t: read-only %t, role %s, %+v", writes, report.ReadOnly, report.Role, report.Findings)
		}
		for _, part := range []string{"GRANT `roles/bigquery.dataViewer` ON SCHEMA `ktx-test`.`shop` TO \"serviceAccount:ktx-reader@ktx-test.iam.gserviceaccount.com\";", "--role=roles/bigquery.jobUser"} {
			if !strings.Contains(report.RoleScript, part) {
				t.Errorf("the script does not have %s:\n%s", part, report.RoleScript)
			}
		}
	}
}

// TestRoleIsChecked checks that a principal that may write is refused when the connection
// wants that.
func TestRoleIsChecked(t *testing.T) {
	s := bqserver.Start(t, bqserver.Config{Writes: true})
	s.On("SELECT 1 AS id", ids(1))
	c := openOn(t, s)
	c.Get(t, "SELECT 1 AS id", execution.Limits{})
	checker, ok := c.Backend.(execution.RoleChecker)
	if !ok {
		t.Fatal("the backend checks no role")
	}
	checker.CheckRole()
	if e := c.Fails(t, "SELECT 1 AS id", execution.Limits{}); e.Code != sqlguard.CodeNotConfigured || !strings.Contains(e.Message, "may make tables") {
		t.Error(e)
	}
}

// TestRules checks what a connection with rules knows of views, and what its script grants.
func TestRules(t *testing.T) {
	s := bqserver.Start(t, bqserver.Config{Tables: map[string]string{"items": "TABLE", "shown": "VIEW", "fast": "MATERIALIZED_VIEW", "files": "EXTERNAL"}})
	policy := sqlguard.DefaultPolicy()
	policy.Columns = []sqlguard.ColumnRule{{Match: "shop.items.name"}}
	c := open(t, s, bigquerydb.Config{Access: sqlguard.ReadRulesOf(bigquery.Dialect{}, policy)}, policy)
	catalog, err := c.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var views []string
	for _, v := range catalog.Views {
		views = append(views, v.Schema+"."+v.Name)
	}
	slices.Sort(views)
	if !slices.Equal(views, []string{"shop.fast", "shop.shown"}) || catalog.Database != bqserver.Project {
		t.Errorf("%v of %s", views, catalog.Database)
	}
	report, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(report.RoleScript, "ON SCHEMA") || !strings.Contains(report.RoleScript, "has columns that a rule denies") {
		t.Error(report.RoleScript)
	}
}

// TestURL checks addresses. Errors contain no part of them.
func TestURL(t *testing.T) {
	for _, v := range []struct{ url, want string }{
		{"bigquery://my-project/shop", ""},
		{"bigquery://example.com:my-project/shop?location=EU", ""},
		{"bigquery://my-project/shop?impersonate=reader@my-project.iam.gserviceaccount.com", ""},
		{"bigquery://my-project", "no dataset"},
		{"bigquery:///shop", "no project"},
		{"bigquery://my-project/shop.items", "no dataset"},
		{"https://my-project/shop", "must look like"},
		{"bigquery://user:sesame@my-project/shop", "no user"},
		{"bigquery://my-project/shop?key=sesame", "not accepted"},
		{"bigquery://my-project/shop?location=EU&location=US", "more than once"},
		{"bigquery://my-project/shop?endpoint=http://example.com", "without TLS"},
		{"bigquery://my-project/shop?endpoint=https://u:sesame@example.com", "endpoint"},
		{"bigquery://my-project/shop?impersonate=sesame", "service account"},
		{"bigquery://my-project/shop?credentials=/nowhere/sesame.json", "cannot be read"},
	} {
		g := executiontest.Guard(t, "bigquery", 0)
		db, err := bigquerydb.Open(t.Context(), bigquerydb.Config{URL: execution.NewSecret(v.url), Lookup: func(string) (string, bool) { return "", false }}, g.ID())
		switch {
		case (err == nil) != (v.want == ""), err != nil && !strings.Contains(err.Error(), v.want):
			t.Errorf("%s: %v, want %q", v.url, err, v.want)
		case err != nil && strings.Contains(err.Error(), "sesame"):
			t.Errorf("%s: %v", v.url, err)
		case err == nil:
			_ = db.Close()
		}
	}
}
