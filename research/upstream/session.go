package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The protocol versions that are tried, one after the other. Servers of the newer one
// mostly speak the older one too, and some servers of the older one end at a request
// that they do not know.
var protocols = []string{"2025-11-25", "2026-07-28"}

// session is an open connection to a server.
type session struct {
	client  *mcp.ClientSession
	process *process // nil for a server by HTTP
	keeper  *keeper  // nil for a server by Streamable HTTP
	mail    *courier // nil for a process
	secrets []string
	cancel  context.CancelFunc // ends what the connection does in the background
	about   string             // the name and version that the server gave itself
	since   time.Time          // when it was made
	ended   chan struct{}

	next   atomic.Int64
	mu     sync.Mutex
	tokens map[string]func(progress float64, message string)
}

// dial connects to a server. list is called when the server says that its tools changed.
func dial(ctx context.Context, server *Server, root *os.Root, version string, limit int64, changed func()) (*session, error) {
	var last error
	transports := []string{""}
	if server.Command == "" {
		transports = []string{TransportStreamable, TransportSSE}
		if server.Transport != "" {
			transports = []string{server.Transport}
		}
	}
	for _, transport := range transports {
		for _, protocol := range protocols {
			s, status, err := dialOnce(ctx, server, root, version, protocol, transport, limit, changed)
			if err == nil {
				return s, nil
			}
			if last == nil || transport != TransportSSE {
				last = err
			}
			if _, unreachable := errors.AsType[*url.Error](err); unreachable {
				return nil, last
			}
			var rpc *jsonrpc.Error
			if !errors.As(err, &rpc) || ctx.Err() != nil {
				// Only an answer says that another protocol may help, and only a
				// refusal that another transport may.
				if status < 400 || status >= 500 || status == http.StatusUnauthorized || status == http.StatusForbidden || ctx.Err() != nil {
					return nil, last
				}
				break
			}
		}
	}
	return nil, last
}

// dialOnce returns the last HTTP status of the server too, 0 when there is none.
func dialOnce(ctx context.Context, server *Server, root *os.Root, version, protocol, transport string, limit int64, changed func()) (_ *session, status int, err error) {
	s := &session{tokens: map[string]func(float64, string){}, ended: make(chan struct{})}
	// The transports keep their streams open under the context that they connect with.
	// So it must not end when the connection is made.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	defer func() {
		if err != nil {
			cancel()
			err = s.explain(server, err)
		}
	}()
	var way mcp.Transport
	var mail *courier
	if server.Command != "" {
		if s.process, err = startProcess(server); err != nil {
			return nil, 0, err
		}
		s.secrets = s.process.secrets
		way = &capturing{pipes{s.process, s.progress}, &s.keeper}
	} else if way, mail, err = s.byHTTP(server, root, transport, limit); err != nil {
		return nil, 0, err
	}
	s.mail = mail
	client := mcp.NewClient(&mcp.Implementation{Name: "ktx", Version: version}, &mcp.ClientOptions{
		Logger: slog.New(slog.DiscardHandler), Capabilities: &mcp.ClientCapabilities{}, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed() },
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			if s.keeper == nil { // which has passed it on
				s.progressed(req.Params)
			}
		},
	})
	s.client, err = client.Connect(life, way, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		said := error(nil)
		if s.process != nil {
			s.process.stop()
			if text := s.process.said(); text != "" {
				said = &saidError{text}
			}
		}
		if mail != nil {
			status = int(mail.status.Load())
		}
		return nil, status, errors.Join(err, said)
	}
	if info := s.client.InitializeResult().ServerInfo; info != nil {
		s.about = strings.TrimSpace(clean(info.Name, maxName) + " " + clean(info.Version, maxName))
	}
	s.since = time.Now()
	go func() {
		_ = s.client.Wait()
		cancel()
		if s.process != nil {
			s.process.stop()
		}
		close(s.ended)
	}()
	return s, 0, nil
}

// overrun reports whether an answer that is too large broke the one stream on which all
// answers of an SSE server come.
func (s *session) overrun() bool {
	return s.keeper != nil && s.mail != nil && s.mail.over.Load()
}

