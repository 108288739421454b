package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/ktxhq/ktx/execution/audit"
)

// Token lets a principal in.
type Token struct {
	// Principal is the name in the audit log.
	Principal string
	// Sum is the SHA-256 of the token.
	Sum [sha256.Size]byte
	// Connections are the IDs of the connections that the principal may use;
	// nil means all.
	Connections []string
	// Upstreams are the names of the other MCP servers that the principal may use;
	// nil means all.
	Upstreams []string
	// May are the rights of the principal; nil means [RightQuery].
	May []Right
	// Requests is how many requests the principal may make in the time Per, and
	// how many at once. 0 means no limit.
	Requests int
	Per      time.Duration
}

// Sum returns the SHA-256 of a token, which is all that [Token] keeps of it.
func Sum(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// PrincipalLocal is the principal of every request to a loopback address when
// there are no tokens.
const PrincipalLocal = "local"

// entry is a token in force, with the state of its rate limit.
type entry struct {
	Token
	limiter *rate.Limiter // nil if there is no limit
}

func entries(tokens []Token) ([]entry, error) {
	var list []entry
	for _, t := range tokens {
		if t.Principal == "" {
			return nil, errors.New("a token names no principal")
		}
		if slices.ContainsFunc(list, func(e entry) bool { return e.Sum == t.Sum }) {
			return nil, fmt.Errorf("%s has the same token as another principal", t.Principal)
		}
		e := entry{Token: t}
		if t.Requests > 0 && t.Per > 0 {
			e.limiter = rate.NewLimiter(rate.Limit(float64(t.Requests)/t.Per.Seconds()), t.Requests)
		}
		list = append(list, e)
	}
	return list, nil
}

// CheckTokens returns an error if tokens cannot be used together.
func CheckTokens(tokens []Token) error {
	_, err := entries(tokens)
	return err
}

// ErrOpenness says that [Server.SetTokens] would give the first token to a
// server that was started without one, or would take the last token from a
// server that was started with some. Whether requests need a token is decided
// when the server starts.
var ErrOpenness = errors.New("whether requests need a token cannot change while the server runs: restart it")

// SetTokens replaces the tokens that are in force. The sessions of principals
// without a token end, together with the statements that they run.
func (s *Server) SetTokens(tokens []Token) error {
	was := *s.tokens.Load()
	if (len(was) > 0) != (len(tokens) > 0) {
		return ErrOpenness
	}
	now, err := entries(tokens)
	if err != nil {
		return err
	}
	for i := range now { // a principal keeps the state of its rate limit
		if k := slices.IndexFunc(was, now[i].sameLimit); k >= 0 {
			now[i].limiter = was[k].limiter
		}
	}
	s.tokens.Store(&now)
	if len(now) > 0 {
		s.sessions.revoke(func(principal string) bool {
			return !slices.ContainsFunc(now, func(e entry) bool { return e.Principal == principal })
		})
	}
	return nil
}

func (e entry) sameLimit(other entry) bool {
	return e.Principal == other.Principal && e.Requests == other.Requests && e.Per == other.Per
}

// guarded reports whether requests need a token.
func (s *Server) guarded() bool { return len(*s.tokens.Load()) > 0 }

// checkBearer finds the principal of a request by its token. Only /health
// answers without a token.
func (s *Server) checkBearer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.guarded() {
			e, reason, problem := s.authenticate(r)
			if e == nil && reason == reasonNoToken && r.Header.Get("Authorization") == "" {
				if e = s.signedIn(r); e == nil && s.wantsLogin(r) {
					s.toLogin(w, r)
					return
				}
			}
			switch {
			case e == nil && (r.URL.Path == "/health" || s.open(r)):
				next.ServeHTTP(w, r)
				return
			case e == nil:
				s.denied(r, reason)
				w.Header().Set("WWW-Authenticate", challenge(reason))
				s.refuse(w, r, http.StatusUnauthorized, problem)
				return
			}
			r = r.WithContext(s.enter(r, e))
			// Requests that end something are never limited.
			if e.limiter != nil && r.Method != http.MethodDelete {
				if wait := e.delay(); wait > 0 {
					s.denied(r, "rate")
					w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
					s.refuse(w, r, http.StatusTooManyRequests, Problem{Code: "rate_limited", Message: "the token's rate is used up", Hint: "try again in " + wait.Round(time.Second/10).String()})
					return
				}
			}
		} else {
			who := audit.Actor{Principal: PrincipalLocal, Client: audit.Client{Transport: "http", Address: r.RemoteAddr}}
			r = r.WithContext(withAccess(audit.WithActor(r.Context(), who), Access{Principal: who.Principal, May: Rights()}))
		}
		next.ServeHTTP(w, r)
	})
}

