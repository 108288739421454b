package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An exchange is what is kept of one request and its answer: the SDK decodes answers,
// which rounds numbers and drops what it does not know.
type exchange struct {
	limit int64       // of the answer, in bytes
	sent  atomic.Bool // a part of the request may have reached the server

	over atomic.Bool // the answer by HTTP is too large

	mu     sync.Mutex
	result json.RawMessage
	body   *capped // of an answer by HTTP
}

type exchangeKey struct{}

// withExchange returns a context that the transports know the exchange by. They keep
// no answer that is longer than the limit.
func withExchange(ctx context.Context, limit int64) (context.Context, *exchange) {
	x := &exchange{limit: limit}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

func exchangeFrom(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// raw returns the result as the server sent it, or nil.
func (x *exchange) raw() json.RawMessage {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.result == nil && x.body != nil {
		x.result = resultIn(x.body.bytes())
	}
	return x.result
}

// writeTime is how long a server may take to read a message.
const writeTime = 10 * time.Second

// pipes is the transport to a process.
type pipes struct {
	process  *process
	progress func(params json.RawMessage) // see [keeper]
}

// Connect implements [mcp.Transport].
func (t *pipes) Connect(ctx context.Context) (mcp.Connection, error) {
	k := keeping(nil, t.process, t.progress)
	inner, err := (&mcp.IOTransport{
		Reader: newLines(t.process.stdout, k), Writer: impatient{t.process.stdin}, MaxLineLength: -1,
	}).Connect(ctx)
	k.Connection = inner
	return k, err
}

// events is the transport of HTTP with server-sent events, whose answers come with other
// messages than the requests.
type events struct {
	mcp.SSEClientTransport

	conn     **keeper
	progress func(params json.RawMessage) // see [keeper]
}

// Connect implements [mcp.Transport].
func (t *events) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := t.SSEClientTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	*t.conn = keeping(inner, nil, t.progress)
	return *t.conn, nil
}

// impatient is a file whose reader must not keep writers waiting for long.
type impatient struct{ *os.File }

// Write implements [io.Writer].
func (f impatient) Write(b []byte) (int, error) {
	if err := f.SetWriteDeadline(time.Now().Add(writeTime)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		return 0, err
	}
	return f.File.Write(b)
}

// keeper is a connection that keeps the results of exchanges.
type keeper struct {
	mcp.Connection

	process *process // nil for a server by HTTP
	// progress takes notifications of progress before the answers that come after them,
	// which the SDK may overtake.
	progress func(params json.RawMessage)
	unasked  *budget
	tooLong  *budget // of lines

	mu       sync.Mutex
	open     map[jsonrpc.ID]*exchange
	skipping chan struct{} // closed at the end of a line that is too long; nil when there is none
}

func keeping(inner mcp.Connection, p *process, progress func(json.RawMessage)) *keeper {
	k := &keeper{Connection: inner, process: p, progress: progress, open: map[jsonrpc.ID]*exchange{}}
	var spent func()
	if p != nil {
		spent = p.demote
	}
	k.unasked, k.tooLong = newBudget(paceUnasked, spent), newBudget(paceTooLong, spent)
	return k
}

// minMessage is the least limit of one message of a server, in bytes.
const minMessage = 1 << 20

// limit returns how long a message may be.
func (c *keeper) limit() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := int64(minMessage)
	for _, x := range c.open {
		limit = max(limit, x.limit)
	}
	return int(limit)
}

// skip counts bytes of a line that is too long.
func (c *keeper) skip(n int) {
	c.mu.Lock()
	if c.skipping == nil {
		c.skipping = make(chan struct{})
	}
	c.mu.Unlock()
	c.tooLong.take(c.process.alive, n)
}

// skipped is called at the end of a line that is too long.
func (c *keeper) skipped() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.skipping != nil {
		close(c.skipping)
		c.skipping = nil
	}
}

