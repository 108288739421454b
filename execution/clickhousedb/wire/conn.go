// Package wire sends statements to the HTTP interface of ClickHouse: one request after the
// other on one connection. It never sends a request twice, follows no redirect, and knows
// nothing of rows.
package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// maxHeader bounds the header of an answer.
const maxHeader = 1 << 20

// What an answer can be at fault with.
var (
	ErrHeader  = errors.New("the header of the answer is too long")
	ErrNoEnd   = errors.New("the answer does not say where it ends")
	ErrNotHTTP = errors.New("the answer is not one of HTTP/1.1")
)

// Options say how to reach a server.
type Options struct {
	Address, Host  string // Host is what the header of that name has
	User, Password string
	TLS            *tls.Config // nil means plain text
	Timeout        time.Duration
}

// Conn is one connection to the HTTP interface. One goroutine at a time uses it. Other
// goroutines may only close it.
//
// net/http's client is not used: it sends a request again when it believes that the
// server has not seen it, follows redirects, and does not say on which connection a
// request is.
type Conn struct {
	net     net.Conn
	options *Options
	r       *bufio.Reader
	arrived atomic.Int64 // bytes
	room    int64        // bytes that may arrive before the body
	body    bool
	spent   bool // the server closes the connection after its answer
}

// Dial connects. It sends nothing but the handshake of TLS.
func Dial(ctx context.Context, o *Options) (*Conn, error) {
	within, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	dialer := net.Dialer{KeepAlive: 30 * time.Second}
	nc, err := dialer.DialContext(within, "tcp", o.Address)
	if err != nil {
		return nil, err
	}
	if o.TLS != nil {
		secured := tls.Client(nc, o.TLS)
		if err := secured.HandshakeContext(within); err != nil {
			_ = nc.Close()
			return nil, err
		}
		nc = secured
	}
	c := &Conn{net: nc, options: o}
	c.r = bufio.NewReaderSize((*counted)(c), 64<<10)
	return c, nil
}

// counted reads a connection and counts.
type counted Conn

func (c *counted) Read(p []byte) (int, error) {
	if !c.body {
		if c.room <= 0 {
			return 0, ErrHeader
		}
		p = p[:min(int64(len(p)), c.room)]
	}
	n, err := c.net.Read(p)
	c.arrived.Add(int64(n))
	c.room -= int64(n)
	return n, err
}

// Send sends a statement with the parameters of a request and returns the answer, whose
// body is not read yet.
func (c *Conn) Send(params url.Values, sql string) (*http.Response, error) {
	req := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: "/", RawQuery: params.Encode()}, Host: c.options.Host,
		Header: http.Header{
			"X-Clickhouse-User": {c.options.User}, "User-Agent": {"ktx"}, "Content-Type": {"text/plain; charset=utf-8"},
		},
		Body: io.NopCloser(strings.NewReader(sql)), ContentLength: int64(len(sql)),
	}
	if c.options.Password != "" {
		req.Header["X-Clickhouse-Key"] = []string{c.options.Password}
	}
	c.body, c.room = false, maxHeader
	if err := req.Write(c.net); err != nil {
		return nil, err
	}
	for {
		resp, err := http.ReadResponse(c.r, req)
		switch {
		case err != nil && (errors.Is(err, ErrHeader) || strings.HasPrefix(err.Error(), "malformed")):
			return nil, errors.Join(ErrNotHTTP, err)
		case err != nil:
			return nil, err
		case resp.StatusCode < http.StatusOK: // a provisional answer
			continue
		}
		c.body, c.spent = true, resp.Close
		if resp.ContentLength < 0 && !slices.Contains(resp.TransferEncoding, "chunked") {
			return nil, ErrNoEnd
		}
		return resp, nil
	}
}

// Arrived returns how many bytes came from the server.
func (c *Conn) Arrived() int64 { return c.arrived.Load() }

// Spent reports whether the server closes the connection after its last answer, or sent
// more than that.
func (c *Conn) Spent() bool { return c.spent || c.r.Buffered() > 0 }

// Net returns the connection below.
func (c *Conn) Net() net.Conn { return c.net }

// Close closes the connection at once, also while it is used.
func (c *Conn) Close() { _ = c.net.Close() }
