package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

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
