package pgdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/alarm"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// Defaults and bounds of [Config].
const (
	DefaultMaxConnections = 10
	DefaultTimezone       = "UTC"

	defaultConnectTimeout = 10 * time.Second
)

// Config says how to reach one PostgreSQL database. The zero value of every
// field but URL is usable.
type Config struct {
	// URL is a connection URL, postgres://user:password@host:port/database,
	// with the parameters that [Open] lists. It may name several hosts.
	URL execution.Secret
	// InsecureTLS permits connections to hosts other than loopback that do not
	// verify the server's certificate and host name, or that use plain text.
	// The URL's sslmode then chooses; it defaults to prefer.
	InsecureTLS bool
	// MaxConnections bounds the connections open at a time; 0 means
	// DefaultMaxConnections. Further statements wait in order of arrival.
	MaxConnections int
	// SearchPath is the schemas in which the server resolves unqualified names.
	// It is pinned for every statement. When it is empty, the role's own search
	// path applies.
	SearchPath []string
	// Timezone is the session's time zone; "" means UTC.
	Timezone string
	// Isolation is the level of the transaction around a statement; "" leaves
	// the server's default.
	Isolation Isolation
	// Session is the settings that the guard's dialect relies on. Each setting
	// is pinned and read back. A statement does not run when a setting of its
	// session differs.
	Session []sqlguard.Setting
	// Pooler says whether a connection pooler is between this process and the
	// server. With a pooler, statements are not prepared.
	Pooler Pooler
	// Objects makes [DB.Catalog] also load the objects of the database.
	Objects bool
	// Access is the rules of the connection. [DB.Probe] compares them with what the
	// role may read, and its script grants only what they permit. The guard enforces
	// them.
	Access sqlguard.ReadRules
	// Relative is the relative of PostgreSQL that the guard's dialect is for, "" for
	// PostgreSQL itself. [DB.Probe] compares it with the server.
	Relative string
	// Limits are those of most statements. Their time limits are set at login.
	// Statements with other time limits cost the server a little more.
	Limits execution.Limits
}

// Isolation is the isolation level of the transaction around a statement.
type Isolation string

// The isolation levels.
const (
	ReadCommitted  Isolation = "read committed"
	RepeatableRead Isolation = "repeatable read"
	Serializable   Isolation = "serializable"
)

// Pooler says whether a connection pooler is in front of the server. With the
// zero value, the backend detects it: a pooler gives out its own keys, so the
// process ID of the connection differs from that of the server's process.
type Pooler string

// The values of [Pooler].
const (
	PoolerAuto Pooler = ""
	PoolerOn   Pooler = "on"
	PoolerOff  Pooler = "off"
)

// DB is one PostgreSQL database as a backend. It is safe for concurrent use.
type DB struct {
	pool    *pool.Pool[*conn]
	dialer  *dialer
	texts   *texts
	accepts atomic.Pointer[accepted]
	types   typeNames
	alarm   alarm.Clock // of the statements that run
	path    []string    // pinned; nil leaves the role's own
	tls     string      // weakness of transport security, for the probe; "" when none

	checks   atomic.Bool // new connections check their role
	objects  bool        // the catalogue has the objects of the database
	access   sqlguard.ReadRules
	relative string
	catalog  catalogMemo
	// searched is the schemas in which the last catalogue says that names are
	// resolved. It is used when the configuration sets no search path.
	searched atomic.Pointer[[]string]
}

// accepted is the ID of the guard whose approvals Query accepts, and the pins
// for the session that this guard knows. Both change together.
type accepted struct {
	guard sqlguard.ID
	pins  *pinned
}

var (
	_ execution.Backend     = (*DB)(nil)
	_ execution.RoleChecker = (*DB)(nil)
)

