package tdsserver_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
)

// FuzzMessage checks that a message that is split into packets can be read back
// unchanged. Broken packets must give an error, never a panic.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("SELECT 1"), uint16(512), byte(1))
	f.Add(bytes.Repeat([]byte{0xFF}, 5000), uint16(600), byte(3))
	f.Add([]byte{}, uint16(4096), byte(6))
	f.Fuzz(func(t *testing.T, payload []byte, size uint16, typ byte) {
		size = min(max(size, 9), 32767)
		var wire bytes.Buffer
		if err := tdsserver.WriteMessage(&wire, typ, payload, int(size)); err != nil {
			t.Fatal(err)
		}
		whole := bytes.Clone(wire.Bytes())
		got, back, packets, err := tdsserver.ReadMessage(&wire)
		if err != nil || got != typ || !bytes.Equal(back, payload) {
			t.Fatalf("type %d, %d bytes, error %v; want type %d, %d bytes", got, len(back), err, typ, len(payload))
		}
		if want := max(1, (len(payload)+int(size)-9)/(int(size)-8)); packets != want {
			t.Errorf("%d packets of %d bytes for %d, want %d", packets, size, len(payload), want)
		}
		// The same bytes, cut short, and the payload read as packets.
		if _, _, _, err := tdsserver.ReadMessage(bytes.NewReader(whole[:len(whole)-1])); err == nil {
			t.Error("a message that is cut short was read")
		}
		_, _, _, _ = tdsserver.ReadMessage(bytes.NewReader(payload)) //nolint:dogsled // it must not panic
	})
}

// FuzzRequests checks that every reader of a request ends, and that its errors
// are those of a client that breaks the protocol.
func FuzzRequests(f *testing.F) {
	f.Add(tdsserver.PreloginAnswer([4]byte{16}, tdsserver.EncryptOn))
	f.Add(batch("SELECT 1"))
	f.Add([]byte{22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 0, 0, 0, 0xE7, 16, 0, 9, 4, 0xD0, 0, 52, 2, 0, 'a', 0})
	f.Add([]byte{22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 2, 0})
	login := make([]byte, 94)
	login[0] = 94
	f.Add(login)
	f.Fuzz(func(t *testing.T, b []byte) {
		errs := make([]error, 5)
		_, errs[0] = tdsserver.ReadPrelogin(b)
		_, errs[1] = tdsserver.ReadLogin(b)
		_, _, _, errs[2] = tdsserver.ReadBatch(b)
		_, _, errs[3] = tdsserver.ReadRPC(b)
		_, _, _, errs[4] = tdsserver.ReadTransaction(b)
		for i, err := range errs {
			if err != nil && !errors.Is(err, tdsserver.ErrProtocol) {
				t.Errorf("reader %d: %v", i, err)
			}
		}
	})
}

// FuzzParse checks that every text is either compiled or refused.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"SELECT 1", "SELECT id, name FROM items WHERE NOT (id > 1 AND name = N'one') ORDER BY 1 DESC", "IF @@TRANCOUNT > 0 ROLLBACK",
		"DECLARE @x int = 1; SET @x = @x + 1; SELECT @x AS x", "SELECT CASE id WHEN 1 THEN 'a' ELSE 'b' END FROM items",
		"SELECT name, COUNT(*) FROM items GROUP BY name", "INSERT INTO items VALUES (4, N'four')", "/* /* */ */ SELECT [a]]b]",
		"WAITFOR DELAY '00:00:01'", "SET ROWCOUNT 5", "BEGIN SELECT 1 END", "RAISERROR('x', 16, 1)", "SELECT CAST(0x AS varbinary(max))", "\xff",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, two := tdsserver.Parse(text), tdsserver.Parse(text)
		if diff := cmp.Diff(message(one), message(two)); diff != "" {
			t.Errorf("the same text is read in two ways (-first +second):\n%s", diff)
		}
	})
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// batch returns a SQLBatch outside of a transaction.
func batch(text string) []byte {
	head := []byte{22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}
	return append(head, tdsserver.UTF16(text)...)
}
