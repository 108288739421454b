package pgdb

// The queries that list the names of a database.
const (
	inventorySchemas = `WITH own AS (
	SELECT oid, nspname FROM pg_catalog.pg_namespace
	WHERE NOT pg_catalog.starts_with(nspname::pg_catalog.text, 'pg_temp_') AND NOT pg_catalog.starts_with(nspname::pg_catalog.text, 'pg_toast')
)
`
	inventorySchemasSQL = inventorySchemas + `SELECT nspname FROM own`

	inventoryRelationsSQL = inventorySchemas + `SELECT own.nspname, c.relname, (
		SELECT pg_catalog.json_agg(a.attname ORDER BY a.attnum) FROM pg_catalog.pg_attribute AS a
		WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
	)
FROM pg_catalog.pg_class AS c JOIN own ON own.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,m,f,S}'::pg_catalog."char"[])`

	inventoryFunctionsSQL = inventorySchemas + `SELECT DISTINCT own.nspname, p.proname
FROM pg_catalog.pg_proc AS p JOIN own ON own.oid OPERATOR(pg_catalog.=) p.pronamespace`
)
