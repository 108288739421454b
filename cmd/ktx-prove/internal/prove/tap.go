package prove

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// exchange is one request of a database client, up to the point where the
// server is ready again, and the response.
type exchange struct {
	conn     *tapped
	texts    []string // of simple queries and of statements that were parsed or bound
	executed bool     // a statement was run; otherwise it was only described
	done     bool     // the server was ready again
	rows     int
	tags     []string // of completed commands
	code     string   // of the last failure: an SQLSTATE, for MySQL followed by _ and the error number; or empty
}

// tap is a proxy between an MCP server and the database. It forwards all bytes
// unchanged, and records each request and how it ended. So it distinguishes a
// refusal by the MCP server from a refusal by the database, whatever the answer
// of the MCP server says.
//
// It declines TLS, because it must read the requests. It connects to one
// database server only. This file has what all protocols share, and the protocol
// of PostgreSQL; mytap.go has the one of MySQL.
type tap struct {
	listener net.Listener
	server   string // the address of the database
	serve    func(client net.Conn)
	work     sync.WaitGroup

	mu        sync.Mutex
	conns     []*tapped
	exchanges []*exchange
	banned    string // a statement that must not reach the server, or empty
	stopped   bool   // a connection was ended because of banned
}

// startTap listens on a free port of the loopback interface, for a dialect.
func startTap(ctx context.Context, dialect, server string) (*tap, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the MCP server: %w", err)
	}
	t := &tap{listener: listener, server: server}
	t.serve = t.servePostgres
	if dialect == "mysql" {
		t.serve = t.serveMySQL
	}
	t.work.Go(t.accept)
	return t, nil
}

func (t *tap) addr() string { return t.listener.Addr().String() }

func (t *tap) accept() {
	for {
		client, err := t.listener.Accept()
		if err != nil {
			return // closed
		}
		t.work.Go(func() {
			defer func() { _ = client.Close() }()
			t.serve(client)
		})
	}
}

func (t *tap) close() {
	_ = t.listener.Close()
	t.drop()
	t.work.Wait()
}

// drop ends every connection.
func (t *tap) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.conns {
		c.end()
	}
	t.conns = nil
}

// forget begins a new list of exchanges. If a client sends the banned
// statement, the tap ends the connection and does not forward it.
func (t *tap) forget(banned string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exchanges, t.banned, t.stopped = nil, banned, false
}

// seen returns the exchanges since forget, and whether the banned statement was
// sent.
func (t *tap) seen() (list []exchange, stopped bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.exchanges {
		list = append(list, *e)
	}
	return list, t.stopped
}

// open returns the open connections.
func (t *tap) open() []*tapped {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]*tapped, 0, len(t.conns))
	for _, c := range t.conns {
		if c.ready != 0 {
			list = append(list, c)
		}
	}
	return list
}

