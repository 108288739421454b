package pgdb

// The queries that load the parts of relations that compute something.
// Functions in C and in the server's internal language (languages 12 and 13)
// are not judged, because only a superuser can create them.
const (
	// The operator families in which a user-defined function takes part: the
	// OID of the family, the types that the function compares, and the
	// function.
	catalogFamilies = `, families AS (
	SELECT f.family, f.lefttype, f.righttype, p.oid AS function
	FROM (
		SELECT ap.amprocfamily, ap.amproclefttype, ap.amprocrighttype, ap.amproc::pg_catalog.oid FROM pg_catalog.pg_amproc AS ap
		UNION ALL
		SELECT ao.amopfamily, ao.amoplefttype, ao.amoprighttype, o.oprcode::pg_catalog.oid
		FROM pg_catalog.pg_amop AS ao JOIN pg_catalog.pg_operator AS o ON o.oid OPERATOR(pg_catalog.=) ao.amopopr
	) AS f (family, lefttype, righttype, function) JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) f.function
	WHERE p.oid OPERATOR(pg_catalog.>=) 16384 AND p.prolang OPERATOR(pg_catalog.<>) ALL ('{12,13}'::pg_catalog.oid[])
)`

	// Each type whose values such functions may sort, group or compare without
	// an index that names their family: the type and the functions. The server
	// chooses a family by its default class, or by an operator that is in no
	// family that comes with the server. The methods are btree (403) and hash
	// (405).
	catalogOrdersSQL = catalogParts + catalogFamilies + `
SELECT f.type, pg_catalog.string_agg(DISTINCT f.function::pg_catalog.text, ' ')
FROM (
	SELECT family, function, CASE WHEN righttype OPERATOR(pg_catalog.>=) 16384 THEN righttype ELSE lefttype END AS type FROM families
) AS f JOIN pg_catalog.pg_opfamily AS y ON y.oid OPERATOR(pg_catalog.=) f.family
WHERE y.opfmethod OPERATOR(pg_catalog.=) ANY ('{403,405}'::pg_catalog.oid[]) AND (EXISTS (
		SELECT FROM pg_catalog.pg_opclass AS c WHERE c.opcfamily OPERATOR(pg_catalog.=) y.oid AND c.opcdefault
	) OR EXISTS (
		SELECT FROM pg_catalog.pg_amop AS o WHERE o.amopfamily OPERATOR(pg_catalog.=) y.oid AND NOT EXISTS (
			SELECT FROM pg_catalog.pg_amop AS s
			WHERE s.amopopr OPERATOR(pg_catalog.=) o.amopopr AND s.amopmethod OPERATOR(pg_catalog.=) o.amopmethod AND s.amopfamily OPERATOR(pg_catalog.<) 16384
		)
	))
GROUP BY f.type`

	// The columns are in the order of the constants for parts in
	// objects_parts.go. Expressions that depend on no user-defined object run
	// no user-defined function and are left out: the server records a
	// dependency for every function, operator and type of a constant in an
	// expression.
	catalogPartsHead = catalogParts + catalogFamilies + `, dependent AS (
	SELECT DISTINCT d.classid, d.objid FROM pg_catalog.pg_depend AS d
	WHERE d.refobjid OPERATOR(pg_catalog.>=) 16384 AND d.objsubid OPERATOR(pg_catalog.=) 0
		AND d.refclassid OPERATOR(pg_catalog.=) ANY ('{pg_catalog.pg_proc,pg_catalog.pg_operator,pg_catalog.pg_type}'::pg_catalog.regclass[]::pg_catalog.oid[])
		AND d.classid OPERATOR(pg_catalog.=) ANY ('{pg_catalog.pg_class,pg_catalog.pg_constraint,pg_catalog.pg_statistic_ext}'::pg_catalog.regclass[]::pg_catalog.oid[])
), used AS (
	SELECT c.oid AS class, c.opcname, pg_catalog.string_agg(DISTINCT f.function::pg_catalog.text, ' ') AS functions
	FROM pg_catalog.pg_opclass AS c JOIN families AS f ON f.family OPERATOR(pg_catalog.=) c.opcfamily GROUP BY c.oid, c.opcname
)
SELECT i.indrelid, 'index', x.relname, i.indexprs::pg_catalog.text, i.indpred::pg_catalog.text, NULL, NULL, NULL
FROM pg_catalog.pg_index AS i JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) i.indrelid
	JOIN pg_catalog.pg_class AS x ON x.oid OPERATOR(pg_catalog.=) i.indexrelid
	JOIN dependent AS d ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid OPERATOR(pg_catalog.=) i.indexrelid
WHERE i.indexprs IS NOT NULL OR i.indpred IS NOT NULL
UNION ALL
SELECT k.conrelid, 'constraint', k.conname, k.conbin::pg_catalog.text, NULL, NULL, NULL, NULL
FROM pg_catalog.pg_constraint AS k JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) k.conrelid
	JOIN dependent AS d ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_constraint'::pg_catalog.regclass AND d.objid OPERATOR(pg_catalog.=) k.oid
WHERE k.contype OPERATOR(pg_catalog.=) 'c' AND k.conbin IS NOT NULL
UNION ALL
SELECT p.partrelid, 'partition key', '', p.partexprs::pg_catalog.text, NULL, NULL, NULL, (
		SELECT pg_catalog.string_agg(a.atttypid::pg_catalog.text, ' ') FROM pg_catalog.pg_attribute AS a
		WHERE a.attrelid OPERATOR(pg_catalog.=) p.partrelid AND a.attnum OPERATOR(pg_catalog.=) ANY (p.partattrs::pg_catalog.int2[])
	)
FROM pg_catalog.pg_partitioned_table AS p JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) p.partrelid
UNION ALL
SELECT p.polrelid, 'row security policy', p.polname, NULL, NULL, pg_catalog.pg_get_expr(p.polqual, p.polrelid), NULL, NULL
FROM pg_catalog.pg_policy AS p JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) p.polrelid
WHERE c.relrowsecurity AND p.polcmd OPERATOR(pg_catalog.=) ANY ('{r,*}'::pg_catalog."char"[]) AND p.polqual IS NOT NULL
UNION ALL
SELECT i.indrelid, 'operator class', u.opcname, NULL, NULL, NULL, u.functions, NULL
FROM used AS u JOIN pg_catalog.pg_index AS i ON u.class OPERATOR(pg_catalog.=) ANY (i.indclass::pg_catalog.oid[])
	JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) i.indrelid
UNION ALL
SELECT p.partrelid, 'operator class', u.opcname, NULL, NULL, NULL, u.functions, NULL
FROM used AS u JOIN pg_catalog.pg_partitioned_table AS p ON u.class OPERATOR(pg_catalog.=) ANY (p.partclass::pg_catalog.oid[])
	JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) p.partrelid`

	catalogPartsSQL = catalogPartsHead + `
UNION ALL
SELECT s.stxrelid, 'statistics', s.stxname, s.stxexprs::pg_catalog.text, NULL, NULL, NULL, NULL
FROM pg_catalog.pg_statistic_ext AS s JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) s.stxrelid
	JOIN dependent AS d ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass AND d.objid OPERATOR(pg_catalog.=) s.oid
WHERE s.stxexprs IS NOT NULL
UNION ALL
SELECT a.attrelid, 'column', a.attname, NULL, NULL, pg_catalog.pg_get_expr(e.adbin, e.adrelid), NULL, NULL
FROM pg_catalog.pg_attribute AS a JOIN relations AS c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
	JOIN pg_catalog.pg_attrdef AS e ON e.adrelid OPERATOR(pg_catalog.=) a.attrelid AND e.adnum OPERATOR(pg_catalog.=) a.attnum
WHERE a.attgenerated OPERATOR(pg_catalog.=) 'v'`
	// Servers before version 14 have no statistics on expressions, and no
	// column that is computed when it is read.
	catalogPartsOldSQL = catalogPartsHead
)
