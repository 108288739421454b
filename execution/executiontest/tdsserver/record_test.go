package tdsserver_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	mssql "github.com/microsoft/go-mssqldb"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
)

// single returns a pool of one connection.
func single(t *testing.T, s *tdsserver.Server) *sql.DB {
	t.Helper()
	db := open(t, trusted(s))
	db.SetMaxOpenConns(1)
	return db
}

func TestBatchesAreRecorded(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	db := single(t, s)
	texts := []string{
		"SELECT 1",
		"SELECT N'𝄞 ä\r\n\t' AS x -- \u0001",
		"SELECT 1 /* " + strings.Repeat("x", 300_000) + " */",
	}
	for _, text := range texts {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(texts, s.Batches()); diff != "" {
		t.Errorf("batches (-sent +recorded):\n%s", diff)
	}
	for i, m := range s.Of(tdsserver.KindBatch) {
		if string(m.Raw) != string(tdsserver.UTF16(texts[i])) {
			t.Errorf("batch %d arrived as other bytes", i)
		}
		if !m.Reset {
			t.Errorf("batch %d: no reset; the driver resets the session for each use", i)
		}
	}
}

// TestCalls checks that parameters arrive with their types. When a statement is
// only a name, this driver sends it as the call of a procedure.
func TestCalls(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	db := single(t, s)
	var n int64
	var text string
	err := db.QueryRowContext(t.Context(), "SELECT @p1 + 1, @b", 41, sql.Named("b", "ä😀")).Scan(&n, &text)
	if err != nil || n != 42 || text != "ä😀" {
		t.Errorf("%d, %q, %v", n, text, err)
	}
	_, err = db.ExecContext(t.Context(), "sp_who")
	if e, ok := errors.AsType[mssql.Error](err); !ok || e.Number != 2812 {
		t.Errorf("error %v, want 2812", err)
	}
	calls := s.Of(tdsserver.KindRPC)
	if len(calls) != 2 {
		t.Fatalf("%d calls", len(calls))
	}
	call := calls[0].Calls[0]
	if call.Name != "sp_executesql" || !call.ByNumber || len(call.Parameters) != 4 || calls[0].Text != "SELECT @p1 + 1, @b" {
		t.Errorf("the call is %+v", calls[0])
	}
	if p := call.Parameters[2]; p.Name != "@p1" || p.Type.String() != "bigint" || p.Value != int64(41) {
		t.Errorf("the first parameter is %+v (%s)", p, p.Type)
	}
	if call := calls[1].Calls[0]; call.Name != "sp_who" || call.ByNumber {
		t.Errorf("the call is %+v", call)
	}
	if got := s.Batches(); len(got) != 0 {
		t.Errorf("batches %q", got)
	}
}

func TestTransactions(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{Accounts: []tdsserver.Account{tdsserver.Owner}})
	db := single(t, s)
	for _, commit := range []bool{false, true} {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var open, state int
		if err := tx.QueryRowContext(t.Context(), "SELECT @@TRANCOUNT, XACT_STATE()").Scan(&open, &state); err != nil || open != 1 || state != 1 {
			t.Errorf("%d transactions, state %d, %v", open, state, err)
		}
		res, err := tx.ExecContext(t.Context(), "DELETE FROM items WHERE id > 1")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := res.RowsAffected(); err != nil || n != 2 {
			t.Errorf("%d rows, %v", n, err)
		}
		if n := len(s.Rows("items")); n != 1 {
			t.Errorf("%d rows within the transaction", n)
		}
		end, want := tx.Rollback, 3
		if commit {
			end, want = tx.Commit, 1
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if n := len(s.Rows("items")); n != want {
			t.Errorf("commit %t: %d rows, want %d", commit, n, want)
		}
	}
	writes := s.Writes()
	if len(writes) != 2 || !writes[0].Undone || writes[1].Undone {
		t.Errorf("writes %+v", writes)
	}
	var kinds []tdsserver.TransactionKind
	for _, m := range s.Of(tdsserver.KindTransaction) {
		kinds = append(kinds, m.Transaction)
	}
	want := []tdsserver.TransactionKind{tdsserver.TransactionBegin, tdsserver.TransactionRollback, tdsserver.TransactionBegin, tdsserver.TransactionCommit}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestDisconnectUndoes checks that a transaction ends with its connection.
func TestDisconnectUndoes(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{Accounts: []tdsserver.Account{tdsserver.Owner}})
	if _, err := single(t, s).ExecContext(t.Context(), "BEGIN TRAN; DELETE FROM items"); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Rows("items")); n != 0 {
		t.Errorf("%d rows within the transaction", n)
	}
	s.Stop()
	if n := len(s.Rows("items")); n != 3 || !s.Writes()[0].Undone {
		t.Errorf("%d rows after the end of the connection, writes %+v", n, s.Writes())
	}
}

