package tdsserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

// conn is one connection.
type conn struct {
	s    *Server
	id   int
	spid uint16
	made time.Time
	raw  net.Conn
	net  net.Conn // the TCP connection, or TLS on it
	size int      // of a packet

	login   Login
	account Account
	session session
	gone    chan struct{} // closed when the connection ends

	mu      sync.Mutex
	current *request // the last request that was read, until it is answered
	dropped bool
}

// request is a message, with the context in which it is answered.
type request struct {
	message
	ctx       context.Context //nolint:containedctx // it belongs to the request
	cancel    context.CancelFunc
	attention bool // an attention ended it
}

// firstSPID is the session ID of the first connection. The server itself uses
// the lower ones.
const firstSPID = 51

func newConn(s *Server, nc net.Conn, id int) *conn {
	return &conn{s: s, id: id, spid: uint16(firstSPID + id - 1), made: time.Now().UTC(), raw: nc, net: nc, size: firstSize, gone: make(chan struct{})}
}

// drop closes the connection without a message.
func (c *conn) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dropped {
		c.dropped = true
		_ = c.raw.Close()
	}
}

// serve runs the connection until it ends.
func (c *conn) serve() {
	defer func() {
		c.drop()
		if c.session.transaction != 0 { // the transaction ends with the connection
			c.session.unwind()
		}
		c.s.mu.Lock()
		delete(c.s.conns, c)
		c.s.mu.Unlock()
		c.s.record(Message{Connection: c.id, Kind: KindClosed})
	}()
	err := c.open()
	if err == nil {
		err = c.requests()
	}
	if errors.Is(err, errProtocol) || errors.Is(err, errHandler) {
		c.s.record(Message{Connection: c.id, Kind: KindViolation, Text: err.Error()})
	}
}

// errRefused ends a connection whose login was refused.
var errRefused = errors.New("the login was refused")

// open negotiates encryption and lets the client log in ([MS-TDS] 3.3.5.1 to
// 3.3.5.3).
func (c *conn) open() error {
	peek := bufio.NewReader(c.raw)
	head, err := peek.Peek(1)
	if err != nil {
		return err
	}
	c.net = &peekedConn{Conn: c.raw, r: peek}
	strict := head[0] == 0x16 // a TLS handshake record: TDS 8.0
	if strict {
		t := tls.Server(c.net, tlsBefore(c.s.tls))
		if err := t.HandshakeContext(context.Background()); err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
		c.net = t
	} else if c.s.encryption() == EncryptStrict {
		return errRefused
	}
	m, err := readMessage(c.net)
	if err != nil {
		return err
	}
	if m.typ != packetPrelogin {
		return fmt.Errorf("%w: the first packet is of type %d", errProtocol, m.typ)
	}
	options, err := readPrelogin(m.payload)
	if err != nil {
		return err
	}
	c.s.record(Message{Connection: c.id, Kind: KindPrelogin, Options: options, Packets: m.packets})
	if len(options[preloginEncryption]) != 1 {
		return fmt.Errorf("%w: PRELOGIN without ENCRYPTION", errProtocol)
	}
	answer, goOn := EncryptStrict, true // TDS 8.0 ignores the option
	if !strict {
		answer, goOn = agree(Encryption(options[preloginEncryption][0]), c.s.encryption())
	}
	reply := preloginAnswer(c.s.version(), answer)
	if c.s.config.Prelogin != nil {
		reply = c.s.config.Prelogin
	}
	if err := c.message(reply); err != nil {
		return err
	}
	if !goOn {
		return errRefused
	}
	plain := c.net
	if !strict && answer != EncryptNotSupported {
		wrapped := &handshakeConn{Conn: c.net, spid: c.spid}
		t := tls.Server(wrapped, tlsWithin(c.s.tls))
		if err := t.HandshakeContext(context.Background()); err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
		wrapped.over = true
		c.net = t
	}
	m, err = readMessage(c.net)
	if err != nil {
		return err
	}
	if m.typ != packetLogin {
		return fmt.Errorf("%w: a packet of type %d instead of a login", errProtocol, m.typ)
	}
	login, err := readLogin(m.payload)
	if err != nil {
		return err
	}
	login.Encryption, login.TLS = answer, strict || answer != EncryptNotSupported
	c.s.record(Message{Connection: c.id, Kind: KindLogin, Login: login, Packets: m.packets})
	c.login = *login
	if answer == EncryptOff {
		c.net = plain // only the login was encrypted ([MS-TDS] 2.2.6.5)
	}
	return c.welcome(strict)
}

