package tds_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
)

// hang is far longer than anything in these tests takes.
const hang = 2 * time.Minute

// packet returns body as one packet of a server, the last of its message.
func packet(body []byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{4, 1}, uint16(8+len(body)))
	return append(append(b, 0, 0, 1, 0), body...)
}

// plainPrelogin is a prelogin that offers no TLS.
var plainPrelogin = []byte{0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF, 16, 0, 0, 0, 0, 0, 2}

// raw starts a server that answers each message with the next of answers, and
// then waits.
func raw(tb testing.TB, answers ...[]byte) (port int) {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			for _, answer := range answers {
				if readMessage(c) != nil {
					break
				}
				if _, err := c.Write(answer); err != nil {
					break
				}
			}
			_, _ = io.Copy(io.Discard, c) // until the client closes the connection
			_ = c.Close()
		}
	}()
	tb.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it listens on TCP
}

func readMessage(c net.Conn) error {
	for {
		var h [8]byte
		if _, err := io.ReadFull(c, h[:]); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint16(h[2:]))-8); err != nil {
			return err
		}
		if h[1]&1 != 0 {
			return nil
		}
	}
}

func token(id byte, body []byte) []byte {
	return append(binary.LittleEndian.AppendUint16([]byte{id}, uint16(len(body))), body...)
}

var (
	loginAck  = token(0xAD, append([]byte{1, 0x74, 0, 0, 4, 2, 'S', 0, 'Q', 0}, 16, 0, 0x10, 0))
	loginDone = []byte{0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
)

func try(tb testing.TB, port int, within time.Duration) (*tds.Conn, error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), within)
	defer cancel()
	return tds.Dial(ctx, tds.Options{
		Host: "127.0.0.1", Port: port, User: "u", Password: "p", Database: "d", Application: "test",
		TLS: func(string) tds.Transport { return tds.Transport{} },
	})
}

// Answers that no server gives to a login must be errors. The client must not
// panic, wait without limit, or use much memory.
func TestHostileLogin(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) }) // after the clean-up of the servers
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for _, c := range []struct {
		name    string
		answers [][]byte
	}{
		{"an empty prelogin", [][]byte{packet(nil)}},
		{"a prelogin without an end", [][]byte{packet(bytes.Repeat([]byte{0}, 64))}},
		{"a prelogin that points outside", [][]byte{packet([]byte{1, 0xFF, 0xFF, 0, 1, 0xFF})}},
		{"a prelogin that speaks of nothing", [][]byte{packet([]byte{0xFF})}},
		{"an encryption of no size", [][]byte{packet([]byte{1, 0, 6, 0, 0, 0xFF, 2})}},
		{"an encryption that is none", [][]byte{packet([]byte{1, 0, 6, 0, 1, 0xFF, 77})}},
		{"another protocol", [][]byte{[]byte("HTTP/1.1 400 Bad Request\r\n\r\n")}},
		{"a prelogin without end", [][]byte{bytes.Repeat([]byte{4, 0, 0x10, 0, 0, 0, 1, 0}, 100_000)}},
		{"login: no acknowledgement", [][]byte{packet(plainPrelogin), packet(loginDone)}},
		{"login: an acknowledgement of nothing", [][]byte{packet(plainPrelogin), packet(join(token(0xAD, nil), loginDone))}},
		{"login: a name beyond the token", [][]byte{packet(plainPrelogin), packet(join(token(0xAD, []byte{1, 0x74, 0, 0, 4, 200, 0}), loginDone))}},
		{"login: a server of TDS 4.2", [][]byte{packet(plainPrelogin), packet(join(token(0xAD, append([]byte{1, 4, 2, 0, 0, 0}, 4, 0, 0, 0)), loginDone))}},
		{"login: rows", [][]byte{packet(plainPrelogin), packet(join(loginAck, []byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 0, 0xD1, 0}, loginDone))}},
		{"login: federated authentication of 4 gigabytes", [][]byte{packet(plainPrelogin), packet(join([]byte{0xEE}, bytes.Repeat([]byte{0xFF}, 8), loginDone))}},
		{"login: SSPI", [][]byte{packet(plainPrelogin), packet(join(token(0xED, []byte{1, 2, 3}), loginDone))}},
		{"login: features of 4 gigabytes", [][]byte{packet(plainPrelogin), packet(join([]byte{0xAE, 1, 0xFF, 0xFF, 0xFF, 0xFF}, loginDone))}},
		{"login: packets of no size", [][]byte{packet(plainPrelogin), packet(join(loginAck, token(0xE3, []byte{4, 1, '0', 0, 0}), loginDone))}},
		{"login: packets of a million bytes", [][]byte{packet(plainPrelogin), packet(join(loginAck, token(0xE3, []byte{4, 7, '1', 0, '0', 0, '0', 0, '0', 0, '0', 0, '0', 0, '0', 0, 0}), loginDone))}},
		{"login: an end before the end", [][]byte{packet(plainPrelogin), packet(join(loginAck, loginDone[:5]))}},
		{"login: bytes behind the end", [][]byte{packet(plainPrelogin), packet(join(loginAck, loginDone, []byte{1}))}},
		{"login: a megabyte", [][]byte{packet(plainPrelogin), bytes.Repeat(append([]byte{4, 0, 0x10, 0, 0, 0, 1, 0}, make([]byte, 4088)...), 256)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			conn, err := try(t, raw(t, c.answers...), hang)
			if err == nil {
				conn.Sever()
				t.Fatal("connected")
			}
			if took := time.Since(start); took > hang-time.Second {
				t.Errorf("took %v: %v", took, err)
			}
			if !errors.Is(err, tds.ErrMalformed) {
				t.Errorf("error %v, want %v", err, tds.ErrMalformed)
			}
		})
	}
	conn, err := try(t, raw(t, packet(plainPrelogin), packet(join(loginAck, loginDone))), hang)
	if err != nil {
		t.Fatalf("a correct login: %v", err)
	}
	if f := conn.Facts(); f.Program != "SQ" || f.Version != "16.0.4096" {
		t.Errorf("%+v", f)
	}
	conn.Sever()
	t.Run("a server that says nothing", func(t *testing.T) {
		for _, answers := range [][][]byte{{nil}, {packet(plainPrelogin), nil}} {
			if _, err := try(t, raw(t, answers...), 50*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
			}
		}
	})
}

