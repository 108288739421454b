package httpapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// sessions are the sessions of the protocol versions that have them. The MCP
// handler chooses the session IDs. This type decides who may use a session, how
// many there are, and when one ends. A session belongs to the principal that
// began it. To all others it is unknown.
type sessions struct {
	server  *Server
	handler http.Handler

	mu     sync.Mutex
	byID   map[string]*session
	coming int            // sessions whose first answer has not been sent yet
	counts map[string]int // by principal

	endings sync.WaitGroup
}

// session is one session of a principal.
type session struct {
	id        string // "" until the handler has chosen it
	principal string
	actor     context.Context //nolint:containedctx // carries the actor for the events of the session
	end       ended           // ends the calls of the session with it

	// The fields below are guarded by the mu of sessions.
	busy int // requests that are being handled
	used time.Time
	idle *time.Timer // runs while busy is 0
	gone bool

	calls  map[string]*call // by callHeader: the requests whose calls may run
	cut    []*call          // those whose streams are gone
	lonely int              // counts how often busy became 0 while calls were cut
}

func newSessions(s *Server) *sessions {
	return &sessions{server: s, handler: s.config.Sessions, byID: map[string]*session{}, counts: map[string]int{}}
}

// count returns how many sessions there are.
func (t *sessions) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byID)
}

// The reasons for the end of a session, as the audit log records them.
const (
	endDeleted  = "deleted"  // the client ended it
	endIdle     = "idle"     // nobody used it
	endReplaced = "replaced" // it was idle, and a new one needed the room
	endLost     = "lost"     // the handler no longer knows it
	endRefused  = "refused"  // its first request was not an initialize that could be answered
	endStopping = "stopping" // the server stops
	endRevoked  = "revoked"  // its principal no longer has a token
)

const noSession = "no session has this id: begin a new one with initialize"

func (t *sessions) serve(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	switch {
	case id == "" && r.Method == http.MethodPost:
		t.begin(w, r)
	case id == "":
		t.handler.ServeHTTP(w, r) // without a session only POST does anything
	case r.Method == http.MethodDelete:
		s := t.enter(r)
		if s == nil {
			rpcError(w, http.StatusNotFound, rpcNoSession, json.RawMessage("null"), noSession)
			return
		}
		t.finish(s, endDeleted)
		w.WriteHeader(http.StatusNoContent)
	default:
		s := t.enter(r)
		if s == nil {
			id := json.RawMessage("null")
			if body, err := io.ReadAll(r.Body); err == nil && r.Method == http.MethodPost { // bounded by limitBody
				id = requestID(body)
			}
			rpcError(w, http.StatusNotFound, rpcNoSession, id, noSession)
			return
		}
		defer t.leave(s)
		lost := false
		answer := &headerWriter{w, func(_ http.Header, status int) { lost = status == http.StatusNotFound }}
		if r.Method == http.MethodPost {
			t.post(answer, r, s)
		} else {
			t.handler.ServeHTTP(answer, r)
		}
		if lost {
			t.finish(s, endLost)
		}
	}
}

// begin serves the first request of a session, which must be initialize.
func (t *sessions) begin(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body) // bounded by limitBody
	if err != nil || !json.Valid(text) {
		rpcError(w, http.StatusBadRequest, rpcParse, json.RawMessage("null"), "Parse error: the body is not JSON")
		return
	}
	var m struct {
		Method string `json:"method"`
		Params struct {
			Client struct {
				Name    string `json:"name"`
				Version string `json:"version"`
			} `json:"clientInfo"`
		} `json:"params"`
	}
	if err := json.Unmarshal(text, &m); err != nil && m.Method == "" || m.Method != "initialize" {
		rpcError(w, http.StatusBadRequest, rpcInvalidRequest, requestID(text), "a request other than initialize needs the header "+sessionHeader)
		return
	}
	actor, _ := audit.ActorFrom(r.Context())
	actor.Client.Name, actor.Client.Version, actor.Session = m.Params.Client.Name, m.Params.Client.Version, rand.Text()
	s := &session{principal: actor.Principal, actor: audit.WithActor(context.WithoutCancel(r.Context()), actor), busy: 1, calls: map[string]*call{}}
	if !t.reserve(s) {
		t.server.denied(r, "sessions")
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, Problem{Code: "too_many_sessions", Message: "every session is in use", Hint: "try again in a second"})
		return
	}
	if err := t.server.config.Log.Append(s.actor, audit.Event{Type: audit.SessionOpen}); err != nil {
		t.forget(s)
		refuse(w, http.StatusServiceUnavailable, Problem{Code: "audit_unavailable", Message: "the audit log cannot be written, so nothing runs"})
		return
	}
	r = r.WithContext(within(audit.WithActor(r.Context(), actor), &scope{s.end.ctx, func(id string) *call {
		t.mu.Lock()
		defer t.mu.Unlock()
		return s.calls[id]
	}}))
	r.Body = io.NopCloser(bytes.NewReader(text))
	answer := &headerWriter{w, func(h http.Header, _ int) { t.name(s, h.Get(sessionHeader)) }}
	t.handler.ServeHTTP(answer, r)
	if s.id != "" {
		t.leave(s)
		return
	}
	// If the client left before the answer was sent, the handler may have a
	// session all the same.
	t.name(s, answer.Header().Get(sessionHeader))
	t.finish(s, endRefused)
}