// saidError is what a process wrote to standard error.
type saidError struct{ text string }

func (e *saidError) Error() string { return e.text }

// capturing is a transport to a process that keeps its connection.
type capturing struct {
	pipes

	conn **keeper
}

// Connect implements [mcp.Transport].
func (t *capturing) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.pipes.Connect(ctx)
	if p, ok := c.(*keeper); ok {
		*t.conn = p
	}
	return c, err
}

// byHTTP returns a transport to a server by HTTP.
func (s *session) byHTTP(server *Server, root *os.Root, transport string, limit int64) (mcp.Transport, *courier, error) {
	address, mail, err := s.courier(server, root, limit)
	if err != nil {
		return nil, nil, err
	}
	client := &http.Client{Transport: mail}
	if transport == TransportSSE {
		return &events{mcp.SSEClientTransport{Endpoint: address, HTTPClient: client, MaxEventSize: int(mail.limit)}, &s.keeper, s.progress}, mail, nil
	}
	mail.unasked = newBudget(paceUnasked, nil)
	return &mcp.StreamableClientTransport{Endpoint: address, HTTPClient: client, MaxRetries: 2, MaxEventSize: int(mail.limit)}, mail, nil
}

// courier returns what sends requests to a server, and its address. Requests carry the
// token of the login that the folder root holds; it may be nil.
func (s *session) courier(server *Server, root *os.Root, limit int64) (address string, mail *courier, err error) {
	if address, err = server.URL(); err != nil {
		return "", nil, &Error{Code: CodeConfiguration, Server: server.Name, Message: "url is not available: " + err.Error(), Hint: "set the variable or file that ktx.yaml names"}
	}
	s.secrets = append(s.secrets, address)
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", nil, &Error{Code: CodeConfiguration, Server: server.Name, Message: "url is not an address that begins with http:// or https://"}
	}
	if u.RawQuery != "" {
		s.secrets = append(s.secrets, u.RawQuery, u.RequestURI())
	}
	if password, ok := u.User.Password(); ok {
		s.secrets = append(s.secrets, password)
	}
	mail = &courier{base: newHTTPTransport(), headers: http.Header{}, limit: max(limit*2, maxPage), scheme: u.Scheme, host: u.Host}
	for _, name := range sortedKeys(server.Headers) {
		value, err := server.Headers[name]()
		if err != nil {
			return "", nil, &Error{Code: CodeConfiguration, Server: server.Name, Message: "headers." + name + " is not available: " + err.Error(), Hint: "set the variable or file that ktx.yaml names"}
		}
		s.secrets = append(s.secrets, value)
		if _, token, ok := strings.Cut(value, " "); ok {
			s.secrets = append(s.secrets, token)
		}
		mail.headers.Set(name, value)
	}
	if root != nil && !server.hasAuthorization() && confidential(u) {
		mail.login = &bearer{root: root, server: server.Name, address: addressHash(address), secret: server.OAuth.ClientSecret}
	}
	return address, mail, nil
}

func newHTTPTransport() http.RoundTripper {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second}
	return t
}

// explain makes an error of a connection one that may be shown.
func (s *session) explain(server *Server, err error) error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if refused := s.refusedLogin(server); refused != nil {
		return refused
	}
	e := &Error{Code: CodeServerConnection, Server: server.Name, Retryable: true, Err: err, Hint: "ktx upstream check " + server.Name + " says more"}
	rpc, refused := answered(err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Message = "the server did not answer in time"
	case errors.Is(err, context.Canceled):
		e.Message = "the connection was given up"
	case refused:
		e.Message = "the server refused the connection: " + s.redact(rpc.Message)
	case server.Command != "" && (errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) || strings.Contains(err.Error(), "EOF") || strings.Contains(err.Error(), "closed") || strings.Contains(err.Error(), "broken pipe")):
		e.Message = "the command ended before it answered"
	case s.failedStatus(err) > 0:
		e.Message = fmt.Sprintf("the server answered with HTTP status %d", s.failedStatus(err))
	default:
		e.Message = "no connection: " + s.redact(plain(err))
	}
	if said, ok := errors.AsType[*saidError](err); ok {
		e.Message += "; it wrote: " + said.text
	}
	return e
}

