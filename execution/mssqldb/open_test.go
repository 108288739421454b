package mssqldb_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestOpenRefuses(t *testing.T) {
	guard := executiontest.Guard(t, "sqlserver", 0).ID()
	const remote = "sqlserver://u:s3cret@db.example.com?database=d"
	notACertificate := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(notACertificate, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, url, want string }{
		{"nothing", "", "must look like"},
		{"pairs", "server=db.example.com;password=s3cret", "must look like"},
		{"ODBC", "odbc:server=db.example.com;password=s3cret", "must look like"},
		{"another engine", "postgres://u:s3cret@db.example.com/d", "must look like"},
		{"the driver's old name", "mssql://u:s3cret@db.example.com?database=d", "must look like"},
		{"no host", "sqlserver://u:s3cret@?database=d", "cannot be read"},
		{"no host but a port", "sqlserver://u:s3cret@:1433?database=d", "no host"},
		{"no user", "sqlserver://db.example.com?database=d", "names no user"},
		{"a user of Windows", `sqlserver://corp%5Cu:s3cret@db.example.com?database=d`, "not those of Windows"},
		{"an instance", "sqlserver://u:s3cret@db.example.com/SQLEXPRESS?database=d", "named instances"},
		{"no database", "sqlserver://u:s3cret@db.example.com", "names no database"},
		{"an empty database", "sqlserver://u:s3cret@db.example.com?database=", "names no database"},
		{"master", "sqlserver://u:s3cret@db.example.com?database=Master", "of the system's"},
		{"msdb", "sqlserver://u:s3cret@db.example.com?database=msdb", "of the system's"},
		{"tempdb", "sqlserver://u:s3cret@db.example.com?database=tempdb%20", "of the system's"},
		{"model", "sqlserver://u:s3cret@db.example.com?Database=model", "of the system's"},
		{"intent", remote + "&ApplicationIntent=ReadWrite", "always ReadOnly"},
		{"intent without a word", remote + "&applicationintent=", "always ReadOnly"},
		{"the log of the driver", remote + "&log=255", "would log"},
		{"a second server", remote + "&failoverpartner=other", "failoverpartner"},
		{"pipes", remote + "&protocol=np", "protocol"},
		{"a pipe", remote + "&pipe=sql%5Cquery", "pipe"},
		{"another server", remote + "&server=other", "server"},
		{"a new password", remote + "&change%20password=s3cret2", "change password"},
		{"Kerberos", remote + "&krb5-configfile=/etc/krb5.conf", "krb5-configfile"},
		{"Entra", remote + "&fedauth=ActiveDirectoryDefault", "fedauth"},
		{"encrypted columns", remote + "&columnencryption=true", "columnencryption"},
		{"the order of bytes", remote + "&guid%20conversion=true", "guid conversion"},
		{"a time zone", remote + "&timezone=Mars", "timezone"},
		{"any other", remote + "&mood=good", `"mood" is not accepted`},
		{"a parameter twice", remote + "&encrypt=true&Encrypt=false", "more than once"},
		{"a value twice", remote + "&encrypt=true&encrypt=true", "more than once"},
		{"plain text", remote + "&encrypt=false", "with tls: off in the entry"},
		{"plain text, ODBC's word", remote + "&Encrypt=Optional", "in the clear"},
		{"plain text at all costs", remote + "&encrypt=disable", "in the clear"},
		{"TDS 8.0 without verification", remote + "&encrypt=strict&trustservercertificate=true", "always verifies"},
		{"no such mode", remote + "&encrypt=maybe", "encrypt must be"},
		{"trust", remote + "&TrustServerCertificate=true", "with tls: off in the entry"},
		{"trust in other words", remote + "&trustservercertificate=1", "does not verify"},
		{"no such trust", remote + "&trustservercertificate=perhaps", "must be true or false"},
		{"no certificate file", remote + "&certificate=/does/not/exist.pem", "cannot be read"},
		{"no certificate in the file", remote + "&certificate=" + notACertificate, "neither PEM nor DER"},
		{"packets too large", remote + "&packet%20size=65535", "packet size"},
		{"packets too small", remote + "&packet%20size=10", "packet size"},
		{"no time to connect", remote + "&dial%20timeout=0", "dial timeout"},
		{"a port beyond", "sqlserver://u:s3cret@db.example.com:70000?database=d", "port"},
		{"a long user", "sqlserver://" + strings.Repeat("u", 200) + ":s3cret@db.example.com?database=d", "longer than 128"},
		{"question mark in the password", "sqlserver://u:s3cret?x=y@db.example.com?database=d", "cannot be read"},
		{"at sign behind the question mark", "sqlserver://db.example.com?database=d&app%20name=u:s3cret@host", "ambiguous"},
		{"escape that is none", "sqlserver://u:s3cret%zz@db.example.com?database=d", "cannot be read"},
		{"parameters that are none", remote + "&%zz", "cannot be read"},
		{"a fragment", remote + "#s3cret", "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := mssqldb.Open(t.Context(), mssqldb.Config{URL: execution.NewSecret(c.url)}, guard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
	url := execution.NewSecret(remote)
	if _, err := mssqldb.Open(t.Context(), mssqldb.Config{URL: url}, sqlguard.ID{}); err == nil {
		t.Error("opened without a guard")
	}
	if _, err := mssqldb.Open(t.Context(), mssqldb.Config{URL: url, MaxConnections: -1}, guard); err == nil {
		t.Error("opened with -1 connections")
	}
	for _, db := range []string{"master", "MSDB"} {
		_, err := mssqldb.Open(t.Context(), mssqldb.Config{URL: execution.NewSecret("sqlserver://u:p@localhost?database=" + db)}, guard)
		if execution.CodeOf(err) != sqlguard.CodeNotConfigured {
			t.Errorf("%s: %v, want %s", db, err, sqlguard.CodeNotConfigured)
		}
	}
}

func TestOpenAccepts(t *testing.T) {
	t.Setenv("MSSQL_USE_EPA", "maybe") // the driver's own setting has no effect
	guard := executiontest.Guard(t, "sqlserver", 0).ID()
	for _, c := range []struct {
		url      string
		insecure bool
		weak     string // what transport security leaves unprotected
	}{
		{"sqlserver://u:p@db.example.com?database=d", false, ""},
		{"sqlserver://u:p@db.example.com:1434/?DATABASE=d&Encrypt=Mandatory&ApplicationIntent=readonly", false, ""},
		{"sqlserver://u@[2001:db8::1]:1433?database=d&app%20name=ktx&packet%20size=8192&dial%20timeout=5", false, ""},
		{"sqlserver://u:p@db.example.com?database=d&hostNameInCertificate=sql.example.com&trustServerCertificate=false", false, ""},
		{"sqlserver://u:p@localhost?database=d", false, ""},
		{"sqlserver://u:p@db.example.com?database=d&encrypt=Strict", false, ""},
		{"sqlserver://u:p@127.0.0.1?database=d&encrypt=disable", false, ""},
		{"sqlserver://u:p@[::1]?database=d&trustservercertificate=yes", false, "error"},
		{"sqlserver://u:p@[::1]?database=d&trustservercertificate=TRUE", false, ""},
		{"sqlserver://u:p@db.example.com?database=d", true, "not verified"},
		{"sqlserver://u:p@db.example.com?database=d&encrypt=true", true, ""},
		{"sqlserver://u:p@db.example.com?database=d&encrypt=true&trustservercertificate=true", true, "not verified"},
		{"sqlserver://u:p@db.example.com?database=d&encrypt=false", true, "without TLS"},
	} {
		cfg := mssqldb.Config{URL: execution.NewSecret(c.url), InsecureTLS: c.insecure}
		db, err := mssqldb.Open(t.Context(), cfg, guard)
		if c.weak == "error" {
			if err == nil {
				t.Errorf("%s was accepted", c.url)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if got := db.Weakness(); (got == "") != (c.weak == "") || !strings.Contains(got, c.weak) {
			t.Errorf("%s leaves %q unprotected, want %q", c.url, got, c.weak)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLogin checks what the client sends to log in: read-only intent, the name
// of the program, the database, and nothing that the server would show to
// others.
func TestLogin(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	c := open(t, trusted(s), mssqldb.Config{})
	c.One(t, "SELECT 1 AS n")
	l := s.Logins()[0]
	if !l.ReadOnlyIntent || !l.TLS || l.AppName != "ktx" || l.Database != tdsserver.DefaultDatabase || l.User != tdsserver.Reader.Name || len(l.Features) != 0 {
		t.Errorf("the login says %+v", l)
	}
	c = open(t, s.URL("encrypt", "true", "certificate", s.CertificateFile(), "app name", "other", "packet size", "1024"), mssqldb.Config{})
	if got := c.One(t, "SELECT REPLICATE(CAST('x' AS varchar(max)), 9000) AS v"); len(got) != 9000 {
		t.Errorf("%d bytes in small packets", len(got))
	}
	if l := s.Logins()[1]; l.AppName != "other" || l.PacketSize != 1024 {
		t.Errorf("the login says %+v", l)
	}
}

func TestTransport(t *testing.T) {
	none, on, strict := tdsserver.EncryptNotSupported, tdsserver.EncryptOn, tdsserver.EncryptStrict
	off := tdsserver.EncryptOff
	certificate := func(s *tdsserver.Server) []string {
		return []string{"encrypt", "true", "certificate", s.CertificateFile()}
	}
	for _, c := range []struct {
		name       string
		encryption *tdsserver.Encryption
		parameters func(s *tdsserver.Server) []string
		tls        bool
		want       string // part of the error; "" means no error
	}{
		{"verified", nil, certificate, true, ""},
		{"verified by DER", nil, func(s *tdsserver.Server) []string {
			return []string{"encrypt", "true", "certificate", der(t, s)}
		}, true, ""},
		{"offered", &on, certificate, true, ""},
		{"offered, and off", &off, certificate, true, ""},
		{"an unknown authority", nil, func(*tdsserver.Server) []string { return []string{"encrypt", "true"} }, true, "authority"},
		{"another host", nil, func(s *tdsserver.Server) []string {
			return append(certificate(s), "hostNameInCertificate", "sql.example.com")
		}, true, "another host name"},
		{"none where it is wanted", &none, certificate, false, "cannot connect"},
		{"none, on this machine", &none, func(*tdsserver.Server) []string { return nil }, false, "cannot connect"},
		{"none, switched off", &none, func(*tdsserver.Server) []string { return []string{"encrypt", "false"} }, false, ""},
		{"unverified on this machine", nil, func(*tdsserver.Server) []string { return nil }, true, ""},
		{"switched off", &off, func(*tdsserver.Server) []string { return []string{"encrypt", "false"} }, false, ""},
		{"switched off where it is wanted", nil, func(*tdsserver.Server) []string { return []string{"encrypt", "disable"} }, false, "wants TLS"},
		{"TDS 8.0 only", &strict, certificate, false, "cannot connect"},
		{"TDS 8.0", &strict, func(s *tdsserver.Server) []string {
			return []string{"encrypt", "strict", "certificate", s.CertificateFile()}
		}, true, ""},
		{"TDS 8.0 of an unknown authority", &strict, func(*tdsserver.Server) []string { return []string{"encrypt", "strict"} }, true, "authority"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tdsserver.Start(t, tdsserver.Config{Encryption: c.encryption, Violations: true})
			db := open(t, s.URL(c.parameters(s)...), mssqldb.Config{})
			if c.want != "" {
				e := db.Fails(t, "SELECT 1 AS n", execution.Limits{Timeout: executiontest.Patience})
				if !strings.Contains(e.Message, c.want) || strings.Contains(e.Message, s.Address()) {
					t.Errorf("error %v, want one with %q", e, c.want)
				}
				for _, l := range s.Logins() {
					t.Errorf("the client tried to log in: %s", l.User)
				}
				return
			}
			if got := db.One(t, "SELECT 1 AS n"); got != "1" {
				t.Errorf("got %s", got)
			}
			if l := s.Logins()[0]; l.TLS != c.tls {
				t.Errorf("the login was in TLS: %t, want %t", l.TLS, c.tls)
			}
		})
	}
}

// der writes the server's certificate to a file as DER, and returns the file's
// name.
func der(t *testing.T, s *tdsserver.Server) string {
	t.Helper()
	block := decodePEM(t, s.Certificate())
	name := filepath.Join(t.TempDir(), "ca.der")
	if err := os.WriteFile(name, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A server may redirect connections with read-only intent to another server.
// The client verifies the certificate of that server for that server's name.
func TestRouting(t *testing.T) {
	secondary := tdsserver.Start(t, tdsserver.Config{})
	primary := tdsserver.Start(t, tdsserver.Config{Route: secondary})
	c := open(t, primary.URL(), mssqldb.Config{})
	if got := c.One(t, "SELECT 1 AS n"); got != "1" {
		t.Error(got)
	}
	if len(primary.Logins()) != 1 || len(secondary.Logins()) != 1 || len(primary.Batches()) != 0 {
		t.Errorf("%d and %d logins, %d batches", len(primary.Logins()), len(secondary.Logins()), len(primary.Batches()))
	}
	// The client trusts the primary's certificate but not the secondary's.
	c = open(t, trusted(primary), mssqldb.Config{})
	if e := c.Fails(t, "SELECT 1 AS n", execution.Limits{}); !strings.Contains(e.Message, "authority") {
		t.Errorf("error %v", e)
	}
}

// TestNoServer connects to an address without a server, and to a server that
// does not answer.
func TestNoServer(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	url := trusted(s)
	s.Stop()
	c := open(t, url, mssqldb.Config{})
	e := c.Fails(t, "SELECT 1 AS n", execution.Limits{})
	if e.Code != sqlguard.CodeConnectionLost || !strings.Contains(e.Message, "refuses connections") {
		t.Errorf("error %v", e)
	}
	if _, err := c.Probe(t.Context()); execution.CodeOf(err) != sqlguard.CodeConnectionLost {
		t.Errorf("probe: %v", err)
	}
	if _, err := c.Catalog(t.Context()); execution.CodeOf(err) != sqlguard.CodeConnectionLost {
		t.Errorf("catalogue: %v", err)
	}
}

// Printing a Config does not show its URL.
func TestConfigDoesNotShow(t *testing.T) {
	cfg := mssqldb.Config{URL: execution.NewSecret("sqlserver://u:s3cret@db.example.com?database=d")}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%v %+v %#v", cfg, cfg, cfg)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "config", cfg)
	raw, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.Write(raw)
	if strings.Contains(b.String(), "s3cret") {
		t.Error(b.String())
	}
}

// Characters above U+FFFF have two units of UTF-16 in the fields of a login.
func TestLoginBeyondUFFFF(t *testing.T) {
	account := tdsserver.Account{Name: "лис🦊", Password: "k🔑y🗝ß", Roles: []string{"db_datareader"}}
	s := tdsserver.Start(t, tdsserver.Config{Accounts: []tdsserver.Account{account}, Databases: []string{"sh🛒p"}})
	db := open(t, s.URL("encrypt", "true", "certificate", s.CertificateFile(), "app name", "a🅰"), mssqldb.Config{})
	if got := db.One(t, "SELECT 1 AS n"); got != "1" {
		t.Errorf("got %q", got)
	}
	l := s.Of(tdsserver.KindLogin)[0].Login
	if l.User != account.Name || l.Password != account.Password || l.Database != "sh🛒p" || l.AppName != "a🅰" {
		t.Errorf("the login was %+v", l)
	}
}
