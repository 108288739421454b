package upstream_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/ktxhq/ktx/research/upstream"
)

// provider is an MCP server that asks for a login, and its authorization server. The
// server's side is that of the SDK. The authorization server stands for a real one, so
// that a test can say what it refuses and when a token ends; tools/upstreams logs in at
// one that others wrote.
type provider struct {
	*httptest.Server

	mu       sync.Mutex
	codes    map[string]string // the challenge of each code
	access   string            // the one token that is taken
	refresh  string
	issued   int
	lifetime int  // of a token, in seconds
	refusing bool // no refresh token is taken
	broken   bool // the token endpoint answers 500
	deny     bool // the person refuses
	clients  []oauthex.ClientRegistrationMetadata
	grants   []string
	scopes   []string
}

func newProvider(t *testing.T, sse bool) *provider {
	t.Helper()
	p := &provider{codes: map[string]string{}, lifetime: 3600}
	s := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "read", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "it was read"}}}, nil
	})
	var tools http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	if sse {
		tools = mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)
	}
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if token != p.access || token == "" {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Expiration: time.Now().Add(time.Hour), UserID: "someone"}, nil
	}
	mux := http.NewServeMux()
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	t.Cleanup(p.CloseClientConnections)
	mux.Handle("/mcp", auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: p.URL + "/.well-known/oauth-protected-resource/mcp"})(tools))
	mux.Handle("/.well-known/oauth-protected-resource/mcp", auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: p.URL + "/mcp", AuthorizationServers: []string{p.URL}, ScopesSupported: []string{"tools", "admin"},
	}))
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "registration_endpoint": p.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none", "client_secret_post"},
		})
	})
	mux.HandleFunc("POST /register", p.register)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	return p
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (p *provider) register(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var client oauthex.ClientRegistrationMetadata
	if err := json.NewDecoder(r.Body).Decode(&client); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_client_metadata"})
		return
	}
	p.clients = append(p.clients, client)
	answer(w, http.StatusCreated, map[string]any{"client_id": "registered", "redirect_uris": client.RedirectURIs, "token_endpoint_auth_method": "none"})
}

