package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"golang.org/x/time/rate"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
)

// routes puts the checks before every route, in this order. It checks a path
// that does not exist like any other.
func (s *Server) routes() http.Handler {
	r := chi.NewRouter()
	s.router = r
	r.Use(
		secureHeaders,
		s.timeBody,
		s.checkHost,
		s.checkOrigin,
		s.checkBearer,
		s.limitBody,
		s.limitWork,
	)
	r.Get("/health", s.health)
	r.Get("/metrics", s.metrics)
	r.With(s.needs(RightQuery)).Post("/v1/check", s.check)
	r.With(s.needs(RightQuery)).Handle("/mcp", http.HandlerFunc(s.mcp))
	if len(s.config.Routes) > 0 {
		r.Get(LoginPath, s.loginForm)
		r.With(s.sameOrigin).Post(LoginPath, s.login)
		r.With(s.sameOrigin).Post(LogoutPath, s.logout)
	}
	for _, route := range s.config.Routes {
		checks := []func(http.Handler) http.Handler{s.needs(route.Needs...)}
		if route.Form {
			checks = append(checks, s.sameOrigin)
		}
		if route.Runs {
			checks = append(checks, s.runs)
		}
		if route.Waits {
			checks = append(checks, s.waits)
		}
		r.With(checks...).Method(route.Method, route.Path, route.Handler)
	}
	r.NotFound(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, http.StatusNotFound, Problem{Code: "not_found", Message: "there is nothing at this path", Hint: "MCP is at /mcp"})
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusMethodNotAllowed, Problem{Code: "method_not_allowed", Message: "the path does not take this method"})
	})
	return r
}

// Config configures a server.
type Config struct {
	// Host is the host that the server binds. Any host except loopback needs a
	// token.
	Host string
	// AllowedHosts are further names that the Host header may have.
	// AllowedOrigins are foreign origins whose pages may send requests, each
	// with scheme and host.
	AllowedHosts, AllowedOrigins []string
	// Tokens are the tokens of principals. Without any, the principal of every
	// request to the loopback address is "local".
	Tokens []Token
	// Sessions answers requests of protocol versions with sessions, and
	// Stateless answers the others. If Sessions is nil, Stateless answers all
	// requests.
	Sessions, Stateless http.Handler
	// Checker answers /v1/check.
	Checker Checker
	// Routes are the pages and the rest of the REST API.
	Routes []Route
	// LoginPage writes the form in which a browser's user gives a token. problem says
	// why the last try failed. It is needed when a route is a page.
	LoginPage func(w http.ResponseWriter, r *http.Request, status int, next, problem string)
	// ProblemPage writes a problem for a browser. Without it, the answer is JSON.
	ProblemPage func(w http.ResponseWriter, r *http.Request, status int, p Problem)
	// Log records sessions and refusals. Logger reports faults.
	Log     audit.Log
	Logger  *slog.Logger
	Metrics *Metrics
	// About is the content of /health.
	About About
	// The zero value of each is its default.
	MaxBody        int64         // bytes of a request's body; 4 MiB
	MaxConnections int           // 4096, and at most half of the files that the process may open
	MaxSessions    int           // 2000
	SessionTimeout time.Duration // until an unused session ends; 30 minutes
	Abandoned      time.Duration // until a call ends whose client has left and cannot resume its stream; 2 seconds
	AnswerMemory   int64         // bytes for all answers that are being made or sent; [execution.DefaultRoom]
	Grace          time.Duration // for running requests to end when the server stops; 5 seconds
	HeaderTime     time.Duration // for a request's header; 10 seconds
	BodyTime       time.Duration // for its body; 30 seconds
	WriteTime      time.Duration // for one write of an answer; 30 seconds
	IdleTime       time.Duration // between requests on a connection; 2 minutes
}

