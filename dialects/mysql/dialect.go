package mysql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Dialect reads the SQL of MySQL and MariaDB. The zero value is for an unknown
// server: it reads for MySQL 8.4 and also refuses what a MariaDB would execute.
type Dialect struct {
	sqlguard.NoOwnTypes

	product product
	version release
	profile *profile // the relative of MySQL or MariaDB, nil for these two
}

var _ sqlguard.ServerDialect = Dialect{}

// MariaDB is the dialect for an unknown MariaDB server. It reads for the release series
// 11.8.
var MariaDB = Dialect{product: productMariaDB, version: 1108_00}

// product is the product of a server.
type product uint8

const (
	productUnknown product = iota // MySQL's grammar, and only what both products permit
	productMySQL
	productMariaDB
)

// release is the version of a server: 8.4 is 804_00, 10.11.6 is 1011_06. 0 is
// the default of the product.
type release int

// defaultRelease is the release of the zero value.
const defaultRelease release = 804_00

// Name returns "mysql" for both products.
func (Dialect) Name() string { return "mysql" }

// Version names the parsers, and the product and version of the server.
func (d Dialect) Version() string {
	product := "MySQL"
	switch d.product {
	case productMariaDB:
		product = "MariaDB"
	case productMySQL:
	case productUnknown:
		product = "MySQL, MariaDB"
	}
	if d.profile != nil {
		product += " (" + d.profile.title + ")"
	}
	v := d.release()
	return fmt.Sprintf("%s; %s %d.%d.%d", parsers, product, v/10_000, v/100%100, v%100)
}

// parsers names the parsers; a test compares it with go.mod.
const parsers = "tidb/pkg/parser ce92298d1124, marino v0.3.1"

func (d Dialect) release() release {
	if d.version == 0 {
		return defaultRelease
	}
	return d.version
}

// ForServer returns the dialect for a server. product is "mysql" or "mariadb",
// and version is the version that the server reports. For a version that cannot
// be parsed it returns the dialect of the oldest version, and for another product
// the zero value. A profile stays.
func (d Dialect) ForServer(product, version string) sqlguard.Dialect {
	switch product {
	case "mariadb":
		return Dialect{product: productMariaDB, version: parseRelease(version), profile: d.profile}
	case "mysql":
		return Dialect{product: productMySQL, version: parseRelease(version), profile: d.profile}
	default:
		return Dialect{profile: d.profile}
	}
}

// parseRelease reads the number at the start of a version, and returns 1 when
// there is none. A MariaDB may report "5.5.5-" before its own version.
func parseRelease(version string) release {
	parts := strings.SplitN(strings.TrimPrefix(version, "5.5.5-"), ".", 3)
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	if i := strings.IndexFunc(parts[2], func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		parts[2] = parts[2][:i]
	}
	v := 0
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if i < 2 && (err != nil || n < 0 || n > 99) {
			return 1
		}
		v = v*100 + min(max(n, 0), 99)
	}
	return max(release(v), 1)
}

// SchemasAreDatabases returns true: db.t is the table t of the database db.
func (Dialect) SchemasAreDatabases() bool { return true }
