package pgdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ktxhq/ktx/execution"
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
	URL Secret
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

// Secret is a text that no print verb, logger or encoder shows.
type Secret struct{ text *string }

// NewSecret returns text as a Secret.
func NewSecret(text string) Secret { return Secret{&text} }

// String returns a fixed mark.
func (Secret) String() string { return "***" }

// Format prints a fixed mark for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "***") }

// LogValue logs a fixed mark.
func (Secret) LogValue() slog.Value { return slog.StringValue("***") }

// MarshalText returns a fixed mark.
func (Secret) MarshalText() ([]byte, error) { return []byte("***"), nil }

func (s Secret) reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// DB is one PostgreSQL database as a backend. It is safe for concurrent use.
type DB struct {
	pool  *pool
	guard atomic.Pointer[sqlguard.ID]
	types typeNames
	path  []string // pinned; nil leaves the role's own
	tls   string   // what is verified: "" everything, else for the probe
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
	d := &DB{path: slices.Clone(cfg.SearchPath), tls: weakness(conf)}
	d.SetGuard(guard)
	dialer := &dialer{conf: conf, texts: texts, pooler: cfg.Pooler}
	d.pool = newPool(size, dialer.dial)
	return d, nil
}

// SetGuard replaces the ID whose approvals Query accepts.
func (d *DB) SetGuard(id sqlguard.ID) { d.guard.Store(&id) }

// Close ends the statements in flight at the server and closes every
// connection. Later calls fail with the code draining.
func (d *DB) Close() error {
	d.pool.close()
	return nil
}

// urlParameters are what a URL may carry.
var urlParameters = []string{
	"application_name", "channel_binding", "connect_timeout", "database", "dbname", "host", "max_protocol_version",
	"min_protocol_version", "passfile", "password", "port", "require_auth", "sslcert", "sslcertmode", "sslkey", "sslmode",
	"sslnegotiation", "sslpassword", "sslrootcert", "sslsni", "target_session_attrs", "user",
}

// refusedParameters are those that people do write, each with what to do.
var refusedParameters = map[string]string{
	"default_query_exec_mode":       "statements always use the extended protocol",
	"statement_cache_capacity":      "statements of users are not cached",
	"statement_cache_mode":          "statements of users are not cached",
	"description_cache_capacity":    "statements of users are not cached",
	"prefer_simple_protocol":        "statements always use the extended protocol",
	"pool_max_conns":                "set maxConnections",
	"pool_min_conns":                "set maxConnections",
	"pool_max_conn_lifetime":        "set maxConnections",
	"pool_max_conn_idle_time":       "set maxConnections",
	"pool_health_check_period":      "set maxConnections",
	"options":                       "the session's settings are pinned; set the search path or time zone of the connection instead",
	"search_path":                   "set the schemas of the connection",
	"timezone":                      "set the time zone of the connection",
	"statement_timeout":             "set the limits of the connection",
	"lock_timeout":                  "set the limits of the connection",
	"default_transaction_read_only": "every statement runs in a read-only transaction",
	"client_encoding":               "the encoding is always UTF8",
	"service":                       "write the host, user and database into the URL",
	"servicefile":                   "write the host, user and database into the URL",
	"ssl":                           "use sslmode",
	"hostaddr":                      "write the address into the URL",
	"gssencmode":                    "use sslmode",
}

