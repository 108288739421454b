package chserver

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Config describes a server. The zero value is a new server with one user whose role can
// only read.
type Config struct {
	User, Password string // "reader" and "secret" unless set
	TLS            bool
	// Profile are settings of the user's profile. A name that begins with = is fixed.
	Profile map[string]string
	// Grants are the lines of SHOW GRANTS; nil is the right to read items.
	Grants []string
	// Old says that errors after the first rows end the answer as HTTP wants it, as those
	// of servers before 2023 do, and that settings since then are not known.
	Old bool
}

// Server is a server that runs.
type Server struct {
	config Config
	http   *httptest.Server
	tb     testing.TB

	mu      sync.Mutex
	answers map[string]func(*Reply)
	used    map[string]bool
	running map[string]context.CancelCauseFunc
	asked   []Request
	open    int // connections
}

// Request is what a client sent.
type Request struct {
	SQL    string
	Params url.Values
	Header http.Header
}

var (
	errKilled = fmt.Errorf("KILL QUERY")
	killForm  = regexp.MustCompile(`^KILL QUERY WHERE query_id = '([-0-9a-z]+)' ASYNC$`)
	readForm  = regexp.MustCompile(`(?i)^\s*(SELECT|WITH|SHOW|DESCRIBE|EXPLAIN|EXISTS|KILL)\b`)
)

// Start starts a server, which ends with the test.
func Start(tb testing.TB, config Config) *Server {
	tb.Helper()
	if config.User == "" {
		config.User, config.Password = "reader", "secret"
	}
	if config.Grants == nil {
		config.Grants = []string{"GRANT SHOW, SELECT(id, name) ON default.items TO " + config.User, "GRANT CREATE TEMPORARY TABLE ON *.* TO " + config.User}
	}
	s := &Server{config: config, tb: tb, answers: map[string]func(*Reply){}, used: map[string]bool{}, running: map[string]context.CancelCauseFunc{}}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch state { //nolint:exhaustive // the others change nothing
		case http.StateNew:
			s.open++
		case http.StateClosed:
			s.open--
		}
	}
	if config.TLS {
		s.http.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		s.http.StartTLS()
	} else {
		s.http.Start()
	}
	tb.Cleanup(s.http.Close)
	return s
}

// URL returns the address of the server with its user, and parameters in pairs.
func (s *Server) URL(params ...string) string {
	u, err := url.Parse(s.http.URL)
	if err != nil {
		s.tb.Fatal(err)
	}
	u.User, u.Path = url.UserPassword(s.config.User, s.config.Password), "/default"
	values := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		values.Set(params[i], params[i+1])
	}
	u.RawQuery = values.Encode()
	return u.String()
}

// CertificateFile returns the path of a file with the server's certificate.
func (s *Server) CertificateFile() string {
	s.tb.Helper()
	cert := s.http.Certificate()
	file := filepath.Join(s.tb.TempDir(), "server.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}), 0o600); err != nil {
		s.tb.Fatal(err)
	}
	return file
}

// On registers the answer to a statement.
func (s *Server) On(sql string, answer func(*Reply)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[sql] = answer
}

// Break closes every connection of the server.
func (s *Server) Break() { s.http.CloseClientConnections() }

// Running counts the statements that run.
func (s *Server) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

