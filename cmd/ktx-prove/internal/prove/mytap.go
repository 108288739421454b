package prove

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

// The capabilities that the tap hides from the MCP server, because it could not
// read what they make of the connection: compression, TLS, zstd, query attributes,
// optional metadata, and results that end without an EOF packet.
const hiddenCapabilities = 1<<5 | 1<<11 | 1<<24 | 1<<25 | 1<<26 | 1<<27

// The commands of the MySQL protocol that the tap knows. Others are answered by
// one packet.
const (
	myQuit         = 0x01
	myInitDB       = 0x02
	myQuery        = 0x03
	myFieldList    = 0x04
	myChangeUser   = 0x11
	myPrepare      = 0x16
	myExecute      = 0x17
	mySendLongData = 0x18
	myCloseStmt    = 0x19
	myFetch        = 0x1c
	myResetSession = 0x1f
)

// The flags of a server's status.
const (
	myInTransaction = 1 << 0
	myMoreResults   = 1 << 3
	myCursor        = 1 << 6
)

// mySession is one connection of the MySQL protocol through the tap. The mutex of
// the tap guards its fields.
type mySession struct {
	*tapped
	waiting []*myCommand // not yet answered
	greeted bool
	uploads bool // the client sends a file, and not commands
}

// myCommand is a command and how far its answer has come.
type myCommand struct {
	kind  byte
	sql   string
	e     *exchange
	probe bool // of this program
	part  myPart
	left  int    // column definitions to come
	after int    // column definitions to come in a second list
	made  string // the number of the statement that it prepared
}

// myPart is what the next packet of an answer is.
type myPart uint8

const (
	myHead    myPart = iota // OK, an error, or the number of columns
	myColumns               // a column definition, or their end
	myRowsEnd               // a row, or their end
)

// serveMySQL handles one connection of the MCP server.
func (t *tap) serveMySQL(client net.Conn) {
	server, err := net.Dial("tcp", t.server) //nolint:noctx // ends with the tap
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	s := &mySession{tapped: &tapped{tap: t, client: client, server: server, prepared: map[string]string{}}}
	s.query = s.ask
	t.relay(s.tapped, s.fromClient, s.fromServer)
}

