package tdsserver_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
)

// answer starts a server that answers one batch with h, and sends that batch.
func answer(t *testing.T, h tdsserver.Handler) (int, error) {
	t.Helper()
	s := tdsserver.Start(t, tdsserver.Config{})
	s.On("SELECT broken", h)
	return count(t.Context(), open(t, s.URL("encrypt", "true", "certificate", s.CertificateFile(), "disableretry", "true")), "SELECT broken")
}

// count runs a query and counts the rows of the first result.
func count(ctx context.Context, db *sql.DB, text string) (n int, err error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return 0, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err below reports the error of Close
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

// numbers sends a result of one column with n rows.
func numbers(r *tdsserver.Reply, n int) error {
	if err := r.Columns(tdsserver.Column{Name: "n", Type: tdsserver.IntFixed}); err != nil {
		return err
	}
	for i := range n {
		if err := r.Row(i); err != nil {
			return err
		}
	}
	return nil
}

func TestErrors(t *testing.T) {
	want := &tdsserver.ServerError{Number: 1205, State: 51, Class: 13, Message: "Deadlock ä😀", Procedure: "p", Line: 7}
	n, err := answer(t, func(r *tdsserver.Reply) error {
		if err := numbers(r, 3); err != nil {
			return err
		}
		if err := r.Info(&tdsserver.ServerError{Number: 1, Message: "a note"}); err != nil {
			return err
		}
		return r.Error(want)
	})
	e, ok := errors.AsType[mssql.Error](err)
	if !ok || n != 3 || e.Number != want.Number || e.State != want.State || e.Class != want.Class || e.Message != want.Message || e.ProcName != want.Procedure || e.LineNo != want.Line {
		t.Errorf("%d rows, error %+v", n, e)
	}
}

// TestBroken sends broken answers. A client must not take them for complete.
func TestBroken(t *testing.T) {
	for name, h := range map[string]tdsserver.Handler{
		"dropped": func(r *tdsserver.Reply) error {
			if err := numbers(r, 3); err != nil {
				return err
			}
			if err := r.Flush(); err != nil {
				return err
			}
			return r.Drop(false)
		},
		"reset": func(r *tdsserver.Reply) error { return r.Drop(true) },
		"half a packet": func(r *tdsserver.Reply) error {
			if err := r.Packet(4, 1, 500, []byte{0xD1}); err != nil {
				return err
			}
			return r.Drop(false)
		},
		"no end": func(r *tdsserver.Reply) error {
			if err := numbers(r, 3); err != nil {
				return err
			}
			if err := r.Packet(4, 1, 8, nil); err != nil {
				return err
			}
			return r.End()
		},
		"unknown token":       func(r *tdsserver.Reply) error { return r.Bytes([]byte{0x42}) },
		"length beyond all":   func(r *tdsserver.Reply) error { return r.Bytes([]byte{0xAA, 0xFF, 0xFF, 1}) },
		"row before columns":  func(r *tdsserver.Reply) error { return r.Bytes([]byte{0x81, 1, 0, 0}) },
		"error without words": func(r *tdsserver.Reply) error { return r.Done(0xFD, tdsserver.DoneError, 0, 0) },
		"server in trouble":   func(r *tdsserver.Reply) error { return r.Done(0xFD, tdsserver.DoneServer, 0, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			if n, err := answer(t, h); err == nil {
				t.Errorf("%d rows and no error", n)
			}
		})
	}
}

// TestDeaf checks a server that ignores attentions. The client waits until its
// own limit, and the test still ends.
func TestDeaf(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	s.On("SELECT deaf", func(r *tdsserver.Reply) error {
		<-r.Gone()
		return nil
	})
	conn, err := open(t, trusted(s)).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(ctx, "SELECT deaf")
		ended <- err
	}()
	for len(s.Batches()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if n := s.Running(); n != 1 {
		t.Errorf("%d requests run", n)
	}
	cancel()
	for len(s.Of(tdsserver.KindAttention)) == 0 {
		time.Sleep(time.Millisecond)
	}
	s.Disconnect()
	if err := <-ended; err == nil {
		t.Error("no error")
	}
	s.Stop()
	if s.Running() != 0 || s.Connections() != 0 {
		t.Errorf("%d requests, %d connections", s.Running(), s.Connections())
	}
	_ = conn.Close()
}

// TestResults sends several results, a delay, an order and a return status.
func TestResults(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	s.On("SELECT two", func(r *tdsserver.Reply) error {
		if err := numbers(r, 2); err != nil {
			return err
		}
		if err := r.Order(1); err != nil {
			return err
		}
		if err := r.DoneMore(); err != nil {
			return err
		}
		if err := r.Sleep(time.Millisecond); err != nil {
			return err
		}
		if err := numbers(r, 3); err != nil {
			return err
		}
		return r.ReturnStatus(-4)
	})
	rows, err := open(t, trusted(s)).QueryContext(t.Context(), "SELECT two")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below reports the error of Close
	var counts []int
	for {
		n := 0
		for rows.Next() {
			n++
		}
		counts = append(counts, n)
		if !rows.NextResultSet() {
			break
		}
	}
	if err := rows.Err(); err != nil || len(counts) != 2 || counts[0] != 2 || counts[1] != 3 {
		t.Errorf("rows %v, error %v", counts, err)
	}
}

// TestViolations checks that the server notices a client that breaks the
// protocol.
func TestViolations(t *testing.T) {
	for name, wire := range map[string][]byte{
		"no prelogin":      {1, 1, 0, 8, 0, 0, 1, 0},
		"tiny packet":      {18, 1, 0, 7, 0, 0, 1, 0},
		"half a prelogin":  {18, 1, 0, 9, 0, 0, 1, 0, 1},
		"no encryption":    {18, 1, 0, 9, 0, 0, 1, 0, 0xFF},
		"ignored, no end":  {18, 2, 0, 9, 0, 0, 1, 0, 0xFF},
		"option elsewhere": {18, 1, 0, 14, 0, 0, 1, 0, 1, 0, 200, 0, 1, 0xFF},
	} {
		s := tdsserver.Start(t, tdsserver.Config{Violations: true})
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Address())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(wire); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(2 * time.Minute); len(s.Of(tdsserver.KindViolation)) == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: the server did not notice it", name)
			}
		}
		if m := s.Of(tdsserver.KindViolation)[0]; !strings.Contains(m.Text, "not what [MS-TDS] allows") {
			t.Errorf("%s: %s", name, m.Text)
		}
		_ = conn.Close()
	}
}