// Server serves one project. Make it with [New].
type Server struct {
	config   Config
	handler  http.Handler
	router   chi.Router
	hosts    map[string]bool
	origins  map[string]bool
	tokens   atomic.Pointer[[]entry]
	sessions *sessions
	room     *execution.Room
	logins   *logins
	denials  *rate.Limiter // limits the refusals that the audit log records

	unrecorded atomic.Int64 // refusals without an event

	connections *connections
	longBodies  chan struct{} // holds one element for each body that is being read

	// ending ends when running requests must end, and draining ends when the
	// server takes no new requests.
	ending, draining ended
}

// ended is a context with its cancel function. It ends once, for everything that
// waits for it.
type ended struct {
	ctx    context.Context //nolint:containedctx // it lives as long as a server or a session, not as a call
	cancel context.CancelFunc
}

func newEnded(parent context.Context) ended {
	ctx, cancel := context.WithCancel(parent)
	return ended{ctx, cancel}
}

// The defaults of [Config].
const (
	DefaultMaxBody        = 4 << 20
	DefaultMaxConnections = 4096
	DefaultMaxSessions    = 2000
	DefaultSessionTimeout = 30 * time.Minute
	DefaultAbandoned      = 2 * time.Second
	DefaultGrace          = 5 * time.Second
	DefaultHeaderTime     = 10 * time.Second
	DefaultBodyTime       = 30 * time.Second
	DefaultWriteTime      = 30 * time.Second
	DefaultIdleTime       = 2 * time.Minute
)

// New returns a server. It returns an error for a host that is not loopback
// without a token, for an allowed host or origin that cannot be parsed, and for
// two equal tokens.
func New(c Config) (*Server, error) {
	if c.Stateless == nil || c.Checker == nil || c.Log == nil || c.Logger == nil || c.Metrics == nil {
		return nil, errors.New("new server: a handler, the log or the metrics are missing")
	}
	if !Loopback(c.Host) && len(c.Tokens) == 0 {
		return nil, fmt.Errorf("%w: set KTX_MCP_TOKEN or server.tokens, or bind 127.0.0.1", ErrNoToken)
	}
	c.setDefaults()
	s := &Server{config: c, room: execution.NewRoom(c.AnswerMemory), denials: rate.NewLimiter(recordedDenials, recordedBurst), ending: newEnded(context.Background()), draining: newEnded(context.Background())}
	var err error
	if s.hosts, err = hostSet(c.Host, c.AllowedHosts); err != nil {
		return nil, err
	}
	if s.origins, err = originSet(c.AllowedOrigins); err != nil {
		return nil, err
	}
	tokens, err := entries(c.Tokens)
	if err != nil {
		return nil, err
	}
	s.tokens.Store(&tokens)
	s.sessions = newSessions(s)
	s.logins = newLogins()
	s.longBodies = make(chan struct{}, longBodies)
	s.connections = newConnections(c.MaxConnections, c.Metrics.denied.WithLabelValues("connections").Inc)
	c.Metrics.follow(s)
	s.handler = s.routes()
	return s, nil
}

func (c *Config) setDefaults() {
	if c.MaxBody <= 0 {
		c.MaxBody = DefaultMaxBody
	}
	if c.MaxConnections <= 0 {
		c.MaxConnections = min(DefaultMaxConnections, openFiles()/2)
	}
	if c.MaxSessions <= 0 {
		c.MaxSessions = DefaultMaxSessions
	}
	for _, d := range []struct {
		of    *time.Duration
		value time.Duration
	}{
		{&c.SessionTimeout, DefaultSessionTimeout},
		{&c.Abandoned, DefaultAbandoned},
		{&c.Grace, DefaultGrace},
		{&c.HeaderTime, DefaultHeaderTime},
		{&c.BodyTime, DefaultBodyTime},
		{&c.WriteTime, DefaultWriteTime},
		{&c.IdleTime, DefaultIdleTime},
	} {
		if *d.of <= 0 {
			*d.of = d.value
		}
	}
}

// ErrNoToken says that everyone could use a server whose address other machines
// can reach.
var ErrNoToken = errors.New("an address that is not loopback needs a token")
