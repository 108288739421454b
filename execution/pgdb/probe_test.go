package pgdb_test

import (
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// warnings returns the messages of the warnings of a probe.
func warnings(t *testing.T, c *client) ([]string, execution.ProbeReport) {
	t.Helper()
	r, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !r.ReadOnly || !strings.HasPrefix(r.Server, "PostgreSQL ") || r.Role == "" || r.ClockSkewMS != 0 {
		t.Errorf("%+v", r)
	}
	var all []string
	for _, f := range r.Findings {
		if f.Level == execution.ProbeWarning {
			all = append(all, f.Message)
		}
		if f.Topic == "" || strings.Contains(f.Message+f.Fix, "%!") {
			t.Errorf("%+v", f)
		}
	}
	return all, r
}

// notes returns the messages of the notes of a report.
func notes(r execution.ProbeReport) string {
	var all []string
	for _, f := range r.Findings {
		if f.Level == execution.ProbeNote {
			all = append(all, f.Message)
		}
	}
	return strings.Join(all, "\n")
}

// TestProbeFindsEachRight gives each of several roles one right beyond reading.
// The probe must report exactly one warning for it, and a connection can refuse
// the role for that warning.
func TestProbeFindsEachRight(t *testing.T) {
	server := testdb.Postgres(t)
	address := server.NewDatabase(t,
		"REVOKE CREATE ON SCHEMA public FROM PUBLIC",
		"CREATE SCHEMA hr", "CREATE TABLE hr.b (n int, m int)", "CREATE TABLE public.a (n int)", "CREATE SEQUENCE hr.s",
		"SELECT lo_create(4242)", "CREATE SCHEMA empty",
		"DO $$ BEGIN FOR i IN 1..5 LOOP EXECUTE 'CREATE TABLE hr.many' || i || ' (n int)'; END LOOP; END $$",
		"CREATE FOREIGN DATA WRAPPER w", "CREATE SERVER f FOREIGN DATA WRAPPER w",
		"CREATE SCHEMA secured", "CREATE FUNCTION secured.own() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
		"CREATE LANGUAGE beyond HANDLER plpgsql_call_handler", "CREATE SCHEMA untrusted",
		"CREATE FUNCTION untrusted.f() RETURNS int LANGUAGE beyond AS 'BEGIN RETURN 1; END'",
		"CREATE SCHEMA linked", "CREATE EXTENSION dblink SCHEMA linked",
	)
	name := query[string](t, address, "SELECT current_database()")
	maker, superuser, group := server.NewRole(t), server.NewRole(t, "SUPERUSER"), server.NewRole(t)
	server.Exec(t, address, "GRANT USAGE ON SCHEMA hr TO "+group, "GRANT DELETE ON hr.b TO "+group)
	server.Exec(t, address, "CREATE FUNCTION secured.mine() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'", "ALTER FUNCTION secured.mine() OWNER TO "+maker)

	type property struct {
		name       string
		attributes string
		grants     []string
		want       []string
	}
	properties := []property{
		{name: "nothing"},
		{name: "reading", grants: []string{"GRANT USAGE ON SCHEMA hr, public TO @", "GRANT SELECT ON ALL TABLES IN SCHEMA hr, public TO @", "GRANT SELECT ON hr.s TO @"}},
		{"create roles", "CREATEROLE", nil, []string{"the role may create roles"}},
		{"create databases", "CREATEDB", nil, []string{"the role may create databases"}},
		{"replicate", "REPLICATION", nil, []string{"the role may replicate the server"}},
		{"bypass", "BYPASSRLS", nil, []string{"the role bypasses row security"}},
		{"superuser", "SUPERUSER", nil, []string{"the role is a superuser: "}},
		{"become superuser", "NOINHERIT", []string{"GRANT " + superuser + " TO @"}, []string{"the role may become \"" + superuser + "\", which is a superuser"}},
		{"insert", "", []string{"GRANT INSERT ON hr.b TO @"}, []string{"the role may insert into tables: 1 (hr.b)"}},
		{"insert into many", "", []string{"GRANT INSERT ON ALL TABLES IN SCHEMA hr TO @"}, []string{"the role may insert into tables: 6, such as hr.b, hr.many1, hr.many2"}},
		{"update", "", []string{"GRANT UPDATE ON hr.b TO @"}, []string{"the role may update tables: 1 (hr.b)"}},
		{"update a column", "", []string{"GRANT UPDATE (m) ON hr.b TO @"}, []string{"the role may update columns: 1 (hr.b.m)"}},
		{"insert into a column", "", []string{"GRANT INSERT (m) ON hr.b TO @"}, []string{"the role may insert into columns: 1 (hr.b.m)"}},
		{"delete", "", []string{"GRANT DELETE ON hr.b TO @"}, []string{"the role may delete from tables: 1 (hr.b)"}},
		{"truncate", "", []string{"GRANT TRUNCATE ON hr.b TO @"}, []string{"the role may truncate tables: 1 (hr.b)"}},
		{"references", "", []string{"GRANT REFERENCES ON hr.b TO @"}, []string{"the role may make foreign keys to tables: 1 (hr.b)"}},
		{"trigger", "", []string{"GRANT TRIGGER ON hr.b TO @"}, []string{"the role may make triggers on tables: 1 (hr.b)"}},
		{"pass on", "", []string{"GRANT SELECT ON hr.b TO @ WITH GRANT OPTION"}, []string{"the role may pass on rights on tables: 1 (hr.b)"}},
		{"through a group", "", []string{"GRANT " + group + " TO @"}, []string{"the role may delete from tables (through the role \"" + group + "\"): 1 (hr.b)"}},
		{"through a group, by SET ROLE", "NOINHERIT", []string{"GRANT " + group + " TO @"}, []string{"the role may delete from tables (through the role \"" + group + "\"): 1 (hr.b)"}},
		{"advance a sequence", "", []string{"GRANT USAGE ON hr.s TO @"}, []string{"the role may advance sequences: 1 (hr.s)"}},
		{"set a sequence", "", []string{"GRANT UPDATE ON hr.s TO @"}, []string{"the role may set sequences: 1 (hr.s)"}},
		{"create in a schema", "", []string{"GRANT CREATE ON SCHEMA hr TO @"}, []string{"the role may create objects in schemas: 1 (hr)"}},
		{"create schemas", "", []string{"GRANT CREATE ON DATABASE " + name + " TO @"}, []string{"the role may create schemas in the database: 1 (" + name + ")"}},
		{"temporary tables of its own", "", []string{"GRANT TEMPORARY ON DATABASE " + name + " TO @"}, []string{"the role may create temporary tables: 1 (" + name + ")"}},
		{"tablespace", "", []string{"GRANT CREATE ON TABLESPACE pg_default TO @"}, []string{"the role may create tables in tablespaces: 1 (pg_default)"}},
		{"foreign server", "", []string{"GRANT USAGE ON FOREIGN SERVER f TO @"}, []string{"the role may connect the database to foreign servers: 1 (f)"}},
		{"foreign data wrapper", "", []string{"GRANT USAGE ON FOREIGN DATA WRAPPER w TO @"}, []string{"the role may make foreign servers: 1 (w)"}},
		{"large object", "", []string{"GRANT UPDATE ON LARGE OBJECT 4242 TO @"}, []string{"the role may write large objects: 1 (4242)"}},
		{"system table", "", []string{"GRANT SELECT ON pg_authid TO @"}, []string{"the role may read the server's own tables with secrets: 1 (pg_catalog.pg_authid)"}},
		{"system function", "", []string{"GRANT EXECUTE ON FUNCTION pg_read_file(text) TO @"}, []string{"the role may call functions of the server that not every role may: 1 (pg_read_file(text))"}},
		{"own table", "", []string{"CREATE TABLE hr.mine (n int)", "ALTER TABLE hr.mine OWNER TO @"}, []string{"the role may alter or drop what it owns: 1 (table hr.mine)"}},
		{"own schema", "", []string{"ALTER SCHEMA empty OWNER TO @"}, []string{"the role may alter or drop what it owns: 1 (schema empty)"}},
		{"own large object", "", []string{"ALTER LARGE OBJECT 4242 OWNER TO @"}, []string{"the role may alter or drop what it owns: 1 (large object 4242)"}},
		{"function of a superuser", "", []string{"GRANT USAGE ON SCHEMA secured TO @", "REVOKE EXECUTE ON FUNCTION secured.mine() FROM PUBLIC"}, []string{
			"the role may call functions that run with the rights of a superuser (SECURITY DEFINER): secured.own()",
		}},
		{"function of another role", "", []string{"GRANT USAGE ON SCHEMA secured TO @", "REVOKE EXECUTE ON FUNCTION secured.own() FROM PUBLIC", "GRANT EXECUTE ON FUNCTION secured.mine() TO @"}, []string{
			"the role may call functions that run with the rights of their owners (SECURITY DEFINER): secured.mine()",
		}},
		{"untrusted language", "", []string{"GRANT USAGE ON SCHEMA untrusted TO @"}, []string{
			"the role may call functions that are in languages that reach files and programs of the server: untrusted.f()",
		}},
		{"default privileges", "", []string{"ALTER DEFAULT PRIVILEGES FOR ROLE " + maker + " IN SCHEMA hr GRANT INSERT ON TABLES TO @"}, []string{
			"the role will have INSERT on tables that the role " + maker + " makes in schema hr",
		}},
		{"everybody", "", []string{"GRANT UPDATE ON public.a TO PUBLIC"}, []string{"the role may update tables (as every role): 1 (public.a)"}},
		{"nobody any more", "", []string{"REVOKE UPDATE ON public.a FROM PUBLIC"}, nil},
		{"large objects without rights", "", []string{"ALTER ROLE @ SET lo_compat_privileges = on"}, []string{"lo_compat_privileges is on: every role may read and write every large object"}},
	}
	if server.Version() >= 15 {
		properties = append(properties, property{"setting", "", []string{"GRANT SET ON PARAMETER log_statement TO @"}, []string{"the role may change settings that are kept for superusers: 1 (log_statement)"}})
	}
	if server.Version() >= 17 {
		properties = append(properties, property{"maintain", "", []string{"GRANT MAINTAIN ON hr.b TO @"}, []string{"the role may rewrite and lock tables: 1 (hr.b)"}})
	}
	for predefined := range strings.FieldsSeq(query[string](t, address, "SELECT string_agg(rolname, ' ') FROM pg_roles WHERE rolname LIKE 'pg\\_%' AND rolname <> 'pg_database_owner'")) {
		properties = append(properties, property{predefined, "", []string{"GRANT " + predefined + " TO @"}, []string{"the role is a member of " + predefined + ": it "}})
	}
	for _, p := range properties {
		t.Run(p.name, func(t *testing.T) {
			role := server.NewRole(t, p.attributes)
			for _, g := range p.grants {
				server.Exec(t, address, strings.ReplaceAll(g, "@", role))
			}
			got, report := warnings(t, open(t, server.URL(name, role), pgdb.Config{}))
			if !slices.EqualFunc(got, p.want, strings.HasPrefix) {
				t.Errorf("warnings:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(p.want, "\n\t"))
			}
			if refused := slices.ContainsFunc(report.Findings, execution.ProbeFinding.Writable); refused != (len(p.want) > 0) {
				t.Errorf("refused is %v: %+v", refused, report.Findings)
			}
			if report.Role != role || report.TLS || strings.Contains(notes(report)+strings.Join(got, ""), "does not know") {
				t.Errorf("%+v", report)
			}
		})
	}
	t.Run("dblink", func(t *testing.T) {
		role := server.NewRole(t)
		if _, report := warnings(t, open(t, server.URL(name, role), pgdb.Config{})); !strings.Contains(notes(report), "the extension dblink is installed") {
			t.Errorf("notes %s", notes(report))
		}
		server.Exec(t, address, "GRANT USAGE ON SCHEMA linked TO "+role)
		got, _ := warnings(t, open(t, server.URL(name, role), pgdb.Config{}))
		if len(got) != 1 || !strings.Contains(got[0], "functions of the extension dblink, which runs SQL in sessions of its own") {
			t.Errorf("warnings %q", got)
		}
	})
	t.Run("own database", func(t *testing.T) {
		role := server.NewRole(t)
		own := server.NewDatabase(t, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
		of := query[string](t, own, "SELECT current_database()")
		server.Exec(t, own, "ALTER DATABASE "+of+" OWNER TO "+role)
		got, _ := warnings(t, open(t, server.URL(of, role), pgdb.Config{}))
		if len(got) == 0 || !slices.Contains(got, "the role may alter or drop what it owns: 1 (database "+of+")") {
			t.Errorf("warnings %q", got)
		}
	})
}

// A finding that is not a right of the role is a note, or a warning for which
// no connection refuses the role.
func TestProbeOfTheServer(t *testing.T) {
	server := testdb.Postgres(t)
	address := server.NewDatabase(t, "REVOKE CREATE ON SCHEMA public FROM PUBLIC", "CREATE SCHEMA hr", "CREATE TABLE hr.b (n int)", "CREATE TABLE c (n int)")
	name := query[string](t, address, "SELECT current_database()")
	role := server.NewRole(t)
	server.Exec(t, address, "GRANT SELECT ON c TO "+role)
	got, report := warnings(t, open(t, server.URL(name, role), pgdb.Config{SearchPath: []string{"public", "hr", "missing"}}))
	if want := []string{`the schema "missing" of the connection does not exist`, `the role may not use the schema "hr"`}; !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
	if slices.ContainsFunc(report.Findings, execution.ProbeFinding.Writable) {
		t.Errorf("%+v", report.Findings)
	}
	for _, want := range []string{
		"a write was tried and the server refused it: ", "SET TRANSACTION READ WRITE was tried and the server refused it: ",
		"transactions of the role are not read-only by default", "temp_file_limit is not set", "may create temporary tables (as every role)",
		"can read 1 of 2 tables",
	} {
		if !strings.Contains(notes(report), want) {
			t.Errorf("no note %q in\n%s", want, notes(report))
		}
	}
	if !strings.Contains(report.RoleScript, "-- The schema \"missing\" does not exist.") {
		t.Errorf("script %s", report.RoleScript)
	}
}

// When the role may not read the catalogue, the probe adds a warning for each
// answer that it cannot find out. A connection that is configured to refuse
// such a role refuses it.
func TestProbeWithoutCatalogue(t *testing.T) {
	server := testdb.Postgres(t)
	address := server.NewDatabase(t, "REVOKE CREATE ON SCHEMA public FROM PUBLIC", "REVOKE SELECT ON pg_class, pg_proc FROM PUBLIC")
	role := server.NewRole(t)
	got, report := warnings(t, open(t, server.URL(query[string](t, address, "SELECT current_database()"), role), pgdb.Config{}))
	if len(got) == 0 || !strings.HasPrefix(got[0], "what was granted could not be found out: permission denied") || !slices.ContainsFunc(report.Findings, execution.ProbeFinding.Writable) {
		t.Errorf("warnings %q", got)
	}
}

// psql runs a script as it was printed.
func psql(t *testing.T, address, script string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), testdb.Tool(t, "psql"), "-X", "-q", "-d", address)
	c.Stdin = strings.NewReader(script)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("psql: %v\n%s\n%s", err, out, script)
	}
}

