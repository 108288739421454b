package cli

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

// engine joins a driver's name to its dialect and its backend.
type engine struct {
	driver  string
	name    string // as connection_list shows it
	dialect sqlguard.Dialect
	// searchPath is where unqualified names are resolved on every server of
	// the engine; nil where that depends on the server.
	searchPath []string
	// objects is set where a backend can load the objects of its database;
	// elsewhere guard.catalog changes nothing.
	objects bool
	// connections is how many a backend opens when the configuration is silent.
	connections int
	// opener returns how to connect, or why that is not configured.
	opener func(*app, *project.Project, project.Connection) (openFunc, error)
}

type openFunc = func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error)

// engines is the only table from drivers to dialects and backends.
var engines = []engine{
	{"postgres", "POSTGRESQL", postgres.Dialect{}, nil, true, pgdb.DefaultMaxConnections, openPostgres},
	{"sqlite", "SQLITE", sqlite.Dialect{}, []string{"main"}, false, sqlitedb.DefaultMaxConnections, openSQLite},
}

// engineOf returns the engine of a driver's name.
func engineOf(driver string) (engine, bool) {
	name := strings.ToLower(driver)
	switch name {
	case "postgresql", "pg":
		name = "postgres"
	case "sqlite3":
		name = "sqlite"
	}
	for _, e := range engines {
		if e.driver == name {
			return e, true
		}
	}
	return engine{}, false
}

func openSQLite(_ *app, p *project.Project, c project.Connection) (openFunc, error) {
	if c.Path == "" {
		return nil, fmt.Errorf("no path is configured; set path to the database file")
	}
	path := c.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Dir, path)
	}
	return func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
		return sqlitedb.Open(ctx, sqlitedb.Config{Path: path, MaxConnections: c.MaxConnections, Session: sqlite.Dialect{}.Session()}, guard)
	}, nil
}

func openPostgres(a *app, _ *project.Project, c project.Connection) (openFunc, error) {
	if !c.URL.Set() && c.Host == "" {
		return nil, fmt.Errorf("no url is configured; set url to env:NAME, file:/path or postgres://…")
	}
	// Secrets are read when the connection opens: a variable that is not set
	// must not keep the other connections from working.
	return func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
		address, err := a.postgresURL(c)
		if err != nil {
			return nil, execution.NewError(sqlguard.CodeNotConfigured, err.Error(), nil)
		}
		db, err := pgdb.Open(ctx, pgdb.Config{
			URL: pgdb.NewSecret(address), MaxConnections: c.MaxConnections, SearchPath: c.Schemas, InsecureTLS: c.TLS == "off",
			Session: postgres.Dialect{}.Session(), Objects: c.Guard.Catalog != nil && *c.Guard.Catalog,
		}, guard)
		if err != nil { // it does not connect yet, so the configuration is at fault
			return nil, execution.NewError(sqlguard.CodeNotConfigured, err.Error(), err)
		}
		return db, nil
	}, nil
}

// postgresURL returns the address from url or from host and its companions.
func (a *app) postgresURL(c project.Connection) (string, error) {
	if c.URL.Set() {
		return c.URL.Resolve(a.lookup)
	}
	password, err := c.Password.Resolve(a.lookup)
	if err != nil {
		return "", err
	}
	port := c.Port
	if port == 0 {
		port = 5432
	}
	u := url.URL{Scheme: "postgres", Host: net.JoinHostPort(c.Host, strconv.Itoa(port)), Path: "/" + c.Database}
	switch {
	case password != "":
		u.User = url.UserPassword(c.User, password)
	case c.User != "":
		u.User = url.User(c.User)
	}
	return u.String(), nil
}
