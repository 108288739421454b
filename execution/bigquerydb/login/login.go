// Package login gets access tokens for Google's APIs: for a service account, for a user
// who has logged in with gcloud, for a principal of another identity provider, from the
// metadata server of a machine of Google's, and for a service account that one of these may
// impersonate.
//
// Its errors contain neither a token nor a part of a key. A key's file decides where its
// token is asked for; the operator vouches for it. It runs no program.
package login

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"
)

// Scope is what the tokens are for.
const Scope = "https://www.googleapis.com/auth/bigquery"

// cloudScope is what a token needs that is exchanged for one of another account.
const cloudScope = "https://www.googleapis.com/auth/cloud-platform"

const (
	// spare is how long before its end a token is no longer used.
	spare = time.Minute
	// maxFile and maxAnswer bound a key's file and the answer with a token.
	maxFile   = 1 << 20
	maxAnswer = 1 << 20
	// iamAPI exchanges tokens.
	iamAPI = "https://iamcredentials.googleapis.com/v1/"
	// metadataHost is the metadata server of a machine of Google's.
	metadataHost = "169.254.169.254"
)

// Options say who asks.
type Options struct {
	// File is a key in JSON, or credentials that gcloud wrote. "" means the default
	// credentials of the application.
	File string
	// As is the address of a service account that the principal acts for.
	As string
	// HTTP sends the requests.
	HTTP *http.Client
	// Lookup reads the environment; nil means os.LookupEnv.
	Lookup func(string) (string, bool)
}

// Error says why there is no token. Its text may be shown.
type Error struct {
	Message string
	// Again says that a second try may succeed.
	Again bool
}

func (e *Error) Error() string { return e.Message }

func failed(format string, args ...any) error { return &Error{Message: fmt.Sprintf(format, args...)} }

// source gets a new token for a scope.
type source interface {
	fetch(ctx context.Context, client *http.Client, scope string) (*oauth2.Token, error)
}

// Login keeps a token and gets a new one when it ends. It is safe for concurrent use.
type Login struct {
	options Options
	name    string

	turn  chan struct{} // held while a token is got
	mu    sync.Mutex
	token *oauth2.Token
}

// New returns a login. It reads the file, and sends nothing.
func New(o Options) (*Login, error) {
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	l := &Login{options: o, turn: make(chan struct{}, 1)}
	s, err := l.source()
	if err != nil {
		return nil, err
	}
	switch s := s.(type) {
	case *account:
		l.name = s.Email
	case *exchanged:
		l.name = s.email
	}
	return l, nil
}

// Name returns the address of the account, or "" when only the service knows it.
func (l *Login) Name() string { return l.name }

// Token returns a token that is valid for a while.
func (l *Login) Token(ctx context.Context) (string, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-l.turn }()
	l.mu.Lock()
	have := l.token
	l.mu.Unlock()
	if have != nil && time.Until(have.Expiry) > spare {
		return have.AccessToken, nil
	}
	s, err := l.source() // a key that was replaced counts from the next token on
	if err != nil {
		return "", err
	}
	got, err := s.fetch(ctx, l.options.HTTP, Scope)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", said(err)
	case got.AccessToken == "" || strings.ContainsFunc(got.AccessToken, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", failed("the answer to the login has no token")
	}
	if got.Expiry.IsZero() {
		got.Expiry = time.Now().Add(2 * spare)
	}
	l.mu.Lock()
	l.token = got
	l.mu.Unlock()
	return got.AccessToken, nil
}

// Refused forgets a token that the service refused.
func (l *Login) Refused(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.token != nil && l.token.AccessToken == token {
		l.token = nil
	}
}

// said returns an error that may be shown. What the other side wrote is not in it, except
// the name of its error.
func said(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status := 0
		if e.Response != nil {
			status = e.Response.StatusCode
		}
		return refused(status, e.ErrorCode, e.Body)
	}
	return &Error{Message: "the server for logins cannot be reached", Again: true}
}

// refused is the error for an answer that refuses a login. code is "" when the body has it.
func refused(status int, code string, answer []byte) error {
	if code == "" {
		var body struct {
			Error any `json:"error"`
		}
		_ = json.Unmarshal(answer, &body) // the status says enough
		code, _ = body.Error.(string)
	}
	return &Error{Message: fmt.Sprintf("the login was refused (status %d %s)", status, plain(code)), Again: status >= http.StatusInternalServerError}
}