func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	back := url.Values{"state": {q.Get("state")}}
	if q.Get("code_challenge_method") != "S256" || q.Get("resource") != p.URL+"/mcp" {
		http.Error(w, "no challenge, or not for this server", http.StatusBadRequest)
		return
	}
	if p.deny {
		back.Set("error", "access_denied")
	} else {
		code := fmt.Sprintf("secret-of-login-code-%d", len(p.codes))
		p.codes[code] = q.Get("code_challenge")
		p.scopes = strings.Fields(q.Get("scope"))
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	refuse := func() { answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"}) }
	grant := r.PostFormValue("grant_type")
	p.grants = append(p.grants, grant+" "+r.PostFormValue("client_id")+" "+r.PostFormValue("client_secret"))
	switch {
	case p.broken:
		http.Error(w, "secret-of-login-refresh is what you sent", http.StatusInternalServerError)
		return
	case grant == "authorization_code":
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		challenge, ok := p.codes[r.PostFormValue("code")]
		if delete(p.codes, r.PostFormValue("code")); !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != challenge {
			refuse()
			return
		}
	case grant == "refresh_token" && !p.refusing && r.PostFormValue("refresh_token") == p.refresh: // each is good for one use
	default:
		refuse()
		return
	}
	p.issued++
	p.access, p.refresh = fmt.Sprintf("secret-of-login-access-%d", p.issued), fmt.Sprintf("secret-of-login-refresh-%d", p.issued)
	answer(w, http.StatusOK, map[string]any{"access_token": p.access, "token_type": "Bearer", "refresh_token": p.refresh, "expires_in": p.lifetime})
}

// set changes what the provider does.
func (p *provider) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// visit does what a browser does: it follows the page to the address it returns to.
func visit(ctx context.Context, address, _ string) (url.Values, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	back, err := url.Parse(res.Header.Get("Location"))
	if err != nil || res.StatusCode != http.StatusFound {
		text, _ := io.ReadAll(res.Body)
		return nil, fmt.Errorf("HTTP status %s: %s", res.Status, text)
	}
	return back.Query(), nil
}

var withBrowser = upstream.LoginOptions{Redirect: "http://127.0.0.1:1/callback", Ask: visit}

func (p *provider) server() upstream.Server {
	return upstream.Server{Name: "bad", URL: value(p.URL + "/mcp"), Timeout: time.Minute}
}

// secretFree fails if a secret is in an error, the log of the program, or the audit log.
func (w *world) secretFree(err error) {
	w.t.Helper()
	events, _ := json.Marshal(w.log.Events())
	for _, text := range []string{fmt.Sprint(err), w.text.String(), string(events)} {
		if strings.Contains(text, "secret-of-") {
			w.t.Errorf("a secret is shown: %s", text)
		}
	}
}

func TestLogin(t *testing.T) {
	for _, sse := range []bool{false, true} {
		t.Run(map[bool]string{false: "streamable", true: "sse"}[sse], func(t *testing.T) {
			p := newProvider(t, sse)
			dir := t.TempDir()
			w := manageIn(t, dir, one(p.server()))
			e := w.failure(upstream.CodeServerConnection, "read", "")
			if e.Message != "the server asks for a login" || !strings.Contains(e.Hint, "ktx upstream login bad") || e.Retryable {
				t.Fatalf("before the login: %+v", e)
			}
			if err := w.Login(t.Context(), "bad", withBrowser); err != nil {
				t.Fatal(err)
			}
			w.works("read", "", "it was read")
			info, err := os.Stat(filepath.Join(dir, ".ktx/upstreams/logins.json"))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the file of tokens: %v, %v", info.Mode(), err)
			}
			if len(p.clients) != 1 || p.clients[0].ClientName != "ktx" || p.clients[0].ApplicationType != "native" {
				t.Errorf("registered as %+v", p.clients)
			}

			// The server stops taking the token: it is refreshed in the middle of a session,
			// and each refresh token is used once, by whoever comes first.
			other := manageIn(t, dir, one(p.server()))
			for range 3 {
				p.set(func() { p.access = "another" })
				w.works("read", "", "it was read")
				other.works("read", "", "it was read")
			}
			if p.issued != 4 {
				t.Errorf("%d tokens were given, want one by the login and one by each of three refreshes", p.issued)
			}

			// Another address gets no token.
			elsewhere := p.server()
			elsewhere.URL = value(p.URL + "/mcp?other")
			away := manageIn(t, dir, one(elsewhere))
			if e := away.failure(upstream.CodeServerConnection, "read", ""); e.Message != "the server asks for a login" {
				t.Errorf("another address: %+v", e)
			}

			// The login is taken back.
			p.set(func() { p.access, p.refusing = "another", true })
			e = w.failure(upstream.CodeServerConnection, "read", "")
			if e.Message != "the login is not valid any more: invalid_grant" || e.Retryable {
				t.Errorf("a login that was taken back: %+v", e)
			}
			w.secretFree(e)
			p.set(func() { p.refusing = false })
			if err := w.Login(t.Context(), "bad", withBrowser); err != nil {
				t.Fatal(err)
			}
			w.works("read", "", "it was read")
			if was, err := w.Logout("bad"); err != nil || !was {
				t.Errorf("logged out: %v, %v", was, err)
			}
			if was, err := w.Logout("bad"); err != nil || was {
				t.Errorf("logged out again: %v, %v", was, err)
			}
			e = w.failure(upstream.CodeServerConnection, "read", "")
			if e.Message != "the server asks for a login" {
				t.Errorf("after the logout: %+v", e)
			}
			w.secretFree(e)
		})
	}
}

