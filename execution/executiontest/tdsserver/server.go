package tdsserver

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/executiontest/selfsigned"
)

// Account is a login that the server knows.
type Account struct {
	Name     string
	Password string
	// Roles are the server and database roles that the account is a member of,
	// in lower case. Members of "sysadmin" and "db_owner" may do everything.
	Roles []string
	// Permissions are the account's permissions on the database, in upper case,
	// such as "SELECT" and "CREATE TABLE".
	Permissions []string
	// ServerPermissions are permissions on the server, in addition to those
	// that every login has.
	ServerPermissions []string
	// Grants are permissions on single objects, schemas and types.
	Grants []Grant
	// Elsewhere contains the permissions on other databases, by the names of
	// the databases.
	Elsewhere map[string][]string
	// Unreadable are columns on which HAS_PERMS_BY_NAME denies SELECT, such as
	// "[dbo].[items].id".
	Unreadable []string
}

// Config configures a server. The zero value requires TLS, and has the account
// [Reader] and the database [DefaultDatabase].
type Config struct {
	// Encryption is the value that PRELOGIN offers; nil means
	// [EncryptRequired].
	Encryption *Encryption
	// Accounts are the accounts that may log in. An empty list means only
	// [Reader].
	Accounts []Account
	// Databases are the names of the databases. A login that names none gets
	// the first. An empty list means only [DefaultDatabase].
	Databases []string
	// Version is the version in SERVERPROPERTY('ProductVersion') and LOGINACK;
	// the default is DefaultVersion.
	Version string
	// Edition is SERVERPROPERTY('EngineEdition'); the default is 3,
	// Enterprise.
	Edition int
	// OnLogin is called before the server accepts a login. The server sends its
	// error to the client.
	OnLogin func(Login) *ServerError
	// Route redirects a login with ApplicationIntent=ReadOnly to another server
	// (read-only routing, [MS-TDS] 2.2.7.9, type 20).
	Route *Server
	// Prelogin, when set, is sent instead of the server's own PRELOGIN.
	Prelogin []byte
	// SeparateAttention acknowledges an attention in a message of its own,
	// after the end of the message that it interrupted.
	SeparateAttention bool
	// Violations permits clients to violate [MS-TDS]. Without it, a violation
	// fails the test at its end.
	Violations bool
}

// The defaults of [Config].
const (
	DefaultDatabase = "shop"
	DefaultVersion  = "16.0.4135.4"
)

// Reader is an account that may connect and select, and nothing else.
var Reader = Account{Name: "reader", Password: "Only-reads-1", Permissions: []string{"CONNECT", "SELECT"}}

// Owner is an account that may do everything in the database.
var Owner = Account{Name: "owner", Password: "May-write-1", Roles: []string{"db_owner"}}

// Server is one server. It ends with the test that started it.
type Server struct {
	config   Config
	listener net.Listener
	tls      tls.Certificate
	pem      []byte
	pemFile  string

	running  atomic.Int64
	work     sync.WaitGroup
	stopOnce sync.Once

	mu       sync.Mutex
	messages []Message
	handlers map[string]Handler
	tables   map[string]Table // by name in lower case
	writes   []Write
	first    func(Request) Handler
	conns    map[*conn]struct{}
	count    int
	closed   bool
}

// Start starts a server on 127.0.0.1.
func Start(tb testing.TB, config Config) *Server {
	tb.Helper()
	if len(config.Accounts) == 0 {
		config.Accounts = []Account{Reader}
	}
	if len(config.Databases) == 0 {
		config.Databases = []string{DefaultDatabase}
	}
	if config.Version == "" {
		config.Version = DefaultVersion
	}
	if config.Edition == 0 {
		config.Edition = 3
	}
	s := &Server{config: config, handlers: make(map[string]Handler), tables: map[string]Table{"items": items}, conns: make(map[*conn]struct{})}
	var err error
	if s.tls, s.pem, err = selfsigned.Certificate("tdsserver"); err != nil {
		tb.Fatal(err)
	}
	s.pemFile = filepath.Join(tb.TempDir(), "tdsserver.pem")
	if err := os.WriteFile(s.pemFile, s.pem, 0o600); err != nil {
		tb.Fatal(err)
	}
	if s.listener, err = new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0"); err != nil {
		tb.Fatalf("start the TDS server: %v", err)
	}
	s.work.Go(s.accept)
	tb.Cleanup(func() {
		s.Stop()
		if config.Violations {
			return
		}
		for _, m := range s.Of(KindViolation) {
			tb.Errorf("the TDS server: connection %d: %s", m.Connection, m.Text)
		}
	})
	return s
}

