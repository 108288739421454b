package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"
)

// The server reads at most longBodies bodies of more than shortBody bytes at
// one time. The others wait, so that many long bodies do not fill the memory.
const (
	shortBody  = 64 << 10
	longBodies = 8
)

// errManyBodies says that a long body had to wait too long for its turn.
var errManyBodies = errors.New("too many long bodies at one time")

// timeBody bounds the time for a request's body, before the first check. When a
// check refuses the request before its body is read, the server answers at once
// and closes the connection.
func (s *Server) timeBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.config.BodyTime)) // the connections of a server support it
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// limitBody reads the whole body of a request before the request is handled. It
// refuses a body that is too long or too slow.
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
		text, err := s.readBody(http.MaxBytesReader(w, r.Body, limit))
		if err != nil {
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				tooLong(w)
				return
			}
			if errors.Is(err, errManyBodies) {
				s.busy(w, r)
				return
			}
			refuse(w, http.StatusRequestTimeout, Problem{Code: "incomplete_body", Message: "the request's body did not arrive whole, or not in time"})
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // removes the deadline of timeBody
		w.Header().Del("Connection")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		next.ServeHTTP(w, r)
	})
}

// readBody reads a body. It returns an error if its turn does not come in time.
func (s *Server) readBody(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, shortBody))
	if err != nil || len(text) < shortBody {
		return text, err
	}
	over := time.NewTimer(s.config.BodyTime)
	defer over.Stop()
	select {
	case s.longBodies <- struct{}{}:
		defer func() { <-s.longBodies }()
	case <-over.C:
		return nil, errManyBodies
	}
	whole := bytes.NewBuffer(text)
	_, err = whole.ReadFrom(body)
	return whole.Bytes(), err
}

func tooLong(w http.ResponseWriter) {
	refuse(w, http.StatusRequestEntityTooLarge, Problem{Code: "body_too_large", Message: "the request's body is too long"})
}
