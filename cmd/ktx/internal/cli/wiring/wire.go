package wiring

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb"
	"github.com/ktxhq/ktx/execution/clickhousedb"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

// engine joins the name of a driver to its dialect and its backend.
type engine struct {
	driver  string
	name    string // as connection_list shows it
	dialect sqlguard.Dialect
	// files returns the dialect of a connection to a folder, in which statements may name
	// its files; nil where none can.
	files func(*project.Project, project.Connection) sqlguard.Dialect
	// searchPath is where every server of the engine looks up names without a
	// schema; nil when that depends on the server.
	searchPath []string
	// databases says that the key schemas lists further databases that may be
	// read. Otherwise the key sets the search path.
	databases bool
	// objects says that the backend can load the objects of its database.
	// Otherwise guard.catalog changes nothing.
	objects bool
	// refuses says that a role that can do more than read is refused unless
	// guard.role says warn, because the session does not stop writes.
	refuses bool
	// denied returns schemas that no statement may name, for what they mean to the engine.
	denied func(project.Connection) []string
	// connections is how many connections a backend opens by default.
	connections int
	// opener returns a function that connects, or an error that says what is
	// missing in the configuration.
	opener func(*console.App, *project.Project, project.Connection) (openFunc, error)
}

type openFunc = func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error)

// engines is the only table from drivers to dialects and backends.
var engines = []engine{
	postgresEngine("postgres", "POSTGRESQL"),
	postgresEngine("postgres:alloydb", "POSTGRESQL (AlloyDB)"),
	postgresEngine("postgres:aurora", "POSTGRESQL (Aurora)"),
	postgresEngine("postgres:citus", "POSTGRESQL (Citus)"),
	postgresEngine("postgres:timescale", "POSTGRESQL (TimescaleDB)"),
	postgresEngine("postgres:yugabyte", "POSTGRESQL (YugabyteDB)"),
	mysqlEngine("mysql", "MYSQL"),
	mysqlEngine("mysql:aurora", "MYSQL (Aurora)"),
	mysqlEngine("mysql:galera", "MARIADB (Galera Cluster)"),
	mysqlEngine("mysql:tidb", "MYSQL (TiDB)"),
	mysqlEngine("mariadb", "MARIADB"),
	{
		driver: "sqlserver", name: "SQLSERVER", dialect: sqlserver.Dialect{}, databases: true, objects: true, refuses: true, connections: mssqldb.DefaultMaxConnections,
		opener: server("sqlserver", 1433, func(ctx context.Context, url execution.Secret, c project.Connection, guard sqlguard.ID) (execution.Backend, error) {
			return mssqldb.Open(ctx, mssqldb.Config{
				URL: url, MaxConnections: c.MaxConnections, Databases: c.Schemas, InsecureTLS: c.TLS == "off", Session: sqlserver.Dialect{}.Session(),
				Objects: c.Guard.Catalog != nil && *c.Guard.Catalog, Access: accessOf(sqlserver.Dialect{}, c, true),
			}, guard)
		}),
	},
	{
		// The port depends on TLS, so the backend chooses it.
		driver: "clickhouse", name: "CLICKHOUSE", dialect: clickhouse.Dialect{}, databases: true, refuses: true, connections: clickhousedb.DefaultMaxConnections,
		opener: server("clickhouse", 0, func(ctx context.Context, url execution.Secret, c project.Connection, guard sqlguard.ID) (execution.Backend, error) {
			return clickhousedb.Open(ctx, clickhousedb.Config{
				URL: url, MaxConnections: c.MaxConnections, Databases: c.Schemas, InsecureTLS: c.TLS == "off", Session: clickhouse.Dialect{}.Session(),
				Limits: limits(c), Access: accessOf(clickhouse.Dialect{}, c, true),
			}, guard)
		}),
	},
	{
		driver: "bigquery", name: "BIGQUERY", dialect: bigquery.Dialect{}, databases: true, refuses: true, connections: bigquerydb.DefaultMaxConnections,
		opener: server("bigquery", 0, func(ctx context.Context, url execution.Secret, c project.Connection, guard sqlguard.ID) (execution.Backend, error) {
			return bigquerydb.Open(ctx, bigquerydb.Config{
				URL: url, MaxConnections: c.MaxConnections, Projects: c.Schemas, Session: bigquery.Dialect{}.Session(),
				Limits: limits(c), Access: accessOf(bigquery.Dialect{}, c, true),
			}, guard)
		}),
	},
	{
		driver: "sqlite", name: "SQLITE", dialect: sqlite.Dialect{}, searchPath: []string{"main"}, connections: sqlitedb.DefaultMaxConnections,
		opener: openSQLite,
	},
	{
		driver: "duckdb", name: "DUCKDB", dialect: duckdb.Dialect{}, searchPath: []string{"main"}, connections: duckdbdb.DefaultMaxConnections,
		files: func(p *project.Project, c project.Connection) sqlguard.Dialect {
			return duckdb.Dialect{Files: &folderFiles{root: fileOf(p, c.Files), rules: c.Access.Files}}
		},
		denied: func(c project.Connection) []string {
			return []string{duckdbdb.Config{Path: c.Path, Files: c.Files}.Catalogue()}
		},
		opener: openDuckDB,
	},
}