// myPacket reads one packet: its bytes as they came, and its content, which lies
// in several frames if it is long.
func myPacket(r io.Reader) (raw, content []byte, sequence byte, err error) {
	for first := true; ; first = false {
		head := make([]byte, 4)
		if _, err := io.ReadFull(r, head); err != nil {
			return nil, nil, 0, err
		}
		size := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		if len(content)+size > maxFrame {
			return nil, nil, 0, errors.New("a packet of an impossible size")
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(r, body); err != nil {
			return nil, nil, 0, err
		}
		if first {
			sequence = head[3]
		}
		raw, content = append(append(raw, head...), body...), append(content, body...)
		if size < 1<<24-1 {
			return raw, content, sequence, nil
		}
	}
}

func (s *mySession) fromClient() {
	defer s.end()
	for {
		raw, content, sequence, err := myPacket(s.client)
		if err != nil || !s.asked(content, sequence) {
			return
		}
		s.writing.Lock()
		_, err = s.server.Write(raw)
		s.writing.Unlock()
		if err != nil {
			return
		}
	}
}

// asked records a packet of the client, and reports whether it may be forwarded.
func (s *mySession) asked(content []byte, sequence byte) bool {
	t := s.tap
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.ready == 0 || s.uploads || sequence != 0 || len(content) == 0 {
		if s.uploads && len(content) == 0 {
			s.uploads = false
		}
		return true // it logs in, or sends a file
	}
	c := &myCommand{kind: content[0], e: &exchange{conn: s.tapped}}
	switch c.kind {
	case myQuit, myCloseStmt, mySendLongData:
		return true // these have no answer
	case myQuery:
		c.sql = string(content[1:])
		c.e.executed = true
	case myInitDB:
		c.sql = "USE " + string(content[1:])
		c.e.executed = true
	case myPrepare:
		c.sql = string(content[1:])
	case myExecute:
		if len(content) >= 5 {
			c.sql = s.prepared[string(content[1:5])]
		}
		c.e.executed = true
	case myFieldList, myFetch:
		c.part = myRowsEnd
	case myChangeUser, myResetSession:
		c.e.executed = true
	}
	if c.sql != "" || c.kind == myChangeUser || c.kind == myResetSession {
		if c.sql != "" {
			c.e.texts = []string{c.sql}
		}
		t.exchanges = append(t.exchanges, c.e)
	}
	s.waiting, s.pending = append(s.waiting, c), append(s.pending, c.e)
	if t.banned != "" && strings.Contains(c.sql, t.banned) {
		t.stopped = true
		return false
	}
	return true
}

func (s *mySession) fromServer() {
	defer s.end()
	defer func() {
		s.tap.mu.Lock()
		defer s.tap.mu.Unlock()
		if s.probe != nil {
			close(s.probe)
			s.probe = nil
		}
	}()
	for {
		raw, content, _, err := myPacket(s.server)
		if err != nil {
			return
		}
		if !s.greeted {
			s.greeted = true
			if !s.greeting(raw) {
				return
			}
		} else if s.answered(content) {
			continue
		}
		if _, err := s.client.Write(raw); err != nil {
			return
		}
	}
}

// greeting reads the number of the session from the server's first packet, and
// takes capabilities out of it.
func (s *mySession) greeting(raw []byte) bool {
	body := raw[4:]
	version := bytes.IndexByte(body, 0)
	// The number, 8 bytes of a nonce, a zero, capabilities, character set, status,
	// capabilities, the length of the nonce, and 10 reserved bytes, in the last 4
	// of which MariaDB has its own capabilities.
	if len(body) == 0 || body[0] != 10 || version < 0 || len(body) < version+1+31 {
		return false
	}
	at := version + 1
	s.tap.mu.Lock()
	s.pid = binary.LittleEndian.Uint32(body[at:])
	s.tap.mu.Unlock()
	low, high := body[at+13:at+15], body[at+18:at+20]
	capabilities := uint32(binary.LittleEndian.Uint16(low)) | uint32(binary.LittleEndian.Uint16(high))<<16
	capabilities &^= hiddenCapabilities
	binary.LittleEndian.PutUint16(low, uint16(capabilities&0xFFFF))
	binary.LittleEndian.PutUint16(high, uint16(capabilities>>16))
	clear(body[at+27 : at+31])
	return true
}

// answered records a packet of the server, and reports whether it was an answer
// to the tap itself.
func (s *mySession) answered(content []byte) bool {
	t := s.tap
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.ready == 0 { // it logs in
		if len(content) > 0 && content[0] == 0 {
			s.atRest(statusOfOK(content))
		}
		return false
	}
	if len(s.waiting) == 0 {
		return false
	}
	c := s.waiting[0]
	before := c.e.rows
	done, status := c.next(content)
	if c.made != "" {
		s.prepared[c.made] = c.sql
	}
	if len(content) > 0 && content[0] == 0xFB && c.part == myHead && (c.kind == myQuery || c.kind == myExecute) {
		s.uploads = true
	}
	if c.probe && s.probe != nil && (c.e.code != "" || c.e.rows > before) {
		f := frame{'D', content}
		if c.e.code != "" {
			f = frame{'E', []byte(c.e.code)}
		}
		select {
		case s.probe <- f:
		default: // more frames than a probe has
			done = true
			s.end()
		}
	}
	if done {
		c.e.done = true
		if c.e.code == "" && status >= 0 {
			s.atRest(status)
		}
		s.waiting, s.pending = s.waiting[1:], s.pending[1:]
		if c.probe && s.probe != nil {
			close(s.probe)
			s.probe = nil
		}
	}
	return c.probe
}

// atRest takes the status with which an answer ended.
func (s *mySession) atRest(status int) {
	s.ready = 'I'
	if status >= 0 && status&myInTransaction != 0 {
		s.ready = 'T'
	}
}

// next takes one packet of the answer. It reports whether it was the last one, and
// the status that it brought, or -1.
func (c *myCommand) next(content []byte) (done bool, status int) {
	if len(content) == 0 {
		return false, -1
	}
	if content[0] == 0xFF && c.part != myColumns {
		c.e.code = myErrorCode(content)
		return true, -1
	}
	ends := content[0] == 0xFE && len(content) < 9
	status = -1
	if ends && len(content) >= 5 {
		status = int(binary.LittleEndian.Uint16(content[3:]))
	}
	switch c.part {
	case myHead: // below
	case myColumns:
		if !ends {
			return false, -1
		}
		if c.kind == myPrepare {
			c.left, c.after = c.after, 0
			return c.left == 0, status
		}
		c.part = myRowsEnd
		return status >= 0 && status&myCursor != 0, status
	case myRowsEnd:
		if !ends {
			c.e.rows++
			return false, -1
		}
		c.part = myHead
		return status < 0 || status&myMoreResults == 0, status
	}
	switch {
	case c.kind == myPrepare && content[0] == 0 && len(content) >= 9:
		columns, parameters := int(binary.LittleEndian.Uint16(content[5:])), int(binary.LittleEndian.Uint16(content[7:]))
		c.made = string(content[1:5])
		c.left, c.after = parameters, columns
		if c.left == 0 {
			c.left, c.after = columns, 0
		}
		c.part = myColumns
		return c.left == 0, -1
	case c.kind == myChangeUser && content[0] != 0:
		return false, -1 // the login goes on
	case c.kind != myQuery && c.kind != myExecute:
		return true, statusOf(content)
	case content[0] == 0:
		status = statusOfOK(content)
		return status < 0 || status&myMoreResults == 0, status
	case content[0] == 0xFB:
		return false, -1 // it asks for a file
	}
	c.part = myColumns
	return false, -1
}

// statusOf returns the status in an OK or EOF packet, or -1.
func statusOf(content []byte) int {
	if content[0] == 0 {
		return statusOfOK(content)
	}
	return -1
}

// statusOfOK returns the status in an OK packet, or -1.
func statusOfOK(content []byte) int {
	rest := content[1:]
	for range 2 { // the rows that changed, and the last identity
		_, n := myLength(rest)
		if n == 0 {
			return -1
		}
		rest = rest[n:]
	}
	if len(rest) < 2 {
		return -1
	}
	return int(binary.LittleEndian.Uint16(rest))
}

// myLength reads an integer of a variable length, and returns how many bytes it
// has, 0 if there is none.
func myLength(b []byte) (value uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	size := map[byte]int{0xFC: 2, 0xFD: 3, 0xFE: 8}[b[0]]
	if len(b) < 1+size {
		return 0, 0
	}
	if size == 0 {
		return uint64(b[0]), 1
	}
	for i := size; i > 0; i-- {
		value = value<<8 | uint64(b[i])
	}
	return value, 1 + size
}

// myErrorCode returns the SQLSTATE and the number of an error: 42000_1064.
func myErrorCode(content []byte) string {
	if len(content) < 3 {
		return "HY000"
	}
	number, state := binary.LittleEndian.Uint16(content[1:]), "HY000"
	if len(content) >= 9 && content[3] == '#' {
		state = string(content[4:9])
	}
	return fmt.Sprintf("%s_%d", state, number)
}

// ask is query for MySQL.
func (s *mySession) ask(ctx context.Context, sql string) ([][]string, error) {
	frames := make(chan frame, 1<<14)
	s.writing.Lock()
	defer s.writing.Unlock()
	s.tap.mu.Lock()
	if s.ready != 'I' || len(s.pending) > 0 || s.probe != nil {
		s.tap.mu.Unlock()
		return nil, errors.New("the session is not at rest")
	}
	s.probe = frames
	c := &myCommand{kind: myQuery, sql: sql, e: &exchange{}, probe: true}
	s.waiting, s.pending = append(s.waiting, c), append(s.pending, c.e)
	s.tap.mu.Unlock()
	size := len(sql) + 1
	query := append([]byte{byte(size), byte(size >> 8), byte(size >> 16), 0, myQuery}, sql...) //nolint:gosec // a short constant text of this package
	if _, err := s.server.Write(query); err != nil {
		return nil, fmt.Errorf("look into the session: %w", err)
	}
	var rows [][]string
	for {
		select {
		case <-ctx.Done():
			s.end()
			return nil, ctx.Err()
		case f, open := <-frames:
			switch {
			case !open && !c.finished(s.tap):
				return nil, errors.New("look into the session: it ended")
			case !open:
				return rows, nil
			case f.kind == 'E':
				return nil, fmt.Errorf("look into the session: %s", f.payload)
			case f.kind == 'D':
				rows = append(rows, myRow(f.payload))
			}
		}
	}
}

// finished reports whether the command was answered to its end.
func (c *myCommand) finished(t *tap) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return c.e.done
}

// myRow decodes the values of a row in text format. NULL becomes "".
func myRow(content []byte) (row []string) {
	for len(content) > 0 {
		if content[0] == 0xFB {
			row, content = append(row, ""), content[1:]
			continue
		}
		size, n := myLength(content)
		if n == 0 || size > uint64(len(content)-n) { //nolint:gosec // n is at most the length
			return row
		}
		row = append(row, string(content[n:n+int(size)])) //nolint:gosec // at most the length of the packet
		content = content[n+int(size):]                   //nolint:gosec // as above
	}
	return row
}
