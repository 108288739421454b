package clickhousedb_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/clickhousedb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/chserver"
	"github.com/ktxhq/ktx/execution/executiontest/selfsigned"
)

// hidden is a password that must not be in any error.
const hidden = "s3cret-w0rd"

func openURL(t *testing.T, url string) (*clickhousedb.DB, error) {
	t.Helper()
	g := executiontest.Guard(t, "clickhouse", 0)
	return clickhousedb.Open(context.Background(), clickhousedb.Config{URL: execution.NewSecret(url)}, g.ID())
}

// TestURLs checks which URLs are taken. Errors have no part of a URL.
func TestURLs(t *testing.T) {
	for _, url := range []string{
		"clickhouse://u:" + hidden + "@db.example.com/shop", "https://u:" + hidden + "@db.example.com:8443/shop", "clickhouse://localhost", "http://127.0.0.1:8123/shop",
		"clickhouse://u@[::1]:8123?database=shop&dial_timeout=5", "clickhouse://u@db.example.com/shop?secure=true",
	} {
		db, err := openURL(t, url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	for url, want := range map[string]string{
		"": "must look like", "mysql://u:" + hidden + "@h/d": "must look like", "clickhouse://u:" + hidden + "@": "cannot be read", "clickhouse://u:" + hidden + "@h:x/d": "cannot be read",
		"clickhouse://u:" + hidden + "@h:99999/d": "port", "clickhouse://u:" + hidden + "@h:9000/d": "native protocol", "clickhouse://u:" + hidden + "@h/d/e": "name of a database",
		"clickhouse://u:" + hidden + "@h/system": "system's", "clickhouse://u:" + hidden + "@h/d?database=e": "two databases", "http://u:" + hidden + "@h/d": "with tls: off in the entry",
		"clickhouse://u:" + hidden + "@h/d?secure=false": "in the clear", "https://u:" + hidden + "@h/d?secure=false": "contradict", "clickhouse://u:" + hidden + "@h/d?secure=maybe": "true or false",
		"clickhouse://u:" + hidden + "@h/d?skip_verify=true": "with tls: off in the entry", "clickhouse://u:" + hidden + "@h/d?readonly=0": "always 1", "clickhouse://u:" + hidden + "@h/d?nonsense=1": "not accepted",
		"clickhouse://u:" + hidden + "@h/d?ca=a&ca=b": "more than once", "clickhouse://u:" + hidden + "@h/d?ca=/nowhere/ca.pem": "cannot be read", "clickhouse://u:" + hidden + "@h/d?dial_timeout=0": "dial_timeout",
		"clickhouse://u?" + hidden + "@h/d": "ambiguous", "clickhouse://u%0a:" + hidden + "@h/d": "control character", "http://u:" + hidden + "@localhost/d?ca=x": "no TLS",
		"clickhouse://u:" + hidden + "@h/d#f": "cannot be read", "clickhouse://u:" + hidden + "@h/d?password=x": "into the URL",
	} {
		_, err := openURL(t, url)
		switch {
		case err == nil:
			t.Errorf("%s is taken", url)
		case !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v, want %q", url, err, want)
		case strings.Contains(err.Error(), hidden):
			t.Errorf("%s: the password is in the error: %v", url, err)
		}
	}
}

// TestTransport checks certificates, logins and what the errors of a connection say.
func TestTransport(t *testing.T) {
	server := chserver.Start(t, chserver.Config{TLS: true, User: "reader", Password: hidden})
	ask := func(url string) error {
		t.Helper()
		db, err := openURL(t, url)
		if err != nil {
			return err
		}
		defer db.Close() //nolint:errcheck // nothing runs
		_, err = db.Probe(t.Context())
		return err
	}
	if err := ask(server.URL("ca", server.CertificateFile())); err != nil {
		t.Errorf("with the certificate: %v", err)
	}
	_, pem, err := selfsigned.Certificate("nobody")
	if err != nil {
		t.Fatal(err)
	}
	nobody := filepath.Join(t.TempDir(), "nobody.pem")
	if err := os.WriteFile(nobody, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	plain := chserver.Start(t, chserver.Config{})
	for what, c := range map[string]struct{ url, want string }{
		"the certificate of nobody": {server.URL("ca", nobody), "certificate"},
		"plain text on a TLS port":  {strings.Replace(server.URL(), "https://", "http://", 1), ""},
		"TLS on a port of plain":    {strings.Replace(plain.URL(), "http://", "https://", 1), "TLS"},
		"another password":          {strings.Replace(server.URL("ca", server.CertificateFile()), hidden, hidden+"x", 1), "password is incorrect"},
		"another user":              {strings.Replace(server.URL("ca", server.CertificateFile()), "reader", "nobody", 1), "password is incorrect"},
	} {
		err := ask(c.url)
		switch {
		case err == nil:
			t.Errorf("%s: it connects", what)
		case !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", what, err, c.want)
		case strings.Contains(err.Error(), hidden):
			t.Errorf("%s: the password is in the error: %v", what, err)
		}
	}
}

// TestRights checks what the probe says of rights, and the script that it prints.
func TestRights(t *testing.T) {
	for _, c := range []struct {
		profile map[string]string
		grants  []string
		warned  string // the rights beyond reading
		noted   string // those that the profile keeps from being used
	}{
		{nil, []string{"GRANT SHOW, SELECT(id, name) ON default.items TO reader", "GRANT CREATE TEMPORARY TABLE ON *.* TO reader"}, "", ""},
		{nil, []string{"GRANT SELECT, INSERT(id, name), FILE ON *.* TO reader WITH GRANT OPTION", "GRANT analysts TO reader"}, "FILE, GRANT OPTION, INSERT", ""},
		{map[string]string{"readonly": "1"}, []string{"GRANT SELECT, INSERT, BACKUP, URL ON *.* TO reader"}, "BACKUP, URL", "INSERT"},
		{nil, []string{"GRANT A RIGHT OF LATER ON *.* TO reader", "REVOKE SELECT ON default.secrets FROM reader"}, "A RIGHT OF LATER", ""},
	} {
		db, err := openURL(t, chserver.Start(t, chserver.Config{Profile: c.profile, Grants: c.grants}).URL())
		if err != nil {
			t.Fatal(err)
		}
		report, err := db.Probe(t.Context())
		if err != nil {
			t.Fatalf("%v: %v", c.grants, err)
		}
		warned, noted := "", ""
		for _, f := range report.Findings {
			if f.Topic != execution.TopicRole {
				continue
			}
			_, rights, _ := strings.Cut(f.Message, ": ")
			if f.Level == execution.ProbeWarning {
				warned = rights
			} else {
				noted = rights
			}
		}
		if warned != c.warned || noted != c.noted {
			t.Errorf("%v: rights %q and %q, want %q and %q", c.grants, warned, noted, c.warned, c.noted)
		}
		for _, line := range []string{"  readonly = 1,", "  output_format_json_quote_denormals = 1,", "REVOKE ALL ON *.* FROM ktx_reader;", "GRANT SELECT ON `default`.* TO ktx_reader;", "HOST NONE;"} {
			if !strings.Contains(report.RoleScript, line) {
				t.Errorf("the script has no %q:\n%s", line, report.RoleScript)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
