package pgdb_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
)

// warnings returns the messages of the warnings of a probe.
func warnings(t *testing.T, c *client) ([]string, execution.ProbeReport) {
	t.Helper()
	r, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !r.ReadOnly || !strings.HasPrefix(r.Server, "PostgreSQL ") || r.Role == "" {
		t.Errorf("%+v", r)
	}
	var all []string
	for _, f := range r.Findings {
		if f.Level == "warning" {
			all = append(all, f.Message)
		}
	}
	return all, r
}

func TestProbe(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t,
		"CREATE SCHEMA hr", `CREATE SCHEMA "Odd ""name"`,
		"CREATE TABLE a (n int, m int)", "CREATE TABLE hr.b (n int)", `CREATE TABLE "Odd ""name".c (n int)`,
		"DO $$ BEGIN FOR i IN 1..7 LOOP EXECUTE 'CREATE TABLE hr.many' || i || ' (n int)'; END LOOP; END $$",
		"CREATE MATERIALIZED VIEW hr.m AS SELECT 1 AS n",
		"REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	name := query[string](t, url, "SELECT current_database()")

	for _, r := range []struct {
		name       string
		attributes string
		grants     []string
		want       []string
	}{
		{"reader", "", []string{"GRANT USAGE ON SCHEMA hr TO @", "GRANT SELECT ON ALL TABLES IN SCHEMA public, hr TO @"}, nil},
		{"writer", "", []string{"GRANT INSERT, UPDATE (m) ON a TO @", "GRANT DELETE, TRUNCATE ON ALL TABLES IN SCHEMA hr TO @"}, []string{
			"the role may insert into tables: 1 (public.a)",
			"the role may update tables: 1 (public.a)",
			"the role may delete from tables: 8",
			"the role may truncate tables: 8",
		}},
		{"maker", "", []string{"GRANT CREATE ON SCHEMA hr TO @", "GRANT CREATE ON DATABASE " + name + " TO @"}, []string{
			"the role may create schemas in the database",
			"the role may create objects in schemas: 1 (hr)",
		}},
		{"files", "", []string{"GRANT pg_read_server_files, pg_execute_server_program, pg_monitor TO @"}, []string{
			"the role is a member of pg_execute_server_program: it runs programs on the server",
			"the role is a member of pg_monitor: it reads the statements of other sessions and the server's settings",
			"the role is a member of pg_read_all_settings: it reads every setting of the server",
			"the role is a member of pg_read_all_stats: it reads the statements of other sessions",
			"the role is a member of pg_read_server_files: it reads files of the server",
			"the role is a member of pg_stat_scan_tables: it locks tables to scan them",
		}},
		{"attributes", "CREATEROLE CREATEDB REPLICATION BYPASSRLS", nil, []string{
			"the role may create roles", "the role may create databases", "the role may replicate the server", "the role bypasses row security",
		}},
	} {
		t.Run(r.name, func(t *testing.T) {
			role := server.NewRole(t, r.attributes)
			for _, g := range r.grants {
				server.Exec(t, url, strings.ReplaceAll(g, "@", role))
			}
			got, report := warnings(t, open(t, server.URL(name, role), pgdb.Config{}))
			if !slices.Equal(got, r.want) {
				t.Errorf("warnings:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(r.want, "\n\t"))
			}
			if report.Role != role || report.TLS {
				t.Errorf("%+v", report)
			}
		})
	}
	t.Run("superuser", func(t *testing.T) {
		got, _ := warnings(t, open(t, url, pgdb.Config{}))
		if len(got) != 1 || !strings.Contains(got[0], "superuser") {
			t.Errorf("warnings %q", got)
		}
	})
	t.Run("script", func(t *testing.T) {
		for _, path := range [][]string{nil, {"hr", `Odd "name`}} {
			_, report := warnings(t, open(t, url, pgdb.Config{SearchPath: path}))
			// The script makes what it says, and the role that it makes has
			// no warning.
			script := strings.ReplaceAll(report.RoleScript, "ktx_reader", "ktx_reader_"+name)
			script = strings.ReplaceAll(script, "'choose one'", "'ktx'")
			server.Exec(t, url, script)
			reader := "ktx_reader_" + name
			address := strings.Replace(server.URL(name, ""), server.URL("", "")[len("postgres://"):strings.Index(server.URL("", ""), "@")], reader+":ktx", 1)
			c := open(t, address, pgdb.Config{})
			if got, _ := warnings(t, c); len(got) != 0 {
				t.Errorf("warnings %q", got)
			}
			if got := c.one(t, "SELECT count(*) FROM hr.b"); got != "0" {
				t.Errorf("got %s", got)
			}
			if got := c.one(t, `SELECT count(*) FROM "Odd ""name".c`); got != "0" {
				t.Errorf("got %s", got)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			server.Exec(t, url, "DROP OWNED BY "+reader, "DROP ROLE "+reader)
		}
	})
	t.Run("catalogue", func(t *testing.T) {
		for _, v := range []struct{ path, want []string }{
			{nil, []string{"public"}},
			{[]string{"hr", `Odd "name`, "missing"}, []string{"hr", `Odd "name`}},
			{[]string{"information_schema"}, []string{}},
		} {
			c, err := open(t, url, pgdb.Config{SearchPath: v.path}).Catalog(t.Context())
			if err != nil || c.Database != name || c.Major != server.Version() || !slices.Equal(c.SearchPath, v.want) {
				t.Errorf("%+v, %v; want the path %v", c, err, v.want)
			}
		}
	})
}
