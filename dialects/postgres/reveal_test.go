package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// secrets are names that no group may admit.
const secrets = `pg_authid pg_shadow pg_user_mapping pg_user_mappings.umoptions pg_db_role_setting pg_hba_file_rules
	pg_ident_file_mappings pg_file_settings pg_largeobject pg_statistic_ext_data
	pg_show_all_settings pg_stat_get_wal_receiver pg_read_file pg_ls_dir pg_ls_logdir pg_current_logfile
	pg_terminate_backend pg_stat_reset pg_replication_origin_progress bt_page_items heap_page_items get_raw_page
	pg_logical_slot_peek_changes pg_subscription.subconninfo pg_roles.rolpassword
	pg_roles.rolconfig pg_user.passwd pg_foreign_server.srvoptions cron.job`

func guards(t *testing.T, change func(*sqlguard.Policy)) map[sqlguard.Group]*sqlguard.Guard {
	t.Helper()
	out := map[sqlguard.Group]*sqlguard.Guard{}
	make := func(name sqlguard.Group, reveal ...sqlguard.Group) {
		p := sqlguard.DefaultPolicy()
		p.Reveal = reveal
		change(&p)
		g, err := sqlguard.New(postgres.Dialect{}, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = g
	}
	make("none")
	make("all", sqlguard.Groups()...)
	for _, group := range sqlguard.Groups() {
		make(group, group)
	}
	return out
}

func TestGroupsAdmitWhatTheyName(t *testing.T) {
	all := guards(t, func(*sqlguard.Policy) {})
	for group, statements := range map[sqlguard.Group][]string{
		sqlguard.GroupStatistics: {
			"SELECT avg_width, null_frac FROM pg_stats", "SELECT most_common_vals FROM pg_stats", "SELECT * FROM pg_stats s",
			"SELECT s FROM pg_stats s", "TABLE pg_stats_ext", "SELECT * FROM pg_shmem_allocations", "SELECT * FROM pg_stat_statements_info()",
		},
		sqlguard.GroupRoles: {"SELECT * FROM pg_default_acl", "SELECT srvname, usename FROM pg_user_mappings", "TABLE pg_init_privs"},
		sqlguard.GroupActivity: {
			"SELECT query FROM pg_stat_activity", "SELECT * FROM pg_stat_activity a JOIN pg_locks l USING (pid)", "SELECT a FROM pg_stat_activity a",
			"SELECT query, calls FROM pg_stat_statements", "SELECT * FROM public.pg_stat_statements", "SELECT pg_stat_get_backend_activity(3)",
			"SELECT count(*) FROM pg_stat_activity a NATURAL JOIN pg_locks",
			"SELECT left(q.query, 10) FROM (SELECT * FROM pg_stat_activity) q", "SELECT query FROM pg_stat_activity a JOIN pg_stat_statements s USING (query)",
		},
		sqlguard.GroupReplication: {"SELECT subname, subenabled FROM pg_subscription", "SELECT status FROM pg_stat_wal_receiver", "SELECT conninfo FROM pg_stat_wal_receiver", "SELECT * FROM pg_control_checkpoint()"},
		sqlguard.GroupStorage:     {"SELECT * FROM pg_buffercache", "SELECT * FROM pgstattuple('orders')", "SELECT pg_relation_filepath('orders')", "SELECT count(*) FROM pg_ls_waldir()", "SHOW data_directory", "SELECT current_setting('Log_Directory')"},
		sqlguard.GroupDefinitions: {
			"SELECT pg_get_viewdef('v'::regclass)", "SELECT definition FROM pg_views", "SELECT * FROM pg_views", "SELECT prosrc FROM pg_proc",
			"SELECT pg_get_functiondef(oid) FROM pg_proc", "SELECT routine_definition FROM information_schema.routines", "SELECT * FROM information_schema.views",
		},
	} {
		for _, sql := range statements {
			for name, g := range all {
				v := g.Check(sql)
				if want := name == "all" || name == group; v.Allowed != want {
					t.Errorf("%s with %s: allowed %v: %+v", sql, name, v.Allowed, v.Findings)
				}
				if name != "none" || v.Allowed {
					continue
				}
				if f := v.Findings[0]; f.Reveal != group || !strings.Contains(f.Hint, "guard.reveal: ["+string(group)+"]") {
					t.Errorf("%s: the finding names the group %q; hint: %s", sql, f.Reveal, f.Hint)
				}
			}
		}
	}
}

func TestSamplesFollowAccessRules(t *testing.T) {
	for name, change := range map[string]func(*sqlguard.Policy){
		"a denied column": func(p *sqlguard.Policy) { p.Columns = []sqlguard.ColumnRule{{Match: "public.t.c"}} },
		"a denied table":  func(p *sqlguard.Policy) { p.Tables.Deny = []string{"public.t"} },
		"a list":          func(p *sqlguard.Policy) { p.Schemas.Allow = []string{"public"} },
	} {
		g := guards(t, change)["all"]
		for sql, want := range map[string]bool{
			"SELECT avg_width FROM pg_stats":            true,
			"SELECT most_common_vals FROM pg_stats":     false,
			"SELECT histogram_bounds FROM pg_stats":     false,
			"SELECT * FROM pg_stats":                    false,
			"SELECT to_jsonb(s) FROM pg_stats s":        false,
			"SELECT most_common_vals FROM pg_stats_ext": false,
		} {
			if v := g.Check(sql); v.Allowed != want {
				t.Errorf("%s: %s: allowed %v", name, sql, v.Allowed)
			}
		}
	}
}

func TestNoGroupAdmitsSecretsOrEffects(t *testing.T) {
	for _, r := range (postgres.Dialect{}).Reveals() {
		if slices.Contains(strings.Fields(secrets), r.Name) {
			t.Errorf("%s is in the group %s", r.Name, r.Group)
		}
	}
	g := guards(t, func(*sqlguard.Policy) {})["all"]
	for _, sql := range []string{
		"SELECT rolpassword FROM pg_roles", "SELECT * FROM pg_roles", "SELECT r FROM pg_roles r", "SELECT rolconfig FROM pg_roles", "SELECT passwd FROM pg_user",
		"TABLE pg_authid", "SELECT subconninfo FROM pg_subscription", "SELECT * FROM pg_subscription",
		"SELECT umoptions FROM pg_user_mappings", "SELECT * FROM pg_user_mappings", "SELECT m FROM pg_user_mappings m", "SELECT * FROM pg_file_settings", "SELECT srvoptions FROM pg_foreign_server",
		"SELECT * FROM pg_stat_get_activity(NULL)", "SELECT pg_replication_origin_progress('o', true)", "SELECT * FROM pg_ls_dir('/')",
		"SELECT pg_terminate_backend(1)", "SELECT stxdmcv FROM pg_statistic_ext_data", "SHOW ALL", "SELECT current_setting('app.secret')",
		"SELECT * FROM pg_stat_activity a JOIN pg_roles r ON r.oid = a.usesysid", "SELECT x FROM (pg_stat_activity a JOIN pg_roles r ON true) AS x",
		"SELECT x FROM pg_shadow x, pg_stat_activity",
	} {
		if v := g.Check(sql); v.Allowed {
			t.Errorf("%s passes", sql)
		}
	}
}

// Every name of the groups is on the tables and refused there, unless it needs no policy.
func TestMembersOfGroupsAreOnTheTables(t *testing.T) {
	for _, r := range (postgres.Dialect{}).Reveals() {
		name, schema := r.Name, ""
		if rest, found := strings.CutPrefix(name, "information_schema."); found {
			name, schema = rest, "information_schema"
		}
		name, column, _ := strings.Cut(name, ".")
		switch r.Kind {
		case "function":
			if facts, listed := postgres.LookupFunction(schema, name); !listed || facts.Class != postgres.FunctionDenied {
				t.Errorf("%s is not refused by the table", name)
			}
		case "relation", "column":
			facts, system := postgres.SystemRelation(schema, name)
			if !system || !facts.KnownTo(0) || column == "" && facts.Allowed != r.Always {
				t.Errorf("%s: %+v", r.Name, facts)
			}
		case "setting":
			if postgres.SettingAllowed(r.Name) {
				t.Errorf("%s is not refused by the table", r.Name)
			}
		default:
			t.Errorf("%s is a %s", r.Name, r.Kind)
		}
	}
}

func TestSettingsByName(t *testing.T) {
	g := guards(t, func(*sqlguard.Policy) {})["none"]
	for sql, want := range map[string]bool{
		"SELECT name, setting FROM pg_settings WHERE name = 'work_mem'":                                                                                 true,
		"SELECT s.setting FROM pg_catalog.pg_settings AS s WHERE s.name IN ('work_mem', 'max_connections') ORDER BY 1":                                  true,
		"SELECT setting FROM pg_settings WHERE name = ANY (ARRAY['work_mem', 'TimeZone'])":                                                              true,
		"SELECT setting FROM pg_settings WHERE 'work_mem'::text OPERATOR(pg_catalog.=) name AND unit IS NOT NULL":                                       true,
		"SELECT name, setting FROM pg_settings WHERE vartype IN ('bool', 'integer', 'real')":                                                            true,
		"SELECT (SELECT setting FROM pg_settings WHERE name = 'block_size')::int * 2":                                                                   true,
		"SELECT 1 FROM pg_class WHERE relpages > (SELECT setting::int FROM pg_settings WHERE name = 'block_size')":                                      true,
		"SELECT m, u FROM (SELECT setting::int AS m FROM pg_settings WHERE name = 'max_connections') a, (SELECT count(*) AS u FROM pg_stat_activity) b": true,
		"WITH s AS MATERIALIZED (SELECT setting FROM pg_settings WHERE name = 'block_size') SELECT setting::int FROM s WHERE setting::int > 1":          true,
		"EXPLAIN SELECT setting FROM pg_settings WHERE name = 'work_mem'":                                                                               true,
		"SELECT setting FROM pg_settings WHERE name = 'work_mem' UNION ALL SELECT setting FROM pg_settings WHERE name = 'fsync'":                        true,
		"WITH q AS (SELECT name, setting FROM pg_settings WHERE name = 'work_mem') SELECT * FROM q":                                                     true,
		"WITH q AS (SELECT setting FROM pg_settings WHERE name = 'work_mem') SELECT q.setting::int FROM q ORDER BY 1":                                   true,
		"SELECT name, unit FROM pg_settings":                                      true,
		"SELECT * FROM pg_settings WHERE name = 'work_mem'":                       true,
		"SELECT s FROM pg_settings s WHERE name = 'work_mem'":                     true,
		"SELECT name, sourcefile, sourceline FROM pg_settings":                    true,
		"SELECT setting FROM pg_settings WHERE name = 'pg_stat_statements.track'": true,
		// What psql sends for \dconfig work_mem.
		`SELECT s.name AS "Parameter", pg_catalog.current_setting(s.name) AS "Value" FROM pg_catalog.pg_settings s WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.~) '^(work_mem)$' COLLATE pg_catalog.default ORDER BY 1`: true,
		"SELECT s.setting FROM pg_settings s WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.~) '^(work_mem)$'":                                                                                                             true,
		"SELECT current_setting(s.name) FROM pg_settings s WHERE s.name IN ('work_mem', 'fsync')":                                                                                                                              true,
		"SELECT current_setting(s.name) FROM pg_settings s LEFT JOIN pg_parameter_acl p ON lower(s.name) = p.parname WHERE s.name = 'fsync'":                                                                                   false, // the other relation needs a group

		"SELECT s.setting FROM pg_settings s WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.~) '^(work_.*)$'":            false,
		"SELECT s.setting FROM pg_settings s WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.~) '^(app.secret)$'":         false,
		"SELECT s.setting FROM pg_settings s WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.~) '^(work_mem'":             false,
		"SELECT s.setting FROM pg_settings s WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.!~) '^(work_mem)$'":          false,
		"SELECT s.setting FROM pg_settings s WHERE pg_catalog.lower(s.name) ~ '^(work_mem)$'":                                false,
		"SELECT s.setting FROM pg_settings s WHERE lower(s.name) OPERATOR(pg_catalog.~) '^(work_mem)$'":                      false,
		"SELECT s.setting FROM pg_settings s WHERE pg_catalog.lower(s.source) OPERATOR(pg_catalog.~) '^(work_mem)$'":         false,
		"SELECT s.setting FROM pg_settings s WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.~) '^(work_mem|app.x)$'":     false,
		"SELECT s.setting FROM pg_settings s WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.~) ANY (ARRAY['^(fsync)$'])": false,
		"SELECT current_setting(s.name) FROM pg_settings s":                                                                  false,
		"SELECT current_setting(name) FROM pg_settings s WHERE s.name = 'work_mem'":                                          false,
		"SELECT current_setting(s.source) FROM pg_settings s WHERE s.name = 'work_mem'":                                      false,
		"SELECT current_setting(s.name || '') FROM pg_settings s WHERE s.name = 'work_mem'":                                  false,
		"SELECT 1 FROM pg_settings s WHERE s.name = 'work_mem' AND current_setting(s.name) = ''":                             false,
		"SELECT 1 FROM pg_settings s JOIN pg_class c ON current_setting(s.name) = c.relname WHERE s.name = 'work_mem'":       false,
		"SELECT (SELECT current_setting(s.name) FROM t AS s) FROM pg_settings s WHERE s.name = 'work_mem'":                   false,
		"SELECT (SELECT current_setting(s.name) FROM pg_settings AS s) FROM pg_settings s WHERE s.name = 'work_mem'":         false,
		"SELECT current_setting(t.name) FROM pg_settings s, t WHERE s.name = 'work_mem'":                                     false,
		"SELECT x FROM (SELECT current_setting(s.name) AS x FROM pg_settings s WHERE s.name = 'work_mem') q WHERE x = ''":    false,
		"SELECT set_config(s.name, '', true) FROM pg_settings s WHERE s.name = 'work_mem'":                                   false,

		"SELECT name, setting FROM pg_settings":                                                                    false,
		"SELECT setting FROM pg_settings WHERE name = 'primary_conninfo'":                                          false,
		"SELECT setting FROM pg_settings WHERE name = 'app.secret'":                                                false,
		"SELECT setting FROM pg_settings WHERE name IN ('work_mem', 'app.secret')":                                 false,
		"SELECT setting FROM pg_settings WHERE name NOT IN ('work_mem')":                                           false,
		"SELECT setting FROM pg_settings WHERE name <> 'work_mem'":                                                 false,
		"SELECT setting FROM pg_settings WHERE name = 'work_mem' OR true":                                          false,
		"SELECT setting FROM pg_settings WHERE NOT (name = 'work_mem')":                                            false,
		"SELECT setting FROM pg_settings WHERE name LIKE 'work%'":                                                  false,
		"SELECT setting FROM pg_settings WHERE name = name":                                                        false,
		"SELECT setting FROM pg_settings WHERE name > 'work_mem'":                                                  false,
		"SELECT setting FROM pg_settings WHERE name OPERATOR(public.=) 'work_mem'":                                 false,
		"SELECT setting FROM pg_settings WHERE vartype IN ('string', 'bool')":                                      false,
		"SELECT setting FROM pg_settings WHERE name = ALL (ARRAY['work_mem'])":                                     false,
		"SELECT a.setting FROM pg_settings a, pg_settings b WHERE b.name = 'work_mem'":                             false,
		"SELECT o.setting FROM pg_settings o WHERE EXISTS (SELECT 1 FROM pg_settings s WHERE s.name = 'work_mem')": false,
		// The server may compute a condition on a value before the condition on the name.
		"SELECT 1 FROM pg_settings WHERE setting::int > 0 AND name = 'work_mem'":                                                             false,
		"SELECT max(name) FROM pg_settings WHERE name = 'work_mem' GROUP BY setting HAVING setting::int > 0":                                 false,
		"SELECT setting FROM pg_settings s JOIN pg_class c ON c.relpages = s.setting::int WHERE s.name = 'work_mem'":                         false,
		"SELECT setting FROM (SELECT setting FROM pg_settings WHERE name = 'work_mem') s WHERE setting::int > 0":                             false,
		"SELECT 1 FROM (SELECT setting FROM pg_settings WHERE name = 'work_mem') s, LATERAL (SELECT 1 WHERE s.setting::int > 0) x":           false,
		"SELECT 1 FROM (SELECT setting FROM pg_settings WHERE name = 'work_mem') s JOIN pg_class c ON s.setting::int > 0":                    false,
		"WITH s AS (SELECT setting FROM pg_settings WHERE name = 'block_size') SELECT 1 FROM s WHERE setting::int > 1":                       false,
		"WITH q AS (SELECT setting FROM pg_settings WHERE name = 'fsync'), r AS (SELECT 1 FROM q WHERE setting::int > 1) SELECT * FROM r":    false,
		"WITH q AS (SELECT setting FROM pg_settings WHERE name = 'fsync') SELECT 1 FROM (SELECT 1 FROM q WHERE setting::int > 1) AS q":       false,
		"WITH q AS (SELECT setting FROM pg_settings WHERE name = 'fsync') SELECT 1 FROM U&\"q\", (SELECT 1 FROM q WHERE setting::int > 1) x": false,
		"SELECT 1 WHERE 5 IN (SELECT setting::int FROM pg_settings WHERE name = 'work_mem')":                                                 false,
		"SELECT s FROM pg_settings s": false,
		"SELECT * FROM pg_settings":   false,
		"SELECT s FROM pg_settings s WHERE name = 'work_mem' AND s::text = ''":        false,
		"SELECT * FROM pg_settings WHERE name = 'pg_stat_statements.secret'":          false,
		"SELECT setting FROM pg_settings WHERE name = 'data_directory'":               false,
		"SELECT b FROM pg_settings AS s(a, b) WHERE a = 'work_mem'":                   false,
		"SELECT setting FROM pg_settings AS s(name, setting) WHERE name = 'work_mem'": false,
	} {
		if v := g.Check(sql); v.Allowed != want {
			t.Errorf("%s: allowed %v, want %v: %+v", sql, v.Allowed, want, v.Findings)
		}
	}
}

func TestUnknownGroupIsAnError(t *testing.T) {
	_, err := sqlguard.New(postgres.Dialect{}, sqlguard.Policy{Reveal: []sqlguard.Group{"statistic"}}, nil)
	if err == nil || !strings.Contains(err.Error(), `guard.reveal: "statistic" is no group; the groups are statistics, settings`) {
		t.Error(err)
	}
}
