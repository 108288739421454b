package dialects

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// All returns every dialect, sorted by name.
func All() []sqlguard.Dialect {
	return []sqlguard.Dialect{
		bigquery.Dialect{},
		clickhouse.Dialect{},
		duckdb.Dialect{},
		mysql.Dialect{},
		postgres.Dialect{},
		sqlite.Dialect{},
		sqlserver.Dialect{},
	}
}

// Lookup returns the dialect of that name, and false when there is none. The
// name "mariadb" gives the dialect mysql for that product, and a name of
// [Profiles] the dialect for that relative.
func Lookup(name string) (sqlguard.Dialect, bool) {
	if name == "mariadb" {
		return mysql.MariaDB, true
	}
	if base, relative, ok := strings.Cut(name, ":"); ok {
		return lookupProfile(base, relative)
	}
	for _, d := range All() {
		if d.Name() == name {
			return d, true
		}
	}
	return nil, false
}

// Profiles returns the names of the dialects for relatives of a server, such as
// "postgres:aurora", sorted.
func Profiles() []string {
	var names []string
	for _, name := range mysql.Profiles() {
		names = append(names, "mysql:"+name)
	}
	for _, name := range postgres.Profiles() {
		names = append(names, "postgres:"+name)
	}
	return names
}

func lookupProfile(base, relative string) (sqlguard.Dialect, bool) {
	switch base {
	case "postgres":
		if d, ok := postgres.Profile(relative); ok {
			return d, true
		}
	case "mysql":
		if d, ok := mysql.Profile(relative); ok {
			return d, true
		}
	}
	return nil, false
}
