package httpapi

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// connections tracks the connections of the server, at most max. When there is
// one more, the server closes the connection that has waited longest for a
// request or its body. So a flood of connections that send nothing, or little,
// displaces its own connections. The server never closes a connection while it
// handles a request on it. At most working connections handle a request at a
// time, fewer than max, so at least one always waits.
type connections struct {
	max, working int
	displaced    func()

	mu      sync.Mutex
	byConn  map[net.Conn]*list.Element // the connection's element of waiting; nil while a request is handled
	waiting *list.List                 // of net.Conn, longest wait first
}

func newConnections(limit int, displaced func()) *connections {
	return &connections{
		max: limit, working: max(limit-limit/16-1, 1), displaced: displaced,
		byConn: map[net.Conn]*list.Element{}, waiting: list.New(),
	}
}

// count returns how many connections there are.
func (t *connections) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byConn)
}

// changed records a new state of a connection. The server calls it for every
// connection.
func (t *connections) changed(conn net.Conn, state http.ConnState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	place, known := t.byConn[conn]
	switch {
	case state == http.StateClosed || state == http.StateHijacked:
		t.remove(conn)
	case state == http.StateNew:
		if len(t.byConn) >= t.max {
			t.displace()
		}
		t.byConn[conn] = t.waiting.PushBack(conn)
	case !known: // the connection is being closed
	case place == nil:
		t.byConn[conn] = t.waiting.PushBack(conn)
	default: // the header has arrived, and the server waits for the body
		t.waiting.MoveToBack(place)
	}
}

// displace closes the connection that has waited longest. The caller holds mu.
func (t *connections) displace() {
	first := t.waiting.Front()
	if first == nil {
		return
	}
	if conn, ok := first.Value.(net.Conn); ok {
		t.remove(conn)
		_ = conn.Close() // its goroutine sees the error and ends
		t.displaced()
	}
}

// remove forgets a connection. The caller holds mu.
func (t *connections) remove(conn net.Conn) {
	if place := t.byConn[conn]; place != nil {
		t.waiting.Remove(place)
	}
	delete(t.byConn, conn)
}

// The results of work.
type admission int

const (
	admitted  admission = iota
	tooMany             // too many requests are being handled
	displaced           // the connection was closed to make room
)

// work marks a connection as one that handles a request. It waits again after
// the request.
func (t *connections) work(conn net.Conn) admission {
	t.mu.Lock()
	defer t.mu.Unlock()
	place, known := t.byConn[conn]
	if !known {
		return displaced
	}
	if place == nil { // another request on this connection has not quite ended
		return admitted
	}
	if len(t.byConn)-t.waiting.Len() >= t.working {
		return tooMany
	}
	t.waiting.Remove(place)
	t.byConn[conn] = nil
	return admitted
}

type connKey struct{}

// withConn stores the connection of a request in its context.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// limitWork handles a request whose body has been read, unless too many
// requests are being handled. /health always answers.
func (s *Server) limitWork(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// There is no connection when another server serves the handler. That
		// server limits its own connections.
		if conn, ok := r.Context().Value(connKey{}).(net.Conn); ok && r.URL.Path != "/health" {
			switch s.connections.work(conn) {
			case admitted:
			case displaced:
				panic(http.ErrAbortHandler) // nobody would get the answer
			case tooMany:
				s.busy(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) busy(w http.ResponseWriter, r *http.Request) {
	s.denied(r, "busy")
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, Problem{Code: "too_many_requests", Message: "the server has as many requests at work as it may", Hint: "try again in a second"})
}
