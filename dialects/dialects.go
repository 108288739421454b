package dialects

import (
	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// All returns every dialect, sorted by name.
func All() []sqlguard.Dialect {
	return []sqlguard.Dialect{
		clickhouse.Dialect{},
		mysql.Dialect{},
		postgres.Dialect{},
		sqlite.Dialect{},
		sqlserver.Dialect{},
	}
}

// Lookup returns the dialect of that name, and false when there is none. The
// name "mariadb" gives the dialect mysql for that product.
func Lookup(name string) (sqlguard.Dialect, bool) {
	if name == "mariadb" {
		return mysql.MariaDB, true
	}
	for _, d := range All() {
		if d.Name() == name {
			return d, true
		}
	}
	return nil, false
}
