// Package stdio carries MCP over standard input and output, one JSON-RPC
// message a line.
//
// Its transport takes the place of the SDK's. It reads each message once. It
// answers a line that is not JSON, or not a JSON-RPC 2.0 message, with an error
// (-32700 or -32600), and the session goes on; the SDK's transport would end the
// session and cancel all running calls. An ID comes back as the client wrote it,
// and a request that the client cancelled gets no answer.
//
// Once a client is known, plain calls of tools do not go through the SDK, see
// [Transport.Serve].
//
// When the input ends, requests that were read just before get a short time to be
// answered, so that a client may write its requests and close its end. Calls that
// still run then are cancelled.
//
// The package does not interpret messages beyond that.
package stdio

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/rpc"
	"github.com/ktxhq/ktx/execution/alarm"
)

// The methods that the transport knows.
const (
	methodInitialize = "initialize"
	methodCancelled  = "notifications/cancelled"
	methodProgress   = "notifications/progress"
)

// maxLine bounds one message, in bytes. A longer line is answered with -32600 and
// skipped.
const maxLine = 16 << 20

// grace is how long a session waits for answers when the input ends, counted from
// the last request. It is short because the input also ends when the client is gone.
// When the last request is older than that, running calls are cancelled at once.
const grace = 150 * time.Millisecond

// The TypeScript SDK hands notifications to their handlers after all messages of one
// read, and drops the handlers when it reads the answer. So progress notifications
// that it reads together with the answer are lost there.
const (
	// noticeGap is the time between the last progress notification and an answer
	// where nobody knows whether the client has read the notification.
	noticeGap = 3 * time.Millisecond
	// noticeLimit is how long an answer waits for a client that has not read it. The
	// client could not read the answer earlier, which stands behind it.
	noticeLimit = 2 * time.Second
)

// Transport is an MCP transport over standard input and output. It serves one
// session.
type Transport struct {
	in   io.Reader
	open *counter // requests without an answer

	incoming chan jsonrpc.Message
	stop     chan struct{} // closed by Stop: no further message is read
	closed   chan struct{} // closed by Close
	stopping sync.Once
	closing  sync.Once
	readErr  error // why incoming was closed; set before

	late rpc.Late // contents of answers that are not written yet

	writing sync.Mutex // held while a message is written, for as long as the client does not read
	out     io.Writer

	tools rpc.Tools       // nil: every call goes through the SDK
	base  context.Context //nolint:containedctx // that of every call of tools

	mu      sync.Mutex
	pending map[jsonrpc.ID]*request // requests without an answer
	notice  time.Time               // when the last progress notification was written
	client  context.Context         //nolint:containedctx // base for the client; nil while it is not known
	ending  bool                    // no call begins outside of the SDK
	broken  error                   // of a write
	calls   sync.WaitGroup          // the calls that run outside of the SDK
	workers *rpc.Workers            // run them
	alarm   alarm.Clock             // of calls that the reading goroutine answers
}

// call is a call that runs outside of the SDK.
type call struct {
	ctx    context.Context //nolint:containedctx // of this call
	cancel context.CancelFunc
	id     jsonrpc.ID
	tool   rpc.ToolCall
}

// request is a request without an answer.
type request struct {
	cancelled bool
	cancel    context.CancelFunc // nil for a request that the SDK has
}

var (
	_ mcp.Transport  = (*Transport)(nil)
	_ mcp.Connection = (*Transport)(nil)
)

// New returns a transport over in and out. It reads from in as soon as a session
// uses it.
func New(in io.Reader, out io.Writer) *Transport {
	return &Transport{
		in: polled(in), out: out, open: newCounter(), pending: map[jsonrpc.ID]*request{},
		incoming: make(chan jsonrpc.Message), workers: rpc.NewWorkers(), stop: make(chan struct{}), closed: make(chan struct{}),
	}
}

// Connect implements [mcp.Transport].
func (t *Transport) Connect(context.Context) (mcp.Connection, error) {
	go t.readAll(&input{lines: bufio.NewReaderSize(t.in, 64<<10)})
	return t, nil
}

// Serve makes the transport answer plain calls of tools in ctx, without the SDK, from
// the time when the client is known. Call it before Connect.
func (t *Transport) Serve(ctx context.Context, tools rpc.Tools) { t.base, t.tools = ctx, tools }

