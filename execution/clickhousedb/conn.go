package clickhousedb

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

	"github.com/ktxhq/ktx/execution/internal/network"
)

// maxHeader bounds the header of an answer.
const maxHeader = 1 << 20

var (
	errHeader  = errors.New("the header of the answer is too long")
	errNoEnd   = errors.New("the answer does not say where it ends")
	errNotHTTP = errors.New("the answer is not one of HTTP/1.1")
)

// conn is one connection to the HTTP interface. One goroutine at a time uses it. Other
// goroutines may only close it.
//
// net/http's client is not used: it sends a request again when it believes that the
// server has not seen it, follows redirects, and does not say on which connection a
// request is.
type conn struct {
	net     net.Conn
	target  *target
	r       *bufio.Reader
	arrived atomic.Int64 // bytes
	room    int64        // bytes that may arrive before the body
	body    bool
	spent   bool // the server closes the connection after its answer
}

// dial connects. It sends nothing but the handshake of TLS.
func (t *target) dial(ctx context.Context) (*conn, error) {
	within, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	dialer := net.Dialer{KeepAlive: 30 * time.Second}
	nc, err := dialer.DialContext(within, "tcp", t.address)
	if err != nil {
		return nil, faults.Unconnected(ctx, err)
	}
	if t.tls != nil {
		secured := tls.Client(nc, t.tls)
		if err := secured.HandshakeContext(within); err != nil {
			_ = nc.Close()
			return nil, faults.Unconnected(ctx, err)
		}
		nc = secured
	}
	c := &conn{net: nc, target: t}
	c.r = bufio.NewReaderSize((*counted)(c), 64<<10)
	return c, nil
}

// counted reads a connection and counts.
type counted conn

func (c *counted) Read(p []byte) (int, error) {
	if !c.body {
		if c.room <= 0 {
			return 0, errHeader
		}
		p = p[:min(int64(len(p)), c.room)]
	}
	n, err := c.net.Read(p)
	c.arrived.Add(int64(n))
	c.room -= int64(n)
	return n, err
}

// post sends a statement with the parameters of a request and returns the answer, whose
// body is not read yet.
func (c *conn) post(params url.Values, sql string) (*http.Response, error) {
	req := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: "/", RawQuery: params.Encode()}, Host: c.target.host,
		Header: http.Header{
			"X-Clickhouse-User": {c.target.user}, "User-Agent": {"ktx"}, "Content-Type": {"text/plain; charset=utf-8"},
		},
		Body: io.NopCloser(strings.NewReader(sql)), ContentLength: int64(len(sql)),
	}
	if c.target.password != "" {
		req.Header["X-Clickhouse-Key"] = []string{c.target.password}
	}
	c.body, c.room = false, maxHeader
	if err := req.Write(c.net); err != nil {
		return nil, err
	}
	for {
		resp, err := http.ReadResponse(c.r, req) //nolint:bodyclose // the caller reads the body to its end, or closes the connection
		switch {
		case err != nil && (errors.Is(err, errHeader) || strings.HasPrefix(err.Error(), "malformed")):
			return nil, errors.Join(errNotHTTP, err)
		case err != nil:
			return nil, err
		case resp.StatusCode < http.StatusOK: // a provisional answer
			continue
		}
		c.body, c.spent = true, resp.Close
		if resp.ContentLength < 0 && !slices.Contains(resp.TransferEncoding, "chunked") {
			return nil, errNoEnd
		}
		return resp, nil
	}
}

// Ready reports whether a connection that was idle can be used.
func (c *conn) Ready(context.Context) bool {
	if c.spent || c.r.Buffered() > 0 {
		return false
	}
	alive, waiting := network.Peek(c.net)
	return alive && !waiting
}

// Destroy closes the connection at once.
func (c *conn) Destroy() { _ = c.net.Close() }

// Bye closes an idle connection.
func (c *conn) Bye() { _ = c.net.Close() }
