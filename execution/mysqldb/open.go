package mysqldb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// DefaultMaxConnections is the bound that a [Config] without one gets.
const DefaultMaxConnections = 10

// Config says how to reach one database of a MySQL or MariaDB server. Every
// field except URL may be zero.
type Config struct {
	// URL is a connection URL, mysql://user:password@host:port/database or
	// mariadb://…, with the parameters that [Open] lists.
	URL execution.Secret
	// MaxConnections bounds the connections open at a time; 0 means
	// DefaultMaxConnections. Statements beyond it wait in order of arrival.
	MaxConnections int
	// InsecureTLS permits connections to hosts other than loopback that do not
	// verify the server's certificate and host name, or that use plain text.
	// The URL's ssl-mode then chooses among them; it defaults to PREFERRED.
	InsecureTLS bool
	// Session is what the guard's dialect assumes about the session. Each
	// setting is pinned and read back. A statement does not run when its
	// session differs. A time_zone here replaces the pin of +00:00.
	Session []sqlguard.Setting
	// Databases are the databases that statements may name in addition to the
	// URL's own. The guard enforces this. The backend uses them for the role
	// script.
	Databases []string
	// Objects says that Catalog returns the objects of the databases too.
	Objects bool
	// Access is the rules of the connection. Probe compares them with what the account
	// may read, and its script grants only what they permit. The guard enforces them.
	Access sqlguard.ReadRules
	// Relative is the relative of MySQL or MariaDB that the guard's dialect is for, "" for
	// these two.
	Relative string
}

const relativeTiDB = "tidb"

// DB is one database as a backend. It is safe for concurrent use.
type DB struct {
	pool   *pool.Pool[*conn]
	dialer *dialer
	guard  atomic.Pointer[sqlguard.ID]
	checks atomic.Bool // new connections check their account
	others []string    // databases in addition to the URL's own

	objects bool
	access  sqlguard.ReadRules
	catalog catalogMemo
}

var (
	_ execution.Backend     = (*DB)(nil)
	_ execution.RoleChecker = (*DB)(nil)
)

// Open checks cfg and returns a backend that accepts the approvals of guard. It
// does not connect; the first call that needs a connection does.
//
// The URL must name a database that is not one of the server's system
// databases. It may carry the parameters socket (the path of a Unix socket,
// instead of host and port), ssl-mode (DISABLED, PREFERRED, REQUIRED, VERIFY_CA
// or VERIFY_IDENTITY, the default), ssl-ca, ssl-cert and ssl-key (PEM files),
// connect-timeout (seconds) and program-name. Every other parameter is an
// error.
func Open(_ context.Context, cfg Config, guard sqlguard.ID) (*DB, error) {
	if guard == (sqlguard.ID{}) {
		return nil, errors.New("open mysql: no guard")
	}
	to, err := cfg.target()
	if err != nil {
		return nil, fmt.Errorf("open mysql: %w", err)
	}
	pins, err := cfg.pins()
	if err != nil {
		return nil, fmt.Errorf("open mysql: %w", err)
	}
	size := cfg.MaxConnections
	switch {
	case size < 0:
		return nil, fmt.Errorf("open mysql: %d connections", size)
	case size == 0:
		size = DefaultMaxConnections
	}
	d := &DB{dialer: &dialer{target: to, texts: newTexts(pins), relative: cfg.Relative}, others: slices.Clone(cfg.Databases), objects: cfg.Objects, access: cfg.Access}
	d.SetGuard(guard)
	d.pool = pool.New(size, func(ctx context.Context) (*conn, error) {
		c, err := d.dialer.dial(ctx)
		if err == nil && d.checks.Load() {
			if err = d.checkAccount(ctx, c); err != nil {
				c.Destroy()
			}
		}
		if err != nil {
			return nil, err
		}
		return c, nil
	})
	d.pool.Ask(d.fates)
	return d, nil
}

// CheckRole implements [execution.RoleChecker].
func (d *DB) CheckRole() { d.checks.Store(true) }

// SetGuard replaces the ID whose approvals Query accepts.
func (d *DB) SetGuard(id sqlguard.ID) { d.guard.Store(&id) }

// Close ends the running statements on the server and closes every connection.
// Later calls fail with the code draining.
func (d *DB) Close() error {
	d.pool.Close()
	return nil
}
