package executiontest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	// The driver of the connections that do not use the backend.
	_ "github.com/microsoft/go-mssqldb"
)

const roleSysadmin = "sysadmin"

// RealSQLServer is like [SQLServer], for a real server of SQL Server 2022 or
// newer (compatibility level 160, for GENERATE_SERIES). Admin is a URL of the
// driver's for that server, with a login that is a sysadmin and without a
// database. Every test makes its own databases and logins, whose names begin
// with ktx_, and drops them afterwards. The tests may damage the server.
func RealSQLServer(open OpenFunc, admin string) Target {
	target := SQLServer(open)
	target.Intro = "SQL Server has no read-only transaction. What a text did is rolled back as long as the text leaves the transaction open; " +
		"one that ends it writes what the role may write. The third role may select from tables that it was granted and nothing else: what a connection should use, " +
		"and what `guard.role: refuse`, the default for SQL Server, asks for."
	target.NewDatabase = func(tb testing.TB) Database {
		tb.Helper()
		return newSQLServerDatabase(tb, admin)
	}
	target.Values = append(target.Values,
		ValueCase{"half a surrogate", "SELECT CAST(0x3DD8 AS nvarchar(1)) AS v", "nvarchar", text(`\x3dd8`)},
		ValueCase{"point", "SELECT geometry::Point(1, 2, 0) AS v", "geometry", text(`\x00000000010c000000000000f03f0000000000000040`)},
	)
	target.Victim = func(tb testing.TB) Victim {
		tb.Helper()
		return &sqlServerVictim{newSQLServerDatabase(tb, admin)}
	}
	target.Roles = []string{roleSysadmin, roleOwner, roleReader}
	target.Attacks = sqlServerAttacks
	target.Report = filepath.Join("..", "..", "docs", "evidence", "second-control.md")
	return target
}

// sqlServerSchema is the database that is attacked, one batch for each line.
var sqlServerSchema = []string{
	"CREATE TABLE dbo.items (id int PRIMARY KEY, name nvarchar(50))",
	"INSERT INTO dbo.items VALUES (1, N'one'), (2, N'two'), (3, N'three')",
	"CREATE TABLE dbo.secrets (name nvarchar(50), value nvarchar(50))",
	"INSERT INTO dbo.secrets VALUES (N'key', N'hidden')",
	"CREATE SEQUENCE dbo.numbers START WITH 1",
	"CREATE PROCEDURE dbo.write_item AS INSERT INTO dbo.items VALUES (9, N'nine')",
	"CREATE PROCEDURE dbo.write_and_commit AS BEGIN COMMIT; INSERT INTO dbo.items VALUES (9, N'nine') END",
}

// sqlServerDatabase is a database with an owner, a reader, and an
// administrator's connection.
type sqlServerDatabase struct {
	name     string
	url      *url.URL
	password string
	admin    *sql.DB // in the database
}

func newSQLServerDatabase(tb testing.TB, admin string) *sqlServerDatabase {
	tb.Helper()
	u, err := url.Parse(admin)
	if err != nil || u.Scheme != "sqlserver" {
		tb.Fatal("the server's URL must look like sqlserver://sa:password@host:1433?encrypt=true")
	}
	d := &sqlServerDatabase{name: "ktx_" + strings.ToLower(rand.Text()[:12]), url: u, password: "Aa1-" + rand.Text()}
	master := d.connect(tb, "master")
	sqlServerExec(tb, master, "CREATE DATABASE "+d.name)
	for _, login := range []string{d.login(roleOwner), d.login(roleReader)} {
		sqlServerExec(tb, master, "CREATE LOGIN "+login+" WITH PASSWORD = N'"+d.password+"', DEFAULT_DATABASE = "+d.name)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, text := range []string{
			"ALTER DATABASE " + d.name + " SET SINGLE_USER WITH ROLLBACK IMMEDIATE", "DROP DATABASE " + d.name,
			"DROP LOGIN " + d.login(roleOwner), "DROP LOGIN " + d.login(roleReader),
		} {
			if _, err := master.ExecContext(ctx, text); err != nil {
				tb.Errorf("%s: %v", text, err)
			}
		}
	})
	d.admin = d.connect(tb, d.name)
	for _, text := range sqlServerSchema {
		sqlServerExec(tb, d.admin, text)
	}
	for _, text := range []string{
		"CREATE USER {owner} FOR LOGIN {owner}", "ALTER ROLE db_owner ADD MEMBER {owner}",
		"CREATE USER {reader} FOR LOGIN {reader}", "GRANT SELECT ON dbo.items TO {reader}",
	} {
		sqlServerExec(tb, d.admin, strings.NewReplacer("{owner}", d.login(roleOwner), "{reader}", d.login(roleReader)).Replace(text))
	}
	return d
}

