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
	// relative is the relative of MySQL or MariaDB that the configuration names.
	relative string
}

// dial connects and finds out the server's product and version.
func (d *dialer) dial(ctx context.Context) (*conn, error) {
	c, err := d.connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := c.setUp(ctx); err != nil {
		c.Destroy()
		return nil, err
	}
	return c, nil
}

// connect makes an authenticated connection. The driver logs in. Capabilities
// that this package does not want are removed from the server's offer before
// the driver sees it. At is the server's address; nil means the target's.
func (d *dialer) connect(ctx context.Context, at net.Addr) (*conn, error) {
	bounded, cancel := context.WithTimeout(ctx, d.target.connectTimeout)
	defer cancel()
	network, address := d.target.network, d.target.address
	if at != nil {
		network, address = at.Network(), at.String()
	}
	nc, err := (&net.Dialer{}).DialContext(bounded, network, address)
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
		wire: wire.New(h.conn, h.extended), dialer: d, id: h.id, at: nc.RemoteAddr(),
		flavour: flavourOf(h.version),
	}
	if t, ok := h.conn.(*tls.Conn); ok {
		c.tls = tls.VersionName(t.ConnectionState().Version)
	}
	return c, nil
}

// authenticate lets the driver log in on h, and takes the connection from it.
// The driver gets a context that never ends. With a context that can end, the
// driver starts a goroutine that closes h when it ends, even after the
// connection was taken. The caller cuts the network instead, which ends every
// read and write.
func (d *dialer) authenticate(h *handshake) error {
	conf := mysql.NewConfig()
	conf.User, conf.Passwd, conf.DBName = d.target.user, d.target.password.Reveal(), d.target.database
	conf.ConnectionAttributes = "program_name:" + d.target.program
	conf.Logger = &mysql.NopLogger{}
	conf.Net, conf.Addr = "tcp", "server"
	if h.secure() {
		// The driver treats the connection as a Unix socket, because TLS is
		// handled below it. It may then send the password to a server that asks
		// for it in plain text.
		conf.Net = "unix"
	}
	conf.DialFunc = func(context.Context, string, string) (net.Conn, error) { return h, nil }
	connector, err := mysql.NewConnector(conf)
	if err != nil {
		return fmt.Errorf("configure the driver: %w", err)
	}
	driver, err := connector.Connect(context.Background())
	if h.failed != nil {
		// The driver's own error says less.
		err = h.failed
	}
	if err != nil {
		return err
	}
	h.detached = true
	return driver.Close() // ends its own bookkeeping
}

// flavour names one of the server products that speak the protocol.
type flavour string

// The flavours, named as in the guard's catalogue.
const (
	mariadb flavour = "mariadb"
	mysqld  flavour = "mysql"
	tidb    flavour = "tidb"
)

// product returns the product as the guard's catalogue names it.
func (f flavour) product() string {
	if f == tidb {
		f = mysqld
	}
	return string(f)
}

var errNoTLS = errors.New("the server does not offer TLS")

// sever cuts a connection to wake whoever uses it.
func sever(nc net.Conn) {
	_ = nc.SetDeadline(time.Unix(1, 0))
	_ = nc.Close()
}
