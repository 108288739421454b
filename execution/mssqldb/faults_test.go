package mssqldb_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// When idle connections have ended, the backend makes new ones and the caller
// sees no error.
func TestServerRestartsWhileIdle(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	c := open(t, trusted(s), mssqldb.Config{MaxConnections: 3})
	for range 5 {
		if got := c.One(t, "SELECT 1 AS n"); got != "1" {
			t.Fatal(got)
		}
		s.Disconnect()
	}
}

// A connection that ends in the middle of a statement is an error. The backend
// does not send the statement again.
func TestConnectionEndsInAStatement(t *testing.T) {
	const text = "SELECT gone"
	for _, reset := range []bool{false, true} {
		s := tdsserver.Start(t, seeing())
		s.On(text, func(r *tdsserver.Reply) error {
			if err := r.Columns(tdsserver.Column{Name: "v", Type: tdsserver.Int}); err != nil {
				return err
			}
			if err := r.Row(int64(1)); err != nil {
				return err
			}
			if err := r.Flush(); err != nil {
				return err
			}
			return r.Drop(reset)
		})
		c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
		c.One(t, "SELECT 1 AS n")
		e := c.Fails(t, text, execution.Limits{})
		if e.Code != sqlguard.CodeConnectionLost || !e.Retryable {
			t.Errorf("error %v, retryable %t", e, e.Retryable)
		}
		sent := 0
		for _, b := range s.Batches() {
			if b == text {
				sent++
			}
		}
		if sent != 1 {
			t.Errorf("the statement was sent %d times", sent)
		}
		if c.One(t, "SELECT 1 AS n") != "1" {
			t.Error("no answer")
		}
	}
}

// le16 and the functions below encode numbers as the protocol does.
func le16(n int) []byte    { return binary.LittleEndian.AppendUint16(nil, uint16(n)) }
func le32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
func le64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// TestHostileAnswers sends tokens that no server sends. Each must give an error
// of its own kind, end the connection, and cost little memory.
func TestHostileAnswers(t *testing.T) {
	const text = "SELECT hostile"
	intColumn := join([]byte{0x81}, le16(1), le32(0), le16(0), []byte{0x26, 4, 1, 'v', 0})
	column := func(info ...byte) []byte {
		return join([]byte{0x81}, le16(1), le32(0), le16(0), info, []byte{1, 'v', 0})
	}
	maxColumn := column(0xE7, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0)
	done := join([]byte{0xFD}, le16(0x10), le16(0xC1), le64(1))
	for _, c := range []struct {
		name  string
		bytes []byte
	}{
		{"an unknown token", []byte{0x00}},
		{"a token of a login", join([]byte{0xAD}, le16(2), []byte{1, 2})},
		{"SSPI", join([]byte{0xED}, le16(2), []byte{1, 2})},
		{"federated authentication", join([]byte{0xEE}, le32(0xFFFFFFFF), le32(0xFFFFFFFF))},
		{"a row before its columns", []byte{0xD1, 1}},
		{"a row of nulls before its columns", []byte{0xD2, 1}},
		{"65,534 columns", join([]byte{0x81}, le16(0xFFFE))},
		{"an unknown type", column(0x99)},
		{"a type of TDS 4", column(0x27, 10)},
		{"an encrypted column", join([]byte{0x81}, le16(1), le32(0), le16(0x0800), []byte{0x26, 4, 1, 'v', 0})},
		{"a scale beyond", column(0x6A, 17, 38, 200)},
		{"a time of scale 9", column(0x29, 9)},
		{"an integer of three bytes", join(intColumn, []byte{0xD1, 3, 1, 2, 3}, done)},
		{"a bit of two bytes", join(column(0x68, 1), []byte{0xD1, 2, 1, 1}, done)},
		{"a decimal of 200 bytes", join(column(0x6A, 17, 38, 2), []byte{0xD1, 200}, make([]byte, 200), done)},
		{"a time behind its day", join(column(0x29, 0), []byte{0xD1, 3, 0xFF, 0xFF, 0xFF}, done)},
		{"a date behind the calendar", join(column(0x28), []byte{0xD1, 3, 0xFF, 0xFF, 0xFF}, done)},
		{"a datetime before the calendar", join(column(0x6F, 8), []byte{0xD1, 8}, le32(0x80000000), le32(0), done)},
		{"an offset of a month", join(column(0x2B, 0), []byte{0xD1, 8, 0, 0, 0, 1, 0, 0, 0xFF, 0x7F}, done)},
		{"a uniqueidentifier of one byte", join(column(0x24, 16), []byte{0xD1, 1, 1}, done)},
		{"a value of 16 exabytes", join(maxColumn, []byte{0xD1}, le64(1<<60))},
		{"a value of 4 gigabytes", join(maxColumn, []byte{0xD1}, le64(1<<32))},
		{"chunks beyond the length", join(maxColumn, []byte{0xD1}, le64(4), le32(8), make([]byte, 8), le32(0), done)},
		{"chunks short of the length", join(maxColumn, []byte{0xD1}, le64(40), le32(8), make([]byte, 8), le32(0), done)},
		{"a chunk of 4 gigabytes", join(maxColumn, []byte{0xD1}, le64(1<<64-2), le32(0xFFFFFFFF))},
		{"a variant of 4 gigabytes", join(column(0x62, 0x49, 0x1F, 0, 0), []byte{0xD1}, le32(0xFFFFFFFF))},
		{"a variant of one byte", join(column(0x62, 0x49, 0x1F, 0, 0), []byte{0xD1}, le32(1), []byte{0x38}, done)},
		{"a variant of a variant", join(column(0x62, 0x49, 0x1F, 0, 0), []byte{0xD1}, le32(4), []byte{0x62, 0, 0, 0}, done)},
		{"a variant with long properties", join(column(0x62, 0x49, 0x1F, 0, 0), []byte{0xD1}, le32(4), []byte{0xE7, 200, 0, 0}, done)},
		{"a text of 4 gigabytes", join(column(0x23, 0xFF, 0xFF, 0xFF, 0x7F, 9, 4, 0xD0, 0, 52, 0), []byte{0xD1, 16}, make([]byte, 24), le32(0xFFFFFFFF))},
		{"an error without a message", join([]byte{0xAA}, le16(2), []byte{1, 2})},
		{"a change without content", join([]byte{0xE3}, le16(0))},
		{"a transaction without a descriptor", join([]byte{0xE3}, le16(2), []byte{8, 0})},
		{"bytes behind the end", join(intColumn, []byte{0xD1, 4}, le32(1), join([]byte{0xFD}, le16(0x10), le16(0xC1), le64(1)), []byte{0xD1})},
		{"an end within a row", join(intColumn, []byte{0xD1, 4, 1})},
		{"an end within the columns", intColumn[:5]},
		{"nothing but an end", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tdsserver.Start(t, tdsserver.Config{})
			s.On(text, func(r *tdsserver.Reply) error {
				if err := r.Packet(4, 1, 8+len(c.bytes), c.bytes); err != nil {
					return err
				}
				return r.End()
			})
			db := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
			db.One(t, "SELECT 1 AS n")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			ctx, cancel := context.WithTimeout(t.Context(), executiontest.Patience)
			defer cancel()
			res, err := db.Try(ctx, t, text, execution.Limits{})
			runtime.ReadMemStats(&after)
			e, ok := errors.AsType[*execution.Error](err)
			if !ok || e.Code != sqlguard.CodeDatabaseError || e.Retryable || !strings.Contains(e.Message, "answer") {
				t.Errorf("%v, %v; want an error about the answer", res, err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
				t.Errorf("%d bytes were allocated", used)
			}
			if got := db.One(t, "SELECT 1 AS n"); got != "1" || logins(s) != 2 {
				t.Errorf("the next statement returned %s on connection %d", got, logins(s))
			}
		})
	}
}

