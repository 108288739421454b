package pgdb_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
)

// relativeMarks makes a database of PostgreSQL look like each relative that the probe knows.
var relativeMarks = map[string][]string{
	"aurora":   {"CREATE FUNCTION pg_catalog.aurora_version() RETURNS text LANGUAGE sql AS $$ SELECT '16.6.3' $$"},
	"yugabyte": {"CREATE OR REPLACE FUNCTION pg_catalog.version() RETURNS text LANGUAGE sql STABLE AS $$ SELECT 'PostgreSQL 15.12-YB-2025.1.0.1-b0 on x86_64-pc-linux-gnu' $$"},
	"alloydb": {
		"CREATE TABLE public.known AS SELECT * FROM pg_catalog.pg_show_all_settings() UNION ALL " +
			"(SELECT 'alloydb.enable_auto_explain', s.* FROM (SELECT * FROM pg_catalog.pg_show_all_settings() WHERE name = 'jit') AS r, LATERAL (SELECT r.setting, r.unit, r.category, " +
			"r.short_desc, r.extra_desc, r.context, r.vartype, r.source, r.min_val, r.max_val, r.enumvals, r.boot_val, r.reset_val, r.sourcefile, r.sourceline, r.pending_restart) AS s)",
		"SET allow_system_table_mods = on; CREATE OR REPLACE VIEW pg_catalog.pg_settings AS SELECT * FROM public.known",
	},
	"citus":     {"SET allow_system_table_mods = on; INSERT INTO pg_catalog.pg_extension VALUES (99999, 'citus', 10, 11, false, '13.0', NULL, NULL)"},
	"timescale": {"SET allow_system_table_mods = on; INSERT INTO pg_catalog.pg_extension VALUES (99999, 'timescaledb', 10, 11, false, '2.19', NULL, NULL)"},
}

// The server is PostgreSQL with the marks by which the probe knows its relatives. It stands
// for servers that cannot run here, and cannot show that those have the marks.
func TestProbeRelatives(t *testing.T) {
	server := testdb.Postgres(t)
	for _, relative := range postgres.Profiles() {
		if relative == "redshift" { // no statement runs on it
			continue
		}
		t.Run(relative, func(t *testing.T) {
			url := server.NewDatabase(t)
			report := func(declared string) string {
				r, err := open(t, url, pgdb.Config{MaxConnections: 1, Relative: declared}).Probe(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var all []string
				for _, f := range r.Findings {
					all = append(all, string(f.Level)+": "+f.Message)
				}
				return strings.Join(all, "\n")
			}
			unlike, known := "does not look like one", "driver postgres:"+relative+" is for"
			if got := report(""); strings.Contains(got, unlike) || strings.Contains(got, known) {
				t.Error(got)
			}
			if got := report(relative); !strings.Contains(got, unlike) {
				t.Error(got)
			}
			server.Exec(t, url, relativeMarks[relative]...)
			if got := report(""); !strings.Contains(got, known) {
				t.Error(got)
			}
			if got := report(relative); strings.Contains(got, unlike) || strings.Contains(got, known) {
				t.Error(got)
			}
		})
	}
}
