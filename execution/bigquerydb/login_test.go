package bigquerydb_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb"
	"github.com/ktxhq/ktx/execution/executiontest/bqserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// accountFile writes the key of a service account whose tokens come from a server.
func accountFile(t *testing.T, tokens string) (path, secret string) {
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
	out, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "reader@ktx-test.iam.gserviceaccount.com", "private_key_id": "1", "private_key": text, "token_uri": tokens})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, strings.Split(text, "\n")[1]
}

// TestLogin checks that each request has the token of the key, that one which the service
// refuses is replaced once, and that no error shows a token or a part of the key.
func TestLogin(t *testing.T) {
	const sesame = "sesame-token"
	var given atomic.Int32
	good := atomic.Bool{}
	good.Store(true)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		token := sesame + "-old"
		if given.Add(1) > 1 && good.Load() {
			token = sesame
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token": %q, "expires_in": 3600, "token_type": "Bearer"}`, token)
	}))
	defer tokens.Close()
	path, secret := accountFile(t, tokens.URL)
	s := bqserver.Start(t, bqserver.Config{Token: sesame})
	s.On("SELECT id FROM items", ids(2))
	config := bigquerydb.Config{URL: execution.NewSecret(s.URL("credentials", path))}
	c := open(t, s, config, sqlguard.DefaultPolicy())
	c.Get(t, "SELECT id FROM items", execution.Limits{})
	c.Get(t, "SELECT id FROM items", execution.Limits{})
	if n := given.Load(); n != 2 {
		t.Errorf("%d tokens were asked for", n)
	}

	good.Store(false)
	c = open(t, s, config, sqlguard.DefaultPolicy())
	e := c.Fails(t, "SELECT id FROM items", execution.Limits{})
	if e.Code != sqlguard.CodeDatabaseError || e.SQLState != "authError" || !strings.Contains(e.Hint, "credentials") {
		t.Errorf("%+v", e)
	}
	for err := error(e); err != nil; err = errors.Unwrap(err) {
		if text := fmt.Sprintf("%+v %s", err, e.Hint); strings.Contains(text, sesame) || strings.Contains(text, secret) || strings.Contains(text, path) {
			t.Errorf("%s shows a secret", text)
		}
	}
	tokens.Close()
	c = open(t, s, config, sqlguard.DefaultPolicy())
	if e := c.Fails(t, "SELECT id FROM items", execution.Limits{}); e.Code != sqlguard.CodeConnectionLost || !strings.Contains(e.Message, "server for logins") {
		t.Errorf("%+v", e)
	}
}
