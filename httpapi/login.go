package httpapi

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The paths of the login.
const (
	LoginPath  = "/login"
	LogoutPath = "/logout"
)

const (
	// loginTime is how long a login lasts.
	loginTime = 12 * time.Hour
	// maxLogins bounds the logins that are open at a time; the oldest ends first.
	maxLogins = 1000
	// loginTries is how many tries a minute has, over all clients.
	loginTries = 10
	cookieName = "ktx_login"
)

// logins are the browsers that have given a token. A restart ends all of them.
type logins struct {
	mu      sync.Mutex
	open    map[[sha256.Size]byte]login // by the SHA-256 of the cookie
	limiter *rate.Limiter
}

// login is a browser that has given a token.
type login struct {
	token [sha256.Size]byte // the SHA-256 of the token
	until time.Time
}

func newLogins() *logins {
	return &logins{open: map[[sha256.Size]byte]login{}, limiter: rate.NewLimiter(rate.Every(time.Minute/loginTries), loginTries)}
}

// begin opens a login and returns its cookie.
func (l *logins) begin(token [sha256.Size]byte, now time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var oldest [sha256.Size]byte
	until := now.Add(loginTime)
	for id, have := range l.open {
		if now.After(have.until) {
			delete(l.open, id)
		} else if !have.until.After(until) {
			oldest, until = id, have.until
		}
	}
	if len(l.open) >= maxLogins {
		delete(l.open, oldest)
	}
	text := rand.Text()
	l.open[sha256.Sum256([]byte(text))] = login{token: token, until: now.Add(loginTime)}
	return text
}

// token returns the token's hash of a cookie.
func (l *logins) token(cookie string, now time.Time) (sum [sha256.Size]byte, ok bool) {
	id := sha256.Sum256([]byte(cookie))
	l.mu.Lock()
	defer l.mu.Unlock()
	have, ok := l.open[id]
	if ok && now.After(have.until) {
		delete(l.open, id)
		ok = false
	}
	return have.token, ok
}

func (l *logins) end(cookie string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, sha256.Sum256([]byte(cookie)))
}

// signedIn returns the entry of the token that a browser has given, as long as the
// token is in force. A cookie opens pages, GET routes of REST, the forms of pages, and
// what does not exist.
func (s *Server) signedIn(r *http.Request) *entry {
	route := s.route(r)
	form := r.Method == http.MethodPost && (r.URL.Path == LogoutPath || route != nil && route.Form)
	read := r.Method == http.MethodGet && (route != nil || !s.known(r))
	if !form && !read {
		return nil
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return nil
	}
	sum, ok := s.logins.token(cookie.Value, time.Now())
	if !ok {
		return nil
	}
	return s.entryOf(sum)
}

// entryOf returns the entry of a token, or nil. It compares with every token, so that
// the time reveals nothing.
func (s *Server) entryOf(sum [sha256.Size]byte) *entry {
	tokens := *s.tokens.Load()
	found := -1
	for i := range tokens {
		if subtle.ConstantTimeCompare(sum[:], tokens[i].Sum[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return nil
	}
	return &tokens[found]
}

// toLogin leads a browser to the login, and from there back to the page.
func (s *Server) toLogin(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, LoginPath+"?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
}

// sameOrigin refuses forms of other pages.
func (s *Server) sameOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.denied(r, "origin")
		s.refuse(w, r, http.StatusForbidden, Problem{Code: "foreign_form", Message: "the form comes from another page"})
	}))
	return protection.Handler(next)
}

func (s *Server) loginForm(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.URL.Query().Get("next"))
	if !s.guarded() {
		http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // localPath lets only paths of this server through
		return
	}
	s.config.LoginPage(w, r, http.StatusOK, next, "")
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.PostFormValue("next"))
	if !s.guarded() {
		http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // localPath lets only paths of this server through
		return
	}
	if !s.logins.limiter.Allow() {
		s.denied(r, "rate")
		w.Header().Set("Retry-After", "60")
		s.config.LoginPage(w, r, http.StatusTooManyRequests, next, "There were too many tries. Try again in a minute.")
		return
	}
	sum := Sum(strings.TrimSpace(r.PostFormValue("token")))
	e := s.entryOf(sum)
	if e == nil {
		s.denied(r, reasonWrongToken)
		s.config.LoginPage(w, r, http.StatusUnauthorized, next, "The server does not know this token.")
		return
	}
	if !AccessFrom(s.enter(r, e)).Has(RightPages) {
		s.config.LoginPage(w, r, http.StatusForbidden, next, "This token may not open pages: server.tokens[].may of ktx.yaml does not have pages.")
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is set behind TLS; a loopback address has none
		Name: cookieName, Value: s.logins.begin(e.Sum, time.Now()), Path: "/", MaxAge: int(loginTime / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure(r),
	})
	http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // localPath lets only paths of this server through
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(cookieName); err == nil {
		s.logins.end(cookie.Value)
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is set behind TLS; a loopback address has none
		Name: cookieName, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure(r),
	})
	http.Redirect(w, r, LoginPath, http.StatusSeeOther)
}

// secure reports whether the browser speaks TLS to a proxy in front of the server.
func secure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// localPath returns path when it is a path of this server, and / otherwise.
func localPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	return path
}
