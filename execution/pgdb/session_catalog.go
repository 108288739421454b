package pgdb

// The queries that load the objects of a database, in addition to catalogSQL.
// Objects that come with the server have OIDs below 16384
// (FirstNormalObjectId). Temporary objects belong to other sessions. They are
// left out, together with their schemas.
const (
	// The extensions of the database with their schemas; PostGIS raster as closed when its
	// values cannot name files (its library has to be loaded for that, because the server's
	// environment may permit it too); the functions that row.name can call with the row; and
	// the generated columns with each column that their
	// expressions contain. Servers before version 15 record that for the
	// column, later ones for the expression.
	factsSQL = `SELECT 'extension' AS kind, e.extname::pg_catalog.text, n.nspname::pg_catalog.text, '', ''
FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
UNION ALL
SELECT 'closed', e.extname::pg_catalog.text, '', '', ''
FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
	JOIN pg_catalog.pg_proc AS p ON p.pronamespace OPERATOR(pg_catalog.=) n.oid AND p.proname OPERATOR(pg_catalog.=) 'postgis_raster_lib_version' AND p.pronargs OPERATOR(pg_catalog.=) 0
WHERE CASE WHEN e.extname OPERATOR(pg_catalog.=) 'postgis_raster' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
	THEN pg_catalog.query_to_xml(pg_catalog.format('SELECT CASE WHEN %I.postgis_raster_lib_version() IS NOT NULL THEN pg_catalog.current_setting(''postgis.enable_outdb_rasters'', true) END AS closed', n.nspname), true, true, '')::pg_catalog.text
		OPERATOR(pg_catalog.~~) '%<closed>off</closed>%' END
UNION ALL
SELECT DISTINCT 'row', p.proname::pg_catalog.text, '', '', ''
FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) p.proargtypes[0]
WHERE p.oid OPERATOR(pg_catalog.>=) 16384 AND p.pronargs OPERATOR(pg_catalog.-) p.pronargdefaults OPERATOR(pg_catalog.<=) 1 AND t.typtype OPERATOR(pg_catalog.=) ANY (ARRAY['c', 'd', 'p']::pg_catalog."char"[])
UNION ALL
SELECT DISTINCT 'generated', n.nspname::pg_catalog.text, c.relname::pg_catalog.text, a.attname::pg_catalog.text, f.attname::pg_catalog.text
FROM pg_catalog.pg_attribute AS a
	JOIN pg_catalog.pg_attrdef AS e ON e.adrelid OPERATOR(pg_catalog.=) a.attrelid AND e.adnum OPERATOR(pg_catalog.=) a.attnum
	JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
	JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
	JOIN pg_catalog.pg_depend AS d ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
		AND d.refobjid OPERATOR(pg_catalog.=) a.attrelid AND d.refobjsubid OPERATOR(pg_catalog.<>) 0 AND d.refobjsubid OPERATOR(pg_catalog.<>) a.attnum
		AND (d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND d.objid OPERATOR(pg_catalog.=) e.oid
			OR d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid OPERATOR(pg_catalog.=) a.attrelid AND d.objsubid OPERATOR(pg_catalog.=) a.attnum)
	JOIN pg_catalog.pg_attribute AS f ON f.attrelid OPERATOR(pg_catalog.=) a.attrelid AND f.attnum OPERATOR(pg_catalog.=) d.refobjsubid
WHERE a.attgenerated OPERATOR(pg_catalog.<>) '' AND c.relpersistence OPERATOR(pg_catalog.<>) 't' AND NOT a.attisdropped
ORDER BY 1, 2, 3, 4, 5`
	// One row for each system table that the other queries read: its number of
	// rows, and the sum of hashes of the transactions that wrote them. A row
	// that was changed or replaced was written by a new transaction. The sum
	// needs hashes, because the plain numbers of transactions that end in
	// another order than they began can have the same sum. For pg_class, the
	// hash is over the values, because TRUNCATE writes there; a new name or
	// schema of a relation is also written to pg_type.
	fingerprintSQL = catalogParts + `
SELECT 'pg_namespace', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(n.xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_namespace AS n JOIN own ON own.oid OPERATOR(pg_catalog.=) n.oid
UNION ALL
SELECT 'pg_language', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_language
UNION ALL
SELECT 'pg_extension', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_extension
UNION ALL
SELECT 'pg_depend', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_depend WHERE refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass AND deptype OPERATOR(pg_catalog.=) 'e'
UNION ALL
SELECT 'pg_type', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(t.xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_type AS t JOIN own ON own.oid OPERATOR(pg_catalog.=) t.typnamespace WHERE t.oid OPERATOR(pg_catalog.>=) 16384
UNION ALL
SELECT 'pg_constraint', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_constraint WHERE contypid OPERATOR(pg_catalog.<>) 0 OR contype OPERATOR(pg_catalog.=) 'c'
UNION ALL
SELECT 'pg_proc', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(p.xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_proc AS p JOIN own ON own.oid OPERATOR(pg_catalog.=) p.pronamespace WHERE p.oid OPERATOR(pg_catalog.>=) 16384
UNION ALL
SELECT 'pg_aggregate', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_aggregate WHERE aggfnoid::pg_catalog.oid OPERATOR(pg_catalog.>=) 16384
UNION ALL
SELECT 'pg_operator', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_operator WHERE oid OPERATOR(pg_catalog.>=) 16384
UNION ALL
SELECT 'pg_cast', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_cast WHERE oid OPERATOR(pg_catalog.>=) 16384
UNION ALL
SELECT 'pg_class', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashtextextended(pg_catalog.concat(c.oid, ' ', c.relnamespace, ' ', c.relkind, ' ', c.relrowsecurity, ' ', c.relname), 0))
FROM relations AS c
UNION ALL
SELECT 'pg_attribute', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(a.xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_attribute AS a JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) a.attrelid WHERE a.attnum OPERATOR(pg_catalog.>) 0
UNION ALL
SELECT 'pg_inherits', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(i.xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_inherits AS i JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) i.inhrelid
UNION ALL
SELECT 'pg_rewrite', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(r.xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_rewrite AS r JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) r.ev_class WHERE r.ev_type OPERATOR(pg_catalog.=) '1'
UNION ALL
SELECT 'pg_index', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(i.xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_index AS i JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) i.indrelid
WHERE i.indexprs IS NOT NULL OR i.indpred IS NOT NULL OR 16384 OPERATOR(pg_catalog.<=) ANY (i.indclass::pg_catalog.oid[])
UNION ALL
SELECT 'pg_partitioned_table', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(p.xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_partitioned_table AS p JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) p.partrelid
UNION ALL
SELECT 'pg_statistic_ext', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(s.xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_statistic_ext AS s JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) s.stxrelid
UNION ALL
SELECT 'pg_policy', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_policy
UNION ALL
SELECT 'pg_opclass', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_opclass WHERE oid OPERATOR(pg_catalog.>=) 16384
UNION ALL
SELECT 'pg_amproc', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_amproc WHERE oid OPERATOR(pg_catalog.>=) 16384
UNION ALL
SELECT 'pg_amop', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashint8extended(xmin::pg_catalog.text::pg_catalog.int8, 0))
FROM pg_catalog.pg_amop WHERE oid OPERATOR(pg_catalog.>=) 16384`

	catalogParts = `WITH own AS (
	SELECT oid, nspname FROM pg_catalog.pg_namespace
	WHERE NOT pg_catalog.starts_with(nspname::pg_catalog.text, 'pg_temp_') AND NOT pg_catalog.starts_with(nspname::pg_catalog.text, 'pg_toast')
), relations AS (
	SELECT c.oid, c.relnamespace, c.relkind, c.relname, c.relrowsecurity, own.nspname
	FROM pg_catalog.pg_class AS c JOIN own ON own.oid OPERATOR(pg_catalog.=) c.relnamespace
	WHERE c.oid OPERATOR(pg_catalog.>=) 16384 AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,m,f,S,c}'::pg_catalog."char"[])
), columns AS (
	SELECT a.attrelid, pg_catalog.json_agg(a.attname ORDER BY a.attnum) AS names,
		pg_catalog.string_agg(a.atttypid::pg_catalog.text, ' ' ORDER BY a.attnum) AS types
	FROM pg_catalog.pg_attribute AS a JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
	WHERE a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
	GROUP BY a.attrelid
), members AS (
	SELECT d.classid, d.objid, e.extname
	FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_extension AS e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
	WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype OPERATOR(pg_catalog.=) 'e'
)`

	// The names of all types, because columns and arguments also have types of
	// the server, and the facts of the types to be listed. Shell types, arrays,
	// row types of relations and the server's own types are not listed. The
	// columns are in the order of the constants for types in objects.go.
	catalogTypesHead = catalogParts + `, checks AS (
	SELECT k.contypid, pg_catalog.json_agg(pg_catalog.pg_get_constraintdef(k.oid) ORDER BY k.oid) AS texts
	FROM pg_catalog.pg_constraint AS k
	WHERE k.contypid OPERATOR(pg_catalog.<>) 0 AND k.contype OPERATOR(pg_catalog.=) 'c' GROUP BY k.contypid
), ranges AS (
	SELECT u.rngtypid, pg_catalog.json_agg(pg_catalog.json_build_array(fn.nspname, f.proname) ORDER BY f.oid) AS runs
	FROM (
		SELECT rngtypid, rngcanonical::pg_catalog.oid FROM pg_catalog.pg_range
		UNION SELECT rngtypid, rngsubdiff::pg_catalog.oid FROM pg_catalog.pg_range
		UNION SELECT r.rngtypid, ap.amproc::pg_catalog.oid
		FROM pg_catalog.pg_range AS r JOIN pg_catalog.pg_opclass AS oc ON oc.oid OPERATOR(pg_catalog.=) r.rngsubopc
			JOIN pg_catalog.pg_amproc AS ap ON ap.amprocfamily OPERATOR(pg_catalog.=) oc.opcfamily
	) AS u (rngtypid, function) JOIN pg_catalog.pg_proc AS f ON f.oid OPERATOR(pg_catalog.=) u.function
		JOIN pg_catalog.pg_namespace AS fn ON fn.oid OPERATOR(pg_catalog.=) f.pronamespace
	WHERE fn.nspname OPERATOR(pg_catalog.<>) 'pg_catalog' OR f.oid OPERATOR(pg_catalog.>=) 16384
	GROUP BY u.rngtypid
)
SELECT t.oid, n.nspname, t.typname,
	CASE WHEN t.oid OPERATOR(pg_catalog.>=) 16384 AND own.oid IS NOT NULL AND t.typisdefined AND e.oid IS NULL
		AND (t.typrelid OPERATOR(pg_catalog.=) 0 OR c.relkind OPERATOR(pg_catalog.=) 'c') THEN t.typtype END,
	m.extname,
	checks.texts, ranges.runs,
	columns.names, columns.types, `
	catalogTypesTail = `
FROM pg_catalog.pg_type AS t
	JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
	LEFT JOIN own ON own.oid OPERATOR(pg_catalog.=) t.typnamespace
	LEFT JOIN pg_catalog.pg_type AS e ON e.typarray OPERATOR(pg_catalog.=) t.oid
	LEFT JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) t.typrelid
	LEFT JOIN columns ON columns.attrelid OPERATOR(pg_catalog.=) c.oid AND c.relkind OPERATOR(pg_catalog.=) 'c'
	LEFT JOIN members AS m ON m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass AND m.objid OPERATOR(pg_catalog.=) t.oid
	LEFT JOIN pg_catalog.pg_range AS r ON r.rngtypid OPERATOR(pg_catalog.=) t.oid
	LEFT JOIN ranges ON ranges.rngtypid OPERATOR(pg_catalog.=) t.oid
	LEFT JOIN checks ON checks.contypid OPERATOR(pg_catalog.=) t.oid`
	catalogTypesSQL = catalogTypesHead + `COALESCE(r.rngsubtype, s.rngtypid, t.typbasetype)` + catalogTypesTail + `
	LEFT JOIN pg_catalog.pg_range AS s ON s.rngmultitypid OPERATOR(pg_catalog.=) t.oid`
	// Servers before version 14 have no multiranges, and store function bodies
	// only as text.
	catalogTypesOldSQL = catalogTypesHead + `COALESCE(r.rngsubtype, t.typbasetype)` + catalogTypesTail

	// The columns are in the order of the constants for functions in
	// objects.go.
	catalogFunctionsHead = catalogParts + `
SELECT own.nspname, p.proname, p.prokind, p.provolatile, p.prosecdef, l.lanname, m.extname, p.proargtypes, p.pronargdefaults, pg_catalog.concat_ws(' ', p.prorettype, (
		SELECT pg_catalog.concat_ws(' ', a.aggtranstype, CASE WHEN a.aggmtranstype OPERATOR(pg_catalog.<>) 0 THEN a.aggmtranstype END)
		FROM pg_catalog.pg_aggregate AS a WHERE a.aggfnoid::pg_catalog.oid OPERATOR(pg_catalog.=) p.oid
	)), p.proallargtypes, p.proargmodes,
	p.provariadic OPERATOR(pg_catalog.<>) 0, pg_catalog.array_to_json(p.proconfig), pg_catalog.pg_get_expr(p.proargdefaults, 0), (
		SELECT pg_catalog.json_agg(pg_catalog.json_build_array(rn.nspname, r.proname) ORDER BY rn.nspname, r.proname)
		FROM pg_catalog.pg_aggregate AS a, pg_catalog.pg_proc AS r JOIN pg_catalog.pg_namespace AS rn ON rn.oid OPERATOR(pg_catalog.=) r.pronamespace
		WHERE a.aggfnoid::pg_catalog.oid OPERATOR(pg_catalog.=) p.oid
			AND r.oid OPERATOR(pg_catalog.=) ANY (ARRAY[a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn,
				a.aggdeserialfn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn]::pg_catalog.oid[])
	), CASE WHEN l.lanname OPERATOR(pg_catalog.=) 'sql' THEN `
	catalogFunctionsTail = ` END, p.oid
FROM pg_catalog.pg_proc AS p JOIN own ON own.oid OPERATOR(pg_catalog.=) p.pronamespace
	JOIN pg_catalog.pg_language AS l ON l.oid OPERATOR(pg_catalog.=) p.prolang
	LEFT JOIN members AS m ON m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass AND m.objid OPERATOR(pg_catalog.=) p.oid
WHERE p.oid OPERATOR(pg_catalog.>=) 16384`

	catalogFunctionsSQL    = catalogFunctionsHead + `COALESCE(pg_catalog.pg_get_function_sqlbody(p.oid), p.prosrc)` + catalogFunctionsTail
	catalogFunctionsOldSQL = catalogFunctionsHead + `p.prosrc` + catalogFunctionsTail

	// The columns are in the order that objectLoader.operator reads. Shell
	// operators have no function.
	catalogOperatorsSQL = catalogParts + `
SELECT own.nspname, o.oprname, o.oprleft, o.oprright, pn.nspname, p.proname, cn.nspname, oc.oprname, nn.nspname, op.oprname, m.extname, o.oid, p.oid
FROM pg_catalog.pg_operator AS o JOIN own ON own.oid OPERATOR(pg_catalog.=) o.oprnamespace
	JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) o.oprcode::pg_catalog.oid
	JOIN pg_catalog.pg_namespace AS pn ON pn.oid OPERATOR(pg_catalog.=) p.pronamespace
	LEFT JOIN pg_catalog.pg_operator AS oc ON oc.oid OPERATOR(pg_catalog.=) o.oprcom
	LEFT JOIN pg_catalog.pg_namespace AS cn ON cn.oid OPERATOR(pg_catalog.=) oc.oprnamespace
	LEFT JOIN pg_catalog.pg_operator AS op ON op.oid OPERATOR(pg_catalog.=) o.oprnegate
	LEFT JOIN pg_catalog.pg_namespace AS nn ON nn.oid OPERATOR(pg_catalog.=) op.oprnamespace
	LEFT JOIN members AS m ON m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_operator'::pg_catalog.regclass AND m.objid OPERATOR(pg_catalog.=) o.oid
WHERE o.oid OPERATOR(pg_catalog.>=) 16384`

	// The columns are in the order that objectLoader.cast reads.
	catalogCastsSQL = catalogParts + `
SELECT c.castsource, c.casttarget, pn.nspname, p.proname, c.castcontext, m.extname
FROM pg_catalog.pg_cast AS c LEFT JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) c.castfunc
	LEFT JOIN pg_catalog.pg_namespace AS pn ON pn.oid OPERATOR(pg_catalog.=) p.pronamespace
	LEFT JOIN members AS m ON m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_cast'::pg_catalog.regclass AND m.objid OPERATOR(pg_catalog.=) c.oid
WHERE c.oid OPERATOR(pg_catalog.>=) 16384`

	// The columns are in the order that objectLoader.relation reads.
	catalogRelationsSQL = catalogParts + `
SELECT c.oid, c.nspname, c.relname, c.relkind, m.extname, columns.names, columns.types,
	CASE WHEN c.relkind OPERATOR(pg_catalog.=) ANY ('{v,m}'::pg_catalog."char"[]) THEN pg_catalog.pg_get_viewdef(c.oid) END
FROM relations AS c LEFT JOIN columns ON columns.attrelid OPERATOR(pg_catalog.=) c.oid
	LEFT JOIN members AS m ON m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND m.objid OPERATOR(pg_catalog.=) c.oid
WHERE c.relkind OPERATOR(pg_catalog.<>) 'c'`

	// Each relation with a relation that inherits from it.
	catalogInheritsSQL = catalogParts + `
SELECT i.inhparent, i.inhrelid FROM pg_catalog.pg_inherits AS i JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) i.inhrelid`
)
