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