// reserve makes room for a session. When there is no room, it ends an idle
// session. Among the sessions of the principal with the most sessions, it
// chooses the one that was used longest ago.
func (t *sessions) reserve(s *session) bool {
	s.end = newEnded(t.server.ending.ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.byID)+t.coming >= t.server.config.MaxSessions {
		victim := t.victim()
		if victim == nil {
			s.end.cancel()
			return false
		}
		t.remove(victim)
		t.endings.Go(func() { t.close(victim, endReplaced) })
	}
	t.coming++
	t.counts[s.principal]++
	return true
}

// victim returns the session that must make room. The caller holds mu.
func (t *sessions) victim() (v *session) {
	for _, s := range t.byID {
		if s.busy > 0 {
			continue
		}
		if v == nil || t.counts[s.principal] > t.counts[v.principal] ||
			t.counts[s.principal] == t.counts[v.principal] && s.used.Before(v.used) {
			v = s
		}
	}
	return v
}

// name sets the ID of a new session. It is called before the answer that
// contains the ID.
func (t *sessions) name(s *session, id string) {
	if id == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.coming--
	s.id = id
	t.byID[id] = s
}

// forget removes a session that could not be begun.
func (t *sessions) forget(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(s)
}

// remove takes a session out of the table. The caller holds mu.
func (t *sessions) remove(s *session) (removed bool) {
	if s.gone {
		return false
	}
	s.gone = true
	if s.id == "" {
		t.coming--
	} else {
		delete(t.byID, s.id)
	}
	if t.counts[s.principal]--; t.counts[s.principal] == 0 {
		delete(t.counts, s.principal)
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	s.end.cancel()
	return true
}

// enter returns the session of a request, and counts the request as one that is
// being handled. It returns nil when there is no such session for the request.
func (t *sessions) enter(r *http.Request) *session {
	actor, _ := audit.ActorFrom(r.Context())
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.byID[r.Header.Get(sessionHeader)]
	if s == nil || s.principal != actor.Principal {
		return nil
	}
	s.busy++
	if s.idle != nil {
		s.idle.Stop()
	}
	return s
}

// leave ends the count of a request.
func (t *sessions) leave(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.busy--
	s.used = time.Now()
	if s.gone || s.busy > 0 {
		return
	}
	t.abandon(s)
	if s.idle == nil {
		s.idle = time.AfterFunc(t.server.config.SessionTimeout, func() { t.expire(s) })
		return
	}
	s.idle.Reset(t.server.config.SessionTimeout)
}

// expire ends a session that is still idle.
func (t *sessions) expire(s *session) {
	t.mu.Lock()
	idle := s.busy == 0 && time.Since(s.used) >= t.server.config.SessionTimeout && t.remove(s)
	if idle {
		t.endings.Add(1)
	}
	t.mu.Unlock()
	if idle {
		defer t.endings.Done()
		t.close(s, endIdle)
	}
}

// finish ends a session and the statements that it runs.
func (t *sessions) finish(s *session, reason string) {
	t.mu.Lock()
	removed := t.remove(s)
	t.mu.Unlock()
	if removed {
		t.close(s, reason)
	}
}

// close makes the handler end a session that was removed, and records the end.
// The calls of the session were cancelled when it was removed; close waits for
// them.
func (t *sessions) close(s *session, reason string) {
	if s.id != "" {
		r, err := http.NewRequestWithContext(context.WithoutCancel(s.actor), http.MethodDelete, "/mcp", http.NoBody)
		if err == nil { // the constant address is valid
			r.Header.Set(sessionHeader, s.id)
			t.handler.ServeHTTP(&discard{header: http.Header{}}, r)
		}
	}
	if err := t.server.config.Log.Append(s.actor, audit.Event{Type: audit.SessionClose, Reason: reason}); err != nil {
		t.server.config.Logger.WarnContext(s.actor, "the end of a session could not be recorded", "error", err)
	}
}

// revoke ends the sessions of principals.
func (t *sessions) revoke(of func(principal string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.byID {
		if of(s.principal) && t.remove(s) {
			t.endings.Go(func() { t.close(s, endRevoked) })
		}
	}
}

// closeAll ends every session. It waits for these, and for sessions whose end
// began before.
func (t *sessions) closeAll() {
	t.mu.Lock()
	var all []*session
	for _, s := range t.byID {
		all = append(all, s)
	}
	for _, s := range all {
		t.remove(s)
	}
	t.mu.Unlock()
	for _, s := range all {
		t.endings.Go(func() { t.close(s, endStopping) })
	}
	t.endings.Wait()
}

// discard is a response writer that discards the answer.
type discard struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d *discard) Header() http.Header { return d.header }

// Write implements http.ResponseWriter.
func (*discard) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (*discard) WriteHeader(int) {}
