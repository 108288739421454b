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
		Closed: []string{"postgis_raster"},
	})
	for _, sql := range []string{
		"SELECT time_bucket('1 day', ts), first(v, ts), last(v, ts) FROM m GROUP BY 1", "SELECT hll_cardinality(hll_union_agg(h)) FROM m",
		"SELECT h3_cell_to_parent(h3_lat_lng_to_cell(p, 9), 5) FROM m", "SELECT tdigest_percentile(v, 100, 0.95) FROM m",
		"SELECT (st_metadata(rast)).*, st_width(rast) FROM dem", "SELECT hypertable_size('m')", "SELECT topology.gettopologyname(1)",
		"SELECT st_value(rast, 1, 1), (st_summarystats(rast, 1, true)).mean, (st_valuecount(rast)).* FROM dem", "SELECT st_clip(st_union(rast), g) FROM dem",
		"SELECT (st_quantile(rast, ARRAY[0.1, 0.9])).* FROM dem", "SELECT topology.st_getfacegeometry('t', 1), topology.getnodebypoint('t'::text, p, 0) FROM m",
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
		"SELECT st_count('dem', 'rast')":                        sqlguard.CodeDynamicSQL,
		"SELECT st_valuecount(a, b) FROM m":                     sqlguard.CodeDynamicSQL,
		"SELECT st_aspng(rast) FROM dem":                        sqlguard.CodeFunctionFileAccess,
		"SELECT st_asraster(g, 60000, 60000, '8BUI') FROM m":    sqlguard.CodeFunctionNotAllowed,
		"SELECT st_mapalgebra(rast, 1, NULL, '1') FROM dem":     sqlguard.CodeDynamicSQL,
		"SELECT st_rastfromhexwkb('00')":                        sqlguard.CodeFunctionFileAccess,
		"SELECT hll_set_defaults(11, 5, -1, 1)":                 sqlguard.CodeFunctionSideEffect,
		"SELECT public.hll_set_defaults(11, 5, -1, 1)":          sqlguard.CodeFunctionSideEffect,
		"SELECT public.st_transform(g, '+proj=x +nadgrids=/f')": sqlguard.CodeFunctionNotAllowed,
		"SELECT topology.createtopology('t')":                   sqlguard.CodeFunctionSideEffect,
		"SELECT topology.st_getfacegeometry(t, 1) FROM m":       sqlguard.CodeFunctionNotAllowed,
		"SELECT topology.st_addisonode('t', 1, g) FROM m":       sqlguard.CodeFunctionNotAllowed,
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

// TestRasterFiles: where a raster may name a file, nothing that may read its pixels passes.
func TestRasterFiles(t *testing.T) {
	t.Parallel()
	guard := func(p sqlguard.Policy, closed ...string) *sqlguard.Guard {
		t.Helper()
		g, err := sqlguard.New(postgres.Dialect{}, p, &sqlguard.Catalog{
			SearchPath: []string{"public"}, Extensions: []string{"postgis", "postgis_raster", "postgis_topology"},
			ExtensionSchemas: map[string]string{"postgis": "public", "postgis_raster": "public", "postgis_topology": "topology"}, Closed: closed,
		})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	open, closed := guard(sqlguard.DefaultPolicy()), guard(sqlguard.DefaultPolicy(), "postgis_raster")
	for _, sql := range []string{
		"SELECT st_value(rast, 1, 1) FROM dem", "SELECT public.st_value(rast, 1, 1) FROM dem", "SELECT st_count(rast) FROM dem",
		"SELECT st_union(rast) FROM dem", "SELECT dem.st_polygon FROM dem", "SELECT (rast).st_count FROM dem", "SELECT st_asbinary(rast, true) FROM dem",
		"SELECT st_intersects(rast, 1, g) FROM dem", "SELECT st_transform('0100', 3857) FROM dem",
	} {
		if v := open.Check(sql); v.Code != sqlguard.CodeFunctionFileAccess {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
		if v := closed.Check(sql); !v.Allowed {
			t.Errorf("%s where no raster names a file: %+v", sql, v.Findings)
		}
	}
	for _, sql := range []string{
		"SELECT st_union(g::geometry), st_transform(g::public.geometry, 3857) FROM m", "SELECT st_width(rast) FROM dem",
		"SELECT * FROM a JOIN b ON st_intersects(a.g, b.g) AND st_dwithin(a.g, b.g, 10)",
	} {
		if v := open.Check(sql); !v.Allowed {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
	}
	p := sqlguard.DefaultPolicy()
	p.Columns = []sqlguard.ColumnRule{{Match: "city.node.geom"}}
	if v := guard(p).Check("SELECT topology.getnodebypoint('city', 'POINT(0 0)', 0)"); v.Allowed {
		t.Error("a topology's function reads a denied column")
	}
	p = sqlguard.DefaultPolicy()
	p.Schemas = sqlguard.Names{Allow: []string{"public"}}
	if v := guard(p).Check("SELECT topology.getnodebypoint('city', 'POINT(0 0)', 0)"); v.Code != sqlguard.CodeRelationNotAllowed {
		t.Errorf("a topology's function reads another schema: %+v", v.Findings)
	}
}