// encryption returns the server's ENCRYPTION.
func (s *Server) encryption() Encryption {
	if s.config.Encryption == nil {
		return EncryptRequired
	}
	return *s.config.Encryption
}

// Stop closes every connection at once, like a server that dies. It returns
// when everything that the server started has ended.
func (s *Server) Stop() {
	s.stopOnce.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		_ = s.listener.Close()
		s.Disconnect()
	})
	s.work.Wait()
}

// Disconnect closes every connection without a message. The server still
// accepts new ones.
func (s *Server) Disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.drop()
	}
}

func (s *Server) accept() {
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			_ = nc.Close()
			continue
		}
		s.count++
		c := newConn(s, nc, s.count)
		s.conns[c] = struct{}{}
		s.work.Go(c.serve)
		s.mu.Unlock()
	}
}

// Address is host and port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Host is the host of Address.
func (s *Server) Host() string { return "127.0.0.1" }

// Port is the port of Address.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port } //nolint:forcetypeassert // Start listens on TCP

// URL returns a sqlserver URL for the first account and the first database.
// Further parameters follow as name, value, ….
func (s *Server) URL(parameters ...string) string {
	return s.URLFor(s.config.Accounts[0], parameters...)
}

// URLFor is like URL, for another account.
func (s *Server) URLFor(a Account, parameters ...string) string {
	query := url.Values{"database": {s.config.Databases[0]}}
	for i := 0; i+1 < len(parameters); i += 2 {
		query.Set(parameters[i], parameters[i+1])
	}
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword(a.Name, a.Password), Host: s.Address(), RawQuery: query.Encode()}
	return u.String()
}

// CertificateFile returns the path of a PEM file with the certificate's
// authority. The certificate is for 127.0.0.1 and localhost.
func (s *Server) CertificateFile() string { return s.pemFile }

// Certificate is the content of CertificateFile.
func (s *Server) Certificate() []byte { return s.pem }

// Running returns how many requests the server has read and not completely
// answered.
func (s *Server) Running() int { return int(s.running.Load()) }

// Idle waits until no request runs. It reports false if that takes longer than
// within.
func (s *Server) Idle(within time.Duration) bool {
	for end := time.Now().Add(within); s.Running() > 0; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Connections counts the connections that are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Request is the request that a handler answers.
type Request struct {
	Connection int
	// Text is the text of the batch or of the statement of sp_executesql.
	Text string
	// Call is the call of a procedure; nil for a batch.
	Call *RPC
	// Login is the login of the connection.
	Login Login
}

// Handler answers one request through r. It returns an error of the test, or
// the error of r when the request was ended. It sends an error as the answer
// with [Reply.Error]. The server sends the last DONE.
type Handler func(r *Reply) error

// On registers the answer to a batch with exactly this text. It is used instead
// of the server's own answer. A nil handler removes it.
func (s *Server) On(text string, h Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h == nil {
		delete(s.handlers, text)
		return
	}
	s.handlers[text] = h
}

// First registers a function that is asked for the answer to every request,
// before the handlers of On. When it returns nil, the server continues without
// it.
func (s *Server) First(f func(Request) Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = f
}

// handler returns the registered answer to a request, or nil.
func (s *Server) handler(q Request) Handler {
	s.mu.Lock()
	first, registered := s.first, s.handlers[q.Text]
	s.mu.Unlock()
	if first != nil {
		if h := first(q); h != nil {
			return h
		}
	}
	if q.Call == nil {
		return registered
	}
	return nil
}

// account returns the account with the name and the password of a login.
func (s *Server) account(l *Login) (Account, bool) {
	for _, a := range s.config.Accounts {
		if a.Name == l.User && a.Password == l.Password {
			return a, true
		}
	}
	return Account{}, false
}

// version returns the version as LOGINACK and PRELOGIN encode it.
func (s *Server) version() (v [4]byte) {
	var major, minor, build, rest int
	if n, _ := fmt.Sscanf(s.config.Version, "%d.%d.%d.%d", &major, &minor, &build, &rest); n < 3 {
		return v
	}
	return [4]byte{byte(major), byte(minor), byte(build >> 8), byte(build)}
}
