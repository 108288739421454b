package pgdb

// The queries of the probe. They are constants, as in session.go, and run in
// the same read-only transaction. Names and operators are qualified, because
// the search path of a role is not trusted.

// reachCTE names the roles whose rights the session has or can take: the role
// that logged in and every role that it is a member of. Membership without
// inheritance counts too, because SET ROLE is enough. who are the OIDs of these
// roles and 0, which means PUBLIC in an access list.
const reachCTE = `WITH reach AS (
	SELECT r.oid, CASE WHEN r.rolname OPERATOR(pg_catalog.=) session_user THEN '' ELSE r.rolname::pg_catalog.text END AS via
	FROM pg_catalog.pg_roles AS r WHERE pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
), who AS (
	SELECT pg_catalog.array_append(pg_catalog.array_agg(oid), '0'::pg_catalog.oid) AS ids FROM reach
)`

// everyCTE replaces reachCTE in queries about the rights of every role.
const everyCTE = `WITH reach AS (
	SELECT r.oid, ''::pg_catalog.text AS via FROM pg_catalog.pg_roles AS r WHERE false
), who AS (
	SELECT ARRAY['0'::pg_catalog.oid] AS ids
)`

// firstUserOID is the first OID of objects that do not come with the server
// (FirstNormalObjectId).
const firstUserOID = `'16384'::pg_catalog.oid`