// Connections counts the connections whose statements run or that clients keep. A client
// that has left keeps one until its statement is over.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Requests returns what clients sent so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// serve answers one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	params := r.URL.Query()
	reply := &Reply{w: w, r: r, SQL: string(body), Params: params, old: s.config.Old}
	id := params.Get("query_id")
	s.mu.Lock()
	s.asked = append(s.asked, Request{reply.SQL, params, r.Header})
	twice := s.used[id]
	s.used[id] = true
	s.mu.Unlock()
	switch {
	case r.Method != http.MethodPost, r.URL.RawQuery == "" || id == "" || twice:
		s.tb.Errorf("a %s request with the identifier %q, which was used: %t", r.Method, id, twice)
	case r.Header.Get("X-Clickhouse-User") != s.config.User || r.Header.Get("X-Clickhouse-Key") != s.config.Password:
		reply.Fail("516", s.config.User+": Authentication failed: password is incorrect, or there is no user with such name")
		return
	}
	if code, why := s.settle(params); code != "" {
		reply.Fail(code, why)
		return
	}
	readonly := params.Get("readonly")
	if readonly == "" {
		readonly = s.profile("readonly")
	}
	if readonly != "0" && readonly != "" && !readForm.MatchString(reply.SQL) {
		reply.Fail("164", s.config.User+": Cannot execute query in readonly mode. (READONLY)")
		return
	}
	if m := killForm.FindStringSubmatch(reply.SQL); m != nil {
		s.kill(m[1], reply)
		return
	}
	ctx, end := context.WithCancelCause(r.Context())
	defer end(nil)
	reply.Context = ctx
	s.mu.Lock()
	s.running[id] = end
	answer := s.answers[reply.SQL]
	s.mu.Unlock()
	if answer == nil {
		answer = s.answer
	}
	defer func() {
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
	}()
	answer(reply)
}

// kill marks a query, and answers as servers do: with a row while they know the query.
func (s *Server) kill(id string, r *Reply) {
	s.mu.Lock()
	end := s.running[id]
	s.mu.Unlock()
	r.Columns("kill_status", "String", "query_id", "String")
	if end != nil {
		end(errKilled)
		r.Row(Text("waiting"), Text(id))
	}
}

// profile returns a setting of the user's profile, or its default.
func (s *Server) profile(name string) string {
	if v, set := s.config.Profile["="+name]; set {
		return v
	}
	if v, set := s.config.Profile[name]; set {
		return v
	}
	return s.known()[name]
}

// fixed reports whether a request cannot change a setting to a value.
func (s *Server) fixed(name string) bool {
	_, fixed := s.config.Profile["="+name]
	return fixed
}

// settings are the settings of the server, with their defaults.
var settings = map[string]string{
	"readonly": "0", "max_execution_time": "0", "timeout_overflow_mode": "throw", "wait_end_of_query": "0", "extremes": "0",
	"output_format_write_statistics": "1", "output_format_json_quote_64bit_integers": "0", "output_format_json_quote_denormals": "0",
	"output_format_json_escape_forward_slashes": "1", "send_progress_in_http_headers": "0",
}

// newSettings are those that new servers have in addition.
var newSettings = map[string]string{
	"dialect": "clickhouse", "implicit_select": "0", "lock_acquire_timeout": "120", "cancel_http_readonly_queries_on_client_close": "0",
	"http_write_exception_in_output_format": "0", "enable_http_compression": "0", "date_time_output_format": "simple",
	"output_format_json_named_tuples_as_objects": "1", "output_format_json_validate_utf8": "0",
}

func (s *Server) known() map[string]string {
	all := maps.Clone(settings)
	if !s.config.Old {
		maps.Copy(all, newSettings)
	}
	return all
}

// notSettings are parameters of a request that are not settings.
var notSettings = []string{"query_id", "database", "default_format"}

// settle checks the settings of a request (src/Access/SettingsConstraints.cpp).
func (s *Server) settle(params url.Values) (code, why string) {
	known := s.known()
	for name, values := range params {
		if slices.Contains(notSettings, name) {
			continue
		}
		if _, ok := known[name]; !ok {
			return "115", "Unknown setting '" + name + "'"
		}
		switch have := s.profile(name); {
		case len(values) != 1, have == values[0]:
		case s.fixed(name) || s.profile("readonly") == "1":
			return "164", "Cannot modify '" + name + "' setting in readonly mode. (READONLY)"
		case s.profile("readonly") == "2" && name == "readonly":
			return "164", "Cannot modify 'readonly' setting in readonly mode. (READONLY)"
		}
	}
	if f := params.Get("default_format"); f != "JSONCompactEachRowWithNamesAndTypes" {
		return "73", "Unknown format " + f
	}
	if strings.EqualFold(params.Get("database"), "nowhere") {
		return "81", "Database nowhere does not exist. (UNKNOWN_DATABASE)"
	}
	return "", ""
}