// answered returns the error that a server answered with. The SDK makes one too when a
// request did not reach the server, or the answer has no error in it.
func answered(err error) (*jsonrpc.Error, bool) {
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	return rpc, ok && (rpc.Code != -32005 || rpc.Message != "rejected by transport")
}

// failedStatus returns the HTTP status of a request that failed with an answer, and 0 for
// one without an answer.
func (s *session) failedStatus(err error) int {
	if _, unreachable := errors.AsType[*url.Error](err); unreachable || s.mail == nil {
		return 0
	}
	if status := int(s.mail.status.Load()); status >= http.StatusBadRequest {
		return status
	}
	return 0
}

// plain returns the text of an error without the address that net/http puts into it.
func plain(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err.Error()
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err.Error()
	}
	return err.Error()
}

// redact returns a text without the secrets of the server.
func (s *session) redact(text string) string {
	secrets := s.secrets
	if s.mail != nil && s.mail.login != nil {
		secrets = append(s.mail.login.seen(), secrets...)
	}
	return redacted(text, secrets)
}

// progress reads a notification, and passes it on.
func (s *session) progress(params json.RawMessage) {
	var p mcp.ProgressNotificationParams
	if json.Unmarshal(params, &p) == nil {
		s.progressed(&p)
	}
}

// progressed passes a notification on to the call that it is about.
func (s *session) progressed(p *mcp.ProgressNotificationParams) {
	token, ok := p.ProgressToken.(string)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.tokens[token]; f != nil {
		f(p.Progress, clean(p.Message, maxMessage))
	}
}

// watch calls f for the progress of one call, until the function that it returns is
// called.
func (s *session) watch(f func(float64, string)) (token string, stop func()) {
	token = fmt.Sprintf("ktx-%d", s.next.Add(1))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = f
	return token, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.tokens, token)
	}
}

// alive reports whether the connection is open.
func (s *session) alive() bool {
	select {
	case <-s.ended:
		return false
	default:
		return !s.overrun() // it is about to end
	}
}

// close ends the connection, and waits until its process is gone.
func (s *session) close() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = s.client.Close()
	}()
	select {
	case <-closed:
	case <-time.After(graceInput): // a call is still waiting for its answer
	}
	s.cancel()
	if s.process != nil {
		s.process.stop()
	}
	<-closed
}

// A list of tools with very many pages is read slowly: after some pages there is a pause
// before each.
const (
	freePages = 20
	pagePause = 2 * time.Millisecond
)

// list returns the definitions of all tools of the server. Nil means that they are as
// before.
func (s *session) list(ctx context.Context) (raws []json.RawMessage, problem string, err error) {
	params := &mcp.ListToolsParams{}
	seen := map[string]bool{}
	total := 0
	for page := 0; ; page++ {
		if page >= freePages {
			select {
			case <-ctx.Done():
				return nil, "", ctx.Err()
			case <-time.After(pagePause):
			}
		}
		if page == maxPages || len(raws) > maxTools || total > maxListBytes {
			return raws, fmt.Sprintf("the list of tools does not end; ktx reads %d tools on %d pages at most", maxTools, maxPages), nil
		}
		with, x := withExchange(ctx, maxPage)
		_, err := s.client.ListTools(with, params)
		text := x.raw()
		s.forget(x)
		if err != nil && text == nil {
			return nil, "", err
		}
		if text == nil { // the server said for how long the list holds
			return nil, "", nil
		}
		var body struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if json.Unmarshal(text, &body) != nil {
			return nil, "", errors.Join(errors.New("the list of tools cannot be read"), err)
		}
		for _, t := range body.Tools {
			total += len(t)
		}
		raws = append(raws, body.Tools...)
		switch {
		case body.NextCursor == "":
			return slices.Clip(raws), "", nil
		case seen[body.NextCursor]:
			return raws, "the list of tools repeats itself; what came first is used", nil
		}
		seen[body.NextCursor] = true
		params = &mcp.ListToolsParams{Cursor: body.NextCursor}
	}
}

func (s *session) forget(x *exchange) {
	if s.keeper != nil {
		s.keeper.forget(x)
	}
}
