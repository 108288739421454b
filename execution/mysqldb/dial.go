package mysqldb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/ktxhq/ktx/execution/mysqldb/wire"
)

// dialer makes connections.
type dialer struct {
	target *target
	texts  *texts
}

// dial connects and learns what the server is.
func (d *dialer) dial(ctx context.Context) (*conn, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.setUp(ctx); err != nil {
		c.Destroy()
		return nil, err
	}
	return c, nil
}

// connect makes a connection that is authenticated. The driver speaks up to
// there; what it would agree on beyond that is not offered to it.
func (d *dialer) connect(ctx context.Context) (*conn, error) {
	bounded, cancel := context.WithTimeout(ctx, d.target.connectTimeout)
	defer cancel()
	nc, err := (&net.Dialer{}).DialContext(bounded, d.target.network, d.target.address)
	if err != nil {
		return nil, connectError(ctx, errors.Join(bounded.Err(), err))
	}
	stop := context.AfterFunc(bounded, func() { sever(nc) })
	h := &handshake{raw: nc, conn: nc, target: d.target}
	if end, ok := bounded.Deadline(); ok {
		err = nc.SetDeadline(end)
	}
	if err == nil {
		err = h.greeting()
	}
	if err == nil {
		err = d.authenticate(h)
	}
	if !stop() && err == nil {
		err = bounded.Err()
	}
	if err == nil {
		err = h.conn.SetDeadline(time.Time{})
	}
	if err != nil {
		sever(nc)
		return nil, connectError(ctx, errors.Join(bounded.Err(), err))
	}
	c := &conn{
		wire: wire.New(h.conn, h.extended), dialer: d, id: h.id,
		flavour: flavourOf(h.version),
	}
	if t, ok := h.conn.(*tls.Conn); ok {
		c.tls = tls.VersionName(t.ConnectionState().Version)
	}
	return c, nil
}

// authenticate lets the driver log in on h, and takes the connection from it.
// The driver gets a context that never ends. With one that can end, the driver
// starts a goroutine that closes h when it does, even after the connection was
// taken. The caller cuts the network instead, which ends every read and write.
func (d *dialer) authenticate(h *handshake) error {
	conf := mysql.NewConfig()
	conf.User, conf.Passwd, conf.DBName = d.target.user, d.target.password.Reveal(), d.target.database
	conf.ConnectionAttributes = "program_name:" + d.target.program
	conf.Logger = &mysql.NopLogger{}
	conf.Net, conf.Addr = "tcp", "server"
	if h.secure() {
		// What the driver may do on a socket of this machine it may do where
		// TLS is below it: send the password to a server that asks for it.
		conf.Net = "unix"
	}
	conf.DialFunc = func(context.Context, string, string) (net.Conn, error) { return h, nil }
	connector, err := mysql.NewConnector(conf)
	if err != nil {
		return fmt.Errorf("configure the driver: %w", err)
	}
	driver, err := connector.Connect(context.Background())
	if h.failed != nil {
		// The driver's own words for it say less.
		err = h.failed
	}
	if err != nil {
		return err
	}
	h.detached = true
	return driver.Close() // ends its own bookkeeping
}

// flavour is which of the servers that speak the protocol a server is.
type flavour string

// The flavours, in the words of the guard's catalogue.
const (
	mariadb flavour = "mariadb"
	mysqld  flavour = "mysql"
)

var errNoTLS = errors.New("the server does not offer TLS")

// sever cuts a connection to wake whoever uses it.
func sever(nc net.Conn) {
	_ = nc.SetDeadline(time.Unix(1, 0))
	_ = nc.Close()
}
