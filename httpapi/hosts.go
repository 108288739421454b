package httpapi

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// checkHost refuses requests whose Host header names neither this machine nor
// an allowed host. In a DNS rebinding attack, a page makes its own host name
// resolve to this address, and the browser sends that name in the Host header.
func (s *Server) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.hosts[hostOf(r.Host)] {
			s.denied(r, "host")
			refuse(w, http.StatusForbidden, Problem{
				Code: "host_not_allowed", Message: "the Host header names a host that is not served here",
				Hint: "use 127.0.0.1 or localhost, or start the server with --allowed-host",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// loopbackHosts are always allowed.
var loopbackHosts = []string{"localhost", "127.0.0.1", "::1"}

func hostSet(bound string, allowed []string) (map[string]bool, error) {
	set := map[string]bool{}
	for _, h := range loopbackHosts {
		set[h] = true
	}
	if bound != "" {
		set[hostOf(bound)] = true
	}
	for _, h := range allowed {
		name, err := ParseHost(h)
		if err != nil {
			return nil, err
		}
		set[name] = true
	}
	return set, nil
}

// ParseHost reads an allowed host. It is a name or an address, with or without
// a port. The port is ignored.
func ParseHost(text string) (string, error) {
	name := hostOf(text)
	if name == "" || strings.ContainsAny(name, "/@?#*[] \t\r\n") {
		return "", fmt.Errorf("allowed host %q: expected a name or an address, such as ktx.example.com", text)
	}
	return name, nil
}

// hostOf returns the host of a Host header in lower case, without port and
// brackets. It returns a header of another form unchanged, and that matches
// nothing.
func hostOf(header string) string {
	h := strings.ToLower(header)
	if rest, ok := strings.CutPrefix(h, "["); ok {
		host, port, closed := strings.Cut(rest, "]")
		if !closed || port != "" && !isPort(port) {
			return h
		}
		return host
	}
	if i := strings.IndexByte(h, ':'); i >= 0 && strings.LastIndexByte(h, ':') == i {
		if !isPort(h[i:]) {
			return h
		}
		return h[:i]
	}
	return h
}

// isPort reports whether text is a colon with digits.
func isPort(text string) bool {
	digits, ok := strings.CutPrefix(text, ":")
	return ok && strings.Trim(digits, "0123456789") == ""
}

// Loopback reports whether a server that binds host can be reached from this
// machine only.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}
