package httpapi

import (
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
)

// NewLogins returns the logins of a server, of which none is open.
func NewLogins() *logins { return newLogins() }

// Begin opens a login.
func (l *logins) Begin(token [sha256.Size]byte, now time.Time) string { return l.begin(token, now) }

// Token returns the token's hash of a cookie.
func (l *logins) Token(cookie string, now time.Time) ([sha256.Size]byte, bool) {
	return l.token(cookie, now)
}

// Paths returns the path of every route of a server.
func (s *Server) Paths() (paths []string, err error) {
	routes, ok := s.handler.(chi.Routes)
	if !ok {
		return nil, http.ErrNotSupported
	}
	err = chi.Walk(routes, func(_, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		paths = append(paths, path)
		return nil
	})
	return paths, err
}