// ready waits while an answer that is too long comes: the server would be asked for more
// than it can say.
func (c *keeper) ready(ctx context.Context) error {
	c.mu.Lock()
	skipping := c.skipping
	c.mu.Unlock()
	if skipping == nil {
		return nil
	}
	select {
	case <-skipping:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// junk takes a line of a process that is not JSON.
func (c *keeper) junk(line []byte) {
	c.process.stderr.add(append(bytes.Clone(line[:min(len(line), maxMessage)]), '\n'))
	c.unasked.take(c.process.alive, len(line))
}

// Write implements [mcp.Connection].
func (c *keeper) Write(ctx context.Context, m jsonrpc.Message) error {
	x := exchangeFrom(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && x != nil && ctx.Err() == nil {
		c.mu.Lock()
		c.open[r.ID] = x
		c.mu.Unlock()
		x.sent.Store(true)
		err := c.Connection.Write(ctx, m)
		if err != nil {
			x.sent.Store(false) // a line without its end is no request
		}
		return err
	}
	return c.Connection.Write(ctx, m)
}

// Read implements [mcp.Connection].
func (c *keeper) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		return m, err
	}
	switch m := m.(type) {
	case *jsonrpc.Request:
		c.unasked.take(ctx, len(m.Params))
		if m.Method == "notifications/progress" {
			c.progress(m.Params)
		}
	case *jsonrpc.Response:
		c.mu.Lock()
		x := c.open[m.ID]
		delete(c.open, m.ID)
		c.mu.Unlock()
		if x == nil {
			c.unasked.take(ctx, len(m.Result))
			break
		}
		x.mu.Lock()
		x.result = m.Result
		x.mu.Unlock()
	}
	return m, nil
}

// forget drops the exchange of a call that nobody waits for.
func (c *keeper) forget(x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, other := range c.open {
		if other == x {
			delete(c.open, id)
		}
	}
}

// Close implements [mcp.Connection]. It ends the process, if there is one.
func (c *keeper) Close() error {
	if c.process != nil {
		c.process.stop()
	}
	return c.Connection.Close()
}

// courier sends HTTP requests to one server: it adds the configured headers, bounds what
// comes back, and keeps the answers of exchanges.
type courier struct {
	base    http.RoundTripper
	headers http.Header
	limit   int64   // of a message that is not the answer to an exchange
	unasked *budget // nil if the answers come on a stream with other messages
	scheme  string  // of the configured address, as is host
	host    string
	status  atomic.Int32          // of the last answer
	login   *bearer               // nil without one
	problem atomic.Pointer[Error] // why no request can be sent
	over    atomic.Bool           // a stream that is not the answer to one request had too large a message
}

// errElsewhere refuses a request to another host: it would get the headers.
var errElsewhere = errors.New("the server points to another host")

// RoundTrip implements [http.RoundTripper].
func (c *courier) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != c.scheme || req.URL.Host != c.host {
		return nil, errElsewhere
	}
	x := exchangeFrom(req.Context())
	req = req.Clone(req.Context())
	maps.Copy(req.Header, c.headers)
	if x != nil && req.Method == http.MethodPost {
		x.sent.Store(true)
	}
	res, err := c.authorized(req)
	if err != nil {
		if x != nil && req.Method == http.MethodPost && notSent(err) {
			x.sent.Store(false)
		}
		return nil, err
	}
	c.status.Store(int32(res.StatusCode)) //nolint:gosec // three digits
	body := &capped{ReadCloser: res.Body, limit: c.limit, over: &c.over, stream: strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")}
	if body.stream && c.unasked != nil {
		body.unasked = func(n int) { c.unasked.take(req.Context(), n) }
	}
	if x != nil && req.Method == http.MethodPost {
		body.keep, body.over, body.limit, body.free = true, &x.over, x.limit, x.limit
		x.mu.Lock()
		x.body = body
		x.mu.Unlock()
	}
	res.Body = body
	return res, nil
}

// notSent reports whether a request that failed did not leave this machine.
func notSent(err error) bool {
	var dial interface{ Timeout() bool }
	return errors.As(err, &dial) && strings.Contains(err.Error(), "dial ")
}

// errTooLarge ends an answer by HTTP that is longer than the limit.
var errTooLarge = errors.New("the answer is too large")

// capped bounds a body: the whole of it, or an event of a stream of events.
type capped struct {
	io.ReadCloser

	limit  int64
	stream bool
	keep   bool
	over   *atomic.Bool // set when the body is too large

	unasked func(n int) // counts bytes of a stream, but for the first ones; it may be nil
	free    int64       // how many those are

	mu   sync.Mutex
	n    int64
	last byte
	kept bytes.Buffer
}

// Read implements [io.Reader].
func (c *capped) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	events := 0
	if c.unasked != nil {
		defer func() {
			if c.free -= int64(n + events*leastItem); c.free < 0 {
				c.unasked(n + events*leastItem)
			}
		}()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range b[:n] {
		if c.n++; c.stream && ch == '\n' && c.last == '\n' {
			c.n = 0 // the end of an event
			events++
		}
		if ch != '\r' {
			c.last = ch
		}
	}
	if c.n > c.limit {
		c.kept.Reset()
		c.keep = false
		c.over.Store(true)
		return 0, errTooLarge
	}
	if c.keep && n > 0 {
		c.kept.Write(b[:n])
		if int64(c.kept.Len()) > 2*c.limit { // events before the answer
			c.kept.Reset()
			c.keep = false
		}
	}
	return n, err
}

func (c *capped) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.kept.Bytes())
}

// resultIn returns the result of the answer in a body: one message, or events with one
// message each.
func resultIn(body []byte) json.RawMessage {
	var last json.RawMessage
	take := func(text []byte) {
		var m struct {
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal(text, &m) == nil && m.Method == "" && m.Result != nil {
			last = m.Result
		}
	}
	if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '{' {
		take(text)
		return last
	}
	var data []byte
	for line := range bytes.Lines(append(body, '\n', '\n')) {
		line = bytes.TrimRight(line, "\r\n")
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(rest, []byte(" "))...), '\n')
		}
		if len(line) == 0 && len(data) > 0 {
			take(data)
			data = nil
		}
	}
	return last
}