// The client gives up on a server that redirects the connection to itself.
func TestRoutedInACircle(t *testing.T) {
	route := []byte{20, 0, 0, 0, 0, 0, 9, 0}
	for _, r := range "127.0.0.1" {
		route = append(route, byte(r), 0)
	}
	binary.LittleEndian.PutUint16(route[1:], uint16(len(route)-3))
	route = append(route, 0, 0)
	answer := packet(bytes.Join([][]byte{loginAck, token(0xE3, route), loginDone}, nil))
	circle := raw(t, packet(plainPrelogin), answer)
	binary.LittleEndian.PutUint16(answer[8+len(loginAck)+3+4:], uint16(circle))
	if _, err := try(t, circle, hang); !errors.Is(err, tds.ErrRouted) {
		t.Errorf("error %v, want %v", err, tds.ErrRouted)
	}
}

// FuzzAnswer reads any bytes as the answer to a batch. The result must be an
// end or an error, never a panic, and no value may exceed its limit.
func FuzzAnswer(f *testing.F) {
	for _, seed := range [][]byte{
		nil, loginDone,
		append([]byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 1, 'v', 0, 0xD1, 4, 1, 0, 0, 0}, loginDone...),
		append([]byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0xE7, 0xFF, 0xFF, 9, 4, 0xD0, 0, 52, 1, 'v', 0, 0xD1, 4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 'a', 0, 'b', 0, 0, 0, 0, 0}, loginDone...),
		append([]byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x62, 0x49, 0x1F, 0, 0, 1, 'v', 0, 0xD1, 6, 0, 0, 0, 0x38, 0, 1, 0, 0, 0}, loginDone...),
		append([]byte{0x81, 2, 0, 0, 0, 0, 0, 0, 0, 0x6A, 17, 38, 4, 0, 0, 0, 0, 0, 0, 0, 0x2B, 7, 0, 0xD2, 2, 5, 1, 1, 0, 0, 0}, loginDone...),
		{0xAA, 20, 0, 1, 0, 0, 0, 1, 16, 1, 0, 'x', 0, 0, 0, 1, 0, 0, 0, 0xFD, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{0xE3, 11, 0, 8, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0x79, 1, 0, 0, 0, 0xFE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		const most = 1000
		r := tds.Answer(answer)
		for range 10_000 {
			token, err := r.Next()
			if err != nil || token == tds.TokenEnd {
				return
			}
			if token != tds.TokenRow {
				continue
			}
			for i := range min(len(r.Columns), 3) {
				cell, err := r.Cell(most)
				if err != nil {
					return
				}
				if len(cell.Raw) > most {
					t.Fatalf("a value of %d bytes", len(cell.Raw))
				}
				if !cell.Null && !cell.Over {
					_, _, _ = r.Columns[i].AppendText(nil, cell.Raw)
				}
			}
		}
	})
}
