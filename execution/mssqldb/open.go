package mssqldb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// Defaults and bounds of [Config].
const (
	DefaultMaxConnections = 10

	defaultConnectTimeout = 10 * time.Second
)

// Config says how to reach one database of a SQL Server. Every field except URL
// may be zero.
type Config struct {
	// URL is sqlserver://user:password@host:port?database=name, with the
	// parameters that [Open] lists.
	URL execution.Secret
	// InsecureTLS permits connections to hosts other than loopback that do not
	// verify the server's certificate and host name, or that use plain text.
	// The URL's encrypt and trustServerCertificate then choose among them.
	// Without these parameters, TLS is used and nothing is verified.
	InsecureTLS bool
	// MaxConnections bounds the connections open at a time; 0 means
	// DefaultMaxConnections. Statements beyond it wait in order of arrival.
	MaxConnections int
	// Session is what the guard's dialect assumes about the session. Open
	// refuses settings that the pins do not guarantee.
	Session []sqlguard.Setting
	// Databases are the databases that statements may name in addition to the
	// connection's own. The probe also checks what the role may do in them.
	Databases []string
	// Objects says that Catalog returns the objects of the database too.
	Objects bool
	// Access is the rules of the connection. Probe compares them with what the role may
	// read, and its script grants only what they permit. The guard enforces them.
	Access sqlguard.ReadRules
}

// DB is one database as a backend. It is safe for concurrent use.
type DB struct {
	pool      *pool.Pool[*conn]
	accepts   atomic.Pointer[accepted]
	target    *target
	databases []string
	checks    atomic.Bool // new connections check their role
	// found is where the session looks up names, according to the last
	// catalogue.
	found atomic.Pointer[home]

	objects bool
	access  sqlguard.ReadRules
	catalog catalogMemo
}

// accepted is the guard whose approvals are accepted, and where that guard
// assumes that names are looked up. Both change together.
type accepted struct {
	guard sqlguard.ID
	home  *home // nil before the first catalogue
}

// home is the database and the default schema of a session.
type home struct{ database, schema string }

var (
	_ execution.Backend     = (*DB)(nil)
	_ execution.RoleChecker = (*DB)(nil)
)

// Open checks cfg and returns a backend that accepts the approvals of guard. It
// does not connect; the first call that needs a connection does.
//
// The URL must name a user, which is a SQL Server login (not a Windows login),
// and a database that is not a system database. It may carry the following
// parameters, in any case of letters: "app name", applicationIntent (ReadOnly),
// certificate (a file with the certificate of the authority that signed the
// server's), database, "dial timeout" (in seconds), encrypt (true, false, or
// strict for TDS 8.0), hostNameInCertificate, "packet size" and
// trustServerCertificate. Every other parameter is an error.
func Open(_ context.Context, cfg Config, guard sqlguard.ID) (*DB, error) {
	if guard == (sqlguard.ID{}) {
		return nil, errors.New("open SQL Server: no guard")
	}
	t, err := cfg.target()
	if err != nil {
		return nil, fmt.Errorf("open SQL Server: %w", err)
	}
	for _, s := range cfg.Session {
		if value, known := held[strings.ToUpper(s.Name)]; !known || !strings.EqualFold(value, s.Value) {
			return nil, execution.NewError(sqlguard.CodeSessionModeMismatch,
				fmt.Sprintf("the guard takes %s = %s for granted, which a session does not hold to", s.Name, s.Value), nil)
		}
	}
	size := cfg.MaxConnections
	switch {
	case size < 0:
		return nil, fmt.Errorf("open SQL Server: %d connections", size)
	case size == 0:
		size = DefaultMaxConnections
	}
	d := &DB{target: t, databases: slices.Clone(cfg.Databases), objects: cfg.Objects, access: cfg.Access}
	d.SetGuard(guard)
	d.pool = pool.New(size, func(ctx context.Context) (*conn, error) {
		c, err := t.dial(ctx)
		if err == nil && d.checks.Load() {
			if err = c.checkRole(ctx); err != nil {
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

// SetGuard replaces the ID whose approvals Query accepts. From then on Query
// runs nothing in a session whose database or default schema differs from the
// last catalogue, because names would refer to other objects there.
func (d *DB) SetGuard(id sqlguard.ID) { d.accepts.Store(&accepted{guard: id, home: d.found.Load()}) }

// Close ends the running statements on the server and closes every connection.
// Later calls fail with the code draining.
func (d *DB) Close() error {
	d.pool.Close()
	return nil
}

// dial connects and logs in.
func (t *target) dial(ctx context.Context) (*conn, error) {
	within, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	wire, err := tds.Dial(within, t.options)
	if err != nil {
		return nil, connectError(ctx, err)
	}
	return &conn{wire: wire}, nil
}