// Open checks cfg and returns a backend that accepts the approvals of guard.
// It does not connect; the first call that needs a connection does.
//
// The URL may also carry user, password, host, port and dbname as parameters,
// and application_name, channel_binding, connect_timeout, passfile,
// require_auth, sslcert, sslcertmode, sslkey, sslmode, sslnegotiation,
// sslpassword, sslrootcert, sslsni, target_session_attrs, min_protocol_version
// and max_protocol_version. Every other parameter is an error. Environment
// variables such as PGPASSWORD and PGPASSFILE supply what the URL leaves out;
// PGSSLMODE and PGOPTIONS are ignored.
func Open(_ context.Context, cfg Config, guard sqlguard.ID) (*DB, error) {
	if guard == (sqlguard.ID{}) {
		return nil, errors.New("open postgres: no guard")
	}
	conf, err := cfg.connection()
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	texts, err := cfg.texts()
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	size := cfg.MaxConnections
	switch {
	case size < 0:
		return nil, fmt.Errorf("open postgres: %d connections", size)
	case size == 0:
		size = DefaultMaxConnections
	}
	d := &DB{
		dialer: &dialer{conf: conf, texts: texts, pooler: cfg.Pooler, usual: cfg.Limits.WithDefaults()},
		path:   slices.Clone(cfg.SearchPath), texts: texts, tls: weakness(conf), objects: cfg.Objects, access: cfg.Access, relative: cfg.Relative,
	}
	d.catalog.limits = catalogLimits
	d.SetGuard(guard)
	d.pool = pool.New(size, func(ctx context.Context) (*conn, error) {
		c, err := d.dialer.dial(ctx)
		if err != nil {
			return nil, err
		}
		d.types.forget()
		if d.checks.Load() {
			if err := c.checkRole(ctx); err != nil {
				c.Destroy()
				return nil, err
			}
		}
		return c, nil
	})
	d.pool.Ask(d.fates)
	d.dialer.aside = d.pool.Aside
	return d, nil
}

// CheckRole implements [execution.RoleChecker].
func (d *DB) CheckRole() { d.checks.Store(true) }

// SetGuard replaces the ID whose approvals Query accepts. From then on, every
// session resolves names in the schemas of the last catalogue, even when the
// role's own search path has changed.
func (d *DB) SetGuard(id sqlguard.ID) {
	next := &accepted{guard: id}
	if path := d.searched.Load(); path != nil {
		next.pins = d.texts.on(*path)
	}
	d.accepts.Store(next)
}

// Close ends the statements in flight at the server and closes every
// connection. Later calls fail with the code draining.
func (d *DB) Close() error {
	d.pool.Close()
	return nil
}

// dialer opens connections.
type dialer struct {
	conf   *pgconn.Config
	texts  *texts
	pooler Pooler
	usual  execution.Limits
	found  atomic.Bool // a pooler was detected
	// refused says how many of the choices of login the server has refused.
	refused atomic.Int32
	// aside is the pool's Aside.
	aside func(ctx context.Context, over <-chan struct{}) (done func())
}

// dial connects, finds out what the server supports and prepares the constants.
func (d *dialer) dial(ctx context.Context) (*conn, error) { return d.connect(ctx, d.conf.Copy()) }

// dialAt connects to the server at an address, whatever hosts the URL names.
func (d *dialer) dialAt(ctx context.Context, at net.Addr) (*conn, error) {
	conf := d.conf.Copy()
	conf.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, at.Network(), at.String())
	}
	return d.connect(ctx, conf)
}

func (d *dialer) connect(ctx context.Context, conf *pgconn.Config) (*conn, error) {
	var frames *frameReader
	conf.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		frames = newFrameReader(r)
		f := pgproto3.NewFrontend(frames, w)
		f.SetMaxBodyLen(maxMessageBody)
		return f
	}
	pg, err := d.logIn(ctx, conf)
	if err != nil {
		return nil, connectError(ctx, err)
	}
	c := &conn{pg: pg, frames: frames, dialer: d}
	if err := c.setUp(ctx); err != nil {
		c.Destroy()
		return nil, err
	}
	return c, nil
}

// logIn connects with the settings of the session in the first message. When the
// server refuses one of them, logIn tries again with fewer.
func (d *dialer) logIn(ctx context.Context, conf *pgconn.Config) (*pgconn.PgConn, error) {
	params := conf.RuntimeParams
	for {
		tried := d.refused.Load()
		conf.RuntimeParams = maps.Clone(params)
		maps.Copy(conf.RuntimeParams, d.login(int(tried)))
		pg, err := pgconn.ConnectConfig(ctx, conf)
		if err == nil || tried >= loginBare || !refusesSetting(err) {
			return pg, err
		}
		d.refused.CompareAndSwap(tried, tried+1)
	}
}
