package clickhousedb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// Defaults and bounds of [Config].
const (
	DefaultMaxConnections = 10

	defaultConnectTimeout = 10 * time.Second
)

// Config says how to reach one database of a ClickHouse server. Every field except URL
// may be zero.
type Config struct {
	// URL is clickhouse://user:password@host:port/database, or the same with http or
	// https. The port is that of the HTTP interface.
	URL execution.Secret
	// InsecureTLS permits connections to hosts other than loopback that do not verify
	// the server's certificate and host name, or that use plain text.
	InsecureTLS bool
	// MaxConnections bounds the connections open at a time; 0 means
	// DefaultMaxConnections. Statements beyond it wait in order of arrival.
	MaxConnections int
	// Session is what the guard's dialect assumes about the session. Open refuses
	// settings that the pins do not guarantee.
	Session []sqlguard.Setting
	// Databases are the databases that statements may name in addition to the
	// connection's own.
	Databases []string
	// Limits are the limits of the connection, which the role's script repeats.
	Limits execution.Limits
	// Access is the rules of the connection. Probe compares them with what the role may
	// read, and its script grants only what they permit. The guard enforces them.
	Access sqlguard.ReadRules
}

// DB is one database as a backend. It is safe for concurrent use.
type DB struct {
	pool      *pool.Pool[*conn]
	guard     atomic.Pointer[sqlguard.ID]
	target    *target
	databases []string
	limits    execution.Limits
	access    sqlguard.ReadRules
	checks    atomic.Bool // the role is checked again from time to time

	mu      sync.Mutex
	session *session // what the server last said about settings
	catalog *sqlguard.Catalog
}

var (
	_ execution.Backend     = (*DB)(nil)
	_ execution.RoleChecker = (*DB)(nil)
)

// Open checks cfg and returns a backend that accepts the approvals of guard. It does not
// connect; the first call that needs a connection does.
//
// The URL may carry the parameters ca (a file with the certificate of the authority that
// signed the server's), database, dial_timeout (in seconds) and secure (true or false).
// Every other parameter is an error.
func Open(_ context.Context, cfg Config, guard sqlguard.ID) (*DB, error) {
	if guard == (sqlguard.ID{}) {
		return nil, errors.New("open ClickHouse: no guard")
	}
	t, err := cfg.target()
	if err != nil {
		return nil, fmt.Errorf("open ClickHouse: %w", err)
	}
	for _, s := range cfg.Session {
		if pins[s.Name] != s.Value {
			return nil, execution.NewError(sqlguard.CodeSessionModeMismatch,
				fmt.Sprintf("the guard takes %s = %s for granted, which a session does not hold to", s.Name, s.Value), nil)
		}
	}
	size := cfg.MaxConnections
	switch {
	case size < 0:
		return nil, fmt.Errorf("open ClickHouse: %d connections", size)
	case size == 0:
		size = DefaultMaxConnections
	}
	d := &DB{target: t, databases: slices.Clone(cfg.Databases), limits: cfg.Limits, access: cfg.Access}
	d.SetGuard(guard)
	d.pool = pool.New(size, t.dial)
	d.pool.Ask(d.fates)
	return d, nil
}

// CheckRole implements [execution.RoleChecker]. The role is checked when the settings are
// asked for again, which is at least once a minute.
func (d *DB) CheckRole() { d.checks.Store(true) }

// SetGuard replaces the ID whose approvals Query accepts.
func (d *DB) SetGuard(id sqlguard.ID) { d.guard.Store(&id) }

// Close ends the running statements on the server and closes every connection.
// Later calls fail with the code draining.
func (d *DB) Close() error {
	d.pool.Close()
	return nil
}
