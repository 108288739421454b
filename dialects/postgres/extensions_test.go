package postgres_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestExtensionsThatTheServerTells: functions of some extensions pass only when the server
// told that it has the extension, and with a schema only with that of the extension.
func TestExtensionsThatTheServerTells(t *testing.T) {
	t.Parallel()
	guard := func(p sqlguard.Policy, c *sqlguard.Catalog) *sqlguard.Guard {
		t.Helper()
		g, err := sqlguard.New(postgres.Dialect{}, p, c)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	p := sqlguard.DefaultPolicy()
	alone := guard(p, nil)
	bare := guard(p, &sqlguard.Catalog{SearchPath: []string{"public"}, Extensions: []string{}})
	told := guard(p, &sqlguard.Catalog{
		SearchPath: []string{"public"},
		Extensions: []string{"timescaledb", "hll", "h3", "tdigest", "postgis", "postgis_raster", "postgis_topology", "uuid-ossp", "vector"},
		ExtensionSchemas: map[string]string{
			"timescaledb": "public", "hll": "public", "h3": "public", "tdigest": "public", "postgis": "public", "postgis_raster": "public",
			"postgis_topology": "topology", "uuid-ossp": "extensions", "vector": "extensions",
		},
	})
	for _, sql := range []string{
		"SELECT time_bucket('1 day', ts), first(v, ts), last(v, ts) FROM m GROUP BY 1", "SELECT hll_cardinality(hll_union_agg(h)) FROM m",
		"SELECT h3_cell_to_parent(h3_lat_lng_to_cell(p, 9), 5) FROM m", "SELECT tdigest_percentile(v, 100, 0.95) FROM m",
		"SELECT (st_metadata(rast)).*, st_width(rast) FROM dem", "SELECT hypertable_size('m')", "SELECT topology.gettopologyname(1)",
		"SELECT extensions.uuid_generate_v4()", "SELECT public.time_bucket('1 day', ts) FROM m", "SELECT extensions.vector_norm(v) FROM m",
		"SELECT public.st_transform(g, 4326) FROM m",
	} {
		if v := told.Check(sql); !v.Allowed {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
		if alone.Check(sql).Allowed || bare.Check(sql).Allowed {
			t.Errorf("%s passes where no server has the extension", sql)
		}
	}
	for sql, code := range map[string]sqlguard.Code{
		"SELECT uuid_generate_v4()":                             sqlguard.CodeUnresolvedObject, // extensions is not searched
		"SELECT gettopologyname(1)":                             sqlguard.CodeUnresolvedObject,
		"SELECT other.uuid_generate_v4()":                       sqlguard.CodeFunctionNotAllowed,
		"SELECT public.vector_norm(v) FROM m":                   sqlguard.CodeFunctionNotAllowed,
		"SELECT st_value(rast, 1, 1) FROM dem":                  sqlguard.CodeFunctionNotAllowed,
		"SELECT st_mapalgebra(rast, 1, NULL, '1') FROM dem":     sqlguard.CodeDynamicSQL,
		"SELECT st_rastfromhexwkb('00')":                        sqlguard.CodeFunctionFileAccess,
		"SELECT hll_set_defaults(11, 5, -1, 1)":                 sqlguard.CodeFunctionSideEffect,
		"SELECT public.hll_set_defaults(11, 5, -1, 1)":          sqlguard.CodeFunctionSideEffect,
		"SELECT public.st_transform(g, '+proj=x +nadgrids=/f')": sqlguard.CodeFunctionNotAllowed,
		"SELECT topology.createtopology('t')":                   sqlguard.CodeFunctionSideEffect,
		"SELECT topology.st_getfacegeometry('t', 1)":            sqlguard.CodeFunctionNotAllowed,
		"SELECT create_hypertable('m', 'ts')":                   sqlguard.CodeFunctionSideEffect,
		"SELECT add_retention_policy('m', interval '1 day')":    sqlguard.CodeFunctionSideEffect,
	} {
		if v := told.Check(sql); v.Allowed || v.Code != code {
			t.Errorf("%s: %s, want %s: %+v", sql, v.Code, code, v.Findings)
		}
	}
	p.Functions.Allow = []string{"public.first"}
	if v := guard(p, nil).Check("SELECT first(v) FROM m"); !v.Allowed {
		t.Errorf("a function of the operator's list that has the name of an extension's: %+v", v.Findings)
	}
}
