package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// The files of logins, below the folder of the project. Logins have a lock of their own,
// because a token is refreshed over the network while the lock is held.
const (
	loginsFile = stateDir + "/logins.json"
	loginsLock = stateDir + "/logins.lock"
)

// loginTime bounds one request to an authorization server.
const loginTime = 30 * time.Second

// OAuth says how ktx introduces itself where a person logs in to a server. The zero value
// registers ktx with the authorization server (RFC 7591).
type OAuth struct {
	ClientID     string
	ClientSecret Value    // nil for a public client
	Scopes       []string // empty asks for those that the server names
}

// login is a permission that a person gave ktx for one server. It holds secrets.
type login struct {
	Address      string           `json:"address"` // a hash of the address of the server
	ClientID     string           `json:"clientId"`
	ClientSecret string           `json:"clientSecret,omitempty"` // only one that the registration gave
	TokenURL     string           `json:"tokenUrl"`
	AuthStyle    oauth2.AuthStyle `json:"authStyle"`
	Token        *oauth2.Token    `json:"token"`
	Since        time.Time        `json:"since"`
}

type loginsState struct {
	Version int              `json:"version"`
	Servers map[string]login `json:"servers"`
}

func readLogins(root *os.Root) (loginsState, error) {
	l := loginsState{Version: stateBrand}
	if err := readState(root, loginsFile, &l); err != nil {
		return l, fmt.Errorf("%w; remove the file and log in again", err)
	}
	if l.Version != stateBrand {
		return l, fmt.Errorf("read %s: version %d is not known", loginsFile, l.Version)
	}
	if l.Servers == nil {
		l.Servers = map[string]login{}
	}
	return l, nil
}

// changeLogins calls f with the logins while no other process changes them, and writes
// them if f says so.
func changeLogins(root *os.Root, f func(map[string]login) (changed bool, err error)) error {
	return lockedBy(root, loginsLock, func() error {
		logins, err := readLogins(root)
		if err != nil {
			return err
		}
		changed, err := f(logins.Servers)
		if err != nil || !changed {
			return err
		}
		return writeState(root, loginsFile, logins)
	})
}

// addressHash names an address, which may hold a secret.
func addressHash(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:])
}

