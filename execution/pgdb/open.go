package pgdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ktxhq/ktx/execution"
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
	// with the parameters that [Open] lists. Several hosts may be given.
	URL execution.Secret
	// InsecureTLS permits connections that do not verify the server's
	// certificate and host name, and plain text, to hosts other than
	// loopback. The URL's sslmode then says which; it defaults to prefer.
	InsecureTLS bool
	// MaxConnections bounds the connections open at a time; 0 means
	// DefaultMaxConnections. Statements beyond it wait in order of arrival.
	MaxConnections int
	// SearchPath is the schemas in which unqualified names are resolved. It
	// is pinned for every statement; empty leaves the role's own.
	SearchPath []string
	// Timezone is the session's time zone; "" means UTC.
	Timezone string
	// Isolation of the transaction around a statement; "" leaves the
	// server's default.
	Isolation Isolation
	// Session is what the guard's dialect takes for granted of the session.
	// Each setting is pinned and read back; a statement whose session
	// differs does not run.
	Session []sqlguard.Setting
	// Pooler says whether a connection pooler stands between this process
	// and the server. Statements are not prepared then.
	Pooler Pooler
	// Objects makes [DB.Catalog] load the objects of the database too.
	Objects bool
}

// Isolation is the isolation level of the transaction around a statement.
type Isolation string

// The isolation levels.
const (
	ReadCommitted  Isolation = "read committed"
	RepeatableRead Isolation = "repeatable read"
	Serializable   Isolation = "serializable"
)

// Pooler says whether a connection pooler is in front of the server. The zero
// value finds out: a pooler hands out keys of its own, so the process ID of
// the connection is not that of the server's process.
type Pooler string

// What is known of a pooler.
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
	path    []string // pinned; nil leaves the role's own
	tls     string   // what is verified: "" everything, else for the probe

	objects bool // the catalogue has them
	catalog catalogMemo
	// searched is where the last catalogue says that names are resolved, where
	// the configuration does not.
	searched atomic.Pointer[[]string]
}

// accepted is the guard whose approvals are taken, and the pins of the session
// that it knows. Both change together.
type accepted struct {
	guard sqlguard.ID
	pins  *pinned
}

var _ execution.Backend = (*DB)(nil)

// Open checks cfg and returns a backend that accepts the approvals of guard.
// It does not connect; the first call that needs a connection does.
//
// The URL may carry user, password, host, port and dbname as parameters too,
// and application_name, channel_binding, connect_timeout, passfile,
// require_auth, sslcert, sslcertmode, sslkey, sslmode, sslnegotiation,
// sslpassword, sslrootcert, sslsni, target_session_attrs, min_protocol_version
// and max_protocol_version. Every other parameter is an error. Of the environment, PGPASSWORD, PGPASSFILE and the like fill
// in what the URL leaves out; PGSSLMODE and PGOPTIONS do not.
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
		dialer: &dialer{conf: conf, texts: texts, pooler: cfg.Pooler},
		path:   slices.Clone(cfg.SearchPath), texts: texts, tls: weakness(conf), objects: cfg.Objects,
	}
	d.catalog.limits = catalogLimits
	d.SetGuard(guard)
	d.pool = pool.New(size, d.dialer.dial)
	return d, nil
}

// SetGuard replaces the ID whose approvals Query accepts. From then on names are
// resolved in the schemas of the last catalogue, in every session, whatever the
// role's own search path has become.
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

// dialer makes connections.
type dialer struct {
	conf   *pgconn.Config
	texts  *texts
	pooler Pooler
	found  atomic.Bool // a pooler was found at work
}

// dial connects, learns what the server can do and prepares the texts.
func (d *dialer) dial(ctx context.Context) (*conn, error) {
	conf := d.conf.Copy()
	var frames *frameReader
	conf.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		frames = newFrameReader(r)
		f := pgproto3.NewFrontend(frames, w)
		f.SetMaxBodyLen(maxMessageBody)
		return f
	}
	pg, err := pgconn.ConnectConfig(ctx, conf)
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