// TestHostilePackets sends broken packets.
func TestHostilePackets(t *testing.T) {
	const text = "SELECT hostile"
	for _, c := range []struct {
		name      string
		typ       byte
		size      int
		data      []byte
		wantsDrop bool // the server closes the connection too
	}{
		{"of another type", 3, 12, make([]byte, 4), false},
		{"of a handshake", 0x12, 12, make([]byte, 4), false},
		{"of no length", 4, 0, nil, false},
		{"of seven bytes", 4, 7, nil, false},
		{"of 60,000 bytes", 4, 60_000, nil, false},
		{"that end early", 4, 200, []byte{0x81, 1, 0, 0}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tdsserver.Start(t, seeing())
			s.On(text, func(r *tdsserver.Reply) error {
				if err := r.Packet(c.typ, 1, c.size, c.data); err != nil {
					return err
				}
				if c.wantsDrop {
					return r.Drop(false)
				}
				<-r.Gone()
				return r.End()
			})
			db := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
			e := db.Fails(t, text, execution.Limits{Timeout: executiontest.Patience})
			if e.Code != sqlguard.CodeDatabaseError && !c.wantsDrop || c.wantsDrop && e.Code != sqlguard.CodeConnectionLost {
				t.Errorf("error %v", e)
			}
			if db.One(t, "SELECT 1 AS n") != "1" {
				t.Error("no answer")
			}
		})
	}
}

