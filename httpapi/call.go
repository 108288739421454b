package httpapi

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution"
)

// callHeader names the request to which a call of a tool belongs. The server sets it
// on each request that it hands to an MCP handler; what a client sent is removed.
// The SDK passes the header on, but not the context of the request.
const callHeader = "Ktx-Call"

// call is one request and the calls of tools that it asks for.
type call struct {
	end   ended            // ends the calls when nobody can get their answers
	share *execution.Share // of the memory for answers

	mu   sync.Mutex
	refs int // the request, and the calls of tools that run
}

func (s *Server) newCall(parent context.Context) *call {
	return &call{end: newEnded(parent), share: s.room.NewShare(), refs: 1}
}

// enter counts a call of a tool.
func (c *call) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refs++
}

// leave ends the count of the request or of a call of a tool. After the last one
// nothing waits to be delivered.
func (c *call) leave() {
	c.mu.Lock()
	c.refs--
	last := c.refs == 0
	c.mu.Unlock()
	if last {
		c.share.Leave()
		c.end.cancel()
	}
}

// over reports whether nothing of the call runs.
func (c *call) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refs <= 0
}

// scope is what a context of MCP belongs to: a request, or a session with its
// requests.
type scope struct {
	end  context.Context //nolint:containedctx // of a session or a server, not of a call
	call func(id string) *call
}

type scopeKey struct{}

// within returns a context that carries a scope, which [Bound] uses.
func within(ctx context.Context, s *scope) context.Context {
	return context.WithValue(ctx, scopeKey{}, s)
}

// Bound returns a context that ends with ctx, and also when the request, the session
// or the server that a call of MCP belongs to ends. A request ends when its client
// has left and the time for coming back is over. Answers under the context count
// against [Config.AnswerMemory]. header is that of the request.
//
// MCP handlers must run under it. The SDK gives them a context that outlives the
// request, so that a dropped connection cancels nothing. That context would outlive
// the session as well.
func Bound(ctx context.Context, header http.Header) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	in, ok := ctx.Value(scopeKey{}).(*scope)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(in.end, cancel)
	c := in.call(header.Get(callHeader))
	if c == nil {
		return ctx, func() {
			stop()
			cancel()
		}
	}
	c.enter()
	left := context.AfterFunc(c.end.ctx, cancel)
	return execution.WithShare(ctx, c.share), func() {
		stop()
		left()
		cancel()
		c.leave()
	}
}

// stateless serves a request that belongs to no session.
func (s *Server) stateless(w http.ResponseWriter, r *http.Request) {
	c := s.newCall(s.ending.ctx)
	defer c.leave()
	// No stream can be resumed, so nobody gets the answer when the client has left.
	defer context.AfterFunc(r.Context(), func() { time.AfterFunc(s.config.Abandoned, c.end.cancel) })()
	s.config.Stateless.ServeHTTP(w, r.WithContext(within(r.Context(), &scope{s.ending.ctx, func(string) *call { return c }})))
}

// post serves a request in a session.
func (t *sessions) post(w http.ResponseWriter, r *http.Request, s *session) {
	c := t.server.newCall(s.end.ctx)
	id := rand.Text()
	r.Header.Set(callHeader, id)
	t.mu.Lock()
	s.calls[id] = c
	t.mu.Unlock()
	t.handler.ServeHTTP(w, r)
	cut := r.Context().Err() != nil
	t.mu.Lock()
	defer t.mu.Unlock()
	for other, c := range s.calls {
		if c.over() {
			delete(s.calls, other)
		}
	}
	if cut {
		s.cut = append(s.cut, c)
	} else {
		delete(s.calls, id)
	}
	c.leave()
}

// abandon ends the calls whose streams are gone, when the session has no stream on
// which their answers could be resumed. The caller holds mu.
func (t *sessions) abandon(s *session) {
	var running []*call
	for _, c := range s.cut {
		if !c.over() {
			running = append(running, c)
		}
	}
	if s.cut = running; len(running) == 0 {
		return
	}
	s.lonely++
	at := s.lonely
	time.AfterFunc(t.server.config.Abandoned, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if s.busy > 0 || s.lonely != at {
			return
		}
		for _, c := range s.cut {
			c.end.cancel()
		}
		s.cut = nil
	})
}

// runs bounds a route that may run a statement: by its client, by the server's end, and
// by the memory for answers.
func (s *Server) runs(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.ctx.Err() != nil {
			s.refuseStopping(w, r)
			return
		}
		c := s.newCall(s.ending.ctx)
		defer c.leave()
		ctx, cancel := context.WithCancel(execution.WithShare(r.Context(), c.share))
		defer cancel()
		defer context.AfterFunc(s.ending.ctx, cancel)()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// waits ends a route that only waits when the server begins to stop.
func (s *Server) waits(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.draining.ctx, cancel)()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
