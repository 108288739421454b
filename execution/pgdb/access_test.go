package pgdb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

const ruledObjects = `
CREATE TABLE users (id int, email text, "E mail" text, domain text GENERATED ALWAYS AS (lower(email)) STORED);
CREATE TABLE orders (id int, total int);
CREATE TABLE api_keys (k text);
CREATE SCHEMA hr;
CREATE TABLE hr.pay (amount int);
CREATE SCHEMA open;
CREATE TABLE open.free (n int);
CREATE VIEW open.free_view AS SELECT n FROM open.free;
CREATE VIEW mails AS SELECT email FROM users;
CREATE VIEW over_mails AS SELECT * FROM mails;
CREATE VIEW ids AS SELECT id FROM users;
CREATE MATERIALIZED VIEW keys AS SELECT k FROM api_keys;
CREATE FUNCTION peek() RETURNS text LANGUAGE sql STABLE AS 'SELECT email FROM users LIMIT 1';
CREATE VIEW peeks AS SELECT peek();
CREATE TABLE groups (n int);
CREATE TABLE secret_group (k text) INHERITS (groups);
CREATE TABLE regions (n int, region text) PARTITION BY LIST (region);
CREATE TABLE regions_eu PARTITION OF regions FOR VALUES IN ('eu');
CREATE TABLE regions_us PARTITION OF regions FOR VALUES IN ('us');
CREATE SCHEMA kin;
CREATE TABLE kin.members (since int, mail text GENERATED ALWAYS AS (lower(email)) STORED) INHERITS (users);
`

// accessOf returns the findings of a report about access.
func accessOf(r execution.ProbeReport) string {
	var all []string
	for _, f := range r.Findings {
		if f.Topic == execution.TopicAccess {
			all = append(all, string(f.Level)+": "+f.Message)
			if f.Fix == "" || f.Writable() {
				all = append(all, "no fix, or counted as a right to write")
			}
		}
	}
	return strings.Join(all, "\n")
}

// TestRoleScriptLeavesOtherServersOut: the script grants no table whose rows come from another
// server, and nothing that reads one, and all else in their schema.
func TestRoleScriptLeavesOtherServersOut(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	address := server.NewDatabase(t,
		"CREATE EXTENSION file_fdw", "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw",
		"CREATE FOREIGN TABLE far (n int) SERVER files OPTIONS (filename '/dev/null')",
		"CREATE TABLE near (n int)", "CREATE VIEW near_view AS SELECT n FROM near",
		"CREATE VIEW far_view AS SELECT n FROM far", "CREATE VIEW over_far AS SELECT n FROM far_view",
		"CREATE MATERIALIZED VIEW copied AS SELECT n FROM far",
		"CREATE TABLE parts (n int) PARTITION BY RANGE (n)", "CREATE FOREIGN TABLE part PARTITION OF parts DEFAULT SERVER files OPTIONS (filename '/dev/null')",
		"CREATE SCHEMA hr", "CREATE TABLE hr.pay (n int)", "CREATE SCHEMA views", "CREATE VIEW views.far AS SELECT n FROM public.far", "CREATE TABLE views.near (n int)")
	database := strings.TrimPrefix(mustParse(t, address).Path, "/")
	policy := sqlguard.DefaultPolicy()
	policy.Tables.Deny = []string{"public.nothing"}
	for _, cfg := range []pgdb.Config{{}, {Access: sqlguard.ReadRulesOf(postgres.Dialect{}, policy)}} {
		_, report := warnings(t, open(t, address, cfg))
		role := server.NewRole(t)
		script := strings.ReplaceAll(report.RoleScript, "ktx_reader", role)
		psql(t, address, script)
		psql(t, address, script)
		reader := open(t, server.URL(database, role), pgdb.Config{})
		for table, reads := range map[string]bool{
			"near": true, "near_view": true, "hr.pay": true, "views.near": true, "far": false, "far_view": false, "over_far": false, "parts": false, "part": false, "views.far": false,
		} {
			_, err := reader.Try(t.Context(), t, "SELECT n FROM "+table, execution.Limits{})
			if e, ok := errors.AsType[*execution.Error](err); (err == nil) != reads || err != nil && (!ok || e.SQLState != "42501") {
				t.Errorf("%s: %v, reads %v", table, err, reads)
			}
		}
		for _, want := range []string{"GRANT SELECT ON \"public\".\"copied\"", "\n-- GRANT SELECT ON \"public\".\"far\"", "\n-- GRANT SELECT ON \"views\".\"far\""} {
			if !strings.Contains(script, want) {
				t.Errorf("the script lacks %q:\n%s", want, script)
			}
		}
	}
}

