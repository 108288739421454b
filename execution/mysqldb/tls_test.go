package mysqldb_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// with returns a URL with other parameters, and with another host if one is
// given.
func with(t *testing.T, address, host string, params ...string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		u.Host = host + ":" + u.Port()
	}
	values := url.Values{}
	for i := 0; i < len(params); i += 2 {
		values.Set(params[i], params[i+1])
	}
	u.RawQuery = values.Encode()
	return u.String()
}

func TestTLS(t *testing.T) {
	server := testdb.StartMariaDB(t, testdb.Options{TLS: true, Settings: map[string]string{"bind_address": "127.0.0.1,127.0.0.2"}})
	address := server.NewDatabase(t)
	database := strings.TrimPrefix(mustPath(t, address), "/")
	user := server.NewUser(t, "SELECT ON "+database+".*")
	server.Admin(t, "ALTER USER '"+user+"'@'%' REQUIRE SSL")
	address = server.URL(database, user)
	ca := server.CertificateFile()
	pem, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	ownCA := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ownCA, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name     string
		url      string
		insecure bool
		code     sqlguard.Code // "" if it connects
		says     string
	}{
		{"verified", with(t, address, "", "ssl-ca", ownCA), false, "", ""},
		{"verified by name", with(t, address, "localhost", "ssl-ca", ownCA, "ssl-mode", "VERIFY_IDENTITY"), false, "", ""},
		{"the certificate alone", with(t, address, "127.0.0.2", "ssl-ca", ownCA, "ssl-mode", "VERIFY_CA"), false, "", ""},
		{"another host", with(t, address, "127.0.0.2", "ssl-ca", ownCA), false, sqlguard.CodeConnectionLost, "another host name"},
		{"an authority that nobody knows", with(t, address, "", "ssl-mode", "VERIFY_IDENTITY"), false, sqlguard.CodeConnectionLost, "authority"},
		{"an authority that nobody knows, the certificate alone", with(t, address, "", "ssl-mode", "VERIFY_CA"), false, sqlguard.CodeConnectionLost, "authority"},
		{"not verified", with(t, address, "", "ssl-mode", "REQUIRED"), true, "", ""},
		{"where there is some", with(t, address, "", "ssl-mode", "PREFERRED"), true, "", ""},
		{"without", with(t, address, "", "ssl-mode", "DISABLED"), false, sqlguard.CodeDatabaseError, "Access denied"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := open(t, test.url, mysqldb.Config{InsecureTLS: test.insecure})
			if test.code != "" {
				e := c.Fails(t, "SELECT 1", execution.Limits{})
				if e.Code != test.code || !strings.Contains(e.Message, test.says) || e.Retryable {
					t.Errorf("error %v, retryable %t; want %s with %q", e, e.Retryable, test.code, test.says)
				}
				return
			}
			if got := c.Get(t, "SHOW SESSION STATUS LIKE 'Ssl_version'", execution.Limits{}).Rows[0][1].Text; !strings.HasPrefix(got, "TLSv1.") {
				t.Errorf("the server sees %q, want TLS", got)
			}
			report, err := c.Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !report.TLS || !strings.HasPrefix(report.TLSVersion, "TLS 1.") {
				t.Errorf("the report says TLS %t, %q", report.TLS, report.TLSVersion)
			}
		})
	}
}

func mustPath(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Path
}

// A server that offers no TLS gets no password when TLS is required. The same
// holds when an attacker on the network makes the server look like one without
// TLS.
func TestNoTLS(t *testing.T) {
	for name, capabilities := range map[string]uint32{"none": fakeCapabilities &^ (1 << 11), "some, without speaking it": fakeCapabilities | 1<<11} {
		t.Run(name, func(t *testing.T) {
			f := startFake(t, &fakeServer{capabilities: capabilities, login: func(c *fakeConn) error {
				_, err := c.Write([]byte("this is no TLS record at all"))
				return err
			}})
			c := open(t, f.url()+"?ssl-mode=VERIFY_IDENTITY", mysqldb.Config{})
			e := c.Fails(t, "SELECT 1", execution.Limits{})
			if e.Code != sqlguard.CodeConnectionLost || e.Retryable || e.Hint == "" {
				t.Errorf("error %v, retryable %t, hint %q", e, e.Retryable, e.Hint)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if len(f.first) > 32 {
				t.Errorf("the client sent %d bytes in plain text, want only its request for TLS", len(f.first))
			}
		})
	}
}