// plain returns the name of an error, or "" when it is something else.
func plain(code string) string {
	if len(code) > 64 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return ""
	}
	return code
}

// source returns where tokens come from.
func (l *Login) source() (source, error) {
	s, err := l.found()
	if err != nil || l.options.As == "" {
		return s, err
	}
	return &exchanged{from: s, email: l.options.As, url: iamAPI + "projects/-/serviceAccounts/" + url.PathEscape(l.options.As) + ":generateAccessToken"}, nil
}

// found follows the order of Google's application default credentials.
func (l *Login) found() (source, error) {
	if l.options.File != "" {
		return read(l.options.File, "credentials")
	}
	if file, _ := l.options.Lookup("GOOGLE_APPLICATION_CREDENTIALS"); file != "" {
		return read(file, "GOOGLE_APPLICATION_CREDENTIALS")
	}
	if file := l.wellKnown(); file != "" {
		if _, err := os.Stat(file); err == nil {
			return read(file, "gcloud auth application-default login")
		}
	}
	host := metadataHost
	if named, _ := l.options.Lookup("GCE_METADATA_HOST"); named != "" {
		host = named
	}
	return machine(host), nil
}

// wellKnown is the file that gcloud writes.
func (l *Login) wellKnown() string {
	const name = "application_default_credentials.json"
	if folder, _ := l.options.Lookup("CLOUDSDK_CONFIG"); folder != "" {
		return filepath.Join(folder, name)
	}
	if runtime.GOOS == "windows" {
		if folder, _ := l.options.Lookup("APPDATA"); folder != "" {
			return filepath.Join(folder, "gcloud", name)
		}
		return ""
	}
	if home, _ := l.options.Lookup("HOME"); home != "" {
		return filepath.Join(home, ".config", "gcloud", name)
	}
	return ""
}

// credentials are the kinds of files of Google's.
type credentials struct {
	Type string `json:"type"`
	account
	user
	federated
	// Of a principal that acts for another one.
	Impersonation string          `json:"service_account_impersonation_url"`
	Source        json.RawMessage `json:"source_credentials"`
}

// read reads a file of credentials. what says where its name comes from.
func read(path, what string) (source, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, failed("the file of credentials (%s) cannot be read: %v", what, cause(err))
	}
	defer func() { _ = f.Close() }() // it was read
	raw, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, failed("the file of credentials (%s) cannot be read", what)
	}
	return parse(raw, what, true)
}

// cause is an error about a file without its path.
func cause(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

func parse(raw []byte, what string, nested bool) (source, error) {
	var c credentials
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, failed("the file of credentials (%s) is no JSON", what)
	}
	switch {
	case c.Type == "service_account" && c.Email != "" && c.Key != "" && secure(c.TokenURL):
		return &c.account, nil
	case c.Type == "authorized_user" && c.Refresh != "" && c.ID != "":
		return &c.user, nil
	case c.Type == "impersonated_service_account" && nested && secure(c.Impersonation):
		from, err := parse(c.Source, what, false)
		if err != nil {
			return nil, err
		}
		return actingFor(c.Impersonation, from), nil
	case c.Type == "external_account":
		c.id, c.secret = c.ID, c.Secret
		if err := c.complete(what); err != nil {
			return nil, err
		}
		if c.Impersonation == "" {
			return &c.federated, nil
		}
		if !ofGoogle(c.Impersonation) {
			return nil, failed("service_account_impersonation_url of the credentials (%s) must be https:// and a host of googleapis.com", what)
		}
		x := actingFor(c.Impersonation, &c.federated)
		x.seconds = c.Lifetime.Seconds
		return x, nil
	case c.Type == "external_account_authorized_user" || c.Type == "gdch_service_account":
		return nil, failed("credentials of the type %s (%s) are not supported: use the key of a service account, gcloud auth application-default login, workload identity federation, or a machine of Google's with a service account", c.Type, what)
	default:
		return nil, failed("the file of credentials (%s) is neither the key of a service account nor one that gcloud wrote", what)
	}
}