// delay takes one request from the rate limit, or returns how long to wait
// until the next is allowed.
func (e *entry) delay() time.Duration {
	taken := e.limiter.Reserve()
	wait := taken.Delay()
	if wait > 0 {
		taken.Cancel()
	}
	return wait
}

// The reasons for refusing a request without a valid token, as the audit log
// records them.
const (
	reasonNoToken     = "no_token"
	reasonWrongToken  = "wrong_token"
	reasonPlaceholder = "placeholder"
	reasonUnrecorded  = "unrecorded" // the count of those without an event, at the end
)

// authenticate returns the entry of the request's token. If there is none, it
// returns nil, the reason to record and the problem to answer with.
func (s *Server) authenticate(r *http.Request) (*entry, string, Problem) {
	header := r.Header.Get("Authorization")
	scheme, text, _ := strings.Cut(header, " ")
	text = strings.TrimSpace(text)
	problem := Problem{Code: "unauthorized"}
	switch {
	case header == "":
		problem.Message, problem.Hint = "the request carries no token", "send the header Authorization: Bearer TOKEN"
		return nil, reasonNoToken, problem
	case !strings.EqualFold(scheme, "Bearer"):
		problem.Message, problem.Hint = "the Authorization header does not have the scheme Bearer", "send the header Authorization: Bearer TOKEN"
		return nil, reasonNoToken, problem
	case text == "":
		problem.Message, problem.Hint = "the token is empty", "set the variable that the client's configuration names, usually KTX_MCP_TOKEN, in the environment of the client"
		return nil, reasonPlaceholder, problem
	}
	if e := s.entryOf(Sum(text)); e != nil {
		return e, "", Problem{}
	}
	if name := placeholder(text); name != "" {
		problem.Message = "the token is a placeholder that the client did not expand: " + text
		problem.Hint = "set the variable " + name + " in the environment of the client, or see how this client writes variables"
		return nil, reasonPlaceholder, problem
	}
	problem.Message, problem.Hint = "the server does not know this token", "compare the client's token with the one that the server was started with"
	return nil, reasonWrongToken, problem
}

// placeholders are the forms in which clients write a variable: ${NAME},
// ${env:NAME}, ${NAME:-other}, {env:NAME}, $NAME, %NAME%.
var placeholders = regexp.MustCompile(`^(?:\$\{(?:env:|input:)?([A-Za-z_][A-Za-z0-9_.-]{0,63})(?::-[^{}]{0,64})?\}|\{env:([A-Za-z_][A-Za-z0-9_]{0,63})\}|\$(?:env:)?([A-Za-z_][A-Za-z0-9_]{0,63})|%([A-Za-z_][A-Za-z0-9_]{0,63})%)$`)

// placeholder returns the name of the variable if text is a placeholder, else
// "".
func placeholder(text string) string {
	for i, name := range placeholders.FindStringSubmatch(text) {
		if i > 0 && name != "" {
			return name
		}
	}
	return ""
}

// challenge is the WWW-Authenticate header of a refusal (RFC 6750, section 3).
func challenge(reason string) string {
	if reason == reasonNoToken {
		return `Bearer realm="ktx"`
	}
	return `Bearer realm="ktx", error="invalid_token"`
}

// The log records at most recordedBurst refusals at once and recordedDenials a
// second after that, so that refused clients cannot fill it. Each event has the
// number of those that were not recorded before it. The metrics count every refusal.
const (
	recordedDenials = 10
	recordedBurst   = 100
)

// denied records that a request was refused.
func (s *Server) denied(r *http.Request, reason string) {
	s.config.Metrics.denied.WithLabelValues(reason).Inc()
	if !s.denials.Allow() {
		s.unrecorded.Add(1)
		return
	}
	ctx := r.Context()
	if _, known := audit.ActorFrom(ctx); !known {
		ctx = audit.WithActor(ctx, audit.Actor{Client: audit.Client{Transport: "http", Address: r.RemoteAddr}})
	}
	unrecorded := s.unrecorded.Swap(0)
	if err := s.config.Log.Append(ctx, audit.Event{Type: audit.AuthDenied, Reason: reason, Unrecorded: unrecorded}); err != nil {
		s.unrecorded.Add(unrecorded + 1)
		s.config.Logger.WarnContext(ctx, "a refusal could not be recorded", "error", err)
	}
}

// countDenials records, when the server stops, how many refusals have no event.
func (s *Server) countDenials() {
	n := s.unrecorded.Swap(0)
	if n == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := s.config.Log.Append(ctx, audit.Event{Type: audit.AuthDenied, Reason: reasonUnrecorded, Unrecorded: n}); err != nil {
		s.config.Logger.WarnContext(ctx, "refusals could not be recorded", "count", n, "error", err)
	}
}
