package tds_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
)

// dial connects to s as its reader.
func dial(tb testing.TB, s *tdsserver.Server) *tds.Conn {
	tb.Helper()
	return dialWith(tb, s, 0)
}

func dialWith(tb testing.TB, s *tdsserver.Server, packetSize int) *tds.Conn {
	tb.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.Certificate())
	c, err := tds.Dial(tb.Context(), tds.Options{
		Host: s.Host(), Port: s.Port(), User: tdsserver.Reader.Name, Password: tdsserver.Reader.Password, Database: tdsserver.DefaultDatabase,
		Application: "test", PacketSize: packetSize,
		TLS: func(host string) tds.Transport {
			return tds.Transport{Config: &tls.Config{RootCAs: roots, ServerName: host, MaxVersion: tls.VersionTLS12}, Verified: true}
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Sever)
	return c
}

// value is one cell that was read.
type value struct {
	text string
	kind tds.Kind
	null bool
}

// read sends text and returns the columns and rows of its answer.
func read(tb testing.TB, c *tds.Conn, text string) ([]tds.Column, [][]value) {
	tb.Helper()
	r, err := c.SendBatch(text, false)
	if err != nil {
		tb.Fatal(err)
	}
	r.Named = 100
	var rows [][]value
	var columns []tds.Column
	for {
		token, err := r.Next()
		if err != nil {
			tb.Fatalf("%s: %v", text, err)
		}
		switch token {
		case tds.TokenEnd:
			return columns, rows
		case tds.TokenColumns:
			columns = r.Columns
		case tds.TokenRow:
			var row []value
			for i := range r.Columns {
				cell, err := r.Cell(1 << 30)
				if err != nil {
					tb.Fatalf("%s: %v", text, err)
				}
				v := value{null: cell.Null}
				if !cell.Null {
					raw, kind, err := r.Columns[i].AppendText(nil, cell.Raw)
					if err != nil {
						tb.Fatalf("%s: %v", text, err)
					}
					v.text, v.kind = string(raw), kind
				}
				row = append(row, v)
			}
			rows = append(rows, row)
		case tds.TokenError:
			tb.Fatalf("%s: %s", text, r.Message.Text)
		case tds.TokenDone, tds.TokenInfo, tds.TokenChange, tds.TokenProcedure:
		default:
			tb.Fatalf("token %d", token)
		}
	}
}

// one returns a handler that answers with one column.
func one(name string, t tdsserver.Type, values ...any) tdsserver.Handler {
	return func(r *tdsserver.Reply) error {
		if err := r.Columns(tdsserver.Column{Name: name, Type: t}); err != nil {
			return err
		}
		for _, v := range values {
			if err := r.Row(v); err != nil {
				return err
			}
			if err := r.NBCRow(v); err != nil {
				return err
			}
		}
		return nil
	}
}
