package mysql_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestProfiles(t *testing.T) {
	const allowed = ""
	for _, tt := range []struct {
		profile, sql string
		want         sqlguard.Code
	}{
		{"tidb", "SELECT tidb_version(), tidb_parse_tso(1), vec_cosine_distance(a, '[1]') FROM t", allowed},
		{"tidb", "SELECT tidb_mvcc_info('74')", sqlguard.CodeFunctionAdmin},
		{"tidb", "SELECT * FROM metrics_schema.up", sqlguard.CodeRelationNotAllowed},
		{"tidb", "SELECT * FROM METRICS_SCHEMA.up", sqlguard.CodeRelationNotAllowed},
		{"tidb", "SELECT * FROM information_schema.cluster_log", sqlguard.CodeRelationNotAllowed},
		{"tidb", "SELECT 1 /*T! , sleep(1) */", sqlguard.CodeExecutableComment},
		{"tidb", "SELECT 1 /*T![clustered_index] , sleep(1) */", sqlguard.CodeExecutableComment},
		{"tidb", "PLAN REPLAYER DUMP EXPLAIN SELECT 1", sqlguard.CodeStatementNotAllowed},
		{"tidb", "TRACE SELECT 1", sqlguard.CodeStatementNotAllowed},
		{"tidb", "SELECT nextval(s)", sqlguard.CodeFunctionSideEffect},
		{"aurora", "SELECT lambda_sync('f', '{}')", sqlguard.CodeFunctionNetworkAccess},
		{"aurora", "SELECT AWS_COMPREHEND_DETECT_SENTIMENT(a, 'en') FROM t", sqlguard.CodeFunctionNetworkAccess},
		{"aurora", "SELECT * FROM t INTO OUTFILE S3 's3://b/x'", sqlguard.CodeSelectInto},
		{"aurora", "SELECT count(*) FROM t", allowed},
		{"aurora", "SELECT AURORA_VERSION()", allowed},
		{"galera", "SELECT a FROM t FOR SYSTEM_TIME ALL", allowed},
		{"galera", "SELECT wsrep_last_seen_gtid()", sqlguard.CodeFunctionAdmin},
		{"galera", "SET SESSION wsrep_dirty_reads = ON", sqlguard.CodeSessionChange},
	} {
		d, ok := mysql.Profile(tt.profile)
		if !ok {
			t.Fatalf("no profile %s", tt.profile)
		}
		p := sqlguard.DefaultPolicy()
		p.Database = "shop"
		p.Databases = []string{"metrics_schema"}
		g, err := sqlguard.New(d, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := g.Check(tt.sql)
		var got sqlguard.Code
		if !v.Allowed {
			got = v.Findings[0].Code
		}
		if got != tt.want {
			t.Errorf("%s: %s: %q, want %q", tt.profile, tt.sql, got, tt.want)
		}
	}
}

// A server that tells its version does not change which relative it is.
func TestProfileOfServer(t *testing.T) {
	for _, name := range mysql.Profiles() {
		d, _ := mysql.Profile(name)
		for _, product := range []string{"mysql", "mariadb", "other"} {
			told, ok := d.ForServer(product, "8.0.11").(mysql.Dialect)
			if !ok || told.Profile() != name {
				t.Errorf("%s of %s is %q", name, product, told.Profile())
			}
		}
	}
}