// TestRoleScriptGrantsWhatRulesPermit runs the script for a connection with rules, and
// reads every table and column as the role that it makes.
func TestRoleScriptGrantsWhatRulesPermit(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	address := server.NewDatabase(t, ruledObjects)
	database := strings.TrimPrefix(mustParse(t, address).Path, "/")
	policy := sqlguard.DefaultPolicy()
	policy.Schemas.Deny = []string{"hr"}
	policy.Tables.Deny = []string{"public.API_keys", "public.secret_group", "public.regions_eu"}
	policy.Columns = []sqlguard.ColumnRule{{Match: "public.users.email"}}
	cfg := pgdb.Config{Access: sqlguard.ReadRulesOf(postgres.Dialect{}, policy)}

	_, report := warnings(t, open(t, address, cfg))
	for _, want := range []string{
		"4 tables and views that the rules of this connection do not permit: hr.pay, public.api_keys, public.regions_eu, public.secret_group",
		"denied columns of 2 tables: kin.members (email, domain, mail), public.users (email, domain)",
		"public.groups (it shares rows with public.secret_group",
		"6 tables and views that lead or may lead around a rule of this connection: public.groups (", "public.keys (", "public.mails (", "public.over_mails (",
	} {
		if got := accessOf(report); !strings.Contains(got, want) {
			t.Errorf("the owner's findings lack %q:\n%s", want, got)
		}
	}
	role := server.NewRole(t)
	script := strings.ReplaceAll(report.RoleScript, "ktx_reader", role)
	if strings.Contains(script, "\nREVOKE") {
		t.Errorf("the script revokes:\n%s", script)
	}
	psql(t, address, script)
	psql(t, address, script)

	reader := open(t, server.URL(database, role), cfg)
	for sql, reads := range map[string]bool{
		`SELECT id FROM users`:              true,
		`SELECT "E mail" FROM users`:        true,
		`SELECT count(*) FROM users`:        true,
		`SELECT email FROM users`:           false,
		`SELECT domain FROM users`:          false,
		`SELECT * FROM users`:               false,
		`SELECT * FROM orders`:              true,
		`SELECT * FROM ids`:                 true,
		`SELECT * FROM open.free`:           true,
		`SELECT * FROM open.free_view`:      true,
		`SELECT count(*) FROM api_keys`:     false,
		`SELECT amount FROM hr.pay`:         false,
		`SELECT * FROM mails`:               false,
		`SELECT * FROM over_mails`:          false,
		`SELECT * FROM keys`:                false,
		`SELECT * FROM peeks`:               false,
		`SELECT peek()`:                     false,
		`SELECT n FROM groups`:              false,
		`SELECT n FROM ONLY groups`:         false,
		`SELECT k FROM secret_group`:        false,
		`SELECT n FROM regions`:             false,
		`SELECT n FROM regions_eu`:          false,
		`SELECT n FROM regions_us`:          true,
		`SELECT id, since FROM kin.members`: true,
		`SELECT email FROM kin.members`:     false,
		`SELECT mail FROM kin.members`:      false,
		`INSERT INTO orders VALUES (1)`:     false,
		`SELECT lower(email) FROM users`:    false,
	} {
		if _, err := reader.Try(t.Context(), t, sql, execution.Limits{}); (err == nil) != reads {
			t.Errorf("%s: %v, reads %v", sql, err, reads)
		}
	}
	if _, report := warnings(t, reader); accessOf(report) != "" {
		t.Errorf("findings about the role of the script: %s", accessOf(report))
	}
	// Tables that are made later: only in schemas that the rules permit whole.
	server.Exec(t, address, "CREATE TABLE public.later (n int)", "CREATE TABLE open.later (n int)")
	if _, err := reader.Try(t.Context(), t, "SELECT * FROM open.later", execution.Limits{}); err != nil {
		t.Error(err)
	}
	if _, err := reader.Try(t.Context(), t, "SELECT * FROM public.later", execution.Limits{}); err == nil {
		t.Error("the role reads a table that was made later in a schema with rules")
	}
	// A right too many is found.
	server.Exec(t, address, `GRANT SELECT (email) ON users TO "`+role+`"`, `GRANT SELECT ON mails TO "`+role+`"`,
		"CREATE FUNCTION pay_of(person int) RETURNS int LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT amount FROM hr.pay'",
		"CREATE FUNCTION kept() RETURNS int LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT amount FROM hr.pay'", "REVOKE EXECUTE ON FUNCTION kept() FROM PUBLIC")
	_, report = warnings(t, reader)
	const definer = "the role may call a function that runs with the rights of its owner, which may read what a rule of this connection denies: public.pay_of"
	if got := accessOf(report); !strings.Contains(got, definer) || !strings.Contains(got, "public.users (email)") || !strings.Contains(got, "public.mails (") || strings.Contains(got, "api_keys") {
		t.Errorf("findings %s", got)
	}
	// An allow list.
	policy = sqlguard.DefaultPolicy()
	policy.Tables.Allow = []string{"public.orders", "open.*"}
	_, report = warnings(t, open(t, address, pgdb.Config{Access: sqlguard.ReadRulesOf(postgres.Dialect{}, policy)}))
	role = server.NewRole(t)
	psql(t, address, strings.ReplaceAll(report.RoleScript, "ktx_reader", role))
	reader = open(t, server.URL(database, role), cfg)
	for sql, reads := range map[string]bool{"SELECT * FROM orders": true, "SELECT * FROM open.free": true, "SELECT id FROM users": false, "SELECT * FROM ids": false} {
		if _, err := reader.Try(t.Context(), t, sql, execution.Limits{}); (err == nil) != reads {
			t.Errorf("with a list: %s: %v, reads %v", sql, err, reads)
		}
	}
}

