package pgdb_test

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestOpenRefuses(t *testing.T) {
	guard := executiontest.Guard(t, "postgres", 0).ID()
	const remote = "postgres://u:s3cret@db.example.com/d"
	for _, c := range []struct {
		name string
		cfg  pgdb.Config
		want string // part of the error
	}{
		{"nothing", pgdb.Config{}, "must look like"},
		{"keywords and values", pgdb.Config{URL: execution.NewSecret("host=db.example.com password=s3cret")}, "must look like"},
		{"another engine", pgdb.Config{URL: execution.NewSecret("mysql://u:s3cret@db.example.com/d")}, "must look like"},
		{"query mode", pgdb.Config{URL: execution.NewSecret(remote + "?default_query_exec_mode=simple_protocol")}, "default_query_exec_mode"},
		{"cache mode", pgdb.Config{URL: execution.NewSecret(remote + "?statement_cache_mode=describe")}, "statement_cache_mode"},
		{"options", pgdb.Config{URL: execution.NewSecret(remote + "?options=-c%20default_transaction_read_only%3Doff")}, "options"},
		{"a name in percent signs", pgdb.Config{URL: execution.NewSecret(remote + "?%6fptions=-c%20x%3Dy")}, "options"},
		{"setting", pgdb.Config{URL: execution.NewSecret(remote + "?standard_conforming_strings=off")}, "standard_conforming_strings"},
		{"search path", pgdb.Config{URL: execution.NewSecret(remote + "?search_path=hr")}, "search_path"},
		{"service file", pgdb.Config{URL: execution.NewSecret(remote + "?servicefile=/tmp/x&service=y")}, "service"},
		{"plain text", pgdb.Config{URL: execution.NewSecret(remote + "?sslmode=disable")}, "with tls: off in the entry"},
		{"encrypted only", pgdb.Config{URL: execution.NewSecret(remote + "?sslmode=require")}, "sslmode=require"},
		{"preferred", pgdb.Config{URL: execution.NewSecret(remote + "?sslmode=prefer")}, "sslmode=prefer"},
		{"any authority", pgdb.Config{URL: execution.NewSecret(remote + "?sslmode=verify-ca")}, "sslrootcert"},
		{"two modes", pgdb.Config{URL: execution.NewSecret(remote + "?sslmode=verify-full&sslmode=disable")}, "more than once"},
		{"no such mode", pgdb.Config{URL: execution.NewSecret(remote + "?sslmode=verify")}, "sslmode must be"},
		{"alias of sslmode", pgdb.Config{URL: execution.NewSecret(remote + "?ssl=true")}, "use sslmode"},
		{"one of two hosts is remote", pgdb.Config{URL: execution.NewSecret("postgres://u:s3cret@localhost,db.example.com/d?sslmode=disable")}, "sslmode=disable"},
		{"host as parameter", pgdb.Config{URL: execution.NewSecret("postgres://u:s3cret@localhost/d?host=db.example.com&sslmode=disable")}, "sslmode=disable"},
		{"no certificate file", pgdb.Config{URL: execution.NewSecret(remote + "?sslrootcert=/does/not/exist")}, "unable to read CA file"},
		{"question mark in the password", pgdb.Config{URL: execution.NewSecret("postgres://u:s3cret?x=y@db.example.com/d")}, "ambiguous"},
		{"password in the port", pgdb.Config{URL: execution.NewSecret("postgres://a@u:s3cret@db.example.com/d")}, "cannot be read"},
		{"escape that is none", pgdb.Config{URL: execution.NewSecret("postgres://u:s3cret%zz@db.example.com/d")}, "cannot be read"},
		{"pairs that are none", pgdb.Config{URL: execution.NewSecret(remote + "?sslmode")}, "cannot be read"},
		{"negative pool", pgdb.Config{URL: execution.NewSecret(remote), MaxConnections: -1}, "-1 connections"},
		{"isolation", pgdb.Config{URL: execution.NewSecret(remote), Isolation: "read uncommitted"}, "isolation"},
		{"pooler", pgdb.Config{URL: execution.NewSecret(remote), Pooler: "maybe"}, "pooler"},
		{"schema of the server", pgdb.Config{URL: execution.NewSecret(remote), SearchPath: []string{"public", "pg_catalog"}}, "pg_catalog"},
		{"schema without a name", pgdb.Config{URL: execution.NewSecret(remote), SearchPath: []string{""}}, "without a name"},
		{"setting with a quote", pgdb.Config{URL: execution.NewSecret(remote), Session: []sqlguard.Setting{{Name: "a', 'b", Value: "c"}}}, "is not a name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := pgdb.Open(t.Context(), c.cfg, guard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
	if _, err := pgdb.Open(t.Context(), pgdb.Config{URL: execution.NewSecret(remote)}, sqlguard.ID{}); err == nil {
		t.Error("opened without a guard")
	}
}

func TestOpenAccepts(t *testing.T) {
	// The environment of libpq must not weaken the URL's settings.
	t.Setenv("PGSSLMODE", "disable")
	t.Setenv("PGOPTIONS", "-c default_transaction_read_only=off")
	t.Setenv("PGTZ", "Mars/Olympus")
	ca := writeCertificate(t)
	for _, c := range []struct {
		url      string
		insecure bool
		open     string // weakness of transport security
	}{
		{"postgres://u:p@db.example.com/d", false, ""},
		{"postgresql://u@db.example.com", false, ""},
		{"postgres://u:p@db.example.com:5432/d?", false, ""},
		{"postgres://u:p@db.example.com/d?sslmode=verify-full&connect_timeout=3&target_session_attrs=prefer-standby", false, ""},
		{"postgres://u:p@db.example.com/d?sslmode=verify-ca&sslrootcert=" + ca, false, ""},
		{"postgres://u:p@a.example.com:1,b.example.com:2/d", false, ""},
		{"postgres://u:p@[2001:db8::1]:5432/d", false, ""},
		{"postgres://u:p%3F%40@127.0.0.1/d?sslmode=disable", false, ""},
		{"postgres://u:p@localhost:5433/d?sslmode=require", false, ""},
		{"postgres://u:p@[::1]/d", false, ""},
		{"postgres:///d?host=/var/run/postgresql&user=u", false, ""},
		{"postgres://u:p@db.example.com/d?sslmode=disable", true, "without TLS"},
		{"postgres://u:p@db.example.com/d?sslmode=require", true, "not verified"},
		{"postgres://u:p@db.example.com/d", true, "not verified"}, // prefer
		{"postgres://u:p@db.example.com/d?sslmode=verify-full", true, ""},
	} {
		db, err := pgdb.Open(t.Context(), pgdb.Config{URL: execution.NewSecret(c.url), InsecureTLS: c.insecure}, executiontest.Guard(t, "postgres", 0).ID())
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if got := db.Reported(); !strings.Contains(got, c.open) || c.open == "" && got != "" {
			t.Errorf("%s: reported %q, want %q", c.url, got, c.open)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSecret(t *testing.T) {
	type inner struct{ secret execution.Secret }
	s := execution.NewSecret("s3cret")
	cfg := pgdb.Config{URL: s}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "secret", s, "config", cfg)
	for _, v := range []any{s, &s, cfg, &cfg, inner{s}, []execution.Secret{s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&b, verb, v)
		}
		if text, err := json.Marshal(v); err == nil {
			b.Write(text)
		}
	}
	if text := b.String(); strings.Contains(text, "s3cret") || strings.Contains(text, fmt.Sprintf("%x", "s3cret")) {
		t.Errorf("a secret is shown: %s", text)
	}
}

// writeCertificate returns the file of a certificate authority that has signed
// nothing.
func writeCertificate(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
