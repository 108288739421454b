package tdsserver_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
)

// TestEncryption checks the table of [MS-TDS] 2.2.6.5 with the driver's client.
func TestEncryption(t *testing.T) {
	for _, c := range []struct {
		encrypt string
		server  tdsserver.Encryption
		agreed  tdsserver.Encryption
		fails   string // a part of the client's error
		tls     bool
	}{
		{"disable", tdsserver.EncryptOff, tdsserver.EncryptNotSupported, "", false},
		{"disable", tdsserver.EncryptNotSupported, tdsserver.EncryptNotSupported, "", false},
		{"disable", tdsserver.EncryptOn, 0, "EOF", false},
		{"disable", tdsserver.EncryptRequired, 0, "EOF", false},
		{"false", tdsserver.EncryptOff, tdsserver.EncryptOff, "", true},
		{"false", tdsserver.EncryptNotSupported, tdsserver.EncryptNotSupported, "", false},
		{"false", tdsserver.EncryptOn, tdsserver.EncryptRequired, "", true},
		{"false", tdsserver.EncryptRequired, tdsserver.EncryptRequired, "", true},
		{"true", tdsserver.EncryptOff, tdsserver.EncryptOn, "", true},
		{"true", tdsserver.EncryptNotSupported, 0, "server does not support encryption", false},
		{"true", tdsserver.EncryptOn, tdsserver.EncryptOn, "", true},
		{"true", tdsserver.EncryptRequired, tdsserver.EncryptOn, "", true},
		{"true", tdsserver.EncryptStrict, 0, "EOF", false},
		{"strict", tdsserver.EncryptStrict, tdsserver.EncryptStrict, "", true},
		{"strict", tdsserver.EncryptRequired, tdsserver.EncryptStrict, "", true},
	} {
		t.Run(c.encrypt+" "+strconv.Itoa(int(c.server)), func(t *testing.T) {
			s := tdsserver.Start(t, tdsserver.Config{Encryption: &c.server})
			db := open(t, s.URL("encrypt", c.encrypt, "certificate", s.CertificateFile(), "disableretry", "true"))
			_, err := db.ExecContext(t.Context(), "SELECT 1")
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) && !strings.Contains(err.Error(), "reset") {
					t.Errorf("error %v, want one with %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			login := s.Logins()[0]
			if login.Encryption != c.agreed || login.TLS != c.tls {
				t.Errorf("encryption %d, TLS %t; want %d, %t", login.Encryption, login.TLS, c.agreed, c.tls)
			}
		})
	}
}

// TestAgree checks that a server that requires encryption accepts no client of
// TDS 7 without it, and that a server without TLS never agrees on TLS.
func TestAgree(t *testing.T) {
	for client := range tdsserver.EncryptStrict {
		for server := range tdsserver.EncryptStrict + 1 {
			answer, goOn := tdsserver.Agree(client, server)
			clear := answer == tdsserver.EncryptNotSupported
			switch {
			case server == tdsserver.EncryptStrict && goOn,
				(server == tdsserver.EncryptOn || server == tdsserver.EncryptRequired) && goOn && (clear || answer == tdsserver.EncryptOff),
				server == tdsserver.EncryptNotSupported && !clear,
				client == tdsserver.EncryptNotSupported && goOn && !clear:
				t.Errorf("client %d and server %d agree on %d, go on %t", client, server, answer, goOn)
			}
		}
	}
}

func TestCertificate(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	for name, url := range map[string]string{
		"unknown authority": s.URL("encrypt", "true"),
		"another host":      s.URL("encrypt", "true", "certificate", s.CertificateFile(), "hostNameInCertificate", "elsewhere"),
	} {
		if _, err := open(t, url).ExecContext(t.Context(), "SELECT 1"); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: error %v, want one about the certificate", name, err)
		}
	}
	if n := len(s.Logins()); n != 0 {
		t.Errorf("%d logins from clients that do not trust the server", n)
	}
}

