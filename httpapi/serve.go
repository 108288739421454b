package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	headerBytes = 64 << 10
	endTime     = 3 * time.Second // for the answers of requests that were cancelled
)

// timed limits the time of each write of an answer. A client that does not read
// for that long loses its connection.
func (s *Server) timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &timedWriter{w, s.config.WriteTime}
		t.within(time.Time{}) // removes the limit of the previous answer on this connection
		next.ServeHTTP(t, r)
	})
}

type timedWriter struct {
	http.ResponseWriter
	time time.Duration
}

func (w *timedWriter) within(t time.Time) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(t) // the connections of a server support it
}

// Unwrap lets http.ResponseController find the connection.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *timedWriter) WriteHeader(status int) {
	w.within(time.Now().Add(w.time))
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *timedWriter) Write(p []byte) (int, error) {
	w.within(time.Now().Add(w.time))
	return w.ResponseWriter.Write(p)
}

// FlushError is called by http.ResponseController.
func (w *timedWriter) FlushError() error {
	w.within(time.Now().Add(w.time))
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Serve serves l until ctx ends. Then it accepts no new requests, and running
// requests have [Config.Grace] to end. It cancels those that still run after
// that. When Serve returns, every session is closed. Serve must be called only
// once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s.timed(s.handler),
		ReadHeaderTimeout: s.config.HeaderTime,
		MaxHeaderBytes:    headerBytes,
		IdleTimeout:       s.config.IdleTime,
		ConnState:         s.connections.changed,
		ConnContext:       withConn,
		ErrorLog:          slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	s.stop(server)
	if err == nil {
		err = <-failed
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve HTTP: %w", err)
}

// stop ends what still runs: streams that only wait at once, and other requests
// when their time is over.
func (s *Server) stop(server *http.Server) {
	s.draining.cancel()
	grace, cancel := context.WithTimeout(context.Background(), s.config.Grace)
	err := server.Shutdown(grace)
	cancel()
	s.ending.cancel()
	if err != nil {
		rest, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		if err := server.Shutdown(rest); err != nil {
			_ = server.Close() // clients that do not read their answers lose them
		}
	}
	s.sessions.closeAll()
	s.countDenials()
}

// ServeHTTP answers one request, for tests and for other servers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// refuseStopping answers a request that came after the server began to stop, and records
// that it did not run.
func (s *Server) refuseStopping(w http.ResponseWriter, r *http.Request) {
	s.denied(r, "draining")
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, Problem{Code: "draining", Message: "the server is stopping"})
}
