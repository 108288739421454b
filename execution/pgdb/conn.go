package pgdb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ktxhq/ktx/execution/internal/network"
)

// settleTimeout bounds the rollback and reset after an answer.
const settleTimeout = 2 * time.Second

// conn is one connection. One goroutine at a time uses it; only Sever and the
// cancel request may run beside that goroutine.
type conn struct {
	pg     *pgconn.PgConn
	frames *frameReader
	dialer *dialer

	version  int    // server_version_num
	user     string // session_authorization, when the server reports it
	interval bool   // checkInterval is known
	pooled   bool   // a pooler is in front
	prepared bool   // the constants are prepared

	said said // the last statement, for a connection that is held

	// pending is set until the closing of a statement has been read. unsettled is the
	// error in it.
	pending   bool
	unsettled error

	open                  raw // the last result of opening, for the values below
	openTimeout, openLock time.Duration
	openPins              *pinned
	openSealed            bool  // it asks for the seal
	leave                 raw   // what then follows the statement
	seal                  *seal // nil: the pins are sent each time
	close                 raw   // the last result of closing
}

// Sever cuts the connection to wake any goroutine that reads or writes it. Any
// goroutine may call it at any time.
func (c *conn) Sever() {
	nc := c.pg.Conn()
	// Closing a TLS connection sends a last message. It must not wait for a
	// peer that does not read.
	_ = nc.SetDeadline(time.Unix(1, 0))
	_ = nc.Close()
}

// Destroy closes a connection at once. The server rolls back its transaction.
func (c *conn) Destroy() {
	c.Sever()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.pg.Close(ctx) // ends pgconn's own bookkeeping
}

// Bye closes an idle connection with the protocol's Terminate message.
func (c *conn) Bye() {
	_ = c.pg.Conn().SetDeadline(time.Now().Add(time.Second))
	_ = c.pg.Close(context.Background())
}

// unprepare makes the connection send its constants unnamed, because a pooler
// is in front of the server.
func (c *conn) unprepare() {
	c.prepared, c.pooled = false, true
	c.open, c.close, c.seal = nil, nil, nil
}

// settle reads the second part of the last statement: ROLLBACK and the reset.
// An error means that the connection must not be used again.
func (c *conn) settle() error {
	if !c.pending || c.unsettled != nil {
		return c.unsettled
	}
	nc := c.pg.Conn()
	if err := nc.SetReadDeadline(time.Now().Add(settleTimeout)); err != nil {
		return err
	}
	if err := c.readClosing(); err != nil {
		return err
	}
	c.pending = false
	return nc.SetReadDeadline(time.Time{})
}

func (c *conn) readClosing() error {
	for {
		msg, err := c.pg.ReceiveMessage(context.Background())
		if err != nil {
			return err
		}
		switch msg := msg.(type) {
		case *pgproto3.ParseComplete, *pgproto3.BindComplete, *pgproto3.CommandComplete, *pgproto3.DataRow,
			*pgproto3.NoticeResponse, *pgproto3.NotificationResponse, *pgproto3.ParameterStatus:
		case *pgproto3.ErrorResponse:
			return serverError(msg)
		case *pgproto3.ReadyForQuery:
			if msg.TxStatus != 'I' {
				return fmt.Errorf("%w: status %q after a rollback", errFrame, msg.TxStatus)
			}
			return c.sameSession()
		default:
			return fmt.Errorf("%w: unexpected %T after a rollback", errFrame, msg)
		}
	}
}

// sameSession checks what the server has reported about the session since it
// began.
func (c *conn) sameSession() error {
	if user := c.pg.ParameterStatus("session_authorization"); user != c.user {
		return errors.New("the session's user changed")
	}
	return nil
}

// unchanged checks, while a transaction is open, that every reported setting still
// has its pinned value.
func (c *conn) unchanged() error {
	for name, want := range c.dialer.texts.reported {
		got := c.pg.ParameterStatus(name)
		if got != "" && !strings.HasPrefix(strings.ToLower(got), want) {
			return fmt.Errorf("the statement changed %s to %q", name, got)
		}
	}
	return c.sameSession()
}

// Ready reports whether a connection that was idle can run a statement: the
// rollback of the last statement is verified, and the server is still there.
// When the caller leaves, Ready cuts the connection.
func (c *conn) Ready(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, c.Sever)
	ok := c.quiet()
	return stop() && ok
}

// ReadyNow is Ready for a connection without TLS whose server has said everything by now,
// which is so when the caller of the last statement has taken its time to ask again.
func (c *conn) ReadyNow() bool {
	// pgconn reads from elsewhere only while it writes its first messages.
	c.frames.now = c.pg.Conn()
	defer func() { c.frames.now = nil }()
	if c.pending {
		if err := c.readClosing(); err != nil {
			if !pgconn.Timeout(err) { // otherwise settle reads the rest
				c.unsettled = err
			}
			return false
		}
		c.pending = false
	}
	if c.pg.Frontend().ReadBufferLen() > 0 || c.frames.buffered() {
		return false
	}
	alive, waiting := network.Peek(c.pg.Conn())
	return alive && !waiting
}

// quiet verifies the rollback and reads messages that the server has sent
// since. They are rare: a changed setting, or the message before the server
// closes the connection.
func (c *conn) quiet() bool {
	if c.settle() != nil {
		return false
	}
	nc := c.pg.Conn()
	_, encrypted := nc.(*tls.Conn)
	for range 64 {
		// The TLS layer may already have read and buffered such a message.
		if wait := 20 * time.Millisecond; encrypted || c.pg.Frontend().ReadBufferLen() > 0 || c.frames.buffered() {
			if encrypted {
				wait = -time.Hour // read only what has arrived
			}
			switch got, err := c.readAsync(wait); {
			case err != nil:
				return false
			case got:
				continue
			}
		}
		alive, waiting := network.Peek(nc)
		if !alive || !waiting {
			return alive
		}
		if _, err := c.readAsync(20 * time.Millisecond); err != nil {
			return false
		}
	}
	return false
}

// readAsync reads a message that no statement asked for, if one arrives in
// time.
func (c *conn) readAsync(wait time.Duration) (got bool, err error) {
	nc := c.pg.Conn()
	if err := nc.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return false, err
	}
	msg, err := c.pg.ReceiveMessage(context.Background())
	if err != nil {
		if !pgconn.Timeout(err) {
			return false, err
		}
		return false, nc.SetReadDeadline(time.Time{})
	}
	switch msg.(type) {
	case *pgproto3.NoticeResponse, *pgproto3.NotificationResponse, *pgproto3.ParameterStatus:
		return true, nc.SetReadDeadline(time.Time{})
	default:
		return false, fmt.Errorf("%w: unexpected %T between statements", errFrame, msg)
	}
}
