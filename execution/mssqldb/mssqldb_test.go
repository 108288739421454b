package mssqldb_test

import (
	"encoding/pem"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
)

// trusted returns the URL of s for a client that verifies its certificate.
func trusted(s *tdsserver.Server) string {
	return s.URL("encrypt", "true", "certificate", s.CertificateFile())
}

// seeing is the configuration of a server whose login sees the sessions of others, and so
// finds out that a statement is over whose connection broke.
func seeing() tdsserver.Config {
	account := tdsserver.Reader
	account.ServerPermissions = []string{"VIEW SERVER STATE"}
	return tdsserver.Config{Accounts: []tdsserver.Account{account}}
}

// client is a backend and a way to send it statements without the guard.
type client struct {
	*mssqldb.DB
	*executiontest.Client
}

// open opens a backend with cfg. It sets cfg.URL to url.
func open(tb testing.TB, url string, cfg mssqldb.Config) *client {
	tb.Helper()
	cfg.URL = execution.NewSecret(url)
	g := executiontest.Guard(tb, "sqlserver", 0)
	db, err := mssqldb.Open(tb.Context(), cfg, g.ID())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &client{db, executiontest.NewClient(db, g)}
}

// decodePEM returns the content of a PEM block.
func decodePEM(tb testing.TB, raw []byte) []byte {
	tb.Helper()
	block, _ := pem.Decode(raw)
	if block == nil {
		tb.Fatal("no PEM")
	}
	return block.Bytes
}