// TestLoginThatExpires: the token has a time, and is refreshed before it is sent.
func TestLoginThatExpires(t *testing.T) {
	p := newProvider(t, false)
	p.lifetime = 1 // the SDK's library takes a token for expired ten seconds before its time
	w := manage(t, one(p.server()))
	if err := w.Login(t.Context(), "bad", withBrowser); err != nil {
		t.Fatal(err)
	}
	w.works("read", "", "it was read")
	if p.issued < 2 {
		t.Errorf("%d tokens were given", p.issued)
	}
	p.set(func() { p.broken = true })
	e := w.failure(upstream.CodeServerConnection, "read", "")
	if !strings.HasPrefix(e.Message, "the login could not be refreshed: ") || !e.Retryable {
		t.Errorf("an authorization server that is broken: %+v", e)
	}
	w.secretFree(e)
}

func TestLoginAsAKnownClient(t *testing.T) {
	p := newProvider(t, false)
	s := p.server()
	s.OAuth = upstream.OAuth{ClientID: "ktx-of-ours", ClientSecret: value("secret-of-client"), Scopes: []string{"tools"}}
	dir := t.TempDir()
	w := manageIn(t, dir, one(s))
	if err := w.Login(t.Context(), "bad", withBrowser); err != nil {
		t.Fatal(err)
	}
	p.set(func() { p.access = "another" })
	w.works("read", "", "it was read")
	if want := "[authorization_code ktx-of-ours secret-of-client refresh_token ktx-of-ours secret-of-client]"; fmt.Sprint(p.grants) != want || len(p.clients) > 0 {
		t.Errorf("got %v, %v", p.grants, p.clients)
	}
	if fmt.Sprint(p.scopes) != "[tools]" {
		t.Errorf("asked for %q", p.scopes)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".ktx/upstreams/logins.json"))
	if err != nil || strings.Contains(string(text), "secret-of-client") {
		t.Errorf("the secret of ktx.yaml was copied: %s, %v", text, err)
	}
}

func TestLoginRefusals(t *testing.T) {
	p := newProvider(t, false)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, map[string]any{}) }))
	t.Cleanup(plain.Close)
	gone := errors.New("the person is gone")
	with := func(change func(*upstream.Server)) upstream.Server {
		s := p.server()
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		server upstream.Server
		ask    func(context.Context, string, string) (url.Values, error)
		want   string
	}{
		"a command":    {upstream.Server{Name: "bad", Command: "true"}, visit, "only servers with a url have a login"},
		"a header":     {with(func(s *upstream.Server) { s.Headers = map[string]upstream.Value{"authorization": value("Bearer x")} }), visit, "a header Authorization"},
		"in the clear": {with(func(s *upstream.Server) { s.URL = value("http://192.0.2.1/mcp") }), visit, "in the clear"},
		"no login":     {with(func(s *upstream.Server) { s.URL = value(plain.URL) }), visit, "does not ask for a login: it answers with HTTP status 200"},
		"nobody":       {p.server(), func(context.Context, string, string) (url.Values, error) { return nil, gone }, gone.Error()},
		"another state": {p.server(), func(context.Context, string, string) (url.Values, error) {
			return url.Values{"code": {"x"}, "state": {"y"}}, nil
		}, "state mismatch"},
		"another code": {p.server(), func(_ context.Context, _, state string) (url.Values, error) {
			return url.Values{"code": {"x"}, "state": {state}}, nil
		}, "invalid_grant"},
		"another issuer": {p.server(), func(ctx context.Context, address, state string) (url.Values, error) {
			q, err := visit(ctx, address, state)
			q.Set("iss", "https://evil.example")
			return q, err
		}, "does not match expected issuer"},
		"denied": {p.server(), func(ctx context.Context, address, state string) (url.Values, error) {
			p.set(func() { p.deny = true })
			defer p.set(func() { p.deny = false })
			return visit(ctx, address, state)
		}, "access_denied"},
	} {
		t.Run(name, func(t *testing.T) {
			w := manage(t, one(c.server))
			err := w.Login(t.Context(), "bad", upstream.LoginOptions{Redirect: withBrowser.Redirect, Ask: c.ask})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			w.secretFree(err)
			if names, err := w.LoggedIn(); len(names) > 0 || err != nil {
				t.Errorf("kept: %q, %v", names, err)
			}
		})
	}
}