// TestFixesOfAccess runs the fix of every warning about access, until there is none: the role
// reads then what the rules permit, and nothing else.
func TestFixesOfAccess(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	address := server.NewDatabase(t, ruledObjects)
	database := strings.TrimPrefix(mustParse(t, address).Path, "/")
	policy := sqlguard.DefaultPolicy()
	policy.Schemas.Deny = []string{"hr"}
	policy.Tables.Deny = []string{"public.api_keys"}
	policy.Columns = []sqlguard.ColumnRule{{Match: "public.users.email"}, {Match: "kin.members.since"}}
	cfg := pgdb.Config{Access: sqlguard.ReadRulesOf(postgres.Dialect{}, policy)}

	role, group := server.NewRole(t), server.NewRole(t)
	psql(t, address, `GRANT `+group+` TO `+role+`; GRANT USAGE ON SCHEMA public, hr, kin, open TO PUBLIC;
		GRANT SELECT ON ALL TABLES IN SCHEMA public TO `+role+`; GRANT SELECT ON users, hr.pay TO PUBLIC;
		GRANT SELECT ON ALL TABLES IN SCHEMA hr, kin TO `+group+`; GRANT SELECT (email, id) ON users TO `+group)
	reader := open(t, server.URL(database, role), cfg)
	for tries := 0; ; tries++ {
		_, report := warnings(t, reader)
		if accessOf(report) == "" {
			break
		}
		if tries == 20 {
			t.Fatalf("after all fixes: %+v", report.Findings)
		}
		for _, f := range report.Findings {
			if f.Topic == execution.TopicAccess {
				fix, _, ok := strings.Cut(f.Fix, ", or use the role of ")
				if !ok {
					t.Fatalf("%+v", f)
				}
				psql(t, address, fix)
			}
		}
	}
	for sql, reads := range map[string]bool{
		`SELECT id, "E mail" FROM users`: true, `SELECT email FROM users`: false, `SELECT domain FROM users`: false,
		`SELECT id FROM kin.members`: true, `SELECT since FROM kin.members`: false, `SELECT email FROM kin.members`: false,
		`SELECT amount FROM hr.pay`: false, `SELECT k FROM api_keys`: false, `SELECT k FROM keys`: false, `SELECT * FROM orders`: true,
	} {
		if _, err := reader.Try(t.Context(), t, sql, execution.Limits{}); (err == nil) != reads {
			t.Errorf("%s: %v, reads %v", sql, err, reads)
		}
	}

	psql(t, address, "GRANT SELECT ON api_keys TO "+role+"; GRANT pg_read_all_data TO "+role)
	_, report := warnings(t, reader)
	for _, f := range report.Findings {
		if f.Topic == execution.TopicAccess && !strings.Contains(f.Fix, "pg_read_all_data") {
			t.Errorf("%+v", f)
		}
	}
}