const (
	// The columns are in the order of roleFacts.
	roleSQL = `SELECT session_user, current_user, pg_catalog.current_database(), pg_catalog.current_setting('server_version'),
	pg_catalog.current_setting('server_version_num'), pg_catalog.bool_or(r.rolsuper), pg_catalog.pg_is_in_recovery(),
	pg_catalog.current_setting('default_transaction_read_only'), pg_catalog.current_setting('row_security'),
	pg_catalog.current_setting('temp_file_limit'), pg_catalog.current_setting('lo_compat_privileges')
FROM pg_catalog.pg_roles AS r
WHERE r.rolname OPERATOR(pg_catalog.=) session_user OR r.rolname OPERATOR(pg_catalog.=) current_user`

	// The relatives of PostgreSQL that the server may be, separated by spaces: the parts
	// of its version, the functions and settings that only they have, and extensions.
	relativesSQL = `SELECT pg_catalog.concat_ws(' ',
	CASE WHEN pg_catalog.strpos(pg_catalog.version(), '-YB-') OPERATOR(pg_catalog.>) 0 THEN 'yugabyte' END,
	CASE WHEN pg_catalog.to_regproc('pg_catalog.aurora_version') IS NOT NULL THEN 'aurora' END,
	CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_settings AS s WHERE pg_catalog.starts_with(s.name, 'alloydb.')) THEN 'alloydb' END,
	(SELECT pg_catalog.string_agg(CASE e.extname WHEN 'timescaledb' THEN 'timescale' ELSE e.extname::pg_catalog.text END, ' ' ORDER BY e.extname)
		FROM pg_catalog.pg_extension AS e WHERE e.extname OPERATOR(pg_catalog.=) ANY ('{citus,timescaledb}'::pg_catalog.name[])))`

	// The first thing that a new connection's role can do beyond reading, or ''.
	// It is one round trip, so it leaves out what takes long to find out.
	checkRoleSQL = reachCTE + `
SELECT CASE
	WHEN pg_catalog.bool_or(r.rolsuper) THEN 'it is a superuser or may become one'
	WHEN pg_catalog.bool_or(r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls) THEN 'it has an attribute of an administrator'
	WHEN EXISTS (SELECT FROM pg_catalog.pg_auth_members AS m JOIN reach ON reach.oid OPERATOR(pg_catalog.=) m.member
		JOIN pg_catalog.pg_roles AS g ON g.oid OPERATOR(pg_catalog.=) m.roleid
		WHERE pg_catalog.starts_with(g.rolname::pg_catalog.text, 'pg_') AND NOT pg_catalog.starts_with(reach.via, 'pg_')) THEN 'it is a member of a role of the server itself'
	WHEN EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.>=) ` + firstUserOID + `
		AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,f}'::pg_catalog."char"[])
		AND pg_catalog.has_table_privilege(session_user, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) THEN 'it may write tables'
	ELSE '' END
FROM reach JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) reach.oid`

	// The role and the roles that it can become, when they have special
	// attributes.
	attributesSQL = reachCTE + `
SELECT reach.via, r.rolsuper, r.rolcreaterole, r.rolcreatedb, r.rolreplication, r.rolbypassrls
FROM reach JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) reach.oid
WHERE r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls ORDER BY reach.via LIMIT 100`

	// The predefined roles, each with the role through which it is held.
	predefinedSQL = reachCTE + `
SELECT r.rolname, reach.via FROM pg_catalog.pg_auth_members AS m
JOIN reach ON reach.oid OPERATOR(pg_catalog.=) m.member
JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) m.roleid
WHERE pg_catalog.starts_with(r.rolname::pg_catalog.text, 'pg_') AND NOT pg_catalog.starts_with(reach.via, 'pg_')
GROUP BY r.rolname, reach.via ORDER BY r.rolname, reach.via LIMIT 100`

	// The rights beyond reading in access lists: the kind of object, the right,
	// the role through which it is held ('' for the role itself), the number of
	// objects, and the names of the first few. An owner's own entries are left
	// out, and so is UPDATE on pg_settings, which every role has by default. A
	// right to read counts when it is on the server's own tables with secrets
	// in them.
	grantsSQL       = reachCTE + grantsBody
	publicGrantsSQL = everyCTE + grantsBody
	grantsBody      = `, objects AS (
	SELECT CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'S'::pg_catalog."char" THEN 'SEQUENCE'
			WHEN n.oid OPERATOR(pg_catalog.<) ` + firstUserOID + ` AND n.nspname OPERATOR(pg_catalog.=) 'pg_catalog' THEN 'SYSTEM TABLE' ELSE 'TABLE' END AS kind,
		pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, c.relowner AS owner, c.relacl AS acl
	FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
	WHERE c.relacl IS NOT NULL AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,m,f,S}'::pg_catalog."char"[])
		AND NOT pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_temp') AND NOT pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_toast')
	UNION ALL SELECT 'COLUMN', pg_catalog.format('%I.%I.%I', n.nspname, c.relname, a.attname), c.relowner, a.attacl
	FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
	JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
	WHERE a.attacl IS NOT NULL AND NOT a.attisdropped
	UNION ALL SELECT 'SCHEMA', pg_catalog.quote_ident(nspname::pg_catalog.text), nspowner, nspacl FROM pg_catalog.pg_namespace WHERE nspacl IS NOT NULL
	UNION ALL SELECT 'DATABASE', pg_catalog.quote_ident(datname::pg_catalog.text), datdba, coalesce(datacl, pg_catalog.acldefault('d', datdba))
	FROM pg_catalog.pg_database WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	UNION ALL SELECT 'TABLESPACE', pg_catalog.quote_ident(spcname::pg_catalog.text), spcowner, spcacl FROM pg_catalog.pg_tablespace WHERE spcacl IS NOT NULL
	UNION ALL SELECT 'FOREIGN SERVER', pg_catalog.quote_ident(srvname::pg_catalog.text), srvowner, srvacl FROM pg_catalog.pg_foreign_server WHERE srvacl IS NOT NULL
	UNION ALL SELECT 'FOREIGN DATA WRAPPER', pg_catalog.quote_ident(fdwname::pg_catalog.text), fdwowner, fdwacl FROM pg_catalog.pg_foreign_data_wrapper WHERE fdwacl IS NOT NULL
	UNION ALL SELECT 'LARGE OBJECT', oid::pg_catalog.text, lomowner, lomacl FROM pg_catalog.pg_largeobject_metadata WHERE lomacl IS NOT NULL
), rights AS (
	SELECT o.kind, o.name, p.privilege, a.grantee
	FROM objects AS o, who, pg_catalog.aclexplode(o.acl) AS a,
		pg_catalog.unnest(CASE WHEN a.is_grantable THEN ARRAY[a.privilege_type, 'GRANT OPTION'] ELSE ARRAY[a.privilege_type] END) AS p (privilege)
	WHERE a.grantee OPERATOR(pg_catalog.=) ANY (who.ids) AND a.grantee OPERATOR(pg_catalog.<>) o.owner
		AND NOT (o.owner OPERATOR(pg_catalog.=) ANY (who.ids))
		AND NOT (p.privilege OPERATOR(pg_catalog.=) ANY (ARRAY['CONNECT', 'EXECUTE']))
		AND (p.privilege OPERATOR(pg_catalog.<>) 'USAGE' OR o.kind OPERATOR(pg_catalog.<>) 'SCHEMA')
		AND (p.privilege OPERATOR(pg_catalog.<>) 'SELECT' OR o.name OPERATOR(pg_catalog.=) ANY (ARRAY[
			'pg_catalog.pg_authid', 'pg_catalog.pg_shadow', 'pg_catalog.pg_statistic', 'pg_catalog.pg_statistic_ext_data', 'pg_catalog.pg_largeobject',
			'pg_catalog.pg_user_mapping', 'pg_catalog.pg_subscription', 'pg_catalog.pg_file_settings', 'pg_catalog.pg_hba_file_rules', 'pg_catalog.pg_ident_file_mappings']))
		AND (o.kind OPERATOR(pg_catalog.<>) 'SYSTEM TABLE' OR o.name OPERATOR(pg_catalog.<>) 'pg_catalog.pg_settings' OR a.grantee OPERATOR(pg_catalog.<>) '0'::pg_catalog.oid)
)
SELECT r.kind, r.privilege, CASE WHEN r.grantee OPERATOR(pg_catalog.=) '0'::pg_catalog.oid THEN 'PUBLIC' ELSE reach.via END,
	pg_catalog.count(*), pg_catalog.array_to_string((pg_catalog.array_agg(r.name ORDER BY r.name))[1:3], ', ')
FROM rights AS r LEFT JOIN reach ON reach.oid OPERATOR(pg_catalog.=) r.grantee
WHERE r.grantee OPERATOR(pg_catalog.=) '0'::pg_catalog.oid OR NOT pg_catalog.starts_with(reach.via, 'pg_') OR reach.via OPERATOR(pg_catalog.=) 'pg_database_owner'
GROUP BY r.kind, r.privilege, r.grantee, reach.via ORDER BY r.kind, r.privilege, 3 LIMIT 200`

	// Rights to change or to read settings of the server (from version 15 on).
	parametersSQL = reachCTE + `
SELECT 'PARAMETER', a.privilege_type, CASE WHEN a.grantee OPERATOR(pg_catalog.=) '0'::pg_catalog.oid THEN 'PUBLIC' ELSE reach.via END,
	pg_catalog.count(*), pg_catalog.array_to_string((pg_catalog.array_agg(p.parname ORDER BY p.parname))[1:3], ', ')
FROM who, pg_catalog.pg_parameter_acl AS p, pg_catalog.aclexplode(p.paracl) AS a
LEFT JOIN reach ON reach.oid OPERATOR(pg_catalog.=) a.grantee
WHERE a.grantee OPERATOR(pg_catalog.=) ANY (who.ids)
GROUP BY a.privilege_type, a.grantee, reach.via ORDER BY 2, 3 LIMIT 100`

	// The objects that the roles own, in this database and among the objects
	// shared by all databases.
	ownedSQL = reachCTE + `
SELECT reach.via, owned.n, few.names
FROM reach, LATERAL (
	SELECT pg_catalog.count(*) AS n FROM pg_catalog.pg_shdepend AS s
	WHERE s.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_authid'::pg_catalog.regclass AND s.refobjid OPERATOR(pg_catalog.=) reach.oid
		AND s.deptype OPERATOR(pg_catalog.=) 'o'::pg_catalog."char"
		AND s.dbid OPERATOR(pg_catalog.=) ANY (ARRAY['0'::pg_catalog.oid, (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())])
) AS owned, LATERAL (
	SELECT pg_catalog.string_agg(pg_catalog.pg_describe_object(f.classid, f.objid, f.objsubid), ', ') AS names FROM (
		SELECT s.classid, s.objid, s.objsubid FROM pg_catalog.pg_shdepend AS s
		WHERE s.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_authid'::pg_catalog.regclass AND s.refobjid OPERATOR(pg_catalog.=) reach.oid
			AND s.deptype OPERATOR(pg_catalog.=) 'o'::pg_catalog."char"
			AND s.dbid OPERATOR(pg_catalog.=) ANY (ARRAY['0'::pg_catalog.oid, (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())])
		ORDER BY s.dbid, s.classid, s.objid LIMIT 3
	) AS f
) AS few
WHERE owned.n OPERATOR(pg_catalog.>) 0 AND NOT pg_catalog.starts_with(reach.via, 'pg_') ORDER BY reach.via LIMIT 100`

	// Rights beyond reading that future objects will have (default privileges).
	defaultsSQL = reachCTE + `
SELECT d.defaclobjtype, a.privilege_type, CASE WHEN a.grantee OPERATOR(pg_catalog.=) '0'::pg_catalog.oid THEN 'PUBLIC' ELSE reach.via END,
	pg_catalog.quote_ident(o.rolname::pg_catalog.text), coalesce(pg_catalog.quote_ident(n.nspname::pg_catalog.text), '')
FROM who, pg_catalog.pg_default_acl AS d JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) d.defaclrole
LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) d.defaclnamespace,
	pg_catalog.aclexplode(d.defaclacl) AS a LEFT JOIN reach ON reach.oid OPERATOR(pg_catalog.=) a.grantee
WHERE a.grantee OPERATOR(pg_catalog.=) ANY (who.ids) AND NOT (d.defaclrole OPERATOR(pg_catalog.=) ANY (who.ids))
	AND NOT (a.privilege_type OPERATOR(pg_catalog.=) ANY (ARRAY['SELECT', 'EXECUTE']))
	AND (a.privilege_type OPERATOR(pg_catalog.<>) 'USAGE' OR d.defaclobjtype OPERATOR(pg_catalog.=) 'S'::pg_catalog."char")
ORDER BY 1, 2, 3, 4, 5 LIMIT 100`

	// callable are the functions that the role may execute. usable are those of
	// them in schemas that the role may use.
	callableCTE = `, callable AS (
	SELECT p.oid, p.prosecdef, p.proowner, p.proacl, p.prolang,
		pg_catalog.format('%I.%I(%s)', n.nspname, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid)) AS name
	FROM who, pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
	WHERE EXISTS (SELECT FROM pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) AS a
			WHERE a.privilege_type OPERATOR(pg_catalog.=) 'EXECUTE' AND a.grantee OPERATOR(pg_catalog.=) ANY (who.ids))`
	usable = `
		AND EXISTS (SELECT FROM pg_catalog.aclexplode(coalesce(n.nspacl, pg_catalog.acldefault('n', n.nspowner))) AS a
			WHERE a.privilege_type OPERATOR(pg_catalog.=) 'USAGE' AND a.grantee OPERATOR(pg_catalog.=) ANY (who.ids))`

	// Functions that run with the rights of another role, or in a language that
	// reaches beyond the database: the reason, the function, its owner, whether
	// the owner is a superuser, and whether every role may call it.
	functionsSQL       = reachCTE + callableCTE + usable + functionsBody
	publicFunctionsSQL = everyCTE + callableCTE + functionsBody
	functionsBody      = `
		AND p.oid OPERATOR(pg_catalog.>=) ` + firstUserOID + `
)
SELECT CASE WHEN c.prosecdef THEN 'definer' ELSE l.lanname::pg_catalog.text END, c.name, pg_catalog.quote_ident(o.rolname::pg_catalog.text), o.rolsuper,
	EXISTS (SELECT FROM pg_catalog.aclexplode(coalesce(c.proacl, pg_catalog.acldefault('f', c.proowner))) AS a
		WHERE a.privilege_type OPERATOR(pg_catalog.=) 'EXECUTE' AND a.grantee OPERATOR(pg_catalog.=) '0'::pg_catalog.oid)
FROM who, callable AS c JOIN pg_catalog.pg_language AS l ON l.oid OPERATOR(pg_catalog.=) c.prolang
JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) c.proowner
WHERE (c.prosecdef AND NOT (c.proowner OPERATOR(pg_catalog.=) ANY (who.ids))) OR (l.lanispl AND NOT l.lanpltrusted)
ORDER BY c.name LIMIT 200`

	// The server's own functions that the role may call and not every role may.
	systemFunctionsSQL = reachCTE + `, granted AS MATERIALIZED (
	SELECT p.oid, p.proname, p.proowner, a.grantee
	FROM who, pg_catalog.pg_proc AS p, pg_catalog.aclexplode(p.proacl) AS a
	WHERE p.proacl IS NOT NULL AND p.oid OPERATOR(pg_catalog.<) ` + firstUserOID + `
		AND a.grantee OPERATOR(pg_catalog.=) ANY (who.ids) AND a.grantee OPERATOR(pg_catalog.<>) p.proowner
), beyond AS (
	SELECT g.oid, g.proname, g.grantee FROM granted AS g
	LEFT JOIN pg_catalog.pg_init_privs AS i ON i.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass AND i.objoid OPERATOR(pg_catalog.=) g.oid
	WHERE NOT EXISTS (SELECT FROM pg_catalog.aclexplode(coalesce(i.initprivs, pg_catalog.acldefault('f', g.proowner))) AS b
		WHERE b.grantee OPERATOR(pg_catalog.=) '0'::pg_catalog.oid)
)
SELECT CASE WHEN b.grantee OPERATOR(pg_catalog.=) '0'::pg_catalog.oid THEN 'PUBLIC' ELSE reach.via END, pg_catalog.count(*),
	pg_catalog.array_to_string((pg_catalog.array_agg(b.oid::pg_catalog.regprocedure::pg_catalog.text ORDER BY b.proname))[1:3], ', ')
FROM beyond AS b LEFT JOIN reach ON reach.oid OPERATOR(pg_catalog.=) b.grantee
WHERE b.grantee OPERATOR(pg_catalog.=) '0'::pg_catalog.oid OR NOT pg_catalog.starts_with(reach.via, 'pg_')
GROUP BY b.grantee, reach.via ORDER BY 1 LIMIT 100`

	// The extensions, and how many functions of each the role can call.
	extensionsSQL = reachCTE + callableCTE + usable + `
)
SELECT e.extname, (SELECT pg_catalog.count(*) FROM pg_catalog.pg_depend AS d JOIN callable AS c ON c.oid OPERATOR(pg_catalog.=) d.objid
	WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog."char"
		AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.refobjid OPERATOR(pg_catalog.=) e.oid)
FROM pg_catalog.pg_extension AS e ORDER BY e.extname LIMIT 500`

	// Tables whose rows come from other servers, and languages that reach
	// beyond the database.
	outsideSQL = `SELECT 'foreign tables', pg_catalog.count(*), pg_catalog.array_to_string((pg_catalog.array_agg(pg_catalog.format('%I.%I', n.nspname, c.relname) ORDER BY n.nspname, c.relname))[1:3], ', ')
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.relkind OPERATOR(pg_catalog.=) 'f'::pg_catalog."char" AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
UNION ALL SELECT 'languages', pg_catalog.count(*), pg_catalog.array_to_string((pg_catalog.array_agg(l.lanname::pg_catalog.text ORDER BY l.lanname))[1:3], ', ')
FROM pg_catalog.pg_language AS l WHERE l.lanispl AND NOT l.lanpltrusted`

	// The schemas named by the parameter, or all schemas with tables when the
	// parameter is empty: the schema, a role that owns tables in it, how many
	// tables that role owns, how many of them this role can read, and whether
	// this role can use the schema.
	schemasSQL = `SELECT n.nspname, coalesce(pg_catalog.quote_ident(o.rolname::pg_catalog.text), ''), pg_catalog.count(c.oid),
	pg_catalog.count(*) FILTER (WHERE pg_catalog.has_any_column_privilege(c.oid, 'SELECT')), pg_catalog.has_schema_privilege(n.oid, 'USAGE')
FROM pg_catalog.pg_namespace AS n
LEFT JOIN pg_catalog.pg_class AS c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,m,f}'::pg_catalog."char"[])
LEFT JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) c.relowner
WHERE n.nspname::pg_catalog.text OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[]) OR pg_catalog.cardinality($1::pg_catalog.text[]) OPERATOR(pg_catalog.=) 0 AND c.oid IS NOT NULL
	AND n.nspname OPERATOR(pg_catalog.<>) 'information_schema' AND NOT pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_')
GROUP BY n.oid, n.nspname, o.rolname ORDER BY n.nspname, o.rolname LIMIT 1000`

	clockSQL = `SELECT pg_catalog.date_part('epoch', pg_catalog.clock_timestamp())`

	tryWriteSQL     = `CREATE TABLE ktx_write_probe (n pg_catalog.int4)`
	tryReadWriteSQL = `SET TRANSACTION READ WRITE`
	// The statement ends by itself before the client would end it. So the error
	// shows whether the server kept the time limit.
	tryTimeoutSQL = `SELECT pg_catalog.pg_sleep(0.3)`
)