// TestLogin checks that names and passwords with non-ASCII characters arrive
// unchanged. The driver counts characters instead of UTF-16 units, so it cannot
// send characters above U+FFFF.
func TestLogin(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{
		Accounts:  []tdsserver.Account{{Name: "Jürgen 世界", Password: "p ä?@:/€"}},
		Databases: []string{"shop", "größe"},
	})
	url := func(more ...string) string {
		return s.URL(append([]string{"encrypt", "true", "certificate", s.CertificateFile()}, more...)...)
	}
	db := open(t, url("ApplicationIntent", "ReadOnly", "database", "größe", "app name", "a ä", "workstation id", "host"))
	var name, database string
	if err := db.QueryRowContext(t.Context(), "SELECT SUSER_SNAME(), DB_NAME()").Scan(&name, &database); err != nil {
		t.Fatal(err)
	}
	if name != "Jürgen 世界" || database != "größe" {
		t.Errorf("%q in %q", name, database)
	}
	l := s.Logins()[0]
	if !l.ReadOnlyIntent || !l.ODBC || l.AppName != "a ä" || l.HostName != "host" || l.Database != "größe" || l.TDSVersion != 0x74000004 ||
		l.Library != "go-mssqldb" || l.ServerName != "127.0.0.1" {
		t.Errorf("the login is %+v", l)
	}
	for _, c := range []struct {
		url    string
		number int32
	}{
		{s.URLFor(tdsserver.Account{Name: "Jürgen 世界", Password: "wrong"}, "encrypt", "true", "certificate", s.CertificateFile()), 18456},
		{s.URLFor(tdsserver.Account{Name: "nobody", Password: "p"}, "encrypt", "true", "certificate", s.CertificateFile()), 18456},
		{url("database", "nowhere"), 18456},
	} {
		_, err := open(t, c.url).ExecContext(t.Context(), "SELECT 1")
		if e, ok := errors.AsType[mssql.Error](err); !ok || e.Number != c.number {
			t.Errorf("error %v, want %d", err, c.number)
		}
	}
}

func TestOnLogin(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{OnLogin: func(l tdsserver.Login) *tdsserver.ServerError {
		if l.ReadOnlyIntent {
			return nil
		}
		return &tdsserver.ServerError{Number: 18470, State: 1, Class: 14, Message: "only readers", Line: 1}
	}})
	_, err := open(t, trusted(s)).ExecContext(t.Context(), "SELECT 1")
	if e, ok := errors.AsType[mssql.Error](err); !ok || e.Number != 18470 {
		t.Errorf("error %v, want 18470", err)
	}
	db := open(t, s.URL("encrypt", "true", "certificate", s.CertificateFile(), "ApplicationIntent", "ReadOnly"))
	if _, err := db.ExecContext(t.Context(), "SELECT 1"); err != nil {
		t.Error(err)
	}
}

// TestRouting checks that a login with read-only intent is redirected.
func TestRouting(t *testing.T) {
	secondary := tdsserver.Start(t, tdsserver.Config{})
	primary := tdsserver.Start(t, tdsserver.Config{Route: secondary})
	url := primary.URL("encrypt", "true", "trustservercertificate", "true", "ApplicationIntent", "ReadOnly")
	if _, err := open(t, url).ExecContext(t.Context(), "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	if a, b := len(primary.Batches()), len(secondary.Batches()); a != 0 || b != 1 {
		t.Errorf("%d batches at the primary, %d at the secondary", a, b)
	}
}

func TestPacketSize(t *testing.T) {
	encrypted := tdsserver.Start(t, tdsserver.Config{})
	off := tdsserver.EncryptOff
	clear := tdsserver.Start(t, tdsserver.Config{Encryption: &off})
	for _, size := range []string{"512", "4096", "16383", "32767"} {
		for _, s := range []*tdsserver.Server{encrypted, clear} {
			encrypt := "true"
			switch {
			case s == clear:
				encrypt = "disable"
			case size == "512": // during the handshake the driver accepts no longer packet
				continue
			}
			db := open(t, s.URL("encrypt", encrypt, "certificate", s.CertificateFile(), "packet size", size))
			// A batch and an answer of many packets.
			text := "SELECT N'" + strings.Repeat("ä😀", 30_000) + "' AS x"
			var x string
			s.Forget()
			if err := db.QueryRowContext(t.Context(), "SELECT CAST("+text[7:len(text)-5]+" AS nvarchar(max)) AS x").Scan(&x); err != nil {
				t.Fatalf("packets of %s: %v", size, err)
			}
			if x != strings.Repeat("ä😀", 30_000) {
				t.Errorf("packets of %s: %d bytes came back", size, len(x))
			}
			if got := s.Of(tdsserver.KindBatch)[0].Packets; got < 180_000/32767 {
				t.Errorf("packets of %s: the text came in %d", size, got)
			}
		}
	}
}