// engineOf returns the engine of a driver's name.
func engineOf(driver string) (engine, bool) {
	name := dialectName(strings.ToLower(driver))
	for _, e := range engines {
		if e.driver == name {
			return e, true
		}
	}
	return engine{}, false
}

// reader returns the dialect of a connection.
func (e engine) reader(p *project.Project, c project.Connection) sqlguard.Dialect {
	if e.files != nil && c.Files != "" {
		return e.files(p, c)
	}
	return e.dialect
}

// policy returns the guard's policy of a connection.
func (e engine) policy(c project.Connection, guard project.Guard) sqlguard.Policy {
	p := c.Policy(guard)
	if e.denied != nil {
		p.Schemas.Deny = append(slices.Clip(p.Schemas.Deny), e.denied(c)...)
	}
	if e.databases {
		p.Databases, p.SearchPath = p.SearchPath, nil
	}
	return p
}

func (e engine) refusesRole(guard project.Guard) bool {
	return guard.Role == "refuse" || guard.Role == "" && e.refuses
}

func openSQLite(_ *console.App, p *project.Project, c project.Connection) (openFunc, error) {
	if c.Path == "" {
		return nil, fmt.Errorf("no path is configured; set path to the database file")
	}
	path := fileOf(p, c.Path)
	access := accessOf(sqlite.Dialect{}, c, false)
	return func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
		return sqlitedb.Open(ctx, sqlitedb.Config{Path: path, MaxConnections: c.MaxConnections, Session: sqlite.Dialect{}.Session(), Access: access}, guard)
	}, nil
}

func openDuckDB(_ *console.App, p *project.Project, c project.Connection) (openFunc, error) {
	if c.Path == "" && c.Files == "" {
		return nil, fmt.Errorf("no files are configured; set files to a folder of CSV, JSON or Parquet files, or path to a database file")
	}
	config := duckdbdb.Config{
		Path: fileOf(p, c.Path), Files: fileOf(p, c.Files), Permits: permitsFile(c.Access.Files), MaxConnections: c.MaxConnections, Session: duckdb.Dialect{}.Session(),
		Limits: limits(c), Reserved: duckdb.Reserved, Access: accessOf(duckdb.Dialect{}, c, false),
	}
	return func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
		return duckdbdb.Open(ctx, config, guard)
	}, nil
}

// fileOf returns a configured path, which is relative to the project. No path stays none.
func fileOf(p *project.Project, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Dir, path)
}

// accessOf returns the rules on tables and columns of a connection, for its backend.
// databases is as in engine.
func accessOf(d sqlguard.Dialect, c project.Connection, databases bool) sqlguard.ReadRules {
	// The policy's guard block has no rules on tables and columns.
	return sqlguard.ReadRulesOf(d, engine{databases: databases}.policy(c, project.Guard{}))
}