// message sends one reply.
func (c *conn) message(b []byte) error {
	w := newPacketWriter(c.net, packetReply, c.spid, c.size)
	if _, err := w.Write(b); err != nil {
		return err
	}
	return w.end()
}

// refuse answers a login with an error and ends the connection.
func (c *conn) refuse(errs ...*ServerError) error {
	var b []byte
	for _, e := range errs {
		b = appendMessage(b, tokenError, c.s.name(), e)
	}
	if err := c.message(appendDone(b, tokenDone, DoneError, 0, 0)); err != nil {
		return err
	}
	return errRefused
}

// welcome grants the login or refuses it ([MS-TDS] 3.3.5.3, 4.2).
func (c *conn) welcome(strict bool) error {
	l := &c.login
	failed := &ServerError{Number: 18456, State: 1, Class: 14, Message: "Login failed for user '" + l.User + "'.", Line: 1}
	if c.s.config.OnLogin != nil {
		if e := c.s.config.OnLogin(*l); e != nil {
			return c.refuse(e)
		}
	}
	var known bool
	if c.account, known = c.s.account(l); !known {
		return c.refuse(failed)
	}
	database := l.Database
	if database == "" {
		database = c.s.config.Databases[0]
	}
	if !c.s.has(database) {
		return c.refuse(&ServerError{
			Number: 4060, State: 1, Class: 11, Line: 1,
			Message: `Cannot open database "` + database + `" requested by the login. The login failed.`,
		}, failed)
	}
	size := int(min(max(l.PacketSize, smallestPacket), largestPacket))
	if c.net != c.raw && l.TLS && l.Encryption != EncryptOff {
		size = min(size, largestInTLS)
	}
	var version uint32 = 0x74000004
	if strict {
		version = 0x08000000
	}
	if l.TDSVersion != version {
		return fmt.Errorf("%w: a login of TDS %08x; this server is of %08x", errProtocol, l.TDSVersion, version)
	}
	c.session = newSession(c, database)

	b := appendEnvText(nil, envDatabase, database, "master")
	b = appendMessage(b, tokenInfo, c.s.name(), &ServerError{Number: 5701, State: 2, Message: "Changed database context to '" + database + "'.", Line: 1})
	b = appendEnvBytes(b, envCollation, Latin1.append(nil), nil)
	b = appendEnvText(b, envLanguage, "us_english", "")
	b = appendMessage(b, tokenInfo, c.s.name(), &ServerError{Number: 5703, State: 1, Message: "Changed language setting to us_english.", Line: 1})
	b = appendLoginAck(b, version, "Microsoft SQL Server", c.s.version())
	b = appendEnvText(b, envPacketSize, strconv.Itoa(size), strconv.Itoa(firstSize))
	if len(l.Features) > 0 {
		b = append(b, tokenFeatureAck, 0xFF) // none of them ([MS-TDS] 2.2.7.11)
	}
	if to := c.s.config.Route; to != nil && l.ReadOnlyIntent {
		b = appendRouting(b, to.Host(), uint16(to.Port()))
	}
	if err := c.message(appendDone(b, tokenDone, 0, 0, 0)); err != nil {
		return err
	}
	c.size = size
	return nil
}

// requests reads messages and answers them, one after the other. It keeps
// reading while it sends an answer, because an attention may arrive.
func (c *conn) requests() error {
	queue := make(chan *request, 4)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var worker sync.WaitGroup
	var failure error
	worker.Go(func() {
		for q := range queue {
			if failure == nil {
				if failure = c.answer(q); failure != nil {
					c.drop()
				}
			}
			c.done(q)
		}
	})
	err := c.read(ctx, queue)
	close(queue)
	close(c.gone)
	cancel()
	worker.Wait()
	if failure != nil && !errors.Is(err, errProtocol) {
		return failure
	}
	return err
}

// read reads requests into the queue. An attention ends the request that was
// read last, even if its answer has not begun.
func (c *conn) read(ctx context.Context, queue chan<- *request) error {
	for {
		m, err := readMessage(c.net)
		if err != nil {
			return err
		}
		if m.typ == packetAttention {
			c.s.record(Message{Connection: c.id, Kind: KindAttention, Packets: m.packets})
			if len(m.payload) > 0 {
				return fmt.Errorf("%w: an attention with data", errProtocol)
			}
			if c.interrupt() {
				continue
			}
		}
		q := c.begin(ctx, m)
		select {
		case queue <- q:
		default:
			c.done(q)
			return fmt.Errorf("%w: requests that wait for no answer", errProtocol)
		}
	}
}

