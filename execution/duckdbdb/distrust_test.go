//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package duckdbdb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/duckfile"
	"github.com/ktxhq/ktx/sqlguard"
)

// hostile are processes that do not answer as the engine does, by their argument.
var hostile = map[string]func(c *wire.Conn){
	"hostile-silent": func(*wire.Conn) {},
	"hostile-long":   func(c *wire.Conn) { _ = c.WriteRaw(wire.Rows, make([]byte, 64<<20)) },
	"hostile-early":  func(c *wire.Conn) { _ = c.WriteRaw(wire.Rows, []byte{0}) },
	"hostile-empty":  func(c *wire.Conn) { _ = c.Write(wire.Done, nil) },
	"hostile-wide":   func(c *wire.Conn) { _ = c.Write(wire.Columns, wire.Header{Wide: 1, Columns: make([]wire.Column, 3)}) },
	"hostile-endless": func(c *wire.Conn) {
		_ = c.Write(wire.Columns, wire.Header{Wide: 1, Columns: make([]wire.Column, 1)})
		for c.WriteRaw(wire.Rows, make([]byte, 10)) == nil {
		}
	},
	"hostile-cut": func(c *wire.Conn) {
		_ = c.Write(wire.Columns, wire.Header{Wide: 1, Columns: make([]wire.Column, 1)})
		_ = c.Write(wire.Cut, wire.Excess{By: execution.TruncatedByCell, Column: 9})
	},
}

// beHostile is the process of a test: it opens any database, answers the questions about
// the catalogue with no rows, and then does its harm.
func beHostile(harm func(*wire.Conn)) {
	c := wire.New(os.Stdin, os.Stdout)
	_, _, _ = c.Read(wire.MaxControl)
	_ = c.Write(wire.Ready, wire.Greeting{Version: "v0"})
	for range 2 { // the questions of Open
		_, _, _ = c.Read(wire.MaxControl)
		_ = c.Write(wire.Columns, wire.Header{Wide: 1, Columns: make([]wire.Column, 1)})
		_ = c.Write(wire.Done, nil)
	}
	_, _, _ = c.Read(wire.MaxControl)
	harm(c)
}