// login returns the name of a role's login.
func (d *sqlServerDatabase) login(role string) string {
	if role == roleOwner {
		return d.name + "_owner"
	}
	return d.name + "_reader"
}

// connect opens an administrator's connection to a database, and closes it when
// the test ends.
func (d *sqlServerDatabase) connect(tb testing.TB, database string) *sql.DB {
	tb.Helper()
	u := *d.url
	query := u.Query()
	query.Set("database", database)
	u.RawQuery = query.Encode()
	db, err := sql.Open("sqlserver", u.String())
	if err != nil {
		tb.Fatal("open the server: its URL cannot be used")
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func sqlServerExec(tb testing.TB, db *sql.DB, text string) {
	tb.Helper()
	if _, err := db.ExecContext(tb.Context(), text); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
}

// address returns the backend's URL for a role.
func (d *sqlServerDatabase) address(role string) string {
	u := *d.url
	query := u.Query()
	query.Set("database", d.name)
	u.RawQuery = query.Encode()
	if role != roleSysadmin {
		u.User = url.UserPassword(d.login(role), d.password)
	}
	return u.String()
}

func (d *sqlServerDatabase) Address() string { return d.address(roleReader) }

// Running counts the requests in the database.
func (d *sqlServerDatabase) Running(tb testing.TB) (n int, ok bool) {
	tb.Helper()
	const busy = "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE database_id = DB_ID() AND session_id <> @@SPID AND session_id > 50"
	if err := d.admin.QueryRowContext(tb.Context(), busy).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n, true
}

// sqlServerVictim is a database of a real server.
type sqlServerVictim struct{ *sqlServerDatabase }

func (v *sqlServerVictim) Major() int { return 16 }

func (v *sqlServerVictim) Address(_ testing.TB, role string) string { return v.address(role) }

func (v *sqlServerVictim) Text(_ testing.TB, _, sql string) string { return sql }

func (v *sqlServerVictim) Session() string { return SQLServerSession }

// SQLServerSession is a query for the state that a session keeps.
const SQLServerSession = `SELECT @@OPTIONS AS options, @@LANGUAGE AS language, @@TEXTSIZE AS sizeoftexts, DB_NAME() AS db, SUSER_SNAME() AS login, USER_NAME() AS username,
	@@TRANCOUNT AS transactions, CONTEXT_INFO() AS context, OBJECT_ID('tempdb..#attack') AS temporary, CURSOR_STATUS('global', 'attack') AS cursorstate,
	APPLOCK_MODE('public', 'attack', 'Session') AS applock`

// sqlServerState are the queries for everything that an attack may change.
var sqlServerState = []struct{ kind, sql string }{
	{"rows", "SELECT CONCAT(id, ' ', name) FROM dbo.items ORDER BY id"},
	{"rows", "SELECT CONCAT(name, ' ', value) FROM dbo.secrets ORDER BY name"},
	{"sequence", "SELECT CONVERT(nvarchar(50), current_value) + ' ' + CONVERT(nvarchar(50), ISNULL(last_used_value, 0)) FROM sys.sequences ORDER BY name"},
	{"object", "SELECT CONCAT(SCHEMA_NAME(schema_id), '.', name, ' ', type, ' ', CONVERT(nvarchar(30), modify_date, 121)) FROM sys.objects WHERE is_ms_shipped = 0 ORDER BY object_id"},
	{"index", "SELECT CONCAT(OBJECT_NAME(i.object_id), '.', i.name) FROM sys.indexes AS i JOIN sys.objects AS o ON o.object_id = i.object_id WHERE o.is_ms_shipped = 0 ORDER BY i.object_id, i.index_id"},
	{"principal", "SELECT CONCAT(name, ' ', type) FROM sys.database_principals ORDER BY principal_id"},
	{"member", "SELECT CONCAT(role_principal_id, ' ', member_principal_id) FROM sys.database_role_members ORDER BY role_principal_id, member_principal_id"},
	{"right", "SELECT CONCAT(class, ' ', major_id, ' ', grantee_principal_id, ' ', permission_name, ' ', state) FROM sys.database_permissions ORDER BY class, major_id, grantee_principal_id, permission_name"},
	{"property", "SELECT CONCAT(name, ' ', CONVERT(nvarchar(100), value)) FROM sys.extended_properties WHERE class = 0 ORDER BY name"},
	{"database", "SELECT CONCAT(name, ' ', is_read_committed_snapshot_on) FROM sys.databases WHERE database_id = DB_ID() OR name = 'ktx_attack'"},
	{"login", "SELECT name FROM sys.server_principals WHERE name = 'ktx_attack'"},
	{"setting", "SELECT CONCAT(name, ' ', CONVERT(nvarchar(100), value)) FROM sys.configurations WHERE name IN ('show advanced options', 'cost threshold for parallelism') ORDER BY name"},
	{"temporary table", "SELECT name FROM tempdb.sys.objects WHERE name LIKE '##attack%'"},
	{"lock", "SELECT CONCAT(resource_type, ' ', resource_description, ' ', request_mode) FROM sys.dm_tran_locks WHERE resource_type = 'APPLICATION' AND resource_database_id = DB_ID()"},
}

func (v *sqlServerVictim) State(tb testing.TB) []Fact {
	tb.Helper()
	var facts []Fact
	for _, q := range sqlServerState {
		for i, row := range v.texts(tb, q.sql) {
			facts = append(facts, Fact{q.kind, q.kind + " " + strconv.Itoa(i), row})
		}
	}
	return facts
}

func (v *sqlServerVictim) texts(tb testing.TB, text string) []string {
	tb.Helper()
	rows, err := v.admin.QueryContext(tb.Context(), text)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below reports the error of Close
	var list []string
	for rows.Next() {
		var row sql.NullString
		if err := rows.Scan(&row); err != nil {
			tb.Fatalf("%s: %v", text, err)
		}
		list = append(list, row.String)
	}
	if err := rows.Err(); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return list
}

// Restore recreates the objects of sqlServerSchema, and resets the server's
// settings.
func (v *sqlServerVictim) Restore(tb testing.TB) {
	tb.Helper()
	for _, text := range []string{
		"DROP TABLE IF EXISTS dbo.attack", "DROP VIEW IF EXISTS dbo.attack", "DROP PROCEDURE IF EXISTS dbo.attack", "DROP SYNONYM IF EXISTS dbo.attack", "DROP USER IF EXISTS attack",
		"DROP TABLE IF EXISTS dbo.items", "DROP TABLE IF EXISTS dbo.secrets", "DROP SEQUENCE IF EXISTS dbo.numbers",
		"DROP PROCEDURE IF EXISTS dbo.write_item", "DROP PROCEDURE IF EXISTS dbo.write_and_commit",
		"DROP DATABASE IF EXISTS ktx_attack", "IF SUSER_ID(N'ktx_attack') IS NOT NULL DROP LOGIN ktx_attack",
		"EXEC sp_configure 'show advanced options', 1; RECONFIGURE; EXEC sp_configure 'cost threshold for parallelism', 5; EXEC sp_configure 'show advanced options', 0; RECONFIGURE",
	} {
		sqlServerExec(tb, v.admin, text)
	}
	for _, text := range append(sqlServerSchema, fmt.Sprintf("GRANT SELECT ON dbo.items TO %s", v.login(roleReader))) {
		sqlServerExec(tb, v.admin, text)
	}
}
