package mysqldb

import (
	"context"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Catalog returns what the server is and which database is the connection's own,
// as a new connection finds them. MySQL's schemas are its databases, and
// unqualified names are looked up in that one.
func (d *DB) Catalog(ctx context.Context) (*sqlguard.Catalog, error) {
	l, err := d.pool.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	self := l.Conn.self
	c := &sqlguard.Catalog{
		Product: string(l.Conn.flavour), Version: number(self.version),
		Database: self.database, SearchPath: []string{self.database},
	}
	d.pool.Release(l)
	major, _, _ := strings.Cut(c.Version, ".")
	if c.Major, err = strconv.Atoi(major); err != nil {
		return nil, mismatch(&mismatchError{"the server's version has no number"})
	}
	return c, nil
}
