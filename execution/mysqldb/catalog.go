package mysqldb

import (
	"context"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Catalog returns the server's product and version, and the connection's own
// database, as a new connection reports them. MySQL's schemas are its
// databases, and the server looks up unqualified names in the connection's own.
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
