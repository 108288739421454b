package mssqldb_test

import (
	"bufio"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// utf16le returns text as it is encoded in a batch.
func utf16le(text string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// onlyBatches fails the test if the server received anything except batches,
// attentions and the messages that begin a connection.
func onlyBatches(tb testing.TB, s *tdsserver.Server) {
	tb.Helper()
	for _, m := range s.Messages() {
		switch m.Kind {
		case tdsserver.KindPrelogin, tdsserver.KindLogin, tdsserver.KindBatch, tdsserver.KindAttention, tdsserver.KindClosed:
		case tdsserver.KindRPC, tdsserver.KindTransaction, tdsserver.KindViolation:
			tb.Errorf("the server got a message of kind %s: %s", m.Kind, m.Text)
		default:
			tb.Errorf("the server got a message of kind %s", m.Kind)
		}
	}
}

// A statement is four batches, and the approved statement is one of them,
// whatever it looks like. A bare name is sent that way too, although the driver
// would call it as a procedure.
func TestTextIsOneBatch(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	s.First(func(q tdsserver.Request) tdsserver.Handler {
		if strings.HasPrefix(q.Text, "SET ") || strings.HasPrefix(q.Text, "SELECT @@TRANCOUNT") {
			return nil
		}
		return func(r *tdsserver.Reply) error {
			if err := r.Columns(tdsserver.Column{Name: "v", Type: tdsserver.Int}); err != nil {
				return err
			}
			return r.Row(int64(1))
		}
	})
	c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
	lim := execution.Limits{Rows: 5}.WithDefaults()
	texts := []string{
		"SELECT 1",
		"sp_who", "[sp_who]", "dbo.sp_who", "master..xp_cmdshell", "#temp", "_x", "é", "a.b.c", "[a b]", "SHUTDOWN", "COMMIT", "RECONFIGURE",
		"SELECT '😀 – €' -- \u2028", " \tSELECT\r\n1;\n", ";WITH x AS (SELECT 1 AS n) SELECT n FROM x", "SELECT '?', ':1', '$1', @p1", "INSERTBULK", "INSERTBULK x",
		"SELECT '" + strings.Repeat("ä", 100_000) + "'", // many packets
		"/* */", ";",
	}
	for _, text := range texts {
		s.Forget()
		if res, err := c.Try(t.Context(), t, text, lim); err != nil || len(res.Rows) != 1 {
			t.Fatalf("%.40q: %v, %v", text, res, err)
		}
		// The server may not have received the reset yet.
		want := []string{mssqldb.Opening(lim.LockTimeout, lim.Rows), text, mssqldb.ClosingSQL}
		got := slices.DeleteFunc(s.Batches(), func(sql string) bool { return sql == mssqldb.ResetSQL })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.40q: batches (-want +got):\n%s", text, diff)
		}
		for _, m := range s.Of(tdsserver.KindBatch) {
			if m.Text == text && !slices.Equal(m.Raw, utf16le(text)) {
				t.Errorf("%.40q: the bytes on the wire differ from the statement", text)
			}
			if own := m.Text == mssqldb.ResetSQL; m.Reset != own {
				t.Errorf("%.40q: the reset bit is %t", m.Text, m.Reset)
			}
			if m.Text == text && m.Descriptor == 0 {
				t.Errorf("%.40q was not sent in a transaction", text)
			}
		}
		onlyBatches(t, s)
	}
	if n := len(s.Of(tdsserver.KindLogin)); n > 1 {
		t.Errorf("%d connections", n)
	}
}

// Every read in a file that the guard approves reaches the server exactly as it
// was approved.
func TestApprovedTextArrives(t *testing.T) {
	file, err := os.Open("../../dialects/sqlserver/testdata/reads.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	s := tdsserver.Start(t, tdsserver.Config{})
	s.First(func(q tdsserver.Request) tdsserver.Handler {
		if strings.HasPrefix(q.Text, "SET ") || q.Text == mssqldb.ResetSQL {
			return nil
		}
		return func(r *tdsserver.Reply) error { return r.Columns(tdsserver.Column{Name: "v", Type: tdsserver.Int}) }
	})
	guard, err := sqlguard.New(sqlserver.Dialect{}, sqlguard.DefaultPolicy(), &sqlguard.Catalog{Major: 16, Database: tdsserver.DefaultDatabase, SearchPath: []string{"dbo"}})
	if err != nil {
		t.Fatal(err)
	}
	db, err := mssqldb.Open(t.Context(), mssqldb.Config{URL: execution.NewSecret(trusted(s)), Session: sqlserver.Dialect{}.Session()}, guard.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it returns no error
	approved := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		text := lines.Text()
		stmt, err := guard.Approve(text)
		if err != nil {
			continue
		}
		approved++
		s.Forget()
		if _, err := db.Query(t.Context(), stmt, execution.Limits{}); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		found := 0
		for _, m := range s.Of(tdsserver.KindBatch) {
			if slices.Equal(m.Raw, utf16le(text)) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s: arrived %d times", text, found)
		}
		onlyBatches(t, s)
	}
	t.Logf("%d texts", approved)
	if approved < 50 {
		t.Errorf("only %d statements were approved", approved)
	}
}
