package pgdb_test

import (
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// farewell answers every connection with one error and closes it.
func farewell(t *testing.T, fields ...string) (address string) {
	t.Helper()
	body := strings.Join(fields, "\x00") + "\x00\x00"
	message := append([]byte("E"), binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))...)
	message = append(message, body...)
	return answering(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1000))
		_, _ = conn.Write(message)
	})
}

// answering is a server that answers one connection after the other, and closes it.
func answering(t *testing.T, answer func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a listener in a test
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			answer(conn)
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		work.Wait()
	})
	return l.Addr().String()
}

// TestPoolerRefuses shows that an error is retryable when the pooler had no
// free connection, and that other errors of a pooler keep their meaning.
func TestPoolerRefuses(t *testing.T) {
	for _, c := range []struct {
		fields    []string
		code      sqlguard.Code
		retryable bool
	}{
		{[]string{"SFATAL", "C08P01", "Mno more connections allowed (max_client_conn)"}, sqlguard.CodeBusy, true},
		{[]string{"SFATAL", "C08P01", "Mquery_wait_timeout"}, sqlguard.CodeBusy, true},
		{[]string{"SFATAL", "C08P01", "Mserver login has been failing, try again later (server_login_retry)"}, sqlguard.CodeConnectionLost, true},
		{[]string{"SFATAL", "C08P01", "Mbouncer config error"}, sqlguard.CodeConnectionLost, true}, // PgBouncer before 1.25, during a cancel
		{[]string{"SERROR", "C08P01", "Mquery_wait_timeout"}, sqlguard.CodeDatabaseError, false},
		{[]string{"SFATAL", "C28P01", "Mpassword authentication failed"}, sqlguard.CodeDatabaseError, false},
	} {
		b := open(t, "postgres://u:p@"+farewell(t, c.fields...)+"/d?sslmode=disable", pgdb.Config{})
		e := b.Fails(t, "SELECT 1", execution.Limits{})
		if e.Code != c.code || e.Retryable != c.retryable || (e.Code == sqlguard.CodeBusy) != (e.RetryAfter > 0) {
			t.Errorf("%q: %+v", c.fields, e)
		}
	}
}
