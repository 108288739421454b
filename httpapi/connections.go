package httpapi

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// connections are those of the server, at most max. One more takes the place of
// the one that has waited longest for a request or its body: a flood of
// connections that say nothing, or little, displaces its own. Of those with a
// request at work none is closed; they may be all but a reserve, so that there
// is always one that waits.
type connections struct {
	max, working int
	displaced    func()

	mu      sync.Mutex
	byConn  map[net.Conn]*list.Element // the place in waiting; nil while a request is at work
	waiting *list.List                 // of net.Conn, the one that has waited longest first
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

// changed is told by the server of every connection.
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
	case !known: // it is being closed
	case place == nil:
		t.byConn[conn] = t.waiting.PushBack(conn)
	default: // its header is there, and it waits for the body
		t.waiting.MoveToBack(place)
	}
}

// displace closes the connection that has waited longest; mu is held.
func (t *connections) displace() {
	first := t.waiting.Front()
	if first == nil {
		return
	}
	if conn, ok := first.Value.(net.Conn); ok {
		t.remove(conn)
		_ = conn.Close() // its goroutine finds out and ends
		t.displaced()
	}
}

// remove forgets a connection; mu is held.
func (t *connections) remove(conn net.Conn) {
	if place := t.byConn[conn]; place != nil {
		t.waiting.Remove(place)
	}
	delete(t.byConn, conn)
}

// The answers of work.
type admission int

const (
	admitted  admission = iota
	tooMany             // requests are at work
	displaced           // the connection was
)

// work takes a connection out of those that wait until its next request.
func (t *connections) work(conn net.Conn) admission {
	t.mu.Lock()
	defer t.mu.Unlock()
	place, known := t.byConn[conn]
	if !known {
		return displaced
	}
	if place == nil { // a request on the same connection was at work and is not quite over
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

// withConn lets a request find its connection.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// limitWork lets a request whose body is there be worked on, unless as many are
// as there may be. /health tells always.
func (s *Server) limitWork(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without a connection the server is another's, which counts its own.
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
