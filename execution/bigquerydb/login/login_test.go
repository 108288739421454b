package login_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/bigquerydb/login"
)

// google answers requests for tokens in the place of Google's servers.
type google struct {
	tb     testing.TB
	status int // of every answer; 0 is 200
	body   string
	seen   []string
}

func (g *google) RoundTrip(r *http.Request) (*http.Response, error) {
	var form string
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		form = string(raw)
	}
	if r.URL.Host == "provider.example" {
		if r.Header.Get("X-Sent") != "sesame-header" {
			return nil, errors.New("no header")
		}
		g.seen = append(g.seen, r.URL.String())
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"token": "sesame-subject"}`)), Request: r}, nil
	}
	g.seen = append(g.seen, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization")+" "+form)
	body := g.body
	if body == "" {
		n := len(g.seen)
		switch {
		case strings.Contains(r.URL.Path, "generateAccessToken"):
			body = fmt.Sprintf(`{"accessToken": "exchanged-%d", "expireTime": %q}`, n, time.Now().Add(time.Hour).Format(time.RFC3339))
		default:
			body = fmt.Sprintf(`{"access_token": "token-%d", "expires_in": 3600, "token_type": "Bearer"}`, n)
		}
	}
	status := g.status
	if status == 0 {
		status = http.StatusOK
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// accountKey makes the key of a service account.
func accountKey(t *testing.T) (content, secret string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	out, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "reader@p.iam.gserviceaccount.com", "private_key_id": "kid", "private_key": text, "token_uri": "https://oauth2.googleapis.com/token",
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(out), strings.Split(text, "\n")[1]
}

const userFile = `{"type": "authorized_user", "client_id": "id", "client_secret": "sesame-secret", "refresh_token": "sesame-refresh"}`

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// federation is the file of a principal of another provider. change replaces parts of it.
func federation(change ...string) string {
	return strings.NewReplacer(change...).Replace(`{"type": "external_account", "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/sesame/providers/p",
		"subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": "https://sts.googleapis.com/v1/token", "credential_source": {"file": "/none/sesame"}}`)
}

const (
	fromURL  = `{"url": "https://provider.example/sesame", "headers": {"X-Sent": "sesame-header"}, "format": {"type": "json", "subject_token_field_name": "token"}}`
	fromFile = `{"file": "/none/sesame"}`
	actsFor  = `"service_account_impersonation_url": "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/it@p.iam.gserviceaccount.com:generateAccessToken", "audience"`
)

func nothing(string) (string, bool) { return "", false }

// TestTokens checks how each kind of credentials gets its token.
func TestTokens(t *testing.T) {
	account, _ := accountKey(t)
	file := write(t, account)
	for _, v := range []struct {
		name    string
		options login.Options
		token   string
		seen    []string // parts of the requests
		called  string
	}{
		{"service account", login.Options{File: file}, "token-1", []string{"POST https://oauth2.googleapis.com/token  assertion="}, "reader@p.iam.gserviceaccount.com"},
		{"user", login.Options{File: write(t, userFile)}, "token-1", []string{"grant_type=refresh_token&refresh_token=sesame-refresh"}, ""},
		{"impersonation", login.Options{File: file, As: "other@p.iam.gserviceaccount.com"}, "exchanged-2", []string{
			"assertion=", "POST https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/other@p.iam.gserviceaccount.com:generateAccessToken Bearer token-1",
		}, "other@p.iam.gserviceaccount.com"},
		{"impersonation in the file", login.Options{File: write(t, `{"type": "impersonated_service_account", "source_credentials": `+userFile+
			`, "service_account_impersonation_url": "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/it@p.iam.gserviceaccount.com:generateAccessToken"}`)}, "exchanged-2", []string{
			"refresh_token=", "serviceAccounts/it@p.iam.gserviceaccount.com:generateAccessToken Bearer token-1",
		}, "it@p.iam.gserviceaccount.com"},
		{"federation with a file", login.Options{File: write(t, federation("/none/sesame", write(t, "sesame-subject\n")))}, "token-1", []string{
			"POST https://sts.googleapis.com/v1/token  audience=%2F%2Fiam.googleapis.com%2Fprojects%2F1%2F",
		}, ""},
		{"federation with a url", login.Options{File: write(t, federation(fromFile, fromURL))}, "token-2", []string{"https://provider.example/sesame", "subject_token=sesame-subject"}, ""},
		{"federation with impersonation", login.Options{File: write(t, federation("/none/sesame", write(t, "sesame-subject\n"), `"audience"`, actsFor))}, "exchanged-2", []string{
			"subject_token=sesame-subject", "POST https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/it@p.iam.gserviceaccount.com:generateAccessToken Bearer token-1",
		}, "it@p.iam.gserviceaccount.com"},
		{"federation for another account", login.Options{File: write(t, federation("/none/sesame", write(t, "sesame-subject\n"))), As: "other@p.iam.gserviceaccount.com"}, "exchanged-2", []string{
			"subject_token=sesame-subject", "serviceAccounts/other@p.iam.gserviceaccount.com:generateAccessToken Bearer token-1",
		}, "other@p.iam.gserviceaccount.com"},
		{"the environment", login.Options{Lookup: func(name string) (string, bool) {
			return file, name == "GOOGLE_APPLICATION_CREDENTIALS"
		}}, "token-1", []string{"assertion="}, "reader@p.iam.gserviceaccount.com"},
		{"a machine", login.Options{Lookup: nothing}, "token-1", []string{"GET http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token"}, ""},
	} {
		t.Run(v.name, func(t *testing.T) {
			g := &google{tb: t}
			v.options.HTTP = &http.Client{Transport: g}
			l, err := login.New(v.options)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second is kept
				if got, err := l.Token(t.Context()); err != nil || got != v.token {
					t.Fatalf("%q, %v", got, err)
				}
			}
			if len(g.seen) != len(v.seen) || l.Name() != v.called {
				t.Fatalf("%d requests: %q; %s", len(g.seen), g.seen, l.Name())
			}
			for i, part := range v.seen {
				if !strings.Contains(g.seen[i], part) {
					t.Errorf("%q does not have %q", g.seen[i], part)
				}
			}
			l.Refused(v.token)
			if got, err := l.Token(t.Context()); err != nil || got == v.token {
				t.Errorf("after a refusal: %q, %v", got, err)
			}
		})
	}
}

// TestNoToken checks that errors say what to do, and nothing of a key or a token.
func TestNoToken(t *testing.T) {
	account, secret := accountKey(t)
	for _, v := range []struct {
		name, file string
		as         string
		status     int
		body       string
		want       string
		again      bool
	}{
		{"refused", account, "", 400, `{"error": "invalid_grant", "error_description": "sesame"}`, "invalid_grant", false},
		{"a name that is none", account, "", 400, `{"error": "sesame sesame"}`, "status 400", false},
		{"a fault", account, "", 503, `sesame`, "status 503", true},
		{"a user who is logged out", userFile, "", 400, `{"error": "invalid_grant", "error_description": "sesame"}`, "invalid_grant", false},
		{"no impersonation", account, "other@p.iam.gserviceaccount.com", 403, `{"error": {"message": "sesame"}}`, "", false},
		{"federation refused", federation("/none/sesame", write(t, "sesame-subject")), "", 400, `{"error": "invalid_grant", "error_description": "sesame"}`, "status 400 invalid_grant", false},
		{"a fault of the exchange", federation("/none/sesame", write(t, "sesame-subject")), "", 503, "sesame", "status 503", true},
		{"no exchange", federation("/none/sesame", write(t, "sesame-subject")), "", 200, "sesame", "cannot be reached", true},
		{"no file of the other provider", federation(), "", 0, "", "credential_source.file cannot be read: no such file", false},
		{"an empty file", federation("/none/sesame", write(t, "\n")), "", 0, "", "credential_source has no token", false},
		{"another provider without an answer", federation(fromFile, strings.Replace(fromURL, "X-Sent", "X-Other", 1)), "", 0, "", "credential_source.url cannot be reached", true},
		{"another provider that refuses", federation(fromFile, strings.Replace(fromURL, "provider.example", "refuses.example", 1)), "", 403, "sesame", "credential_source.url answers with status 403", false},
		{"a field that is missing", federation(fromFile, strings.Replace(fromURL, `"token"`, `"other"`, 1)), "", 0, "", "credential_source has no token", false},
		{"no token", account, "", 200, `{"token_type": "Bearer"}`, "", false},
		{"a token of two lines", account, "", 200, `{"access_token": "sesame\r\nX: y", "expires_in": 3600}`, "", false},
	} {
		t.Run(v.name, func(t *testing.T) {
			l, err := login.New(login.Options{File: write(t, v.file), As: v.as, HTTP: &http.Client{Transport: &google{tb: t, status: v.status, body: v.body}}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.Token(t.Context())
			if err == nil || got != "" || !strings.Contains(err.Error(), v.want) {
				t.Fatalf("%q, %v; want %q", got, err, v.want)
			}
			e, ok := err.(*login.Error) //nolint:errorlint // the error itself must be one
			if !ok || e.Again != v.again {
				t.Errorf("%T, again %t", err, ok && e.Again)
			}
			for _, part := range []string{"sesame", secret} {
				if strings.Contains(fmt.Sprintf("%+v", err), part) {
					t.Errorf("%v shows a secret", err)
				}
			}
		})
	}
	for _, v := range []struct{ content, want string }{
		{"sesame", "no JSON"},
		{`{"type": "sesame"}`, "neither"},
		{`{"type": "external_account", "audience": "sesame"}`, "either file or url"},
		{`{"type": "external_account_authorized_user", "audience": "sesame"}`, "external_account_authorized_user"},
		{federation(fromFile, `{"executable": {"command": "/bin/sesame"}}`), "want a program to be run, which is never done"},
		{federation(fromFile, `{"file": "sesame", "executable": {"command": "/bin/sesame"}}`), "want a program to be run, which is never done"},
		{federation(fromFile, `{"environment_id": "aws1", "url": "http://169.254.169.254/sesame"}`), "either file or url"},
		{federation(fromFile, `{"certificate": {"certificate_config_location": "sesame"}}`), "either file or url"},
		{federation(fromFile, `{"url": "http://provider.example/sesame"}`), "must begin with https://"},
		{federation(fromFile, `{"file": "sesame", "format": {"type": "xml"}}`), "must be text or json"},
		{federation(fromFile, `{"file": "sesame", "format": {"type": "json"}}`), "subject_token_field_name"},
		{federation("https://sts.googleapis.com/", "http://sts.googleapis.com/"), "token_url"},
		{federation("https://sts.googleapis.com/", "https://sts.sesame.example/"), "token_url"},
		{federation("https://sts.googleapis.com/", "https://sesame.example/?.googleapis.com/"), "token_url"},
		{federation("https://sts.googleapis.com/", "https://sts.googleapis.com:444/"), "token_url"},
		{federation(`"audience"`, strings.Replace(actsFor, "iamcredentials.googleapis.com", "sesame.example", 1)), "service_account_impersonation_url"},
		{federation(`"subject_token_type"`, `"sesame"`), "no audience or no subject_token_type"},
		{strings.Replace(account, "https://oauth2", "http://oauth2", 1), "neither"},
		{`{"type": "impersonated_service_account", "service_account_impersonation_url": "https://x/y:generateAccessToken", "source_credentials": {"type": "impersonated_service_account"}}`, "neither"},
	} {
		if _, err := login.New(login.Options{File: write(t, v.content)}); err == nil || !strings.Contains(err.Error(), v.want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", v.content, err)
		}
	}
	l, err := login.New(login.Options{File: write(t, strings.Replace(account, secret[:20], "AAAA", 1)), HTTP: &http.Client{Transport: &google{tb: t}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Token(t.Context()); err == nil || strings.Contains(err.Error(), secret[20:]) {
		t.Error(err)
	}
}