// quiet waits until every connection waits for its client outside of a
// transaction, or until a second has passed. It reports which of the two
// happened. A server may end its transaction after it has answered.
func (t *tap) quiet(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for !t.isQuiet() {
		select {
		case <-ctx.Done():
			return t.isQuiet()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return true
}

func (t *tap) isQuiet() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.conns {
		if c.ready != 'I' || len(c.pending) > 0 || c.open != nil {
			return false
		}
	}
	return true
}

// The codes with which a connection can begin instead of a version.
const (
	cancelRequest = 80877102
	sslRequest    = 80877103
	gssRequest    = 80877104
)

// maxFrame is the most bytes of a message.
const maxFrame = 128 << 20

// servePostgres handles one connection of the MCP server.
func (t *tap) servePostgres(client net.Conn) {
	for {
		first, err := readFrame(client, false)
		if err != nil || len(first) < 8 {
			return
		}
		switch binary.BigEndian.Uint32(first[4:]) {
		case sslRequest, gssRequest:
			if _, err := client.Write([]byte{'N'}); err != nil {
				return
			}
			continue
		}
		server, err := net.Dial("tcp", t.server) //nolint:noctx // ends with the tap
		if err != nil {
			return
		}
		defer func() { _ = server.Close() }()
		if _, err := server.Write(first); err != nil {
			return
		}
		if binary.BigEndian.Uint32(first[4:]) == cancelRequest {
			_, _ = io.Copy(io.Discard, server) // The server closes it after it has seen the request.
			return
		}
		c := &tapped{tap: t, client: client, server: server, prepared: map[string]string{}}
		c.query = c.ask
		t.relay(c, c.fromClient, c.fromServer)
		return
	}
}

// relay forwards messages until one side ends.
func (t *tap) relay(c *tapped, fromClient, fromServer func()) {
	t.mu.Lock()
	t.conns = append(t.conns, c)
	t.mu.Unlock()
	var both sync.WaitGroup
	both.Go(fromClient)
	both.Go(fromServer)
	both.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, other := range t.conns {
		if other == c {
			t.conns = append(t.conns[:i:i], t.conns[i+1:]...)
			break
		}
	}
}

// tapped is one connection through the tap. The mutex of the tap guards the
// fields after writing.
type tapped struct {
	tap            *tap
	client, server net.Conn
	writing        sync.Mutex // guards writes to server
	// query runs a query of this package in the session, which is idle, and
	// returns the rows. It fails if the session is in a transaction.
	query func(ctx context.Context, sql string) ([][]string, error)

	pid      uint32
	ready    byte              // the status when the server was last ready; 0 before that
	prepared map[string]string // statements by their names
	open     *exchange         // the current request
	pending  []*exchange       // requests that the server has not finished
	probe    chan<- frame      // gets the messages of the server instead of the client
}

func (c *tapped) end() {
	_ = c.client.Close()
	_ = c.server.Close()
}

// frame is one message of the server.
type frame struct {
	kind    byte
	payload []byte
}

// readFrame reads one whole message, with its type if it has one.
func readFrame(r io.Reader, typed bool) ([]byte, error) {
	head := make([]byte, 5)
	if !typed {
		head = head[:4]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[len(head)-4:])
	if size < 4 || size > maxFrame {
		return nil, errors.New("a message of an impossible size")
	}
	message := make([]byte, len(head)+int(size)-4)
	copy(message, head)
	_, err := io.ReadFull(r, message[len(head):])
	return message, err
}

func (c *tapped) fromClient() {
	defer c.end()
	for {
		message, err := readFrame(c.client, true)
		if err != nil {
			return
		}
		if !c.asked(message[0], message[5:]) {
			return
		}
		c.writing.Lock()
		_, err = c.server.Write(message)
		c.writing.Unlock()
		if err != nil {
			return
		}
	}
}

// text returns the bytes before the first NUL, and the bytes after it.
func text(b []byte) (string, []byte) {
	before, after, _ := strings.Cut(string(b), "\x00")
	return before, []byte(after)
}

// asked records a message of the client, and reports whether it may be
// forwarded.
func (c *tapped) asked(kind byte, payload []byte) bool {
	t := c.tap
	t.mu.Lock()
	defer t.mu.Unlock()
	ask := func(texts ...string) bool {
		if c.open == nil {
			c.open = &exchange{conn: c}
			t.exchanges = append(t.exchanges, c.open)
		}
		c.open.texts = append(c.open.texts, texts...)
		for _, text := range texts {
			if t.banned != "" && strings.Contains(text, t.banned) {
				t.stopped = true
				return false
			}
		}
		return true
	}
	finish := func() {
		if c.open == nil {
			c.open = &exchange{conn: c}
		}
		c.pending = append(c.pending, c.open)
		c.open = nil
	}
	switch kind {
	case 'Q':
		sql, _ := text(payload)
		if !ask(sql) {
			return false
		}
		c.open.executed = true
		finish()
	case 'P':
		name, rest := text(payload)
		sql, _ := text(rest)
		c.prepared[name] = sql
		return ask(sql)
	case 'B':
		_, rest := text(payload)
		name, _ := text(rest)
		return ask(c.prepared[name])
	case 'E':
		ask()
		c.open.executed = true
	case 'F':
		ask("a call of a function by its number")
		c.open.executed = true
		finish()
	case 'S':
		finish()
	}
	return true
}

func (c *tapped) fromServer() {
	defer c.end()
	for {
		message, err := readFrame(c.server, true)
		if err != nil {
			c.tap.mu.Lock()
			if c.probe != nil {
				close(c.probe)
				c.probe = nil
			}
			c.tap.mu.Unlock()
			return
		}
		if c.answered(message[0], message[5:]) {
			continue
		}
		if _, err := c.client.Write(message); err != nil {
			return
		}
	}
}

// answered records a message of the server, and reports whether it was an
// answer to the tap itself.
func (c *tapped) answered(kind byte, payload []byte) bool {
	t := c.tap
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.probe != nil {
		select {
		case c.probe <- frame{kind, payload}:
		default: // more frames than a probe has
			kind = 'Z'
			c.end()
		}
		if kind == 'Z' {
			close(c.probe)
			c.probe = nil
		}
		return true
	}
	var e *exchange
	if len(c.pending) > 0 {
		e = c.pending[0]
	} else if e = c.open; e == nil {
		e = &exchange{} // before the first request, or between two
	}
	switch kind {
	case 'K':
		if len(payload) >= 4 {
			c.pid = binary.BigEndian.Uint32(payload)
		}
	case 'D', 'd':
		e.rows++
	case 'C':
		tag, _ := text(payload)
		e.tags = append(e.tags, tag)
	case 'E':
		e.code = errorCode(payload)
	case 'Z':
		e.done = true
		if len(payload) > 0 {
			c.ready = payload[0]
		}
		if len(c.pending) > 0 {
			c.pending = c.pending[1:]
		}
	}
	return false
}

// errorCode returns the SQLSTATE of an error message.
func errorCode(payload []byte) string {
	for len(payload) > 1 {
		value, rest := text(payload[1:])
		if payload[0] == 'C' {
			return value
		}
		payload = rest
	}
	return ""
}

// ask is query for PostgreSQL.
func (c *tapped) ask(ctx context.Context, sql string) ([][]string, error) {
	// There is room for more frames than a probe has, so the reader never waits
	// here.
	frames := make(chan frame, 1<<12)
	c.writing.Lock()
	defer c.writing.Unlock()
	c.tap.mu.Lock()
	if c.ready != 'I' || len(c.pending) > 0 || c.open != nil || c.probe != nil {
		c.tap.mu.Unlock()
		return nil, errors.New("the session is not at rest")
	}
	c.probe = frames
	c.tap.mu.Unlock()
	query := append([]byte{'Q', 0, 0, 0, 0}, sql+"\x00"...)
	binary.BigEndian.PutUint32(query[1:], uint32(len(query)-1)) //nolint:gosec // a constant text of this package
	if _, err := c.server.Write(query); err != nil {
		return nil, fmt.Errorf("look into the session: %w", err)
	}
	var rows [][]string
	failed := ""
	for {
		select {
		case <-ctx.Done():
			c.end()
			return nil, ctx.Err()
		case f, open := <-frames:
			switch {
			case !open:
				return nil, errors.New("look into the session: it ended")
			case f.kind == 'D':
				rows = append(rows, dataRow(f.payload))
			case f.kind == 'E':
				failed = errorCode(f.payload)
			case f.kind == 'Z' && failed != "":
				return nil, fmt.Errorf("look into the session: %s", failed)
			case f.kind == 'Z':
				return rows, nil
			}
		}
	}
}

// dataRow decodes the values of a row in text format. NULL becomes "".
func dataRow(payload []byte) (row []string) {
	if len(payload) < 2 {
		return nil
	}
	for payload = payload[2:]; len(payload) >= 4; {
		size := int32(binary.BigEndian.Uint32(payload)) //nolint:gosec // -1 stands for NULL
		payload = payload[4:]
		if size < 0 {
			row = append(row, "")
			continue
		}
		if int(size) > len(payload) {
			return row
		}
		row = append(row, string(payload[:size]))
		payload = payload[size:]
	}
	return row
}
