package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// checkOrigin refuses requests that a browser makes for a foreign page. An
// origin passes when it is allowed, or when it is the loopback address to which
// the request was sent. No foreign page can have that origin.
func (s *Server) checkOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values, present := r.Header["Origin"]
		if !present {
			next.ServeHTTP(w, r)
			return
		}
		origin := strings.ToLower(strings.Join(values, ","))
		own := slices.Contains(loopbackHosts, hostOf(r.Host)) && origin == "http://"+strings.ToLower(r.Host)
		if !own && !s.origins[origin] {
			s.denied(r, "origin")
			refuse(w, http.StatusForbidden, Problem{
				Code: "origin_not_allowed", Message: "the Origin header names a page that may not ask here",
				Hint: "start the server with --allowed-origin and the origin of a page that may send requests",
			})
			return
		}
		if !own && allowPage(w, r, values[0]) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// allowPage tells the browser that the page of an allowed origin may read the
// answer (CORS). It answers a preflight itself, because a preflight carries no
// token.
func allowPage(w http.ResponseWriter, r *http.Request, origin string) (answered bool) {
	h := w.Header()
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", sessionHeader+", WWW-Authenticate, Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, "+sessionHeader+", "+versionHeader+", Mcp-Method, Mcp-Name")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

func originSet(allowed []string) (map[string]bool, error) {
	set := map[string]bool{}
	for _, text := range allowed {
		origin, err := ParseOrigin(text)
		if err != nil {
			return nil, err
		}
		set[origin] = true
	}
	return set, nil
}

// ParseOrigin reads an allowed origin: scheme, host, and the port unless it is
// the default of the scheme, as browsers write it (RFC 6454, section 6.2).
func ParseOrigin(text string) (string, error) {
	u, err := url.Parse(text)
	ok := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && !strings.ContainsAny(u.Host, "*, ") &&
		u.User == nil && u.Path == "" && u.RawQuery == "" && u.Fragment == "" && !strings.ContainsAny(text, "?#")
	if !ok {
		return "", fmt.Errorf("allowed origin %q: expected scheme and host, and a port if there is one, such as https://app.example.com:8443", text)
	}
	host := strings.ToLower(u.Host)
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if u.Scheme == scheme {
			host = strings.TrimSuffix(host, port)
		}
	}
	return u.Scheme + "://" + strings.TrimSuffix(host, ":"), nil
}
