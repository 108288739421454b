package executiontest

// Why no session of SQL Server can stop an attack.
const (
	beyondCommit = "SQL Server has no read-only transaction, and a text may end the one that it runs in: only the role decides"
	beyondServer = "acts on the server at once, outside of any transaction"
	beyondRead   = "reading is what the session is for; the role decides what may be read"
)

// sqlServerAttacks are attacks on a real server, because a stand-in has no
// engine to attack.
var sqlServerAttacks = []Attack{
	{Group: "Writing rows", Name: "insert", SQL: "INSERT INTO items VALUES (9, N'nine')"},
	{Group: "Writing rows", Name: "insert with output", SQL: "INSERT INTO items OUTPUT inserted.id VALUES (9, N'nine')"},
	{Group: "Writing rows", Name: "update", SQL: "UPDATE items SET name = N'x'"},
	{Group: "Writing rows", Name: "delete", SQL: "DELETE FROM items"},
	{Group: "Writing rows", Name: "delete with output", SQL: "DELETE FROM items OUTPUT deleted.id"},
	{Group: "Writing rows", Name: "merge", SQL: "MERGE items USING (SELECT 9 AS id) AS n ON items.id = n.id WHEN NOT MATCHED THEN INSERT VALUES (9, N'nine');"},
	{Group: "Writing rows", Name: "truncate", SQL: "TRUNCATE TABLE items"},
	{Group: "Writing rows", Name: "select into", SQL: "SELECT * INTO attack FROM items"},
	{Group: "Writing rows", Name: "composable insert", SQL: "INSERT INTO items SELECT id + 100, name FROM (DELETE FROM items OUTPUT deleted.id, deleted.name) AS d"},
	{Group: "Writing rows", Name: "procedure that writes", SQL: "EXEC write_item"},
	{Group: "Writing rows", Name: "bare name of a procedure", SQL: "write_item"},
	{Group: "Writing rows", Name: "procedure that commits", SQL: "EXEC write_and_commit", Beyond: beyondCommit},
	{Group: "Writing rows", Name: "next number of a sequence", SQL: "SELECT NEXT VALUE FOR numbers AS n", Beyond: "numbers of a sequence are given out once, whatever becomes of the transaction"},
	{Group: "Writing rows", Name: "SQL in a text", SQL: "EXEC sp_executesql N'INSERT INTO items VALUES (9, N''nine'')'"},
	{Group: "Writing rows", Name: "SQL in a text, shorter", SQL: "EXEC ('INSERT INTO items VALUES (9, N''nine'')')"},

	{Group: "Changing the schema", Name: "create table", SQL: "CREATE TABLE attack (x int)"},
	{Group: "Changing the schema", Name: "create temporary table", SQL: "CREATE TABLE #attack (x int)"},
	{Group: "Changing the schema", Name: "create global temporary table", SQL: "CREATE TABLE ##attack (x int)"},
	{Group: "Changing the schema", Name: "create view", SQL: "CREATE VIEW attack AS SELECT 1 AS x"},
	{Group: "Changing the schema", Name: "create procedure", SQL: "CREATE PROCEDURE attack AS SELECT 1"},
	{Group: "Changing the schema", Name: "create synonym", SQL: "CREATE SYNONYM attack FOR items"},
	{Group: "Changing the schema", Name: "create index", SQL: "CREATE INDEX attack ON items (name)"},
	{Group: "Changing the schema", Name: "create user", SQL: "CREATE USER attack WITHOUT LOGIN"},
	{Group: "Changing the schema", Name: "create database", SQL: "CREATE DATABASE ktx_attack"},
	{Group: "Changing the schema", Name: "alter table", SQL: "ALTER TABLE items ADD x int"},
	{Group: "Changing the schema", Name: "alter database", SQL: "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON"},
	{Group: "Changing the schema", Name: "drop table", SQL: "DROP TABLE items"},
	{Group: "Changing the schema", Name: "grant", SQL: "GRANT SELECT ON secrets TO public"},
	{Group: "Changing the schema", Name: "new member of a role", SQL: "ALTER ROLE db_owner ADD MEMBER guest"},
	{Group: "Changing the schema", Name: "new name by a procedure", SQL: "EXEC sp_rename 'items', 'attack'"},
	{Group: "Changing the schema", Name: "extended property", SQL: "EXEC sys.sp_addextendedproperty @name = N'attack', @value = N'x'"},

	{Group: "Transactions", Name: "commit, then insert", SQL: "COMMIT; INSERT INTO items VALUES (9, N'nine')", Beyond: beyondCommit},
	{Group: "Transactions", Name: "commit without a separator", SQL: "COMMIT INSERT INTO items VALUES (9, N'nine')", Beyond: beyondCommit},
	{Group: "Transactions", Name: "insert, then commit", SQL: "INSERT INTO items VALUES (9, N'nine'); COMMIT", Beyond: beyondCommit},
	{Group: "Transactions", Name: "rollback, then insert", SQL: "ROLLBACK; INSERT INTO items VALUES (9, N'nine')", Beyond: beyondCommit},
	{Group: "Transactions", Name: "commit, then create table", SQL: "COMMIT; CREATE TABLE attack (x int)", Beyond: beyondCommit},
	{Group: "Transactions", Name: "commit, then a grant", SQL: "COMMIT; GRANT SELECT ON secrets TO public", Beyond: beyondCommit},
	{Group: "Transactions", Name: "commit", SQL: "COMMIT"},
	{Group: "Transactions", Name: "rollback", SQL: "ROLLBACK"},
	{Group: "Transactions", Name: "another transaction", SQL: "BEGIN TRANSACTION"},
	{Group: "Transactions", Name: "a savepoint", SQL: "SAVE TRANSACTION attack"},

	{Group: "The session", Name: "names in double quotes", SQL: "SET QUOTED_IDENTIFIER OFF"},
	{Group: "The session", Name: "size of texts", SQL: "SET TEXTSIZE 10"},
	{Group: "The session", Name: "number of rows", SQL: "SET ROWCOUNT 1"},
	{Group: "The session", Name: "language", SQL: "SET LANGUAGE German"},
	{Group: "The session", Name: "order of dates", SQL: "SET DATEFORMAT dmy"},
	{Group: "The session", Name: "nothing is executed", SQL: "SET NOEXEC ON"},
	{Group: "The session", Name: "only parsed", SQL: "SET PARSEONLY ON"},
	{Group: "The session", Name: "plans instead of rows", SQL: "SET SHOWPLAN_ALL ON"},
	{Group: "The session", Name: "another database", SQL: "USE tempdb"},
	{Group: "The session", Name: "another user", SQL: "EXECUTE AS USER = 'guest'"},
	{Group: "The session", Name: "context of the session", SQL: "SET CONTEXT_INFO 0x01"},
	{Group: "The session", Name: "lock that outlives a transaction", SQL: "EXEC sp_getapplock @Resource = 'attack', @LockMode = 'Exclusive', @LockOwner = 'Session'"},
	{Group: "The session", Name: "cursor", SQL: "DECLARE attack CURSOR GLOBAL FOR SELECT id FROM items OPEN attack"},

	{Group: "More than one statement", Name: "select, then delete", SQL: "SELECT 1 AS n; DELETE FROM items"},
	{Group: "More than one statement", Name: "select, then drop, no separator", SQL: "SELECT 1 AS n DROP TABLE items"},
	{Group: "More than one statement", Name: "comment, then delete", SQL: "SELECT 1 AS n -- done\nDELETE FROM items"},
	{Group: "More than one statement", Name: "if", SQL: "IF 1 = 1 DELETE FROM items"},
	{Group: "More than one statement", Name: "try", SQL: "BEGIN TRY DELETE FROM items END TRY BEGIN CATCH END CATCH"},
	{Group: "More than one statement", Name: "wait", SQL: "WAITFOR DELAY '00:00:01' DELETE FROM items"},

	{Group: "The server", Name: "command of the system", SQL: "EXEC xp_cmdshell 'whoami'"},
	{Group: "The server", Name: "settings", SQL: "EXEC sp_configure 'show advanced options', 1"},
	{Group: "The server", Name: "settings, commit and reconfigure", SQL: "COMMIT; EXEC sp_configure 'cost threshold for parallelism', 6; RECONFIGURE", Beyond: beyondServer},
	{Group: "The server", Name: "new login", SQL: "CREATE LOGIN ktx_attack WITH PASSWORD = N'Attack-1-attack'"},
	{Group: "The server", Name: "message in the log", SQL: "RAISERROR('attack', 10, 1) WITH LOG"},

	{Group: "Reading", Name: "table that a policy denies", SQL: "SELECT value FROM secrets", Discloses: true, Beyond: beyondRead},
	{Group: "Reading", Name: "hashes of passwords", SQL: "SELECT password_hash FROM sys.sql_logins WHERE password_hash IS NOT NULL", Discloses: true, Beyond: beyondRead},
	{Group: "Reading", Name: "file of the server", SQL: "SELECT BulkColumn FROM OPENROWSET(BULK '/etc/hostname', SINGLE_CLOB) AS f", Discloses: true, Beyond: beyondRead},
	{Group: "Reading", Name: "texts of other sessions", SQL: "SELECT t.text FROM sys.dm_exec_query_stats AS s CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t", Discloses: true, Beyond: beyondRead},
}