// confidential reports whether nobody on the way reads what is sent to an address.
func confidential(u *url.URL) bool {
	if u.Scheme == "https" || u.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

// LoginOptions say how a person is asked.
type LoginOptions struct {
	// Redirect is the address to which the browser of the person returns.
	Redirect string
	// Ask shows a person the address of a page to log in, and returns the query with
	// which the browser returned. State is the member of that name that the query must
	// have.
	Ask func(ctx context.Context, address, state string) (url.Values, error)
}

// Login asks a person to permit ktx to use a server, by the authorization code flow of
// OAuth 2.1 with PKCE. The tokens are kept in a file that only the user of ktx can read;
// requests to the server carry them from then on. The error of Ask is returned as it is.
func (m *Manager) Login(ctx context.Context, server string, o LoginOptions) error {
	l, err := m.current.Load().link(server)
	if err != nil {
		return err
	}
	s := l.settings()
	fault := func(message, hint string) error {
		return &Error{Code: CodeConfiguration, Server: s.Name, Message: message, Hint: hint}
	}
	if s.Command != "" {
		return fault("the server runs a command; only servers with a url have a login", "give the command what it needs in env")
	}
	if s.hasAuthorization() {
		return fault("ktx.yaml gives the server a header Authorization, which a login would replace", "remove the header, or go on without a login")
	}
	visit := &session{}
	address, mail, err := visit.courier(&s, nil, 0)
	if err != nil {
		return err
	}
	if u, err := url.Parse(address); err != nil || !confidential(u) {
		return fault("the url begins with http://, and the token of a login would cross the network in the clear", "use https://")
	}
	secret := ""
	if s.OAuth.ClientSecret != nil {
		if secret, err = s.OAuth.ClientSecret(); err != nil {
			return fault("oauth.clientSecret is not available: "+err.Error(), "set the variable or file that ktx.yaml names")
		}
		visit.secrets = append(visit.secrets, secret)
	}
	res, err := challenge(ctx, mail, address)
	if err != nil {
		return visit.explain(&s, err)
	}
	if res.StatusCode != http.StatusUnauthorized {
		_ = res.Body.Close()
		return &Error{Code: CodeServerConnection, Server: s.Name, Message: fmt.Sprintf("the server does not ask for a login: it answers with HTTP status %d", res.StatusCode), Hint: "ktx upstream check " + s.Name + " says whether it works without one"}
	}
	kept := login{Address: addressHash(address), Since: time.Now().UTC()}
	config := visit.flow(&s, o, secret, &kept)
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return fmt.Errorf("log in to %s: %w", s.Name, err)
	}
	if err := handler.Authorize(ctx, res.Request, res); err != nil {
		if asked, ok := errors.AsType[*askError](err); ok {
			return asked.err
		}
		return &Error{Code: CodeServerConnection, Server: s.Name, Message: "the login failed: " + visit.redact(refusal(err)), Hint: "log in again; if the authorization server knows ktx by a name of its own, give oauth.clientId in ktx.yaml", Err: err}
	}
	if kept.Token == nil || kept.Token.AccessToken == "" {
		return &Error{Code: CodeServerConnection, Server: s.Name, Message: "the login failed: the authorization server gave no token"}
	}
	err = changeLogins(m.options.Root, func(logins map[string]login) (bool, error) {
		logins[s.Name] = kept
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	l.renew()
	return nil
}

// flow is the configuration of the SDK's authorization code flow. It puts the outcome
// into kept.
func (s *session) flow(server *Server, o LoginOptions, secret string, kept *login) *auth.AuthorizationCodeHandlerConfig {
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: o.Redirect, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: loginClient(),
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			u, err := url.Parse(args.URL)
			if err != nil {
				return nil, errors.New("the address of the page to log in cannot be read")
			}
			query, err := o.Ask(ctx, args.URL, u.Query().Get("state"))
			if err != nil {
				return nil, &askError{err}
			}
			if code := query.Get("error"); code != "" {
				return nil, errors.New(strings.TrimSpace(code + " " + query.Get("error_description")))
			}
			return &auth.AuthorizationResult{Code: query.Get("code"), State: query.Get("state"), Iss: query.Get("iss")}, nil
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			kept.ClientID, kept.TokenURL, kept.AuthStyle, kept.Token = c.ClientID, c.Endpoint.TokenURL, c.Endpoint.AuthStyle, t
			if secret == "" {
				kept.ClientSecret = c.ClientSecret
			}
			s.secrets = append(s.secrets, kept.secrets()...)
			return oauth2.StaticTokenSource(t), nil
		},
	}
	if scopes := server.OAuth.Scopes; len(scopes) > 0 {
		config.ScopeFilter = func([]string) []string { return slices.Clone(scopes) }
	}
	if server.OAuth.ClientID == "" {
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "ktx", RedirectURIs: []string{o.Redirect}, GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
			Scope: strings.Join(server.OAuth.Scopes, " "),
		}}
		return config
	}
	config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: server.OAuth.ClientID}
	if secret != "" {
		config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
	}
	return config
}

// askError is an error of the function that asks a person.
type askError struct{ err error }

func (e *askError) Error() string { return e.err.Error() }

