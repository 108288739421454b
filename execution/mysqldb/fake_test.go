package mysqldb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// fakeServer speaks enough of the protocol to log a client in and to open the
// session of a statement. A test decides how it answers everything else.
type fakeServer struct {
	address string
	// version and capabilities are sent in the greeting.
	version      string
	capabilities uint32
	// login answers the client's first packet instead of an OK.
	login func(c *fakeConn) error
	// text answers a statement that does not belong to the opening of a
	// session.
	text func(c *fakeConn, text string) error
	// setting returns the value that the server reports for a session setting,
	// instead of the value that the client set.
	setting func(name, set string) string
	// status is the status of the last answer of an opening.
	status uint16

	mu    sync.Mutex
	texts []string
	first []byte // the client's first packet
	conns int
}

const (
	fakeCapabilities = 0x00bfffff // all old capabilities, including local files and several statements
	openStatus       = 0x2003
)

func startFake(t *testing.T, f *fakeServer) *fakeServer {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.address = l.Addr().String()
	if f.version == "" {
		f.version = "8.4.5"
	}
	if f.capabilities == 0 {
		f.capabilities = fakeCapabilities
	}
	if f.status == 0 {
		f.status = openStatus
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer nc.Close() //nolint:errcheck // the test is over, or the client has left
				stop := make(chan struct{})
				defer close(stop)
				go func() {
					select {
					case <-t.Context().Done():
						_ = nc.Close()
					case <-stop:
					}
				}()
				f.mu.Lock()
				f.conns++
				id := f.conns
				f.mu.Unlock()
				_ = f.serve(&fakeConn{Conn: nc, server: f, id: uint32(id)}) // a fault of the client shows in the error that it returns
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		work.Wait()
	})
	return f
}

func (f *fakeServer) url() string { return "mysql://reader:hidden-word@" + f.address + "/shop" }

// sent returns the statements of clients, without those that open a session.
func (f *fakeServer) sent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.texts...)
}

type fakeConn struct {
	net.Conn
	server *fakeServer
	id     uint32
	seq    byte
	set    map[string]string
}

// read returns the body of the client's next packet.
func (c *fakeConn) read() ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c.Conn, head); err != nil {
		return nil, err
	}
	body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	c.seq = head[3] + 1
	_, err := io.ReadFull(c.Conn, body)
	return body, err
}

// send sends packets in order.
func (c *fakeConn) send(bodies ...[]byte) error {
	var b []byte
	for _, body := range bodies {
		b = append(b, byte(len(body)), byte(len(body)>>8), byte(len(body)>>16), c.seq)
		b = append(b, body...)
		c.seq++
	}
	_, err := c.Write(b)
	return err
}

func (c *fakeConn) ok(status uint16) error {
	return c.send(binary.LittleEndian.AppendUint16([]byte{0, 0, 0}, status))
}

func (c *fakeConn) fail(number uint16, state, message string) error {
	b := binary.LittleEndian.AppendUint16([]byte{0xff}, number)
	return c.send(append(b, "#"+state+message...))
}

func fakeColumn(name string) []byte {
	var b []byte
	for _, s := range []string{"def", "", "", "", name, name} {
		b = append(append(b, byte(len(s))), s...)
	}
	return append(b, 0x0c, 45, 0, 0xff, 0, 0, 0, 253, 0, 0, 0, 0, 0)
}

func fakeEnd(status uint16) []byte {
	return binary.LittleEndian.AppendUint16([]byte{0xfe, 0, 0}, status)
}

// row answers with one row.
func (c *fakeConn) row(status uint16, values ...string) error {
	bodies := [][]byte{{byte(len(values))}}
	for i := range values {
		bodies = append(bodies, fakeColumn(fmt.Sprintf("c%d", i)))
	}
	var row []byte
	for _, v := range values {
		row = append(append(row, byte(len(v))), v...)
	}
	return c.send(append(bodies, fakeEnd(status), row, fakeEnd(status))...)
}

func (f *fakeServer) serve(c *fakeConn) error {
	g := append([]byte{10}, f.version...)
	g = binary.LittleEndian.AppendUint32(append(g, 0), c.id)
	g = append(g, "12345678\x00"...)
	g = binary.LittleEndian.AppendUint16(g, uint16(f.capabilities&0xffff))
	g = append(g, 45, 2, 0)
	g = binary.LittleEndian.AppendUint16(g, uint16(f.capabilities>>16))
	g = append(g, 21)
	g = append(g, make([]byte, 10)...)
	g = append(g, "123456789012\x00mysql_native_password\x00"...)
	c.seq = 0
	if err := c.send(g); err != nil {
		return err
	}
	first, err := c.read()
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.first = first
	f.mu.Unlock()
	if f.login != nil {
		err = f.login(c)
	} else {
		err = c.ok(2)
	}
	for err == nil {
		var body []byte
		if body, err = c.read(); err != nil {
			return err
		}
		switch body[0] {
		case 1: // quit
			return nil
		case 3:
			err = f.answer(c, string(body[1:]))
		case 0x1f:
			err = c.ok(2)
		default:
			err = errors.New("a command that nobody knows")
		}
	}
	return err
}

var (
	assigned = regexp.MustCompile(`SESSION (\w+) = '?([^',]*(?:,[A-Z_]+)*)'?`)
	asked    = regexp.MustCompile(`@@(?:SESSION\.)?(\w+)`)
)

func (f *fakeServer) answer(c *fakeConn, text string) error {
	switch {
	case strings.HasPrefix(text, "SET NAMES"):
		c.set = map[string]string{"character_set_client": "utf8mb4", "character_set_connection": "utf8mb4", "character_set_results": "utf8mb4"}
		for _, m := range assigned.FindAllStringSubmatch(text, -1) {
			c.set[m[1]] = m[2]
		}
		return c.ok(2)
	case strings.HasPrefix(text, "START TRANSACTION"):
		return c.ok(openStatus)
	case strings.HasPrefix(text, "ROLLBACK"):
		return c.ok(2)
	case strings.HasPrefix(text, "SELECT VERSION()"):
		values := []string{f.version, fmt.Sprint(c.id), "shop", "reader@%", "NONE"}
		names := asked.FindAllStringSubmatch(text, -1)
		for _, m := range names {
			value := c.set[m[1]]
			if f.setting != nil {
				value = f.setting(m[1], value)
			}
			values = append(values, value)
		}
		if len(names) == 0 {
			return c.row(2, values...)
		}
		return c.row(f.status, values...)
	}
	f.mu.Lock()
	f.texts = append(f.texts, text)
	f.mu.Unlock()
	if f.text != nil {
		return f.text(c, text)
	}
	return c.row(openStatus, "1")
}

// agreed returns the capabilities that a client agreed on.
func (f *fakeServer) agreed(t *testing.T) uint32 {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.first) < 32 {
		t.Fatal("the client sent nothing")
	}
	return binary.LittleEndian.Uint32(f.first)
}

// knows reports whether any statement or packet of a client contains s.
func (f *fakeServer) knows(s string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.Contains(f.first, []byte(s)) || strings.Contains(strings.Join(f.texts, "\n"), s)
}