// begin makes m the request that the next attention ends.
func (c *conn) begin(ctx context.Context, m message) *request {
	ctx, cancel := context.WithCancel(ctx)
	q := &request{message: m, ctx: ctx, cancel: cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = q
	c.s.running.Add(1)
	return q
}

// interrupt ends the request that was read last. It reports whether there was
// one.
func (c *conn) interrupt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil || c.current.typ == packetAttention {
		return false
	}
	c.current.attention = true
	c.current.cancel()
	return true
}

// close says that attentions no longer end the request, and reports whether one
// has arrived.
func (c *conn) close(q *request) (attention bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == q {
		c.current = nil
	}
	return q.attention
}

// done ends a request.
func (c *conn) done(q *request) {
	c.close(q)
	q.cancel()
	c.s.running.Add(-1)
}

// answer runs one request and sends its reply ([MS-TDS] 3.3.5.6, 3.3.5.7).
func (c *conn) answer(q *request) error {
	acknowledged := appendDone(nil, tokenDone, DoneAttention, 0, 0)
	if q.typ == packetAttention { // an attention for a request that had already ended
		return c.message(acknowledged)
	}
	r := &Reply{ctx: q.ctx, c: c, w: newPacketWriter(c.net, packetReply, c.spid, c.size)}
	err := c.run(r, q.message)
	attention := c.close(q)
	switch {
	case r.broken:
		return errDropped
	case r.sent && err == nil:
		return nil
	case attention && r.ended && err == nil:
		if err := r.finish(); err != nil {
			return err
		}
		return c.message(acknowledged)
	case attention && (err == nil || errors.Is(err, context.Canceled)):
		return r.acknowledge()
	case err != nil:
		return err
	default:
		return r.finish()
	}
}

// run handles m and writes the answer to r.
func (c *conn) run(r *Reply, m message) error {
	note := Message{
		Connection: c.id, Packets: m.packets, Ignored: m.status&statusIgnore != 0,
		Reset: m.status&statusReset != 0, ResetKeepingTransaction: m.status&statusResetSkipTran != 0,
	}
	var err error
	switch m.typ {
	case packetBatch:
		note.Kind = KindBatch
		note.Descriptor, note.Text, note.Raw, err = readBatch(m.payload)
	case packetRPC:
		note.Kind = KindRPC
		note.Descriptor, note.Calls, err = readRPC(m.payload)
		note.Text = statement(note.Calls)
	case packetTransaction:
		note.Kind = KindTransaction
		note.Descriptor, note.Transaction, note.Isolation, err = readTransaction(m.payload)
	case packetReply, packetAttention, packetLogin, packetPrelogin:
		fallthrough
	default:
		err = fmt.Errorf("%w: a request of type %d", errProtocol, m.typ)
	}
	if note.Ignored && err != nil {
		err = nil // a request that the client took back may be incomplete
	}
	if err != nil {
		return err
	}
	c.s.record(note)
	if note.Ignored {
		r.failed = true
		return nil
	}
	if note.Reset || note.ResetKeepingTransaction {
		c.session.reset(r, note.ResetKeepingTransaction)
		r.token(appendEnvBytes(nil, envResetAck, nil, nil))
	}
	// A reset ends the transaction that the request names.
	resets := note.Reset && !note.ResetKeepingTransaction
	if want := c.session.transaction; note.Descriptor != want && !resets && m.typ != packetTransaction {
		return r.Error(&ServerError{
			Number: 3989, State: 1, Class: 16, Line: 1,
			Message: "New request is not allowed to start because it should come with valid transaction descriptor.",
		})
	}
	if m.typ == packetTransaction {
		return c.session.manage(r, note.Transaction)
	}
	if m.typ == packetBatch {
		return c.batch(r, note.Text, nil)
	}
	for i := range note.Calls {
		if err := c.call(r, &note.Calls[i], i == len(note.Calls)-1); err != nil {
			return err
		}
	}
	return nil
}

// statement returns the statement that sp_executesql is called with.
func statement(calls []RPC) string {
	for _, call := range calls {
		if call.Name == "sp_executesql" && len(call.Parameters) > 0 {
			if s, ok := call.Parameters[0].Value.(string); ok {
				return s
			}
		}
	}
	return ""
}

// peekedConn is a connection that first returns the bytes that were peeked.
type peekedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *peekedConn) Read(b []byte) (int, error) { return c.r.Read(b) }

// descriptor encodes the number of a transaction for ENVCHANGE.
func descriptor(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