// challenge sends a request without a token, whose refusal says where to log in.
func challenge(ctx context.Context, mail *courier, address string) (*http.Response, error) {
	client := &http.Client{Transport: mail, Timeout: loginTime}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"ktx","version":"1"}}}`
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		var body io.Reader
		if method == http.MethodPost {
			body = strings.NewReader(hello)
		}
		req, err := http.NewRequestWithContext(ctx, method, address, body)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept", "application/json, text/event-stream")
		if body != nil {
			req.Header.Set("Content-Type", "application/json")
		}
		res, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		// A server of the transport with server-sent events takes no POST here.
		if method == http.MethodGet || res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusMethodNotAllowed {
			return res, nil
		}
		_ = res.Body.Close()
	}
	return nil, errors.New("no answer")
}

// loginClient speaks to authorization servers. A redirect to another host would take a
// code or a token there.
func loginClient() *http.Client {
	return &http.Client{Transport: newHTTPTransport(), Timeout: loginTime, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if first := via[0].URL; len(via) >= 5 || req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
			return errors.New("the authorization server points to another host")
		}
		return nil
	}}
}

// refusal returns what an authorization server said, without the body of its answer.
func refusal(err error) string {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if e.ErrorCode != "" {
			return strings.TrimSpace(e.ErrorCode + " " + e.ErrorDescription)
		}
		if e.Response != nil {
			return "the authorization server answers with HTTP status " + e.Response.Status
		}
	}
	return plain(err)
}

// Logout forgets the login to a server, and reports whether there was one. The
// authorization server is not told.
func (m *Manager) Logout(server string) (was bool, err error) {
	name := server
	if l, err := m.current.Load().link(server); err == nil {
		name = l.name()
		defer l.renew()
	}
	err = changeLogins(m.options.Root, func(logins map[string]login) (bool, error) {
		_, was = logins[name]
		delete(logins, name)
		return was, nil
	})
	if err != nil {
		return was, fmt.Errorf("forget the login: %w", err)
	}
	return was, nil
}

// LoggedIn returns the names of the servers with a login, sorted.
func (m *Manager) LoggedIn() ([]string, error) {
	logins, err := readLogins(m.options.Root)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(logins.Servers)), nil
}

// renew has the next call make a new connection at once.
func (l *link) renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures, l.retryAt, l.failure = 0, time.Time{}, nil
	l.drop()
}

func (s *Server) hasAuthorization() bool {
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

func (l *login) secrets() []string {
	out := []string{l.ClientSecret}
	if l.Token != nil {
		out = append(out, l.Token.AccessToken, l.Token.RefreshToken)
	}
	return out
}

// bearer gives the requests to one server the token of its login, and refreshes it.
type bearer struct {
	root    *os.Root
	server  string
	address string // its hash
	secret  Value  // of a client that the configuration names

	mu      sync.Mutex
	read    bool
	kept    *login   // nil without a login
	secrets []string // all that this one has seen
}

// token returns the token, or "" without a login. Refused is a token that the server
// does not take any more, or "".
func (b *bearer) token(ctx context.Context, refused string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.read {
		logins, err := readLogins(b.root)
		if err != nil {
			return "", &Error{Code: CodeConfiguration, Server: b.server, Message: "the login cannot be read: " + err.Error(), Err: err}
		}
		b.take(logins.Servers)
		b.read = true
	}
	if b.kept == nil {
		return "", nil
	}
	if b.usable(refused) {
		return b.kept.Token.AccessToken, nil
	}
	err := changeLogins(b.root, func(logins map[string]login) (bool, error) {
		b.take(logins) // another process may have refreshed it
		if b.kept == nil || b.usable(refused) {
			return false, nil
		}
		token, err := b.refresh(ctx)
		if err != nil {
			return false, err
		}
		b.kept.Token = token
		b.secrets = append(b.secrets, b.kept.secrets()...)
		logins[b.server] = *b.kept
		return true, nil
	})
	if own, ok := errors.AsType[*Error](err); ok {
		return "", own
	}
	if err != nil {
		return "", &Error{Code: CodeConfiguration, Server: b.server, Message: "the login cannot be read or written: " + err.Error(), Err: err}
	}
	if b.kept == nil {
		return "", nil
	}
	return b.kept.Token.AccessToken, nil
}

func (b *bearer) usable(refused string) bool {
	return b.kept.Token.Valid() && b.kept.Token.AccessToken != refused
}

// take uses the login of the server, if it is one to this address.
func (b *bearer) take(logins map[string]login) {
	b.kept = nil
	if l, ok := logins[b.server]; ok && l.Address == b.address && l.Token != nil {
		b.kept = &l
		b.secrets = append(b.secrets, l.secrets()...)
	}
}

// refresh asks the authorization server for another token. A cancelled call does not end
// it: the refresh token may be good for one use only.
func (b *bearer) refresh(ctx context.Context) (*oauth2.Token, error) {
	if b.kept.Token.RefreshToken == "" {
		return nil, loginError(b.server, "the login has expired")
	}
	config := oauth2.Config{ClientID: b.kept.ClientID, ClientSecret: b.kept.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: b.kept.TokenURL, AuthStyle: b.kept.AuthStyle}}
	if b.secret != nil {
		secret, err := b.secret()
		if err != nil {
			return nil, &Error{Code: CodeConfiguration, Server: b.server, Message: "oauth.clientSecret is not available: " + err.Error(), Hint: "set the variable or file that ktx.yaml names"}
		}
		config.ClientSecret, b.secrets = secret, append(b.secrets, secret)
	}
	ctx, cancel := context.WithTimeout(context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, loginClient()), loginTime)
	defer cancel()
	token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: b.kept.Token.RefreshToken}).Token()
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok && e.Response != nil && e.Response.StatusCode < http.StatusInternalServerError {
		return nil, loginError(b.server, "the login is not valid any more: "+b.redact(refusal(err)))
	}
	if err != nil {
		return nil, &Error{Code: CodeServerConnection, Server: b.server, Message: "the login could not be refreshed: " + b.redact(refusal(err)), Retryable: true, Err: err}
	}
	return token, nil
}

// redact is called with the lock held.
func (b *bearer) redact(text string) string { return redacted(text, b.secrets) }

// seen returns the secrets that must not be shown.
func (b *bearer) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.secrets)
}

func loginError(server, message string) *Error {
	return &Error{Code: CodeServerConnection, Server: server, Message: message, Hint: "ask a person to run: ktx upstream login " + server}
}

// authorized sends a request with the token of the login. If the server refuses the
// token, it is refreshed, and the request is sent once more.
func (c *courier) authorized(req *http.Request) (*http.Response, error) {
	if c.login == nil {
		return c.base.RoundTrip(req)
	}
	token, err := c.login.token(req.Context(), "")
	if err != nil {
		return nil, c.failed(err)
	}
	c.problem.Store(nil)
	if token == "" {
		return c.base.RoundTrip(req)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := c.base.RoundTrip(req)
	if err != nil || res.StatusCode != http.StatusUnauthorized || req.Body != nil && req.GetBody == nil {
		return res, err
	}
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10)
	_ = res.Body.Close()
	if token, err = c.login.token(req.Context(), token); err != nil {
		return nil, c.failed(err)
	}
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	again.Header.Del("Authorization")
	if token != "" {
		again.Header.Set("Authorization", "Bearer "+token)
	}
	return c.base.RoundTrip(again)
}

// failed keeps the reason why a request was not sent: the SDK may lose it.
func (c *courier) failed(err error) error {
	if own, ok := errors.AsType[*Error](err); ok {
		c.problem.Store(own)
	}
	return err
}

// refusedLogin explains an answer that asks for a login, or returns nil.
func (s *session) refusedLogin(server *Server) *Error {
	if s.mail == nil {
		return nil
	}
	if e := s.mail.problem.Load(); e != nil {
		problem := *e
		return &problem
	}
	switch {
	case s.mail.status.Load() != http.StatusUnauthorized:
		return nil
	case server.hasAuthorization():
		return &Error{Code: CodeServerConnection, Server: server.Name, Message: "the server refuses the header Authorization of ktx.yaml", Hint: "ask a person to correct it"}
	case s.mail.login != nil && len(s.mail.login.seen()) > 0:
		return loginError(server.Name, "the server refuses the login")
	default:
		return loginError(server.Name, "the server asks for a login")
	}
}

// redacted returns a text without secrets.
func redacted(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) > 3 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return clean(text, maxMessage)
}