func TestTheProcessIsNotTrusted(t *testing.T) {
	t.Parallel()
	g := executiontest.Guard(t, "duckdb", 0)
	for name := range hostile {
		db, err := duckdbdb.Open(t.Context(), duckdbdb.Config{Path: duckfile.New(t), Program: []string{os.Args[0], name}}, g.ID())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = executiontest.NewClient(db, g).Try(t.Context(), t, "SELECT 1", execution.Limits{})
		if execution.CodeOf(err) != sqlguard.CodeConnectionLost {
			t.Errorf("%s: %v, want %s", name, err, sqlguard.CodeConnectionLost)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// openErr returns the error of opening a database with a policy.
func openErr(t *testing.T, policy sqlguard.Policy, statements ...string) error {
	t.Helper()
	db, err := duckdbdb.Open(t.Context(), duckdbdb.Config{
		Path: duckfile.New(t, statements...), Reserved: duckdb.Reserved, Access: sqlguard.ReadRulesOf(duckdb.Dialect{}, policy),
	}, sqlguard.ID{1})
	if err == nil {
		err = db.Close()
	}
	return err
}

func TestNamesThatMeanSomethingElse(t *testing.T) {
	t.Parallel()
	denied := sqlguard.DefaultPolicy()
	denied.Tables.Deny = []string{"main.secrets", "main.listed"}
	columns := sqlguard.DefaultPolicy()
	columns.Columns = []sqlguard.ColumnRule{{Match: "main.secrets.value"}}
	const secrets = "CREATE TABLE secrets (value VARCHAR)"
	for _, c := range []struct {
		name       string
		policy     sqlguard.Policy
		statements []string
		want       string // a part of the error; "" for none
	}{
		{"a macro of its own", sqlguard.DefaultPolicy(), []string{"CREATE MACRO tax(x) AS x * 0.2"}, ""},
		{"a macro like a function", sqlguard.DefaultPolicy(), []string{"CREATE MACRO lower(x) AS 'x'"}, "macro main.lower"},
		{"a macro like syntax", sqlguard.DefaultPolicy(), []string{`CREATE MACRO "coalesce"(x) AS 'x'`}, "macro main.coalesce"},
		{"a macro in a schema", sqlguard.DefaultPolicy(), []string{"CREATE SCHEMA s", "CREATE MACRO s.Upper(x) AS 'x'"}, "macro s."},
		{"a table macro like a function", sqlguard.DefaultPolicy(), []string{"CREATE MACRO range(x) AS TABLE SELECT x"}, "macro main.range"},
		{"a view like a system view", sqlguard.DefaultPolicy(), []string{secrets, "CREATE VIEW pg_class AS FROM secrets"}, "main.pg_class"},
		{"a view around a rule", denied, []string{secrets, "CREATE VIEW shown AS SELECT value FROM secrets"}, "main.shown"},
		{"a view that is denied", denied, []string{secrets, "CREATE VIEW listed AS SELECT value FROM secrets"}, ""},
		{"a view around a view", denied, []string{secrets, "CREATE VIEW listed AS SELECT value FROM secrets", "CREATE VIEW again AS SELECT * FROM listed"}, "main.again"},
		{"a view around a rule on a column", columns, []string{secrets, "CREATE VIEW shown AS SELECT 1 AS one FROM secrets"}, "main.shown"},
	} {
		err := openErr(t, c.policy, c.statements...)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || execution.CodeOf(err) != sqlguard.CodeNotConfigured) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestTablesOfAFolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files []string
		want  []string // the tables, or a part of the error in one text
	}{
		{[]string{"orders.csv", "Raw/x.JSONL", "readme.txt", ".hid.csv", "_tmp/y.csv"}, []string{"Raw.x", "main.orders"}},
		{[]string{"orders/part-0.parquet", "orders/part-1.parquet"}, []string{"main.orders"}},
		{[]string{"a/orders/day=1/x.parquet", "a/orders/day=2/y.parquet"}, []string{"a.orders"}},
		{[]string{"ktx.yaml", "raw-sources/x.json", "y.json"}, []string{"main.y"}},
		{[]string{"shop.duckdb", "b/shop.duckdb"}, []string{"b_shop", "shop"}},
		{[]string{"a.csv", "A.parquet"}, []string{"two files would be the table"}},
		{[]string{"x[1].csv"}, []string{"takes for a pattern"}},
		{[]string{"readme.md"}, []string{"it has no .csv"}},
		{[]string{"d/part-0.csv", "d/part-1.json"}, []string{"several formats"}},
	} {
		root := t.TempDir()
		for _, name := range c.files {
			path := filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := duckdbdb.Tables(root)
		if err != nil {
			if len(c.want) != 1 || !strings.Contains(err.Error(), c.want[0]) {
				t.Errorf("%v: %v, want %q", c.files, err, c.want)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.files, diff)
		}
	}
}

// Files that lead out of the folder, and those that nobody permits, are no tables: the engine
// never learns of them, and a statement that names them fails even past the guard.
func TestFilesThatNobodyPermits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "data")
	if err := os.MkdirAll(filepath.Join(root, "pay"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"secret.csv": "x\n1\n", "data/orders.csv": "x\n2\n", "data/pay/salaries.csv": "x\n3\n", "data/mixed/part-0.csv": "x\n4\n", "data/mixed/part-1.csv": "x\n5\n"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"linked.csv": "../secret.csv", "up": "..", "mixed/part-2.csv": "../../secret.csv", "full.csv": filepath.Join(dir, "secret.csv")} {
		if err := os.Symlink(to, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	permits := func(path string) bool { return !strings.HasPrefix(path, "pay/") && path != "mixed/part-1.csv" }
	refused, err := duckdbdb.Refused(root, permits)
	if diff := cmp.Diff([]sqlguard.CatalogName{{Schema: "pay", Name: "salaries"}}, refused); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	g := executiontest.Guard(t, "duckdb", 0)
	db, err := duckdbdb.Open(t.Context(), duckdbdb.Config{Files: root, Permits: permits}, g.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it returns nil
	c := executiontest.NewClient(db, g)
	if got := c.One(t, "SELECT string_agg(table_schema || '.' || table_name, ' ' ORDER BY table_name) FROM information_schema.tables"); got != "main.mixed main.orders" {
		t.Errorf("tables: %s", got)
	}
	if got := c.One(t, "SELECT sum(x) FROM mixed"); got != "4" {
		t.Errorf("mixed: %s", got)
	}
	for _, path := range []string{
		root + "/pay/salaries.csv", root + "/mixed/part-1.csv", root + "/linked.csv", root + "/full.csv", root + "/up/secret.csv", root + "/../secret.csv", dir + "/secret.csv",
		root + "/orders.csv/../../secret.csv", root + "/*.csv", root + "/pay/*", "file://" + dir + "/secret.csv", "http://127.0.0.1:1/x.csv", "s3://bucket/x.csv", "/dev/stdin", "/proc/self/environ",
	} {
		for _, sql := range []string{"SELECT * FROM read_csv('" + path + "')", "SELECT * FROM read_text('" + path + "')", "SELECT * FROM '" + path + "'"} {
			if e := c.Fails(t, sql, execution.Limits{}); e.Code != sqlguard.CodeDatabaseError || e.SQLState != "Permission" && e.SQLState != "Missing Extension" && e.SQLState != "Catalog" {
				t.Errorf("%s: %v (%s)", sql, e, e.SQLState)
			}
		}
	}
	// The files of the tables themselves can be read, which adds nothing.
	if got := c.One(t, "SELECT x FROM read_csv('"+root+"/orders.csv')"); got != "2" {
		t.Errorf("orders.csv: %s", got)
	}
	if _, err := duckdbdb.Open(t.Context(), duckdbdb.Config{Files: root, Permits: func(string) bool { return false }}, g.ID()); execution.CodeOf(err) != sqlguard.CodeNotConfigured || !strings.Contains(err.Error(), "access.files") {
		t.Errorf("a folder without permitted files: %v", err)
	}
}

// Messages of the engine do not suggest names when rules may deny them.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	g := executiontest.Guard(t, "duckdb", 0)
	path := duckfile.New(t, "CREATE TABLE orders (id INTEGER, secret_rank INTEGER)", "CREATE TABLE secrets (value VARCHAR)")
	denied := sqlguard.DefaultPolicy()
	denied.Tables.Deny, denied.Columns = []string{"main.secrets"}, []sqlguard.ColumnRule{{Match: "main.orders.secret_rank"}}
	for _, rules := range []bool{false, true} {
		config := duckdbdb.Config{Path: path}
		if rules {
			config.Access = sqlguard.ReadRulesOf(duckdb.Dialect{}, denied)
		}
		db, err := duckdbdb.Open(t.Context(), config, g.ID())
		if err != nil {
			t.Fatal(err)
		}
		c := executiontest.NewClient(db, g)
		for sql, name := range map[string]string{
			"SELECT * FROM secretz": "secrets", "SELECT secret_rnk FROM orders": "secret_rank", "SELECT o.secret_rnk FROM orders o": "secret_rank", "SELECT * EXCLUDE (secret_rnk) FROM orders": "secret_rank",
			"SELECT id FROM orders ORDER BY secret_rnk": "secret_rank", "SELECT * FROM orders JOIN secretz USING (id)": "secrets", "SELECT * FROM orders a JOIN orders b USING (secret_rnk)": "secret_rank",
			"SELECT * FROM orders WHERE orderz.secret_rank = 1": "orders\"", "SELECT * REPLACE (1 AS secret_rnk) FROM orders": "secret_rank", "SELECT * FROM mian.secrets": "main.secrets", "SELECT COLUMNS(secret_rnk) FROM orders": "secret_rank",
		} {
			e := c.Fails(t, sql, execution.Limits{})
			if rules && strings.Contains(e.Message, name) {
				t.Errorf("%s: %s", sql, e.Message)
			}
		}
		if e := c.Fails(t, "SELECT * FROM secretz", execution.Limits{}); !rules && !strings.Contains(e.Message, "secrets") {
			t.Errorf("without rules there is no suggestion: %s", e.Message)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A process does not go on with files that were replaced.
func TestFilesThatChange(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.csv", "x\n1\n")
	g := executiontest.Guard(t, "duckdb", 0)
	db, err := duckdbdb.Open(t.Context(), duckdbdb.Config{Files: root}, g.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it returns nil
	c := executiontest.NewClient(db, g)
	if got := c.One(t, "SELECT sum(x) FROM a"); got != "1" {
		t.Errorf("%s", got)
	}
	write("a.csv", "x,y\n1,2\n40,3\n")
	write("b.csv", "z\n5\n")
	if got := c.One(t, "SELECT sum(x + y) + (SELECT z FROM b) FROM a"); got != "51" {
		t.Errorf("after the files changed: %s", got)
	}
	if e := c.Fails(t, "SELECT * FROM read_csv('/etc/passwd')", execution.Limits{}); e.SQLState != "Permission" {
		t.Errorf("a file elsewhere: %v", e)
	}
}

// TestFilesByName: statements read the files that the listing knows, by their paths below the
// folder, and the engine refuses every other file even past the guard.
func TestFilesByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "data")
	for name, text := range map[string]string{
		"secret.csv": "x\n1\n", "data/orders.csv": "x\n2\n", "data/pay/salaries.csv": "x\n3\n", "data/raw/e.json": `{"x": 4}`, "data/days/day=1/part-0.csv": "x\n5\n", "data/.hidden.csv": "x\n6\n", "data/orders.csv.csv": "x\n7\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"linked.csv": "../secret.csv", "up": ".."} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	permits := func(path string) bool { return !strings.HasPrefix(path, "pay/") }
	listing := duckdbdb.NewListing(root, permits)
	for path, want := range map[string]string{
		"raw/e.json": "raw.e", "days/day=1/part-0.csv": "main.days", "orders.csv.csv": "main.orders.csv",
		"orders.csv": ".", // the table of that name is another file
		"":           ".", "pay/salaries.csv": ".", "linked.csv": ".", "up/secret.csv": ".", "../secret.csv": ".", "raw/../raw/e.json": ".", "./raw/e.json": ".", "raw//e.json": ".", ".hidden.csv": ".", "raw": ".", "RAW/e.json": ".",
		// A pattern must stand for nothing but files of tables.
		"raw/*.json": "raw.e", "raw/**/*.json": "raw.e", "*/*.json": ".", "days/*/*.csv": "main.days", "days/**/*.csv": "main.days", "days/day=1/*.csv": "main.days",
		"*.csv": ".", "**/*.csv": ".", "*/*.csv": ".", "**/*.json": ".", "pay/*.csv": ".", "up/*.csv": ".", "raw/../raw/*.json": ".", "raw/*": ".", "raw/?.json": ".", "raw/[e].json": ".", "ra*/e.json": ".", "raw/*.csv": ".",
		root + "/raw/*.json": ".", root + "/raw/e.json": ".", "file:raw/e.json": ".", `raw\e.json`: ".",
	} {
		var got []string
		for _, table := range listing.Tables(path) {
			got = append(got, table.Schema+"."+table.Name)
		}
		if want == "." {
			want = ""
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is %v; want %s", path, got, want)
		}
	}
	if err := os.Remove(filepath.Join(root, "orders.csv.csv")); err != nil {
		t.Fatal(err)
	}
	real, err := sqlguard.New(duckdb.Dialect{Files: listing}, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	db, err := duckdbdb.Open(t.Context(), duckdbdb.Config{Files: root, Permits: permits, Session: duckdb.Dialect{}.Session()}, real.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it returns nil
	for sql, want := range map[string]string{
		"SELECT x FROM 'orders.csv'": "2", "SELECT o.x FROM \"orders.csv\" o": "2", "SELECT orders.x FROM orders.csv": "2", "FROM 'raw/e.json' SELECT x": "4", "FROM 'raw/*.json' SELECT x": "4", "SELECT sum(x) FROM read_csv(['orders.csv', 'days/*/*.csv'])": "7", "FROM 'days/**/*.csv' SELECT sum(x)": "5", "SELECT sum(x) FROM read_csv(['orders.csv', 'days/day=1/part-0.csv'])": "7",
		"SELECT day FROM read_csv('days/day=1/part-0.csv', hive_partitioning = true)": "1", "SELECT sum(x) FROM read_json_auto('raw/e.json')": "4", "SELECT a FROM read_csv('orders.csv', names = ['a'], skip = 1, header = false)": "2",
	} {
		approved, err := real.Approve(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if res, err := db.Query(t.Context(), approved, execution.Limits{}); err != nil || len(res.Rows) != 1 || res.Rows[0][0].Text != want {
			t.Errorf("%s: %v, %v; want %s", sql, res, err, want)
		}
	}
	// What the guard refuses, the engine refuses too.
	g := executiontest.Guard(t, "duckdb", 0)
	db.SetGuard(g.ID())
	c := executiontest.NewClient(db, g)
	for _, path := range []string{"pay/salaries.csv", "linked.csv", "up/secret.csv", "../secret.csv", "raw/../../secret.csv", "*.csv", "pay/*", "**/*.csv", ".hidden.csv", dir + "/secret.csv"} {
		if approved, err := real.Approve("SELECT * FROM '" + path + "'"); err == nil {
			t.Errorf("approved: %v", approved)
		}
		for _, sql := range []string{"SELECT * FROM read_csv('" + path + "')", "SELECT * FROM read_text('" + path + "')", "SELECT * FROM '" + path + "'"} {
			if e := c.Fails(t, sql, execution.Limits{}); e.Code != sqlguard.CodeDatabaseError {
				t.Errorf("%s: %v (%s)", sql, e, e.SQLState)
			}
		}
	}
}