// Middleware returns what the server of the transport must have as its last receiving
// middleware: it keeps large contents of answers out of the SDK, and learns who the
// client is.
func (t *Transport) Middleware() mcp.Middleware {
	late := rpc.Middleware(func(mcp.Request) *rpc.Late { return &t.late })
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		next = late(next)
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if params, ok := req.GetParams().(*mcp.InitializeParams); ok && err == nil && method == methodInitialize && t.tools != nil {
				client := t.tools.For(t.base, params.ClientInfo)
				t.mu.Lock()
				t.client = client
				t.mu.Unlock()
			}
			return res, err
		}
	}
}

// Wait returns when every request that was read is answered, or after limit.
func (t *Transport) Wait(limit time.Duration) { t.open.wait(limit) }

// Stop ends the session once every request that was read is answered, or after
// limit. Calls that still run are then cancelled.
func (t *Transport) Stop(limit time.Duration) {
	t.open.wait(limit)
	t.stopping.Do(func() { close(t.stop) })
}

// SessionID implements [mcp.Connection]. There is one session.
func (*Transport) SessionID() string { return "" }

// Read implements [mcp.Connection].
func (t *Transport) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.closed:
		return nil, t.end(io.EOF)
	case <-t.stop:
		return nil, t.end(io.EOF)
	case msg, ok := <-t.incoming:
		if !ok {
			return nil, t.end(t.readErr)
		}
		return msg, nil
	}
}

// end cancels the calls outside of the SDK, and returns when none of them runs. It
// returns why the session ends.
func (t *Transport) end(why error) error {
	t.mu.Lock()
	t.ending = true
	for _, r := range t.pending {
		if r.cancel != nil {
			r.cancelled = true // nobody may be there to read the answer
			r.cancel()
		}
	}
	t.mu.Unlock()
	t.calls.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(t.broken, why)
}

// Close implements [mcp.Connection]. Standard output stays open, because it belongs
// to the process.
func (t *Transport) Close() error {
	t.closing.Do(func() { close(t.closed) })
	return nil
}

// Write implements [mcp.Connection].
func (t *Transport) Write(_ context.Context, msg jsonrpc.Message) error {
	r, answers := msg.(*jsonrpc.Response)
	if answers {
		defer t.open.add(-1)
	}
	cancelled := answers && t.settle(r.ID)
	line, err := rpc.Encode(msg)
	if err != nil {
		return err
	}
	text := t.late.Message(line)
	switch {
	case cancelled:
		return nil
	case answers:
		t.pause()
	}
	err = t.write(text)
	if r, ok := msg.(*jsonrpc.Request); ok && r.Method == methodProgress {
		t.mu.Lock()
		t.notice = time.Now()
		t.mu.Unlock()
	}
	return err
}

// settle ends a request, and reports whether the client had cancelled it.
func (t *Transport) settle(id jsonrpc.ID) (cancelled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.pending[id]
	delete(t.pending, id)
	return r != nil && r.cancelled
}

// take returns the call that answers a request without the SDK, or nil.
func (t *Transport) take(r *jsonrpc.Request) *call {
	if t.tools == nil {
		return nil
	}
	tool, ok := rpc.PlainCall(r.Method, r.Params)
	if !ok || !t.tools.Has(tool.Name) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	waits := t.pending[r.ID]
	if t.client == nil || t.ending || waits == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(t.client)
	waits.cancel = cancel
	t.calls.Add(1)
	return &call{ctx, cancel, r.ID, tool}
}

// handOver is how long the goroutine that reads may answer a call.
const handOver = time.Millisecond

// run answers a call, and reports whether the caller goes on to read. When nothing else is
// to be read or answered, the caller's goroutine answers it, because waking another one
// takes longer than many calls. If the call takes longer than handOver, another goroutine
// goes on to read meanwhile.
func (t *Transport) run(c *call, in *input, last bool) (reads bool) {
	if !last || in.lines.Buffered() > 0 || t.open.count() > 1 {
		t.workers.Go(func() { t.answer(c) })
		return true
	}
	var decided atomic.Bool // who reads
	stop := t.alarm.After(handOver, func() {
		if decided.CompareAndSwap(false, true) {
			t.readAll(in)
		}
	})
	t.answer(c)
	stop()
	return decided.CompareAndSwap(false, true)
}

