package wiring

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// DialectAuto is the value of --dialect that settles the dialect of each file
// by its own.
const DialectAuto = "auto"

// DialectNames are the names that dialects.Lookup knows.
func DialectNames() []string {
	names := []string{"mariadb"}
	for _, d := range dialects.All() {
		names = append(names, d.Name())
	}
	names = append(names, dialects.Profiles()...)
	slices.Sort(names)
	return names
}

// LookupDialect returns the dialect of a name. An unknown name is an error of
// usage.
func LookupDialect(name string) (sqlguard.Dialect, error) {
	if d, ok := dialects.Lookup(dialectName(name)); ok {
		return d, nil
	}
	return nil, console.Usage("no reader for the dialect %q%s", name, console.DidYouMean(name, DialectNames()))
}

// dialectAliases are the names that other tools have for our dialects.
var dialectAliases = map[string]string{
	"postgresql": "postgres", "pg": "postgres", "psql": "postgres", "pgsql": "postgres",
	"mssql": "sqlserver", "tsql": "sqlserver", "t-sql": "sqlserver", "sql_server": "sqlserver", "sql-server": "sqlserver", "sqlite3": "sqlite", "mysql2": "mysql", "mysql5": "mysql", "mysql8": "mysql",
	"redshift": "postgres:redshift", "alloydb": "postgres:alloydb", "citus": "postgres:citus", "yugabyte": "postgres:yugabyte", "yugabytedb": "postgres:yugabyte",
	"timescale": "postgres:timescale", "timescaledb": "postgres:timescale", "tidb": "mysql:tidb", "galera": "mysql:galera",
}

// dialectName returns our name for a dialect.
func dialectName(name string) string { return cmp.Or(dialectAliases[strings.ToLower(name)], name) }

// DialectGuard returns a guard for a dialect that judges without a server. Its
// policy is that of the connection, else that of the project, else the default:
// p may be nil, and connection may be "". Database is the database in which the
// statements run, or "" when it is not known.
func DialectGuard(p *project.Project, connection, database string, d sqlguard.Dialect) (*sqlguard.Guard, error) {
	e, _ := engineOf(d.Name())
	policy := sqlguard.DefaultPolicy()
	if p != nil {
		policy = e.policy(p.Config.Connections[connection], p.Config.GuardOf(connection))
	}
	if len(policy.SearchPath) == 0 {
		policy.SearchPath = e.searchPath
	}
	policy.Database = cmp.Or(policy.Database, database)
	return sqlguard.New(d, policy, nil)
}
