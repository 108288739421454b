package mssqldb

// The queries of the probe. Each is one SELECT that every login may run. The
// answer leaves out whatever the login may not see. See SQL Server's reference
// of sys.fn_my_permissions, HAS_PERMS_BY_NAME, sys.database_permissions and
// "Database-level roles".

const (
	// identitySQL asks for the login, the user and the server. An answer of
	// IS_SRVROLEMEMBER is NULL if the server does not know the role.
	identitySQL = `SELECT SUSER_SNAME() AS loginname, USER_NAME() AS username, DB_NAME() AS databasename,
	CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')) AS version, CONVERT(int, SERVERPROPERTY('EngineEdition')) AS edition,
	CONVERT(nvarchar(128), DATABASEPROPERTYEX(DB_NAME(), 'Updateability')) AS updateability, IS_SRVROLEMEMBER('sysadmin') AS sysadmin`

	// rolesSQL asks for the fixed roles that do more than read.
	rolesSQL = `SELECT 'server' AS kind, r.name FROM (VALUES ('sysadmin'), ('securityadmin'), ('serveradmin'), ('setupadmin'), ('processadmin'), ('diskadmin'), ('dbcreator'), ('bulkadmin'),
	('##MS_DatabaseManager##'), ('##MS_LoginManager##'), ('##MS_ServerStateManager##')) AS r (name) WHERE IS_SRVROLEMEMBER(r.name) = 1
UNION ALL
SELECT 'database' AS kind, r.name FROM (VALUES ('db_owner'), ('db_securityadmin'), ('db_accessadmin'), ('db_backupoperator'), ('db_ddladmin'), ('db_datawriter')) AS r (name) WHERE IS_ROLEMEMBER(r.name) = 1`

	// checkRoleSQL is rolesSQL and the rights in the database, in one round
	// trip.
	checkRoleSQL = rolesSQL + `
UNION ALL
SELECT 'right' AS kind, permission_name FROM sys.fn_my_permissions(NULL, 'DATABASE')`

	serverRightsSQL   = `SELECT permission_name FROM sys.fn_my_permissions(NULL, 'SERVER')`
	databaseRightsSQL = `SELECT permission_name FROM sys.fn_my_permissions(NULL, 'DATABASE')`

	// serverGrantsSQL asks for the rights that were granted on single objects
	// of the server, such as the right to impersonate one login. Every login
	// may connect to the endpoints.
	serverGrantsSQL = `SELECT p.class_desc, p.permission_name, g.name AS grantee, COUNT(*) AS grants
FROM sys.server_permissions AS p JOIN sys.server_principals AS g ON g.principal_id = p.grantee_principal_id
WHERE p.state IN ('G', 'W') AND p.class <> 100 AND p.permission_name NOT IN ('CONNECT', 'VIEW DEFINITION')
	AND (g.name = SUSER_SNAME() OR IS_SRVROLEMEMBER(g.name) = 1)
GROUP BY p.class_desc, p.permission_name, g.name`

	// grantsSQL asks for the rights that were granted on single schemas,
	// objects, users, types and so on: to the user, to roles that it is a
	// member of, and to every user. A scalar function or an aggregate cannot
	// write.
	grantsSQL = `SELECT p.class_desc, p.permission_name, USER_NAME(p.grantee_principal_id) AS grantee, COUNT(*) AS grants,
	MIN(CASE p.class WHEN 1 THEN QUOTENAME(OBJECT_SCHEMA_NAME(p.major_id)) + N'.' + QUOTENAME(OBJECT_NAME(p.major_id))
		WHEN 3 THEN QUOTENAME(SCHEMA_NAME(p.major_id)) WHEN 4 THEN QUOTENAME(USER_NAME(p.major_id)) ELSE CONVERT(nvarchar(20), p.major_id) END) AS example
FROM sys.database_permissions AS p LEFT JOIN sys.objects AS o ON p.class = 1 AND o.object_id = p.major_id
WHERE p.state IN ('G', 'W') AND p.class <> 0 AND p.major_id >= 0
	AND (p.grantee_principal_id = USER_ID() OR IS_MEMBER(USER_NAME(p.grantee_principal_id)) = 1)
	AND p.permission_name NOT IN ('SELECT', 'REFERENCES', 'VIEW DEFINITION', 'VIEW CHANGE TRACKING', 'UNMASK')
	AND NOT (p.permission_name = 'EXECUTE' AND (p.class IN (6, 10) OR p.class = 1 AND ISNULL(o.type, '') IN ('FN', 'FS', 'AF')))
GROUP BY p.class_desc, p.permission_name, p.grantee_principal_id`

	// ownedSQL asks for the schemas and objects that belong to the user, or to
	// a role that it is a member of.
	ownedSQL = `SELECT 'schema' AS kind, QUOTENAME(s.name) AS name FROM sys.schemas AS s WHERE s.principal_id = USER_ID() OR IS_MEMBER(USER_NAME(s.principal_id)) = 1
UNION ALL
SELECT 'object' AS kind, QUOTENAME(OBJECT_SCHEMA_NAME(o.object_id)) + N'.' + QUOTENAME(o.name) AS name FROM sys.objects AS o
WHERE o.is_ms_shipped = 0 AND o.parent_object_id = 0 AND (o.principal_id = USER_ID() OR IS_MEMBER(USER_NAME(o.principal_id)) = 1)`

	// elsewhereSQL asks what the login may do in the other databases of the
	// server. Every login may create temporary tables in tempdb.
	elsewhereSQL = `SELECT d.name, r.permission FROM sys.databases AS d
CROSS JOIN (VALUES ('INSERT'), ('UPDATE'), ('DELETE'), ('ALTER'), ('EXECUTE'), ('CREATE TABLE'), ('CONTROL')) AS r (permission)
WHERE d.database_id <> DB_ID() AND d.name <> 'tempdb' AND HAS_DBACCESS(d.name) = 1 AND HAS_PERMS_BY_NAME(QUOTENAME(d.name), 'DATABASE', r.permission) = 1`

	// surfaceSQL asks for server settings whose effect reaches beyond the
	// server.
	surfaceSQL = `SELECT name FROM sys.configurations WHERE name IN ('xp_cmdshell', 'Ad Hoc Distributed Queries', 'clr enabled', 'Ole Automation Procedures', 'external scripts enabled') AND CONVERT(int, value_in_use) = 1`

	// trustSQL asks for settings that give rights outside of the database.
	trustSQL = `SELECT CONVERT(int, is_trustworthy_on) AS trustworthy, CONVERT(int, is_db_chaining_on) AS chaining FROM sys.databases WHERE database_id = DB_ID()`

	linkedSQL = `SELECT COUNT(*) AS servers FROM sys.servers WHERE is_linked = 1`

	// schemasSQL asks for the schemas that hold tables or views.
	schemasSQL = `SELECT DISTINCT SCHEMA_NAME(o.schema_id) AS name FROM sys.objects AS o WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0 ORDER BY name`

	clockSQL = `SELECT CONVERT(varchar(27), SYSUTCDATETIME(), 121) AS now`
)

// tryWriteSQL is the write that the probe tries, and that must be refused. It
// is rolled back with the transaction.
const tryWriteSQL = `CREATE TABLE ktx_write_probe (n int)`

// clockLayout is how the server writes a time in the style 121.
const clockLayout = "2006-01-02 15:04:05.9999999"
