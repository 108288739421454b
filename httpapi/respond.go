package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// Problem is the body of every answer that reports an error.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// refuse answers with a problem. It may be over later when the server or another one is
// at its limit, or out of reach.
func refuse(w http.ResponseWriter, status int, p Problem) {
	respond(w, status, struct {
		Problem
		Retryable bool `json:"retryable"`
	}{p, status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status > http.StatusInternalServerError})
}

// refuse answers with a problem: a browser that asks for a page gets one.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, p Problem) {
	if s.config.ProblemPage != nil && strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.config.ProblemPage(w, r, status, p)
		return
	}
	refuse(w, status, p)
}

// secureHeaders sets the headers that every answer has. A page, and a file that it
// loads, change what they need.
func secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// respond answers with JSON.
func respond(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // the server answers with no value that cannot be encoded
		status, b = http.StatusInternalServerError, bytes.Buffer{}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client may have left
}
