package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"
)

// bodyTime is how long a request's body may take.
const bodyTime = 30 * time.Second

// limitBody reads a request's body before anything is done for it. One that is
// too long or too slow is refused.
func (s *Server) limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		limit := s.config.MaxBody
		if r.ContentLength > limit {
			tooLong(w)
			return
		}
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // a server's connection takes one
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
		if err != nil {
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				tooLong(w)
				return
			}
			w.Header().Set("Connection", "close")
			refuse(w, http.StatusRequestTimeout, Problem{Code: "incomplete_body", Message: "the request's body did not arrive whole, or not in time"})
			return
		}
		_ = control.SetReadDeadline(time.Time{})
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		next.ServeHTTP(w, r)
	})
}

func tooLong(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	refuse(w, http.StatusRequestEntityTooLarge, Problem{Code: "body_too_large", Message: "the request's body is too long"})
}