// TestReset checks that a session after a reset has the settings of a new one,
// and no transaction.
func TestReset(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	db := single(t, s)
	if _, err := db.ExecContext(t.Context(), "SET LOCK_TIMEOUT 5; SET XACT_ABORT ON; SET ROWCOUNT 2; BEGIN TRAN; USE shop"); err != nil {
		t.Fatal(err)
	}
	var n, lock, options int
	err := db.QueryRowContext(t.Context(), "SELECT @@TRANCOUNT, @@LOCK_TIMEOUT, @@OPTIONS").Scan(&n, &lock, &options)
	if err != nil || n != 0 || lock != -1 || options != 5432 {
		t.Errorf("%d transactions, lock timeout %d, options %d, %v", n, lock, options, err)
	}
}

// cancelled sends a statement and cancels it when the server runs it.
func cancelled(t *testing.T, s *tdsserver.Server, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, text string,
) error {
	t.Helper()
	if !s.Idle(2 * time.Minute) { // an earlier statement counts until its last byte is sent
		t.Fatal("an earlier statement still runs")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := db.ExecContext(ctx, text)
		ended <- err
	}()
	for s.Running() == 0 && len(ended) == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	return <-ended
}

// TestAttention checks that the connection can be used after an attention, in
// whatever way the server acknowledges it, and that a late attention does not
// end the next request.
func TestAttention(t *testing.T) {
	for _, separate := range []bool{false, true} {
		s := tdsserver.Start(t, tdsserver.Config{SeparateAttention: separate})
		db := single(t, s)
		for _, text := range []string{
			"WAITFOR DELAY '01:00:00'",
			"SELECT value FROM GENERATE_SERIES(1, 1000000000)",
			"SELECT COUNT_BIG(*) FROM GENERATE_SERIES(1, 1000000) AS a CROSS JOIN GENERATE_SERIES(1, 1000000) AS b",
			"SELECT REPLICATE(CAST('x' AS varchar(max)), 4000000), value FROM GENERATE_SERIES(1, 1000000000)",
		} {
			err := cancelled(t, s, db, text)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error %v, want the error of a cancelled query", text, err)
			}
			if !s.Idle(2 * time.Minute) {
				t.Errorf("%s: it still runs", text)
			}
			var one int
			if err := db.QueryRowContext(t.Context(), "SELECT 1").Scan(&one); err != nil || one != 1 {
				t.Errorf("after %s: %d, %v", text, one, err)
			}
		}
		if n := len(s.Of(tdsserver.KindAttention)); n < 3 {
			t.Errorf("%d attentions, want 3 or more", n)
		}
	}
}

// TestAttentionRaces cancels at many points in time. Each answer must belong to
// its own request.
func TestAttentionRaces(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	db := single(t, s)
	for i := range 80 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(i*20)*time.Microsecond, cancel)
		if _, err := db.ExecContext(ctx, "SELECT value FROM GENERATE_SERIES(1, 500)"); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		cancel()
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT 7").Scan(&n); err != nil || n != 7 {
			t.Fatalf("%d, %v", n, err)
		}
	}
}

// TestAttentionUndoes checks that under XACT_ABORT an attention ends the
// transaction.
func TestAttentionUndoes(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	conn, err := open(t, trusted(s)).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the pool is closed afterwards
	if _, err := conn.ExecContext(t.Context(), "SET XACT_ABORT ON; BEGIN TRAN"); err != nil {
		t.Fatal(err)
	}
	if err := cancelled(t, s, conn, "WAITFOR DELAY '01:00'"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the error of a cancelled query", err)
	}
	var n int
	if err := conn.QueryRowContext(t.Context(), "SELECT @@TRANCOUNT").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d transactions, %v", n, err)
	}
}