// connection parses the URL and settles transport security.
func (c *Config) connection() (*pgconn.Config, error) {
	text := c.URL.reveal()
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return nil, errors.New("the url must look like postgres://user:password@host:5432/database")
	}
	question := strings.IndexByte(text, '?')
	if question >= 0 && strings.LastIndexByte(text, '@') > question {
		// A ? in a password would move the start of the parameters.
		return nil, errors.New("the url is ambiguous: write ? as %3F and @ as %40 in names, passwords and parameters")
	}
	params := url.Values{}
	separator := "?"
	if question >= 0 {
		var err error
		if params, err = url.ParseQuery(text[question+1:]); err != nil {
			return nil, errors.New("the url's parameters cannot be read")
		}
		if separator = "&"; strings.HasSuffix(text, "?") || strings.HasSuffix(text, "&") {
			separator = ""
		}
	}
	for name := range params {
		if slices.Contains(urlParameters, name) {
			continue
		}
		if why, ok := refusedParameters[name]; ok {
			return nil, fmt.Errorf("the url parameter %s is not accepted: %s", name, why)
		}
		return nil, fmt.Errorf("the url parameter %q is not accepted; known are %s", name, strings.Join(urlParameters, ", "))
	}
	options := pgconn.ParseConfigOptions{ConnStringAllowedKeys: urlParameters}

	// The first reading finds the hosts, which decide about sslmode; the
	// second has sslmode written out, so that the environment has no say.
	hosts, err := pgconn.ParseConfigWithOptions(text+separator+"sslmode=disable", options)
	if err != nil {
		return nil, parseError(err)
	}
	mode, err := c.sslmode(params, !slices.ContainsFunc(addresses(hosts), func(a address) bool { return !local(a.host) }))
	if err != nil {
		return nil, err
	}
	conf, err := pgconn.ParseConfigWithOptions(text+separator+"sslmode="+mode, options)
	if err != nil {
		return nil, parseError(err)
	}
	if !c.InsecureTLS {
		for _, a := range addresses(conf) {
			if !local(a.host) && !a.verified() {
				return nil, errors.New("the connection would not verify the server's certificate")
			}
		}
	}
	name := conf.RuntimeParams["application_name"]
	if !params.Has("application_name") {
		name = "ktx"
	}
	conf.RuntimeParams = map[string]string{"client_encoding": "UTF8", "application_name": name}
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = defaultConnectTimeout
	}
	return conf, nil
}

// parseError says why a URL cannot be used, without any part of it: what looks
// like a host or a port may be a mislaid password.
func parseError(err error) error {
	if _, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		if inner := errors.Unwrap(err); inner != nil && (strings.HasPrefix(inner.Error(), "unable to") || strings.HasPrefix(inner.Error(), "both ")) {
			return fmt.Errorf("the url cannot be used: %w", inner) // certificate files
		}
	}
	return errors.New("the url cannot be read: it must look like postgres://user:password@host:5432/database, with special characters percent-encoded")
}

// sslmode returns the mode to connect with. Every mode that does not verify the
// server is refused by name, unless all hosts are local or InsecureTLS is set.
func (c *Config) sslmode(params url.Values, allLocal bool) (string, error) {
	given := params.Get("sslmode")
	if n := len(params["sslmode"]); n > 1 {
		return "", errors.New("the url sets sslmode more than once")
	}
	switch given {
	case "":
		if allLocal || c.InsecureTLS {
			return "prefer", nil
		}
		return "verify-full", nil
	case "verify-full":
		return given, nil
	case "verify-ca":
		// Without a root of one's own this accepts every public certificate.
		if params.Get("sslrootcert") != "" || allLocal || c.InsecureTLS {
			return given, nil
		}
		return "", errors.New("sslmode=verify-ca needs sslrootcert, or use sslmode=verify-full")
	case "disable", "allow", "prefer", "require":
		if allLocal || c.InsecureTLS {
			return given, nil
		}
		return "", fmt.Errorf("sslmode=%s does not verify the server: use sslmode=verify-full, with sslrootcert when the certificate authority is a private one, or permit insecure TLS for this connection", given)
	default:
		return "", errors.New("sslmode must be one of verify-full, verify-ca, require, prefer, allow, disable")
	}
}

// address is one place to connect to.
type address struct {
	host string
	conf *pgconn.FallbackConfig
}

func addresses(c *pgconn.Config) []address {
	all := []address{{c.Host, &pgconn.FallbackConfig{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}}
	for _, f := range c.Fallbacks {
		all = append(all, address{f.Host, f})
	}
	return all
}

// verified reports whether a connection checks the server's certificate.
func (a address) verified() bool {
	t := a.conf.TLSConfig
	return t != nil && (!t.InsecureSkipVerify || t.VerifyPeerCertificate != nil)
}

// local reports whether host is this machine: a Unix socket, localhost or a
// loopback address.
func local(host string) bool {
	if network, _ := pgconn.NetworkAddress(host, 0); network == "unix" || strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// weakness says what transport security leaves open; "" when nothing.
func weakness(c *pgconn.Config) string {
	for _, a := range addresses(c) {
		switch {
		case local(a.host) || a.verified():
		case a.conf.TLSConfig == nil:
			return "the connection may be made without TLS"
		default:
			return "the server's certificate is not verified"
		}
	}
	return ""
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
	c := &conn{pg: pg, frames: frames, dialer: d, created: time.Now()}
	if err := c.setUp(ctx); err != nil {
		c.destroy()
		return nil, err
	}
	return c, nil
}