// answer calls a tool and writes the answer.
func (t *Transport) answer(c *call) {
	defer t.open.add(-1)
	var progress func(float64, string)
	if c.tool.Token != nil {
		progress = func(progress float64, message string) {
			params, err := rpc.Compact(&mcp.ProgressNotificationParams{ProgressToken: c.tool.Token, Progress: progress, Message: message})
			if err == nil && c.ctx.Err() == nil {
				_ = t.Write(c.ctx, &jsonrpc.Request{Method: methodProgress, Params: params})
			}
		}
	}
	res := t.tools.Call(c.ctx, c.tool.Name, c.tool.Arguments, progress)
	c.cancel()
	t.calls.Done() // the end of the session need not wait for a client that does not read
	text := rpc.AnswerTo(c.id, res)
	if t.settle(c.id) {
		return
	}
	t.pause()
	if err := t.write(text); err != nil {
		t.mu.Lock()
		t.broken = cmp.Or(t.broken, err)
		t.mu.Unlock()
		_ = t.Close()
	}
}

// pause waits until a client has read the last progress notification, or has had time
// to read it.
func (t *Transport) pause() {
	t.mu.Lock()
	written := t.notice
	t.mu.Unlock()
	if written.IsZero() {
		return
	}
	for wait := 20 * time.Microsecond; time.Since(written) < noticeLimit; wait = min(2*wait, time.Millisecond) {
		n, known := unread(t.out)
		if !known {
			time.Sleep(noticeGap - time.Since(written))
			return
		}
		if n == 0 {
			return
		}
		time.Sleep(wait)
	}
}

func (t *Transport) write(m rpc.Message) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	_, err := m.WriteTo(t.out)
	return err
}

// input is what one goroutine at a time reads.
type input struct {
	lines *bufio.Reader
	last  time.Time // when the last request was read
}

// readAll reads lines until the input or the session ends, or another goroutine goes on.
func (t *Transport) readAll(in *input) {
	for {
		more, err := t.readNext(in)
		if err != nil {
			t.readErr = err
			t.workers.Close()
			close(t.incoming)
			return
		}
		if !more {
			return
		}
	}
}

// readNext reads a line. It reports whether the caller goes on to read, unless the input
// or the session has ended.
func (t *Transport) readNext(in *input) (more bool, err error) {
	line, tooLong, err := readLine(in.lines)
	list, problem := rpc.Texts(line)
	if tooLong {
		problem = rpc.ProtocolError(jsonrpc.CodeInvalidRequest, "Invalid Request: the message is longer than 16 MiB")
	}
	if problem != nil {
		_ = t.write(rpc.Text(problem))
	}
	for i, text := range list {
		msg, wrong := rpc.Decode(text)
		if wrong != nil {
			_ = t.write(rpc.Text(rpc.NotAMessage()))
			continue
		}
		if r, ok := msg.(*jsonrpc.Request); ok {
			if r.IsCall() {
				in.last = time.Now()
				if !t.note(r) {
					_ = t.write(rpc.Text(rpc.ProtocolError(jsonrpc.CodeInvalidRequest, "Invalid Request: a request with this ID is not answered yet")))
					continue
				}
				if c := t.take(r); c != nil {
					if !t.run(c, in, err == nil && i == len(list)-1) {
						return false, nil
					}
					continue
				}
			}
			t.cancel(r)
		}
		select {
		case t.incoming <- msg:
		case <-t.stop:
			return false, io.EOF
		case <-t.closed:
			return false, io.EOF
		}
	}
	if errors.Is(err, io.EOF) {
		t.open.wait(grace - time.Since(in.last))
	}
	return err == nil, err
}

// note remembers a request, unless one with its ID is remembered.
func (t *Transport) note(r *jsonrpc.Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending[r.ID] != nil {
		return false
	}
	if r.Method != methodInitialize { // which cannot be cancelled
		t.pending[r.ID] = &request{}
	}
	t.open.add(1)
	return true
}

// cancel remembers that the answer to a request is not wanted, when r says so.
func (t *Transport) cancel(r *jsonrpc.Request) {
	if r.IsCall() || r.Method != methodCancelled {
		return
	}
	id, ok := rpc.MakeID(rpc.Member(r.Params, "requestId"))
	if !ok || !id.IsValid() {
		return
	}
	t.mu.Lock()
	waits := t.pending[id]
	if waits != nil {
		waits.cancelled = true
		if waits.cancel != nil {
			waits.cancel()
		}
	}
	t.mu.Unlock()
	if text, err := rpc.Compact(map[string]any{"requestId": id.Raw()}); err == nil && waits != nil {
		r.Params = json.RawMessage(text) // the ID by which the SDK knows the request
	}
}

// readLine returns the next line without its end. It skips a line that is longer
// than maxLine, and reports that.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong && len(line)+len(part) <= maxLine {
			line = append(line, part...)
		} else {
			line, tooLong = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), tooLong, err
		}
	}
}
