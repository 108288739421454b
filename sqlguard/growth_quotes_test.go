package sqlguard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

// TestQuotes: the text of a list, a row or a document hides the quotes in it. Where such a text
// is put into another one, and that again, each level is twice as long: PostgreSQL 15.18 made
// 50 MB of 24 levels in a second, and of 26 it ended none within two seconds of its limit.
func TestQuotes(t *testing.T) {
	t.Parallel()
	judge := func(sql string, allowed bool) {
		v := checkOnce(t, "postgres", sql)
		if v.Allowed != allowed || !allowed && v.Code != sqlguard.CodeInputTooLarge {
			t.Errorf("%s\nallowed %v: %+v", sql, v.Allowed, v.Findings)
		}
	}
	for _, level := range [][3]string{ // what stands before, behind and in the middle
		{`ARRAY[`, `]::text`, `'"'`},
		{`CAST(ARRAY[`, `] AS text)`, `'"'`},
		{`ROW(`, `)::text`, `'"'`},
		{`jsonb_build_array(`, `)::text`, `'"'`},
		{`json_build_object('k', `, `)::text`, `'"'`},
		{`(json_build_array(`, `)#>>'{}')`, `'"'`},
		{`format('%L', `, `)`, `''''`},
		{`quote_ident(`, `)`, `'"'`},
		{`array_append('{}'::text[], `, `)::text`, `'"'`},
		{`regexp_match(`, `, '.*')::text`, `'"'`},
		{`concat('', ARRAY[`, `])`, `'"'`},
		{`concat_ws(',', ROW(`, `))`, `'"'`},
		{`('x' || ROW(`, `))`, `'"'`},
		{`(ROW(`, `) || 'x')`, `'"'`},
		{`text(ARRAY[`, `])`, `'"'`},
		{`(SELECT array_agg(x)::text FROM (SELECT `, `) AS t(x))`, `'"'`},
		{`(SELECT t::text FROM (SELECT `, `) AS t(x))`, `'"'`},
		{`(SELECT row_to_json(t)::text FROM (SELECT `, `) AS t(x))`, `'"'`},
	} {
		for levels, allowed := range map[int]bool{3: true, 20: false, 40: false} {
			judge("SELECT length("+strings.Repeat(level[0], levels)+level[2]+strings.Repeat(level[1], levels)+")", allowed)
		}
	}
	for _, step := range []string{"ARRAY[s]::text", "q%d::text", "CAST(ROW(s) AS varchar)"} {
		sql := "WITH q0(s) AS (SELECT '\"'::text)"
		for i := range 30 {
			step := step
			if strings.Contains(step, "%d") {
				step = fmt.Sprintf(step, i)
			}
			sql += fmt.Sprintf(", q%d(s) AS (SELECT %s FROM q%d)", i+1, step, i)
		}
		judge(sql+" SELECT length(s) FROM q30", false)
	}
	for _, sql := range []string{
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT ARRAY[s]::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT CAST(ARRAY[s] AS text), i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT ROW(s)::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT (s, i)::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT to_json(s)::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT jsonb_build_array(s)::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT json_build_object('k',s)::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT ''''::text,1 UNION ALL SELECT quote_literal(s), i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT ''''::text,1 UNION ALL SELECT format('%L',s), i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT row_to_json(c)::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT c::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT array_to_json(array[s])::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT to_jsonb(s)::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT json_object(array['k',s])::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT array_append('{}'::text[], s)::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT string_to_array(s,',')::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT regexp_match(s,'.*')::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT ''''::text,1 UNION ALL SELECT to_tsvector('simple', s)::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(p,i) AS (SELECT path '((0,0))',1 UNION ALL SELECT p+p,i+1 FROM c WHERE i<30) SELECT max(npoints(p)) FROM c`,
		`WITH RECURSIVE c(p,i) AS (SELECT t.p,1 FROM t UNION ALL SELECT c.p+c.p,i+1 FROM c WHERE i<30) SELECT max(npoints(p)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '\'::bytea,1 UNION ALL SELECT encode(s,'escape')::bytea, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT 'a'::bytea,1 UNION ALL SELECT s::text::bytea, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT 'a'::text,1 UNION ALL SELECT encode(s::bytea,'hex'), i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT 'a'::text,1 UNION ALL SELECT convert_to(s,'UTF8')::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(a,b,i) AS (SELECT ARRAY['"'],'"'::text,1 UNION ALL SELECT ARRAY[b], a::text, i+1 FROM c WHERE i<60) SELECT max(length(b)) FROM c`,
		`WITH RECURSIVE c(a,b,d,i) AS (SELECT ARRAY['"'],ARRAY['"'],'"'::text,1 UNION ALL SELECT b, ARRAY[d], a::text, i+1 FROM c WHERE i<60) SELECT max(length(d)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT 'x'||ROW(s), i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT (SELECT array_agg(x)::text FROM (SELECT c.s) t(x)), i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT t.x::text, i+1 FROM c, LATERAL (SELECT ARRAY[c.s]) t(x) WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT t.x, i+1 FROM c, LATERAL (SELECT ARRAY[c.s]::text) t(x) WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT t.x, i+1 FROM c, jsonb_array_elements_text(jsonb_build_array(jsonb_build_array(c.s))) t(x) WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT t::text, i+1 FROM (SELECT s, i FROM c) t WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT d::text, i+1 FROM c AS d WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s) AS (SELECT '"'::text UNION ALL SELECT xpath('/a', ('<a>'||s||'</a>')::xml)::text FROM c) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT t.x, i+1 FROM c, LATERAL (SELECT 1, ARRAY[c.s]::text) t(y,x) WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL (SELECT t.x, i+1 FROM c CROSS JOIN LATERAL (VALUES (ARRAY[c.s]::text)) t(x) WHERE i<40)) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT (SELECT x FROM (SELECT ARRAY[c.s]::text) t(x)), i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL (WITH d AS (SELECT ARRAY[s] AS a, i FROM c) SELECT a::text, i+1 FROM d WHERE i<40)) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL (WITH d AS (SELECT ARRAY[s]::text AS a, i FROM c) SELECT a, i+1 FROM d WHERE i<40)) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL (SELECT d.s, d.i+1 FROM (SELECT ARRAY[s]::text, i FROM c) AS d(s,i) WHERE d.i<40)) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT CASE WHEN true THEN ARRAY[s]::text END, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT (ARRAY[s]::text[])::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT (to_jsonb(ARRAY[s])->0)::text, i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::jsonb,1 UNION ALL SELECT to_jsonb(s::text), i+1 FROM c WHERE i<40) SELECT max(length(s::text)) FROM c`,
		`WITH RECURSIVE c(s,i) AS (SELECT '"'::text,1 UNION ALL SELECT json_build_object('a',s)::json #>> '{}', i+1 FROM c WHERE i<40) SELECT max(length(s)) FROM c`,
	} {
		judge(sql, false)
	}
	for _, sql := range []string{
		`WITH RECURSIVE tree AS (SELECT id, parent_id, name, ARRAY[id] AS path, name::text AS label, 1 AS depth FROM cat WHERE parent_id IS NULL UNION ALL SELECT c.id, c.parent_id, c.name, t.path || c.id, t.label || ' > ' || c.name, t.depth + 1 FROM cat c JOIN tree t ON c.parent_id = t.id WHERE NOT c.id = ANY(t.path)) SELECT * FROM tree ORDER BY path`,
		`WITH RECURSIVE tree AS (SELECT id, ARRAY[id::text] AS path FROM cat UNION ALL SELECT c.id, array_append(t.path, c.id::text) FROM cat c JOIN tree t ON c.parent_id = t.id) SELECT array_to_string(path, '/') FROM tree`,
		`WITH RECURSIVE t AS (SELECT id, parent, id::text AS path FROM n UNION ALL SELECT n.id, n.parent, (t.path || '.' || n.id::text)::text FROM n JOIN t ON n.parent = t.id) SELECT * FROM t`,
		`WITH RECURSIVE t AS (SELECT id, parent, id::text AS path, ARRAY[id] AS seen FROM n UNION ALL SELECT n.id, n.parent, t.path || '.' || t.id::text, array_append(t.seen, n.id) FROM n JOIN t ON n.parent = t.id) SELECT * FROM t`,
		`WITH RECURSIVE t AS (SELECT id, parent, jsonb_build_object('id', id) AS doc FROM n UNION ALL SELECT n.id, n.parent, jsonb_build_object('id', n.id, 'parent', t.doc) FROM n JOIN t ON n.parent = t.id) SELECT doc::text FROM t`,
		`WITH RECURSIVE t(n, f) AS (SELECT 1, 1::numeric UNION ALL SELECT n + 1, f * (n + 1) FROM t WHERE n < 20) SELECT * FROM t`,
		`WITH RECURSIVE t(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM t WHERE b < 1000) SELECT a FROM t`,
		`WITH RECURSIVE t AS (SELECT id, total, total AS run FROM o WHERE prev IS NULL UNION ALL SELECT o.id, o.total, t.run + o.total FROM o JOIN t ON o.prev = t.id) SELECT * FROM t`,
		`WITH RECURSIVE t AS (SELECT acct, bal FROM a UNION ALL SELECT t.acct, t.bal + t.bal * a.rate FROM t JOIN a USING (acct)) SELECT * FROM t`,
		`WITH RECURSIVE dates AS (SELECT date '2024-01-01' AS d UNION ALL SELECT (d + interval '1 day')::date FROM dates WHERE d < '2024-12-31') SELECT d, to_char(d, 'Mon') FROM dates`,
		`WITH RECURSIVE g AS (SELECT src, dst, ARRAY[ROW(src, dst)] AS path, false AS cycle FROM e UNION ALL SELECT e.src, e.dst, path || ROW(e.src, e.dst), ROW(e.src, e.dst) = ANY(path) FROM e JOIN g ON e.src = g.dst AND NOT cycle) SELECT * FROM g`,
		`WITH RECURSIVE bom AS (SELECT part, sub, qty, part::text || '>' || sub::text AS p FROM parts UNION ALL SELECT b.part, x.sub, b.qty * x.qty, concat(b.p, '>', x.sub) FROM bom b JOIN parts x ON x.part = b.sub) SELECT * FROM bom`,
		`WITH RECURSIVE s AS (SELECT id, format('%s', name) AS f FROM c UNION ALL SELECT c.id, format('%s / %s', s.f, c.name) FROM c JOIN s ON c.parent = s.id) SELECT * FROM s`,
		`SELECT concat('a', concat('b', concat('c', concat('d', x)))) || lower('e' || upper('f' || y)) || (CASE WHEN z THEN 'g' ELSE 'h' END) FROM t`,
		`SELECT json_build_object('type','FeatureCollection','features', json_agg(json_build_object('type','Feature','geometry', ST_AsGeoJSON(geom)::json, 'properties', json_build_object('name', name, 'tags', (SELECT json_agg(json_build_object('k', k::text, 'v', v::text)) FROM tags))))) FROM f`,
	} {
		judge(sql, true)
	}
}

// TestQuotesOfJSON: MySQL, SQLite and SQL Server write the quotes of a text into a document as
// \", and those and the backslash of a document in a document again.
func TestQuotesOfJSON(t *testing.T) {
	t.Parallel()
	for _, level := range []struct{ dialect, before, behind string }{
		{"mysql", "CAST(JSON_ARRAY(", ") AS CHAR)"},
		{"mysql", "CONCAT(JSON_OBJECT('a', ", "), '')"},
		{"mysql", "JSON_SET('[]', '$[0]', CAST(", " AS CHAR))"},
		{"mysql", "(SELECT JSON_ARRAYAGG(CAST(x AS CHAR)) FROM (SELECT ", " AS x) AS t)"},
		{"sqlite", "json_array('' || ", ")"},
		{"sqlite", "json_object('a', '' || ", ")"},
		{"sqlite", "json_insert('[]', '$[#]', '' || ", ")"},
		{"sqlite", "(SELECT json_group_array('' || x) FROM (SELECT ", " AS x))"},
		{"sqlite", "printf('%Q', ", ")"},
		{"sqlite", "unistr_quote(", ")"},
		{"sqlserver", "JSON_ARRAY(", ")"},
		{"sqlserver", "JSON_OBJECT('a': ", ")"},
		{"sqlserver", "JSON_MODIFY('{}', '$.a', ", ")"},
	} {
		for levels, allowed := range map[int]bool{4: true, 22: false, 40: false} {
			sql := "SELECT " + strings.Repeat(level.before, levels) + `'"'` + strings.Repeat(level.behind, levels) + " AS x"
			if v := checkOnce(t, level.dialect, sql); v.Allowed != allowed || !allowed && v.Code != sqlguard.CodeInputTooLarge {
				t.Errorf("%s: %s\nallowed %v: %+v", level.dialect, sql, v.Allowed, v.Findings)
			}
		}
	}
	for dialect, sql := range map[string]string{ // what stays as it is
		"mysql":  "WITH RECURSIVE r (id, path) AS (SELECT id, JSON_ARRAY(id) FROM t WHERE parent IS NULL UNION ALL SELECT t.id, JSON_ARRAY_APPEND(r.path, '$', t.id) FROM t JOIN r ON t.parent = r.id) SELECT * FROM r",
		"sqlite": "WITH RECURSIVE r (id, path) AS (SELECT id, json_array(id) FROM t WHERE parent IS NULL UNION ALL SELECT t.id, json_insert(r.path, '$[#]', t.id) FROM t JOIN r ON t.parent = r.id) SELECT * FROM r",
	} {
		if v := checkOnce(t, dialect, sql); !v.Allowed {
			t.Errorf("%s: %s: %+v", dialect, sql, v.Findings)
		}
	}
	sql := "WITH RECURSIVE r (s, i) AS (SELECT 'x', 1 UNION ALL SELECT json_array(s, s), i + 1 FROM r WHERE i < 40) SELECT length(s) FROM r"
	if v := checkOnce(t, "sqlite", sql); v.Allowed {
		t.Errorf("%s is allowed", sql)
	}
}

// TestQuotesElsewhere: the same on DuckDB 1.5.6 and ClickHouse 26.7, of which each refused
// statement grew by a factor of two with each step, and of BigQuery's %T by the manual.
func TestQuotesElsewhere(t *testing.T) {
	t.Parallel()
	const (
		duck  = `WITH RECURSIVE c(s, i) AS (SELECT '"', 1 UNION ALL SELECT %s, i + 1 FROM c WHERE i < 40) SELECT max(length(s)) FROM c`
		click = `WITH RECURSIVE c AS (SELECT '''' AS s, 1 AS i UNION ALL SELECT %s, i + 1 FROM c WHERE i < 40) SELECT max(length(s)) FROM c`
		big   = `WITH RECURSIVE c AS (SELECT '"' AS s, 1 AS i UNION ALL SELECT %s, i + 1 FROM c WHERE i < 40) SELECT MAX(LENGTH(s)) FROM c`
	)
	for _, set := range []struct {
		dialect, form string
		allowed       bool
		steps         []string
	}{
		{"duckdb", duck, false, []string{
			`[s]::VARCHAR`, `CAST([s] AS VARCHAR)`, `TRY_CAST([s] AS VARCHAR)`, `{'k': s}::VARCHAR`, `row(s)::VARCHAR`, `(s, i)::VARCHAR`, `MAP {'k': s}::VARCHAR`, `json_array(s)`, `json_object('k', s)`,
			`array_to_json([s])`, `[s]::JSON`, `c::VARCHAR`, `concat([s])`, `concat_ws(',', [s])`, `format('{}', [s])`, `printf('%s', [s])`, `array_to_string([[s]], ',')`, `string_split(s, ',')::VARCHAR`,
			`list_append([''], s)::VARCHAR`, `CASE WHEN true THEN [s] END::VARCHAR`, `s.list_value()::VARCHAR`, `[#1]::VARCHAR`, `[COLUMNS('s')]::VARCHAR`, `icu_sort_key(s, 'x')`,
			`[s]`, `{'k': s}`, `c`, `list_value(s)`, `string_split(s, ',')`, `(SELECT [c.s])`, `coalesce([s], NULL)`, `parse_path(s)`, `array_push_front(NULL, s)`, // these become texts
		}},
		{"duckdb", `%s`, false, []string{
			`WITH RECURSIVE c(s, i) AS (SELECT ['"'], 1 UNION ALL SELECT [s], i + 1 FROM c WHERE i < 40) SELECT max(length(s::VARCHAR)) FROM c`,
			`WITH RECURSIVE c(s, i) AS (SELECT '"', 1 UNION ALL SELECT t.x, i + 1 FROM c, LATERAL (SELECT [c.s]) t(x) WHERE i < 40) SELECT max(length(s)) FROM c`,
			`WITH RECURSIVE c(s, i) AS (SELECT '"', 1 UNION ALL SELECT [t.x], i + 1 FROM c, LATERAL (SELECT c.s) t(x) WHERE i < 40) SELECT max(length(s)) FROM c`,
			`WITH RECURSIVE c(s, i) AS (SELECT '"', 1 UNION ALL (WITH d AS (SELECT [s] AS a, i FROM c) SELECT a, i + 1 FROM d WHERE i < 40)) SELECT max(length(s)) FROM c`,
			`WITH RECURSIVE c(s, r, i) AS (SELECT '"', '"', 1 UNION ALL SELECT r, [s], i + 1 FROM c WHERE i < 60) SELECT max(length(s)) FROM c`,
			`SELECT list_reduce(list_transform(range(30), x -> '"'), (a, b) -> [a]::VARCHAR)`,
			`SELECT list_reduce(list_transform(range(30), x -> '"'), lambda a, b: [a])`,
		}},
		{"duckdb", `%s`, true, []string{
			`WITH RECURSIVE t AS (SELECT id, [id] AS path, name AS label FROM n UNION ALL SELECT n.id, list_append(t.path, n.id), t.label || ' > ' || n.name FROM n JOIN t ON n.parent = t.id WHERE NOT list_contains(t.path, n.id)) SELECT * FROM t`,
			`WITH RECURSIVE t AS (SELECT id, [id] AS path FROM n UNION ALL SELECT n.id, t.path || [n.id] FROM n JOIN t ON n.parent = t.id) SELECT array_to_string(path, '/') FROM t`,
			`WITH RECURSIVE g AS (SELECT src, dst, [(src, dst)] AS path FROM e UNION ALL SELECT e.src, e.dst, path || [(e.src, e.dst)] FROM e JOIN g ON e.src = g.dst) SELECT * FROM g`,
			`WITH RECURSIVE t AS (SELECT 1 AS id, [1] AS seen UNION ALL SELECT x, list_append(seen, x) FROM t, unnest([t.id * 2, t.id + 1]) AS u(x) WHERE x < 50) SELECT * FROM t`,
			`WITH RECURSIVE t AS (SELECT 1 AS x UNION SELECT (SELECT x + 1 FROM t) AS x FROM t WHERE x < 5) SELECT * FROM t`,
			`WITH RECURSIVE d AS (SELECT DATE '2024-01-01' AS day UNION ALL SELECT (day + INTERVAL 1 DAY)::DATE FROM d WHERE day < DATE '2024-12-31') SELECT strftime(day, '%Y-%m'), count(*) FROM d GROUP BY 1`,
			`WITH RECURSIVE t AS (SELECT id, name, id::VARCHAR AS path FROM n UNION ALL SELECT n.id, n.name, concat(t.path, '/', n.id::VARCHAR) FROM n JOIN t ON n.parent = t.id) SELECT * FROM t`,
			`SELECT list_reduce([[1, 2], [3, 4]], lambda x, y: array_append(x, list_aggregate(y, 'sum')), [0])`,
		}},
		{"clickhouse", click, false, []string{
			`[s]::String`, `CAST([s] AS String)`, `CAST([s], 'String')`, `accurateCast([s], 'String')`, `tuple(s)::String`, `toString(tuple(*))`, `toJSONString(s)`, `toJSONString([s])`, `formatRow('CSV', s)`,
			`format('{}', [s])`, `concat('', [s])`, `concatAssumeInjective('', [s])`, `[s] || ''`, `map('k', s)::String`, `arrayStringConcat([[s]])`, `[s]::Dynamic::String`, `URLHierarchy(s)::String`,
			`CASE WHEN 1 THEN [s]::String END`, `tokenizeQuery(s)::String`, `sparseGrams(s)::String`, `bin(s)`, `regexpQuoteMeta(s)`,
		}},
		{"clickhouse", `SELECT length(arrayFold((a, x) -> %s, range(30), ''''))`, false, []string{`[a]::String`, `CAST([a] AS String)`, `toJSONString(a)`, `formatRow('CSV', a)`, `concat('', [a])`}},
		{"clickhouse", `%s`, true, []string{
			`WITH RECURSIVE t AS (SELECT id, [id] AS path FROM n UNION ALL SELECT n.id, arrayPushBack(t.path, n.id) FROM n JOIN t ON n.parent = t.id) SELECT toString(path) FROM t`,
			`WITH RECURSIVE t AS (SELECT id, name AS label FROM n UNION ALL SELECT n.id, concat(t.label, '/', n.name) FROM n JOIN t ON n.parent = t.id) SELECT toJSONString(label) FROM t`,
			`SELECT arrayFold((a, x) -> a + x, [1, 2, 3], toInt64(0)), arrayFold((a, x) -> concat(a, x), ['a', 'b'], '')`,
		}},
		{"bigquery", big, false, []string{`FORMAT('%%T', s)`, `FORMAT('%%-10T', s)`, `FORMAT('%%t', STRUCT(s))`, `TO_JSON_STRING(s)`}},
		{"bigquery", big, true, []string{`FORMAT('%%s/%%d', s, i)`, `CONCAT(s, 'x')`}},
	} {
		for _, step := range set.steps {
			sql := fmt.Sprintf(set.form, step)
			if set.dialect == "bigquery" {
				sql = strings.ReplaceAll(sql, "%%", "%")
			}
			v := checkOnce(t, set.dialect, sql)
			if v.Allowed != set.allowed || !set.allowed && v.Code != sqlguard.CodeInputTooLarge {
				t.Errorf("%s: %s\nallowed %v: %+v", set.dialect, sql, v.Allowed, v.Findings)
			}
		}
	}
	for dialect, levels := range map[string][]string{
		"duckdb":     {`[%s]::VARCHAR`, `CAST([%s] AS VARCHAR)`, `{'k': %s}::VARCHAR`, `row(%s)::VARCHAR`, `format('{}', [%s])`, `concat([%s])`},
		"clickhouse": {`[%s]::String`, `CAST([%s] AS String)`, `tuple(%s)::String`, `concat('', [%s])`, `format('{}', [%s])`, `toString([%s])`},
		"bigquery":   {`FORMAT('%%T', %s)`},
	} {
		for _, level := range levels {
			text := `'"'`
			for range 24 {
				text = fmt.Sprintf(level, text)
			}
			if v := checkOnce(t, dialect, "SELECT length("+text+")"); v.Allowed || v.Code != sqlguard.CodeInputTooLarge {
				t.Errorf("%s: 24 levels of %s: %+v", dialect, level, v.Findings)
			}
		}
	}
}
