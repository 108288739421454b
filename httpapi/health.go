package httpapi

import (
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// About is what /health tells about the process. Nonce, PID and ProjectDir are
// only sent to callers on this machine and to callers with a token.
type About struct {
	Version    string
	ProjectDir string
	// Nonce proves to the commands of the same project that the process belongs
	// to it.
	Nonce     string
	PID       int
	StartedAt time.Time
}

// Health is the answer of /health.
type Health struct {
	Status     string `json:"status"` // ok, or draining
	Version    string `json:"version"`
	ProjectDir string `json:"projectDir,omitempty"`
	Port       int    `json:"port"`
	TokenAuth  bool   `json:"tokenAuth"`
	PID        int    `json:"pid,omitempty"`
	StartedAt  string `json:"startedAt,omitempty"`
	Nonce      string `json:"nonce,omitempty"`
}

func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	about := s.config.About
	h := Health{Status: "ok", Version: about.Version, TokenAuth: s.guarded()}
	if s.draining.ctx.Err() != nil {
		h.Status = "draining"
	}
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		h.Port = addr.Port
	}
	if _, known := audit.ActorFrom(r.Context()); known && s.guarded() || near(r) {
		h.ProjectDir, h.Nonce, h.PID, h.StartedAt = about.ProjectDir, about.Nonce, about.PID, about.StartedAt.UTC().Format(time.RFC3339)
	}
	respond(w, http.StatusOK, h)
}

// near reports whether a request comes from this machine. It does not when the
// headers show that it came through a proxy on this machine.
func near(r *http.Request) bool {
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if !ok || err != nil {
		return false
	}
	peer := net.ParseIP(host)
	return peer.Equal(local.IP) && (slices.Contains(loopbackHosts, hostOf(r.Host)) || hostOf(r.Host) == local.IP.String())
}
