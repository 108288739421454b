package mysqldb_test

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// The tests of TiDB run where KTX_TEST_TIDB_URL names an administrator of a test server
// (scripts/test-tidb builds and starts one).
func tidbServer(t *testing.T) (admin string, as func(user string) string) {
	t.Helper()
	admin = os.Getenv("KTX_TEST_TIDB_URL")
	if admin == "" {
		t.Skip("KTX_TEST_TIDB_URL is not set: scripts/test-tidb runs this test")
	}
	return admin, func(user string) string {
		u, err := url.Parse(admin)
		if err != nil {
			t.Fatal(err)
		}
		u.User, u.Path = url.UserPassword(user, "ktx-Test-1"), "/shop"
		return u.String()
	}
}

func tidbExec(t *testing.T, admin string, sql ...string) {
	t.Helper()
	db, err := testdb.OpenMariaDB(admin)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, s := range sql {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func openTiDB(t *testing.T, address string) *client {
	t.Helper()
	return open(t, address, mysqldb.Config{Relative: "tidb", Session: mysql.Dialect{}.Session()})
}

func TestEngineTiDB(t *testing.T) {
	admin, as := tidbServer(t)
	tidbExec(t, admin, "DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop", "CREATE TABLE shop.t (n int PRIMARY KEY, s varchar(20), d decimal(20,5), j json, b varbinary(9), ts timestamp(6) NULL)",
		"INSERT INTO shop.t VALUES (1, 'ä', 12345678901234.50000, '{\"a\": [1, 2]}', x'00ff', '2024-02-29 12:00:00.123456'), (2, NULL, NULL, NULL, NULL, NULL)",
		"DROP USER IF EXISTS reader, writer, dropper, roled", "DROP ROLE IF EXISTS writes",
		"CREATE USER reader IDENTIFIED BY 'ktx-Test-1'", "GRANT SELECT ON shop.* TO reader",
		"CREATE USER writer IDENTIFIED BY 'ktx-Test-1'", "GRANT SELECT, INSERT, DELETE ON shop.* TO writer",
		"CREATE USER dropper IDENTIFIED BY 'ktx-Test-1'", "GRANT SELECT, DROP ON shop.* TO dropper",
		"CREATE USER roled IDENTIFIED BY 'ktx-Test-1'", "GRANT SELECT ON shop.* TO roled", "CREATE ROLE writes", "GRANT INSERT ON shop.* TO writes", "GRANT writes TO roled")

	t.Run("reads", func(t *testing.T) {
		b := openTiDB(t, as("reader"))
		for sql, want := range map[string]string{
			"SELECT s FROM t WHERE n = 1":               "ä",
			"SELECT d FROM t WHERE n = 1":               "12345678901234.50000",
			"SELECT j FROM t WHERE n = 1":               `{"a": [1, 2]}`,
			"SELECT ts FROM t WHERE n = 1":              "2024-02-29 12:00:00.123456",
			"SELECT COUNT(*) FROM t":                    "2",
			"SELECT vec_dims('[1,2,3]')":                "3",
			"SELECT tidb_parse_tso(443852055297916932)": "2023-08-27 18:33:41.687000",
			"WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 9) SELECT MAX(n) FROM c":         "9",
			"SELECT COUNT(*) > 0 FROM information_schema.tables a JOIN information_schema.columns b USING (table_name)": "1",
		} {
			if got := b.One(t, sql); got != want {
				t.Errorf("%s: %q, want %q", sql, got, want)
			}
		}
	})
	t.Run("the driver must be named", func(t *testing.T) {
		b := open(t, as("reader"), mysqldb.Config{})
		if e := b.Fails(t, "SELECT 1", execution.Limits{}); e.Code != sqlguard.CodeSessionModeMismatch || !strings.Contains(e.Message, "mysql:tidb") {
			t.Error(e)
		}
		b = open(t, testdb.MariaDB(t).NewDatabase(t), mysqldb.Config{Relative: "tidb"})
		if e := b.Fails(t, "SELECT 1", execution.Limits{}); e.Code != sqlguard.CodeSessionModeMismatch {
			t.Error(e)
		}
	})
	t.Run("what is written is rolled back", func(t *testing.T) {
		b := openTiDB(t, as("writer"))
		for _, sql := range []string{"INSERT INTO t (n) VALUES (3)", "DELETE FROM t"} {
			if e := b.Fails(t, sql, execution.Limits{}); e.Code != sqlguard.CodeDatabaseError {
				t.Error(sql, e)
			}
		}
		if got := b.One(t, "SELECT COUNT(*) FROM t"); got != "2" {
			t.Errorf("%s rows", got)
		}
	})
	t.Run("the probe", func(t *testing.T) {
		for user, writable := range map[string]bool{"reader": false, "writer": true, "dropper": true, "roled": true} {
			report, err := openTiDB(t, as(user)).Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if report.ReadOnly == writable || !strings.HasPrefix(report.Server, "TiDB ") {
				t.Errorf("%s: %+v", user, report)
			}
		}
	})
	t.Run("a new connection's account", func(t *testing.T) {
		b := openTiDB(t, as("writer"))
		b.CheckRole()
		if e := b.Fails(t, "SELECT 1", execution.Limits{}); !strings.Contains(e.Message, "write rows") {
			t.Error(e)
		}
	})
	t.Run("limits", func(t *testing.T) {
		b := openTiDB(t, as("reader"))
		const long = "SELECT COUNT(*) FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t n, t o, t p, t q, t r, t s, t u, t v, t w, t x, t y, t z, t aa, t ab"
		if e := b.Fails(t, long, execution.Limits{Timeout: time.Second}); e.Code != sqlguard.CodeTimeout {
			t.Error(e)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := b.Try(ctx, t, long, execution.Limits{Timeout: time.Minute})
		if err == nil {
			t.Error("a cancelled statement has an answer")
		}
		if got := b.Get(t, "SELECT n FROM t ORDER BY n", execution.Limits{Rows: 1}); len(got.Rows) != 1 || !got.Truncated {
			t.Errorf("%+v", got)
		}
		db, err := testdb.OpenMariaDB(admin)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		wait(t, "the server has ended both statements", func() bool {
			var left int
			err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT COUNT(*) FROM t a%'").Scan(&left)
			return err == nil && left == 0
		})
	})
	t.Run("catalogue", func(t *testing.T) {
		b := open(t, as("reader"), mysqldb.Config{Relative: "tidb", Session: mysql.Dialect{}.Session(), Objects: true})
		c, err := b.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d, _ := mysql.Profile("tidb")
		g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), c)
		if err != nil {
			t.Fatal(err)
		}
		if v := g.Check("SELECT n, vec_dims('[1]') FROM t"); !v.Allowed {
			t.Error(v.Findings)
		}
	})
}