// secure reports whether a token may be asked for at an address.
func secure(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.User == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1"))
}

// account is the key of a service account.
type account struct {
	Email    string `json:"client_email"`
	KeyID    string `json:"private_key_id"`
	Key      string `json:"private_key"`
	TokenURL string `json:"token_uri"`
}

func (a *account) fetch(ctx context.Context, client *http.Client, scope string) (*oauth2.Token, error) {
	c := jwt.Config{Email: a.Email, PrivateKey: []byte(a.Key), PrivateKeyID: a.KeyID, TokenURL: a.TokenURL, Scopes: []string{scope}}
	token, err := c.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client)).Token()
	if err != nil && strings.Contains(err.Error(), "private key") {
		return nil, failed("the private key of the service account cannot be read")
	}
	return token, err
}

// user is a user who has logged in with gcloud. The scope was chosen then.
type user struct {
	ID      string `json:"client_id"`
	Secret  string `json:"client_secret"`
	Refresh string `json:"refresh_token"`
	Token   string `json:"-"` // where the token is asked for; "" is Google
}

func (u *user) fetch(ctx context.Context, client *http.Client, _ string) (*oauth2.Token, error) {
	address := "https://oauth2.googleapis.com/token"
	if u.Token != "" {
		address = u.Token
	}
	c := oauth2.Config{ClientID: u.ID, ClientSecret: u.Secret, Endpoint: oauth2.Endpoint{TokenURL: address, AuthStyle: oauth2.AuthStyleInParams}}
	return c.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client), &oauth2.Token{RefreshToken: u.Refresh}).Token()
}

// machine is the metadata server of a machine of Google's.
type machine string

func (m machine) fetch(ctx context.Context, client *http.Client, scope string) (*oauth2.Token, error) {
	address := "http://" + string(m) + "/computeMetadata/v1/instance/service-accounts/default/token?scopes=" + url.QueryEscape(scope)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, failed("GCE_METADATA_HOST is no host")
	}
	req.Header.Set("Metadata-Flavor", "Google")
	var got struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
	}
	if err := answer(client, req, &got); err != nil {
		return nil, failed("there are no credentials: set credentials in the url to the key of a service account, run gcloud auth application-default login, or use a machine of Google's that has a service account")
	}
	return &oauth2.Token{AccessToken: got.Token, Expiry: time.Now().Add(time.Duration(got.Seconds) * time.Second)}, nil
}

// exchanged is a service account that another principal acts for.
type exchanged struct {
	from    source
	email   string
	url     string
	seconds int // how long a token holds; 0 means an hour
}

// actingFor is the service account that an address of Google's names.
func actingFor(address string, from source) *exchanged {
	return &exchanged{from: from, email: strings.TrimSuffix(address[strings.LastIndexByte(address, '/')+1:], ":generateAccessToken"), url: address}
}

func (x *exchanged) fetch(ctx context.Context, client *http.Client, scope string) (*oauth2.Token, error) {
	own, err := x.from.fetch(ctx, client, cloudScope)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{"scope": []string{scope}, "lifetime": fmt.Sprintf("%ds", cmp.Or(x.seconds, 3600))})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.url, strings.NewReader(string(body)))
	if err != nil {
		return nil, failed("the service account to act for has no address")
	}
	req.Header.Set("Authorization", "Bearer "+own.AccessToken)
	req.Header.Set("Content-Type", "application/json")
	var got struct {
		Token   string    `json:"accessToken"`
		Expires time.Time `json:"expireTime"`
	}
	if err := answer(client, req, &got); err != nil {
		if e, ok := errors.AsType[*Error](err); ok && !e.Again {
			return nil, failed("the principal may not act for the service account (%s): it needs the role Service Account Token Creator on it", e.Message)
		}
		return nil, err
	}
	return &oauth2.Token{AccessToken: got.Token, Expiry: got.Expires}, nil
}

// answer sends a request and decodes its answer.
func answer(client *http.Client, req *http.Request, out any) error {
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	if resp.StatusCode != http.StatusOK {
		return &Error{Message: fmt.Sprintf("status %d", resp.StatusCode), Again: resp.StatusCode >= http.StatusInternalServerError}
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out)
}
