package dialects_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestPlansOfViews: where plans show values of rows, rules of access refuse the plan of a query
// over a view, which may read what no rule permits.
func TestPlansOfViews(t *testing.T) {
	t.Parallel()
	schemas := map[string]string{"mysql": "db", "mariadb": "db", "mysql:tidb": "db", "clickhouse": "db", "duckdb": "main", "postgres": "public", "sqlite": "main"}
	for name, schema := range schemas {
		d, ok := dialects.Lookup(name)
		if !ok {
			t.Fatal(name)
		}
		shows := name != "postgres" && name != "sqlite"
		guard := func(p sqlguard.Policy, catalog bool) *sqlguard.Guard {
			var c *sqlguard.Catalog
			if catalog {
				c = &sqlguard.Catalog{Database: "db", SearchPath: []string{schema}, Views: []sqlguard.CatalogName{{Schema: schema, Name: "w"}}, EngineDenies: name == "sqlite"}
				if name == "duckdb" || name == "postgres" {
					c.Database = ""
				}
			}
			g, err := sqlguard.New(d, p, c)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		listed := sqlguard.DefaultPolicy()
		listed.Tables.Allow = []string{schema + ".w", schema + ".o"}
		denied := sqlguard.DefaultPolicy()
		denied.Tables.Deny = []string{schema + ".u"}
		for _, p := range []sqlguard.Policy{listed, denied} {
			g := guard(p, true)
			for sql, want := range map[string]bool{
				"EXPLAIN SELECT id FROM w": !shows, "EXPLAIN SELECT o.id FROM o JOIN w ON o.id = w.id": !shows,
				"EXPLAIN SELECT id FROM o WHERE id IN (SELECT id FROM w)": !shows,
				"EXPLAIN SELECT id FROM o":                                true, "SELECT id FROM w": true, "EXPLAIN SELECT 1": true,
				"EXPLAIN WITH w AS (SELECT 1 AS id) SELECT id FROM w": true,
			} {
				if v := g.Check(sql); v.Allowed != want || !want && (v.Code != sqlguard.CodeRelationNotAllowed || v.Findings[0].Hint == "") {
					t.Errorf("%s: %s: %v %+v", name, sql, v.Allowed, v.Findings)
				}
			}
			// Without a server every relation may be a view.
			if v := guard(p, false).Check("EXPLAIN SELECT id FROM " + schema + ".o"); v.Allowed != !shows || shows && v.Code != sqlguard.CodeUnresolvedObject {
				t.Errorf("%s without a server: %v %+v", name, v.Allowed, v.Findings)
			}
		}
		if v := guard(sqlguard.DefaultPolicy(), true).Check("EXPLAIN SELECT id FROM w"); !v.Allowed {
			t.Errorf("%s without rules: %+v", name, v.Findings)
		}
	}
	for name, forms := range map[string][]string{
		"mysql":   {"EXPLAIN FORMAT=JSON SELECT id FROM w", "DESC SELECT id FROM w", "EXPLAIN ANALYZE SELECT id FROM w", "EXPLAIN (SELECT id FROM w) UNION SELECT id FROM o"},
		"mariadb": {"ANALYZE SELECT id FROM w", "ANALYZE FORMAT=JSON SELECT id FROM w", "EXPLAIN EXTENDED SELECT id FROM w"},
		"clickhouse": {
			"EXPLAIN indexes = 1 SELECT id FROM w", "EXPLAIN QUERY TREE SELECT id FROM w", "SELECT explain FROM (EXPLAIN SELECT id FROM w)",
			"SELECT id FROM o WHERE id IN (SELECT explain FROM (EXPLAIN PLAN SELECT id FROM w))",
		},
		"duckdb": {"EXPLAIN ANALYZE SELECT id FROM w", "EXPLAIN (FORMAT json) FROM w"},
	} {
		d, _ := dialects.Lookup(name)
		p := sqlguard.DefaultPolicy()
		p.Tables.Deny = []string{schemas[name] + ".u"}
		c := &sqlguard.Catalog{Database: "db", SearchPath: []string{schemas[name]}, Views: []sqlguard.CatalogName{{Schema: schemas[name], Name: "w"}}}
		if name == "duckdb" {
			c.Database = ""
		}
		g, err := sqlguard.New(d, p, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range forms {
			if v := g.Check(sql); v.Allowed || v.Code != sqlguard.CodeRelationNotAllowed {
				t.Errorf("%s: %s: %v %+v", name, sql, v.Allowed, v.Findings)
			}
		}
	}
}

// TestValuesOfOldRows: what the rows have that are older than a column is a value of theirs.
func TestValuesOfOldRows(t *testing.T) {
	t.Parallel()
	for name, sqls := range map[string][]string{
		"postgres": {
			"SELECT attmissingval FROM pg_attribute", "SELECT * FROM pg_attribute", "TABLE pg_catalog.pg_attribute", "SELECT to_json(a) FROM pg_attribute AS a",
			"SELECT (a).attmissingval FROM pg_attribute AS a", "SELECT count(*) FROM pg_attribute WHERE attmissingval::text = '{x}'",
		},
		"mysql": {"SELECT DEFAULT_VALUE FROM information_schema.INNODB_COLUMNS", "SELECT * FROM information_schema.innodb_columns"},
	} {
		d, _ := dialects.Lookup(name)
		for _, ruled := range []bool{false, true} {
			p := sqlguard.DefaultPolicy()
			p.Reveal = sqlguard.Groups()
			if ruled {
				p.Columns = []sqlguard.ColumnRule{{Match: "public.users.email"}}
			}
			g, err := sqlguard.New(d, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, sql := range sqls {
				if v := g.Check(sql); v.Allowed == ruled || ruled && v.Code != sqlguard.CodeColumnNotAllowed {
					t.Errorf("%s: %s with rules %v: %v %+v", name, sql, ruled, v.Allowed, v.Findings)
				}
			}
			for _, sql := range map[string][]string{
				"postgres": {"SELECT c.*, a.attname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid", "SELECT attname, atthasmissing FROM pg_attribute"},
				"mysql":    {"SELECT NAME, HAS_DEFAULT FROM information_schema.INNODB_COLUMNS"},
			}[name] {
				if v := g.Check(sql); !v.Allowed {
					t.Errorf("%s: %s with rules %v: %+v", name, sql, ruled, v.Findings)
				}
			}
		}
	}
}

// TestKeptRows: rules of access refuse relations in which a server or an extension keeps rows of
// other tables, which no rule names.
func TestKeptRows(t *testing.T) {
	t.Parallel()
	for name, names := range map[string][]string{
		"postgres": {
			"_timescaledb_internal._hyper_1_2_chunk", "_hyper_1_2_chunk", "_timescaledb_internal.compress_hyper_2_3_chunk", `"_timescaledb_internal"._compressed_hypertable_2`,
			"_timescaledb_catalog.chunk_column_stats", "_timescaledb_catalog.dimension_slice", "timescaledb_information.chunks", "columnar.chunk", "COLUMNAR_INTERNAL.chunk",
		},
		"postgres:timescale": {"_timescaledb_internal._hyper_1_2_chunk"},
		"duckdb":             {"fts_main_docs.dict", "FTS_main_docs.Terms", "fts_main_docs.docs"},
		"sqlserver": {
			"cdc.dbo_users_CT", "[CDC].[dbo_users_ct]", "dbo.MSSQL_TemporalHistoryFor_1525580473", "dbo.MSSQL_LedgerHistoryFor_1525580473", "dbo.MSSQL_DroppedLedgerTable_t_1",
		},
	} {
		d, ok := dialects.Lookup(name)
		if !ok {
			t.Fatal(name)
		}
		plain, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
		if err != nil {
			t.Fatal(err)
		}
		p := sqlguard.DefaultPolicy()
		p.Reveal, p.Tables.Deny, p.SearchPath = sqlguard.Groups(), []string{"x.users"}, []string{"x"}
		if name == "sqlserver" || name == "duckdb" {
			p.SearchPath = nil
		}
		ruled, err := sqlguard.New(d, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, relation := range names {
			sql := "SELECT * FROM " + relation
			if v := ruled.Check(sql); v.Allowed || v.Code != sqlguard.CodeRelationNotAllowed {
				t.Errorf("%s: %s: %v %+v", name, sql, v.Allowed, v.Findings)
			}
			if v := plain.Check(sql); !v.Allowed {
				t.Errorf("%s: %s without rules: %+v", name, sql, v.Findings)
			}
		}
		for _, relation := range map[string][]string{
			"postgres":  {"timescaledb_information.hypertables", "_timescaledb_internal._materialized_hypertable_2", "x.chunk", "x.dimension_slice", "x._hyper_chunks"},
			"duckdb":    {"main.dict", "fts.docs"},
			"sqlserver": {"cdc.captured_columns", "dbo.visits_ct"},
		}[name] {
			if v := ruled.Check("SELECT id FROM " + relation); !v.Allowed {
				t.Errorf("%s: %s: %+v", name, relation, v.Findings)
			}
		}
	}
}