// uncommented returns a script with its commented REVOKE statements turned on.
func uncommented(script string) string { return strings.ReplaceAll(script, "-- REVOKE ", "REVOKE ") }

// TestRoleScript runs the printed script with psql, unchanged and twice, and
// probes with the role that it creates. From version 15 on, the probe has no
// warning. Before version 15, every role may create objects in public until the
// commented statement is run.
func TestRoleScript(t *testing.T) {
	server := testdb.StartPostgres(t, testdb.Options{}) // a server of its own, because roles are shared by its databases
	for _, database := range []string{"shop", "odd \"name\" $ktx$ 'x' \\ :name"} {
		t.Run(database, func(t *testing.T) {
			server.Admin(t, "CREATE DATABASE "+quoted(database), "DO $$ BEGIN CREATE ROLE maker; EXCEPTION WHEN duplicate_object THEN END $$")
			address := server.URL(database, "")
			server.Exec(t, address,
				"CREATE TABLE a (n int)", "CREATE SCHEMA hr", "CREATE VIEW hr.v AS SELECT 1 AS n", "CREATE MATERIALIZED VIEW hr.m AS SELECT 1 AS n",
				"CREATE SCHEMA "+quoted("Odd \"name"), "CREATE TABLE "+quoted("Odd \"name")+".c (n int)",
				"ALTER TABLE a OWNER TO maker", "GRANT CREATE ON SCHEMA public TO maker", "CREATE SCHEMA empty", "CREATE SEQUENCE hr.s")
			_, report := warnings(t, open(t, address, pgdb.Config{}))
			psql(t, address, report.RoleScript)
			psql(t, address, report.RoleScript)
			secret, _ := mustParse(t, server.URL("", "x")).User.Password()
			server.Admin(t, "ALTER ROLE ktx_reader PASSWORD '"+secret+"'")
			reader := server.URL(database, "ktx_reader")
			probe := func(want ...string) execution.ProbeReport {
				t.Helper()
				got, report := warnings(t, open(t, reader, pgdb.Config{}))
				if !slices.Equal(got, want) {
					t.Errorf("warnings %q, want %q", got, want)
				}
				return report
			}
			if server.Version() < 15 {
				probe("the role may create objects in schemas (as every role): 1 (public)")
				psql(t, address, uncommented(report.RoleScript))
			}
			if report := probe(); strings.Contains(notes(report), "read-only by default") || !strings.Contains(notes(report), "can read 4 of 4") {
				t.Errorf("notes %s", notes(report))
			}
			// The role can also read tables that today's owners create later.
			server.Exec(t, address, "SET ROLE maker; CREATE TABLE public.later (n int)")
			c := open(t, reader, pgdb.Config{})
			for _, table := range []string{"a", "later", "hr.v", "hr.m", quoted("Odd \"name") + ".c"} {
				c.One(t, "SELECT count(*) FROM "+table)
			}
			// The script lists the rights of every role in comments. Running
			// those statements removes the warnings.
			server.Exec(t, address, "CREATE FUNCTION hr.definer(text, int[]) RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'", "GRANT INSERT ON a TO PUBLIC")
			probe("the role may insert into tables (as every role): 1 (public.a)",
				"the role may call functions that run with the rights of a superuser (SECURITY DEFINER): hr.definer(text, integer[])")
			_, report = warnings(t, open(t, address, pgdb.Config{SearchPath: []string{"hr"}}))
			psql(t, address, uncommented(report.RoleScript))
			if report := probe(); strings.Contains(notes(report), "temporary tables") {
				t.Errorf("notes %s", notes(report))
			}
		})
	}
	t.Run("hostile names", func(t *testing.T) {
		// Names contain line ends and ends of comments. None of them may become
		// a statement.
		evil := quoted("x\n; DROP TABLE public.survivor; --\n\\! touch /tmp/ktx-evil\n*/ $ktx$ ")
		server.Admin(t, "CREATE DATABASE "+evil, "CREATE ROLE "+evil)
		address := server.URL("x\n; DROP TABLE public.survivor; --\n\\! touch /tmp/ktx-evil\n*/ $ktx$ ", "")
		server.Exec(t, address, "CREATE TABLE survivor (n int)", "CREATE SCHEMA "+evil+" AUTHORIZATION "+evil, "CREATE TABLE "+evil+"."+evil+" (n int)",
			"ALTER TABLE "+evil+"."+evil+" OWNER TO "+evil,
			"CREATE FUNCTION "+evil+"."+evil+"("+evil+" int) RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'", "GRANT UPDATE ON "+evil+"."+evil+" TO PUBLIC")
		_, report := warnings(t, open(t, address, pgdb.Config{}))
		psql(t, address, report.RoleScript)
		if n := query[int](t, address, "SELECT count(*) FROM survivor"); n != 0 {
			t.Errorf("%d rows", n)
		}
		if _, err := os.Stat("/tmp/ktx-evil"); err == nil {
			t.Error("a name was run as a command")
		}
		if !strings.Contains(report.RoleScript, "-- REVOKE EXECUTE ON FUNCTION ") || !strings.Contains(report.RoleScript, "-- REVOKE UPDATE ON TABLE ") {
			t.Errorf("script %s", report.RoleScript)
		}
	})
	t.Run("another database", func(t *testing.T) {
		_, report := warnings(t, open(t, server.URL("shop", ""), pgdb.Config{}))
		c := exec.CommandContext(t.Context(), testdb.Tool(t, "psql"), "-X", "-q", "-d", server.URL("", ""))
		c.Stdin = strings.NewReader(report.RoleScript)
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "for another database") {
			t.Errorf("psql: %v %s", err, out)
		}
	})
	t.Run("a role that may more", func(t *testing.T) {
		server.Admin(t, "ALTER ROLE ktx_reader CREATEDB")
		_, report := warnings(t, open(t, server.URL("shop", ""), pgdb.Config{}))
		c := exec.CommandContext(t.Context(), testdb.Tool(t, "psql"), "-X", "-q", "-d", server.URL("shop", ""))
		c.Stdin = strings.NewReader(report.RoleScript)
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "there is a role ktx_reader already") {
			t.Errorf("psql: %v %s", err, out)
		}
	})
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestNewConnectionsCheckTheirRole shows that a role that becomes more than a
// reader is refused with the next connection, and served again when it is a reader
// again.
func TestNewConnectionsCheckTheirRole(t *testing.T) {
	server := testdb.Postgres(t)
	address := server.NewDatabase(t, "CREATE TABLE public.a (n int)")
	name := query[string](t, address, "SELECT current_database()")
	role, group := server.NewRole(t), server.NewRole(t, "CREATEDB")
	b := open(t, server.URL(name, role), pgdb.Config{MaxConnections: 1})
	b.CheckRole()
	for _, c := range []struct{ give, take, can string }{
		{"", "", ""},
		{"ALTER ROLE " + role + " SUPERUSER", "ALTER ROLE " + role + " NOSUPERUSER", "superuser"},
		{"GRANT " + group + " TO " + role, "REVOKE " + group + " FROM " + role, "attribute"},
		{"GRANT pg_read_server_files TO " + role, "REVOKE pg_read_server_files FROM " + role, "server itself"},
		{"GRANT INSERT ON public.a TO " + role, "REVOKE INSERT ON public.a FROM " + role, "write tables"},
	} {
		if c.give != "" {
			server.Exec(t, address, c.give)
			query[int64](t, address, "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity WHERE usename = '"+role+"'")
			e := b.Fails(t, "SELECT 1", execution.Limits{})
			if e.Code != sqlguard.CodeNotConfigured || e.Retryable || !strings.Contains(e.Message, c.can) || !strings.Contains(e.Hint, "--role-script") {
				t.Errorf("after %s: %+v", c.give, e)
			}
			server.Exec(t, address, c.take)
		}
		if got := b.One(t, "SELECT 1"); got != "1" {
			t.Errorf("after %s: %s", c.take, got)
		}
	}
}

// TestTimeLimitOfTheRole shows that a time limit of the role does not end what
// opens a session, nor a statement.
func TestTimeLimitOfTheRole(t *testing.T) {
	server := testdb.Postgres(t)
	address := server.NewDatabase(t)
	role := server.NewRole(t)
	server.Exec(t, address, "ALTER ROLE "+role+" SET statement_timeout = 1")
	b := open(t, server.URL(query[string](t, address, "SELECT current_database()"), role), pgdb.Config{MaxConnections: 1})
	const reset = "SELECT reset_val FROM pg_settings WHERE name = 'statement_timeout'"
	for range 3 {
		if got := b.One(t, reset); got != "30000" {
			t.Errorf("a session begins with statement_timeout = %s", got)
		}
	}
}