// An answer without end stops at the time limit, and the backend does not keep
// its bytes meanwhile.
func TestEndlessAnswers(t *testing.T) {
	const text = "SELECT endless"
	info := join([]byte{0xAB}, le16(30), le32(5701), []byte{1, 0}, le16(4), []byte("a\x00b\x00c\x00d\x00"), []byte{0, 0}, le32(1))
	errorToken := append([]byte{0xAA}, info[1:]...)
	columns := join([]byte{0x81}, le16(1), le32(0), le16(0), []byte{0x26, 4, 1, 'v', 0})
	order := join([]byte{0xA9}, le16(4), make([]byte, 4))
	more := join([]byte{0xFD}, le16(1), le16(0xC1), le64(1))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	t.Run("all", func(t *testing.T) {
		testEndless(t, text, map[string][]byte{
			"messages": info, "errors": errorToken, "columns": columns, "orders": order, "statements": more, "empty packets": nil,
		})
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 16<<20 {
		t.Errorf("%d bytes are kept", used)
	}
}

func testEndless(t *testing.T, text string, tokens map[string][]byte) {
	t.Helper()
	for name, token := range tokens {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits until its time limit
			s := tdsserver.Start(t, seeing())
			s.On(text, func(r *tdsserver.Reply) error {
				var many []byte
				for len(many) < 3000 && token != nil {
					many = append(many, token...)
				}
				for {
					select {
					case <-r.Gone():
						return r.End()
					default:
					}
					if err := r.Packet(4, 0, 8+len(many), many); err != nil {
						<-r.Gone()
						return r.End()
					}
				}
			})
			db := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
			db.One(t, "SELECT 1 AS n")
			if e := db.Fails(t, text, execution.Limits{Timeout: 100 * time.Millisecond}); e.Code == "" {
				t.Errorf("error %v", e)
			}
			if db.One(t, "SELECT 1 AS n") != "1" {
				t.Error("no answer")
			}
		})
	}
}

// TestErrorsOfTheServer checks how the backend reports the server's error
// numbers.
func TestErrorsOfTheServer(t *testing.T) {
	for _, c := range []struct {
		number int32
		class  byte
		code   sqlguard.Code
		retry  bool
	}{
		{208, 16, sqlguard.CodeDatabaseError, false},
		{1222, 16, sqlguard.CodeDatabaseError, true},
		{1205, 13, sqlguard.CodeDatabaseError, true},
		{229, 14, sqlguard.CodeDatabaseError, false},
		{262, 14, sqlguard.CodeDatabaseError, false},
		{3906, 16, sqlguard.CodeDatabaseError, false},
		{978, 14, sqlguard.CodeConnectionLost, true},
		{6005, 14, sqlguard.CodeServerRestarted, true},
		{8645, 17, sqlguard.CodeBusy, true},
		{823, 24, sqlguard.CodeConnectionLost, true},
	} {
		t.Run(fmt.Sprint(c.number), func(t *testing.T) {
			s := tdsserver.Start(t, tdsserver.Config{})
			const text = "SELECT failing"
			s.On(text, func(r *tdsserver.Reply) error {
				if err := r.Error(&tdsserver.ServerError{Number: c.number, State: 7, Class: c.class, Message: "the cause", Line: 3}); err != nil {
					return err
				}
				return r.Error(&tdsserver.ServerError{Number: 3621, Class: 16, Message: "The statement has been terminated."})
			})
			db := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
			e := db.Fails(t, text, execution.Limits{})
			want := fmt.Sprintf("the cause (error %d, state 7, line 3)", c.number)
			if e.Code != c.code || e.Retryable != c.retry || e.SQLState != fmt.Sprint(c.number) || e.Message != want {
				t.Errorf("%s, retryable %t, state %q: %s\nwant %s, %t: %s", e.Code, e.Retryable, e.SQLState, e.Message, c.code, c.retry, want)
			}
			if db.One(t, "SELECT 1 AS n") != "1" {
				t.Error("no answer")
			}
		})
	}
}

// When the server refuses a login, the error says what the operator can fix.
func TestLoginRefused(t *testing.T) {
	for _, c := range []struct {
		number int32
		code   sqlguard.Code
		retry  bool
	}{
		{18456, sqlguard.CodeDatabaseError, false},
		{4060, sqlguard.CodeDatabaseError, false},
		{18487, sqlguard.CodeDatabaseError, false},
		{17809, sqlguard.CodeBusy, true},
		{40613, sqlguard.CodeConnectionLost, true},
		{978, sqlguard.CodeConnectionLost, true},
	} {
		s := tdsserver.Start(t, tdsserver.Config{OnLogin: func(tdsserver.Login) *tdsserver.ServerError {
			return &tdsserver.ServerError{Number: c.number, State: 1, Class: 14, Message: "no entry"}
		}})
		db := open(t, trusted(s), mssqldb.Config{})
		e := db.Fails(t, "SELECT 1 AS n", execution.Limits{})
		if e.Code != c.code || e.Retryable != c.retry || e.SQLState != fmt.Sprint(c.number) || !strings.HasPrefix(e.Message, "cannot connect: no entry") {
			t.Errorf("%d: %s, retryable %t, state %s: %s", c.number, e.Code, e.Retryable, e.SQLState, e.Message)
		}
	}
	s := tdsserver.Start(t, tdsserver.Config{})
	account := tdsserver.Reader
	account.Password = "wrong"
	db := open(t, s.URLFor(account, "encrypt", "true", "certificate", s.CertificateFile()), mssqldb.Config{})
	if e := db.Fails(t, "SELECT 1 AS n", execution.Limits{}); e.SQLState != "18456" || e.Retryable {
		t.Errorf("error %v", e)
	}
}