// server returns the opener of an engine whose servers have an address. The port
// applies unless the configuration has another; 0 leaves it out of the address.
func server(scheme string, port int, open func(context.Context, execution.Secret, project.Connection, sqlguard.ID) (execution.Backend, error)) func(*console.App, *project.Project, project.Connection) (openFunc, error) {
	return func(a *console.App, p *project.Project, c project.Connection) (openFunc, error) {
		if !c.URL.Set() && c.Host == "" {
			return nil, fmt.Errorf("no url is configured; set url to env:NAME, file:/path or %s://…", scheme)
		}
		// Secrets are read when the connection opens, so that a variable that
		// is not set does not keep the other connections from working.
		return func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			address, err := address(p.Environment(a.Lookup), scheme, port, c)
			if err != nil {
				return nil, execution.NewError(sqlguard.CodeNotConfigured, err.Error(), nil)
			}
			db, err := open(ctx, execution.NewSecret(address), c, guard)
			if err != nil { // open does not connect yet, so the configuration is at fault
				return nil, execution.NewError(sqlguard.CodeNotConfigured, strings.Replace(err.Error(), string(sqlguard.CodeNotConfigured)+": ", "", 1), err)
			}
			return db, nil
		}, nil
	}
}

// postgresEngine returns the engine of PostgreSQL or of a relative.
func postgresEngine(driver, name string) engine {
	dialect, _ := dialects.Lookup(driver)
	_, relative, _ := strings.Cut(driver, ":")
	return engine{
		driver: driver, name: name, dialect: dialect, objects: true, connections: pgdb.DefaultMaxConnections,
		opener: server("postgres", 5432, func(ctx context.Context, url execution.Secret, c project.Connection, guard sqlguard.ID) (execution.Backend, error) {
			return pgdb.Open(ctx, pgdb.Config{
				URL: url, MaxConnections: c.MaxConnections, SearchPath: c.Schemas, InsecureTLS: c.TLS == "off",
				Session: dialect.Session(), Objects: c.Guard.Catalog != nil && *c.Guard.Catalog, Limits: limits(c),
				Access: accessOf(dialect, c, false), Relative: relative,
			}, guard)
		}),
	}
}

// mysqlEngine returns the engine of MySQL, MariaDB or a relative. The session of TiDB
// stops no write.
func mysqlEngine(driver, name string) engine {
	dialect, _ := dialects.Lookup(driver)
	_, relative, _ := strings.Cut(driver, ":")
	scheme := "mysql"
	if driver == "mariadb" {
		scheme = driver
	}
	return engine{
		driver: driver, name: name, dialect: dialect, databases: true, objects: true, refuses: relative == "tidb", connections: mysqldb.DefaultMaxConnections,
		opener: server(scheme, 3306, func(ctx context.Context, url execution.Secret, c project.Connection, guard sqlguard.ID) (execution.Backend, error) {
			return mysqldb.Open(ctx, mysqldb.Config{
				URL: url, MaxConnections: c.MaxConnections, Databases: c.Schemas, InsecureTLS: c.TLS == "off", Session: dialect.Session(),
				Objects: c.Guard.Catalog != nil && *c.Guard.Catalog, Access: accessOf(dialect, c, true), Relative: relative,
			}, guard)
		}),
	}
}

// address returns the key url of a connection, or a URL made of host, port,
// database, user and password.
func address(lookup func(string) (string, bool), scheme string, port int, c project.Connection) (string, error) {
	if c.URL.Set() {
		return c.URL.Resolve(lookup)
	}
	password, err := c.Password.Resolve(lookup)
	if err != nil {
		return "", err
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(c.Host, strconv.Itoa(cmp.Or(c.Port, port))), Path: "/" + c.Database}
	switch {
	case cmp.Or(c.Port, port) == 0:
		u.Host = strings.TrimSuffix(u.Host, ":0")
	case scheme == "sqlserver": // there the path is an instance
		u.Path = ""
		if c.Database != "" {
			u.RawQuery = url.Values{"database": {c.Database}}.Encode()
		}
	case scheme != "postgres" && strings.HasPrefix(c.Host, "/"): // PostgreSQL takes a socket for a host
		if c.Port != 0 {
			return "", fmt.Errorf("host %s is a socket, which has no port", c.Host)
		}
		u.Host, u.RawQuery = "", url.Values{"socket": {c.Host}}.Encode()
	}
	switch {
	case password != "":
		u.User = url.UserPassword(c.User, password)
	case c.User != "":
		u.User = url.User(c.User)
	}
	return u.String(), nil
}
