package postgres_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// profileOf returns a guard for a relative of PostgreSQL without a server.
func profileOf(t *testing.T, name string, p sqlguard.Policy) *sqlguard.Guard {
	t.Helper()
	d, ok := postgres.Profile(name)
	if !ok {
		t.Fatalf("no profile %s", name)
	}
	g, err := sqlguard.New(d, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestProfiles(t *testing.T) {
	const allowed = ""
	for _, tt := range []struct {
		profile, sql string
		want         sqlguard.Code
	}{
		{"redshift", "SELECT nvl(a, b), getdate(), dateadd(day, 1, d), listagg(x, ',') WITHIN GROUP (ORDER BY x) FROM t GROUP BY 1, 2, 3", allowed},
		{"redshift", "SELECT date_trunc('month', d)::date, count(*), sum(x) OVER (PARTITION BY y) FROM t WHERE s LIKE 'a!_%' ESCAPE '!'", allowed},
		{"redshift", "SELECT substring(a FROM 2), position('b' IN a), trim(both ' ' FROM a), extract(year FROM d), d AT TIME ZONE 'UTC' FROM t", allowed},
		{"redshift", "SELECT * FROM svv_table_info", allowed},
		{"redshift", "SELECT schemaname, databasename FROM svv_external_schemas", allowed},
		{"redshift", "SELECT esoptions FROM svv_external_schemas", sqlguard.CodeColumnNotAllowed},
		{"redshift", "SELECT * FROM svv_external_schemas", sqlguard.CodeColumnNotAllowed},
		{"redshift", "SELECT querytxt FROM stl_query", sqlguard.CodeRelationNotAllowed},
		{"redshift", "SELECT query_text FROM pg_catalog.sys_query_history", sqlguard.CodeRelationNotAllowed},
		{"redshift", "SELECT * FROM sys_users", allowed},
		{"redshift", "SELECT reboot_cluster()", sqlguard.CodeFunctionAdmin},
		{"redshift", "SELECT t.reboot_cluster FROM t", sqlguard.CodeFunctionAdmin},
		{"redshift", "SELECT jsonb_agg(x) FROM t", sqlguard.CodeFunctionNotAllowed},
		{"redshift", "SELECT f_lambda(x) FROM t", sqlguard.CodeFunctionNotAllowed},
		{"redshift", "SELECT pg_terminate_backend(1)", sqlguard.CodeFunctionAdmin},
		{"redshift", "UNLOAD ('SELECT 1') TO 's3://b/x' IAM_ROLE 'r'", sqlguard.CodeParseError},
		{"aurora", "SELECT aurora_version()", allowed},
		{"aurora", "SELECT aws_lambda.invoke('f', '{}')", sqlguard.CodeFunctionNetworkAccess},
		{"aurora", "SELECT aws_bedrock.invoke_model(a) FROM t", sqlguard.CodeFunctionNetworkAccess},
		{"aurora", "SELECT aws_s3.query_export_to_s3('SELECT 1', 'b', 'k', 'r')", sqlguard.CodeFunctionNetworkAccess},
		{"aurora", "SELECT * FROM aurora_stat_activity()", sqlguard.CodeFunctionAdmin},
		{"aurora", "SELECT apg_plan_mgmt.evolve_plan_baselines(1, 2)", sqlguard.CodeFunctionAdmin},
		{"alloydb", "SELECT embedding('m', a) FROM t", sqlguard.CodeFunctionNetworkAccess},
		{"alloydb", "SELECT t.embedding FROM t", allowed},
		{"alloydb", "SELECT ai.if('is it nice', a) FROM t", sqlguard.CodeFunctionNetworkAccess},
		{"alloydb", "SELECT google_columnar_engine_add('t')", sqlguard.CodeFunctionSideEffect},
		{"citus", "SELECT citus_table_size('t'), get_shard_id_for_distribution_column('t', 1)", allowed},
		{"citus", "SELECT run_command_on_workers('DROP TABLE t')", sqlguard.CodeDynamicSQL},
		{"citus", "SELECT ('DROP TABLE t'::text).run_command_on_workers", sqlguard.CodeDynamicSQL},
		{"citus", "SELECT create_distributed_table('t', 'a')", sqlguard.CodeFunctionSideEffect},
		{"citus", "SELECT citus_drain_node('h', 1)", sqlguard.CodeFunctionSideEffect},
		{"citus", "SELECT * FROM pg_dist_authinfo", sqlguard.CodeCredentialRelation},
		{"citus", "SELECT query FROM citus_stat_activity", sqlguard.CodeRelationNotAllowed},
		{"timescale", "SELECT time_bucket('1 day', ts), first(v, ts), last(v, ts) FROM m GROUP BY 1", allowed},
		{"timescale", "SELECT drop_chunks('m', now())", sqlguard.CodeFunctionSideEffect},
		{"timescale", "SELECT add_retention_policy('m', INTERVAL '1 day')", sqlguard.CodeFunctionSideEffect},
		{"yugabyte", "SELECT yb_hash_code(a), yb_server_region() FROM t", allowed},
		{"yugabyte", "SELECT yb_cancel_transaction('f')", sqlguard.CodeFunctionAdmin},
		{"yugabyte", "SELECT yb_query_diagnostics(1)", sqlguard.CodeFunctionFileAccess},
		{"yugabyte", "SELECT * FROM yb_active_session_history()", sqlguard.CodeFunctionAdmin},
	} {
		v := profileOf(t, tt.profile, sqlguard.DefaultPolicy()).Check(tt.sql)
		var got sqlguard.Code
		if !v.Allowed {
			got = v.Findings[0].Code
		}
		if got != tt.want {
			t.Errorf("%s: %s: %q, want %q", tt.profile, tt.sql, got, tt.want)
		}
	}
}

// What a profile refuses, no policy admits: the names are the server's own.
func TestProfileAgainstPolicy(t *testing.T) {
	p := sqlguard.DefaultPolicy()
	p.Functions.Allow = []string{"aws_lambda.invoke", "public.ml_predict_row"}
	for _, sql := range []string{"SELECT aws_lambda.invoke('f', '{}')", "SELECT public.ml_predict_row('m', '{}')"} {
		profile := map[bool]string{true: "aurora", false: "alloydb"}[strings.Contains(sql, "aws")]
		if v := profileOf(t, profile, p).Check(sql); v.Allowed {
			t.Errorf("%s is allowed by the policy", sql)
		}
	}
}

// A relative refuses every function that PostgreSQL refuses: its tables only add.
func TestProfilesOnlyAdd(t *testing.T) {
	for _, profile := range postgres.Profiles() {
		g := profileOf(t, profile, sqlguard.DefaultPolicy())
		for _, row := range postgres.FunctionRows() {
			if row.Facts.Class != postgres.FunctionDenied {
				continue
			}
			if v := g.Check("SELECT \"" + row.Name + "\"()"); v.Allowed {
				t.Errorf("%s allows %s", profile, row.Name)
			}
		}
	}
}

func TestProfileTables(t *testing.T) {
	for _, fault := range postgres.ProfileFaults() {
		t.Error(fault)
	}
}
