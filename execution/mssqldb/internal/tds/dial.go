package tds

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// Options say how to connect and who logs in.
type Options struct {
	Host        string
	Port        int
	User        string // a SQL Server login, not a Windows login
	Password    string
	Database    string
	Application string
	// PacketSize is the packet size that the client requests; 0 means 4,096.
	PacketSize int
	// TLS returns the transport to a host. Dial calls it again for each host to
	// which the server redirects the connection.
	TLS func(host string) Transport
}

// Transport is how a connection is protected.
type Transport struct {
	// Config is the TLS configuration; nil means no TLS.
	Config *tls.Config
	// Strict selects TDS 8.0, in which TLS begins before anything else.
	Strict bool
	// Verified says that Config verifies the server's certificate.
	Verified bool
}

// Errors of a connection that could not be made.
var (
	ErrNoTLS   = errors.New("the server does not offer TLS")
	ErrNeedTLS = errors.New("the server wants TLS, which the connection switches off")
	// ErrTLS wraps an error from setting up TLS.
	ErrTLS = errors.New("transport security failed")
	// ErrRouted is the error for a server that redirects the connection too
	// often.
	ErrRouted = errors.New("the server sent the connection on too often")
)

// LoginError holds the server's messages when it refused a login.
type LoginError struct{ Messages []Message }

// Error returns the last message.
func (e *LoginError) Error() string { return e.Messages[len(e.Messages)-1].Text }

// maxRoutes bounds how often Dial connects for one connection, redirections
// included.
const maxRoutes = 3

// Dial connects and logs in with ApplicationIntent=ReadOnly. When ctx ends, it
// cuts the connection.
func Dial(ctx context.Context, o Options) (c *Conn, err error) {
	d := &dialer{o: o}
	defer func() {
		if r := recover(); r != nil { // a panic of the driver
			d.stop()
			d.drop()
			c, err = nil, malformed("%v", r)
		}
	}()
	size := o.PacketSize
	if size == 0 {
		size = defaultPacketSize
	}
	connector := mssql.NewConnectorConfig(msdsn.Config{
		Host: o.Host, Port: uint64(o.Port), User: o.User, Password: o.Password, Database: o.Database, AppName: o.Application, //nolint:gosec // a port
		ReadOnlyIntent: true, DisableRetry: true,
		// The driver reads and writes inside of TLS, so it must not set up TLS
		// itself.
		Encryption: msdsn.EncryptionDisabled,
		Protocols:  []string{"tcp"}, Parameters: map[string]string{}, ProtocolParameters: map[string]any{},
		PacketSize: uint16(size), DialTimeout: -1,
		Workstation: workstation(), Encoding: msdsn.EncodeParameters{Timezone: time.UTC},
	})
	connector.Dialer = d
	_, err = connector.Connect(ctx)
	d.stop()
	answer, failed := d.outcome()
	switch {
	case err == nil && failed == nil && answer.acknowledged:
		return d.login.conn(answer)
	case failed != nil:
		err = failed
	case len(answer.errors) > 0:
		err = &LoginError{answer.errors}
	case err == nil:
		err = malformed("the login was not acknowledged")
	}
	d.drop()
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return nil, err
}

func workstation() string {
	name, err := os.Hostname()
	if err != nil {
		return "ktx"
	}
	return name
}

// dialer makes the connections on which the driver logs in. It keeps the last
// one.
type dialer struct {
	o      Options
	login  *login
	dials  int
	unhook func() bool

	mu     sync.Mutex  // the driver reads in a goroutine of its own, which may outlive the login
	err    error       // the first error of this package, which the driver may have hidden
	answer loginAnswer // the answer to the last login
}

// fail keeps the first error.
func (d *dialer) fail(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil && d.err == nil {
		d.err = err
	}
	return err
}

// outcome returns the result of the login so far.
func (d *dialer) outcome() (loginAnswer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answer, d.err
}

// HostName makes the driver leave the resolution of names to the dialer. So the
// dialer knows the name that the certificate must have.
func (d *dialer) HostName() string { return d.o.Host }

// keepAlive finds a connection without a peer within about half a minute, so that a
// statement whose end the client waits for does not keep its place for longer.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// DialContext connects to a host and port.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.stop()
	if d.dials++; d.dials > maxRoutes {
		return nil, d.fail(ErrRouted)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	nd := net.Dialer{KeepAliveConfig: keepAlive}
	nc, err := nd.DialContext(ctx, network, address)
	if err != nil {
		return nil, d.fail(err)
	}
	l := &login{d: d, nc: nc, wire: nc, way: d.o.TLS(host), in: newPackets(nc)}
	d.login = l
	d.unhook = context.AfterFunc(ctx, l.sever)
	if l.way.Strict {
		if err := l.strict(ctx); err != nil {
			_ = l.Close()
			return nil, d.fail(fmt.Errorf("%w: %w", ErrTLS, err))
		}
	}
	return l, nil
}

// drop closes the last connection after an error.
func (d *dialer) drop() {
	if d.login != nil {
		_ = d.login.Close()
	}
}

// stop detaches the connection from the context in which it was made.
func (d *dialer) stop() {
	if d.unhook != nil {
		d.unhook()
		d.unhook = nil
	}
}
