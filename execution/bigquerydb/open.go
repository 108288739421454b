package bigquerydb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb/login"
	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	// DefaultMaxConnections is how many jobs run at a time unless [Config] says otherwise.
	DefaultMaxConnections = 10

	connectTimeout = 10 * time.Second
	// answerTimeout bounds the wait for the header of an answer. It is longer than
	// waitFor, for which the service holds a request.
	answerTimeout = 30 * time.Second
)

// Config says how to reach one project. Every field except URL may be zero.
type Config struct {
	// URL is bigquery://project/dataset. Its parameters are those of [Open].
	URL execution.Secret
	// MaxConnections bounds the jobs that run at a time; 0 means DefaultMaxConnections.
	// Statements beyond it wait in order of arrival.
	MaxConnections int
	// Session is what the guard's dialect assumes about a request. Open refuses settings
	// that requests do not have.
	Session []sqlguard.Setting
	// Projects are those whose tables statements may name in addition to the connection's
	// own.
	Projects []string
	// Limits are the limits of the connection, which the role's script repeats.
	Limits execution.Limits
	// Access is the rules of the connection. The role's script grants only what they
	// permit. The guard enforces them.
	Access sqlguard.ReadRules
	// Lookup reads the environment for credentials; nil means that of the process.
	Lookup func(string) (string, bool)
}

// DB is one project as a backend. It is safe for concurrent use.
type DB struct {
	client   *wire.Client
	http     *http.Client
	login    *login.Login // nil when no token is sent
	pool     *pool.Pool[*slot]
	guard    atomic.Pointer[sqlguard.ID]
	target   *target
	projects []string
	limits   execution.Limits
	access   sqlguard.ReadRules
	checks   atomic.Bool // the role is checked again from time to time

	mu      sync.Mutex
	checked time.Time // when the role was checked last
	place   *string   // where jobs run; nil is not known yet
	catalog *sqlguard.Catalog
	views   map[wire.Table]view
}

var (
	_ execution.Backend     = (*DB)(nil)
	_ execution.Lister      = (*DB)(nil)
	_ execution.RoleChecker = (*DB)(nil)
)

// Open checks cfg and returns a backend that accepts the approvals of guard. It reads the
// file of credentials and sends nothing; the first call that needs the service does.
//
// The URL may carry the parameters credentials (a file with the key of a service account, or
// with workload identity federation, instead of the default credentials), endpoint (the address of the API), impersonate (a
// service account to act for) and location (where jobs run, such as EU).
func Open(_ context.Context, cfg Config, guard sqlguard.ID) (*DB, error) {
	if guard == (sqlguard.ID{}) {
		return nil, errors.New("open BigQuery: no guard")
	}
	t, err := readURL(cfg.URL.Reveal())
	if err != nil {
		return nil, fmt.Errorf("open BigQuery: %w", err)
	}
	for _, s := range cfg.Session {
		if s.Name != "useLegacySql" || s.Value != "false" {
			return nil, execution.NewError(sqlguard.CodeSessionModeMismatch,
				fmt.Sprintf("the guard takes %s = %s for granted, which a request does not hold to", s.Name, s.Value), nil)
		}
	}
	size := cfg.MaxConnections
	switch {
	case size < 0:
		return nil, fmt.Errorf("open BigQuery: %d connections", size)
	case size == 0:
		size = DefaultMaxConnections
	}
	d := &DB{target: t, projects: slices.Clone(cfg.Projects), limits: cfg.Limits.WithDefaults(), access: cfg.Access, views: map[wire.Table]view{}}
	d.http = &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: connectTimeout, ResponseHeaderTimeout: answerTimeout, IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: size + 1,
			DisableCompression: true, MaxResponseHeaderBytes: 1 << 20, ForceAttemptHTTP2: false,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	d.client = &wire.Client{HTTP: d.http, API: t.api, Project: t.project}
	if !t.anonymous {
		d.login, err = login.New(login.Options{File: t.credentials, As: t.impersonate, HTTP: d.http, Lookup: cfg.Lookup})
		if err != nil {
			return nil, fmt.Errorf("open BigQuery: %w", err)
		}
		d.client.Tokens = d.login
	}
	d.SetGuard(guard)
	d.pool = pool.New(size, func(context.Context) (*slot, error) { return &slot{}, nil })
	d.pool.Ask(d.fates)
	return d, nil
}

// CheckRole implements [execution.RoleChecker]. The role is checked at least once a minute
// while statements run.
func (d *DB) CheckRole() { d.checks.Store(true) }

// SetGuard replaces the ID whose approvals Query accepts.
func (d *DB) SetGuard(id sqlguard.ID) { d.guard.Store(&id) }

// Close ends the running jobs and closes every connection. Later calls fail with the code
// draining.
func (d *DB) Close() error {
	d.pool.Close()
	d.http.CloseIdleConnections()
	return nil
}

// slot is the right to run one job.
type slot struct {
	job wire.Reference // of a job that may still run
}

// Ready returns true: a slot has no connection of its own.
func (*slot) Ready(context.Context) bool { return true }

// Destroy does nothing: the context of a job ends its requests.
func (*slot) Destroy() {}

// Bye does nothing.
func (*slot) Bye() {}
