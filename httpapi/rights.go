package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/ktxhq/ktx/execution/audit"
)

// Right is something that a principal may do.
type Right string

// The rights of principals.
const (
	// RightQuery: call tools over MCP, and have statements checked.
	RightQuery Right = "query"
	// RightAudit: see the events of all principals. Without it a principal sees its
	// own.
	RightAudit Right = "audit"
	// RightPages: open the pages.
	RightPages Right = "pages"
)

// Rights returns all rights.
func Rights() []Right { return []Right{RightQuery, RightAudit, RightPages} }

// Route is a route that another package answers.
type Route struct {
	Method, Path string
	// Needs are the rights of which a principal must have one. Without any, every
	// principal may use the route.
	Needs   []Right
	Handler http.HandlerFunc
	// Page says that a browser without a login is led to the login.
	Page bool
	// Open says that the route answers without a token, because it has nothing of the
	// project: a style sheet.
	Open bool
	// Form says that a form of our own pages may be sent to the route with a login. Forms
	// of other pages are refused.
	Form bool
	// Runs says that the route may run a statement or another server's tool. It ends when
	// its client leaves, and when the server stops, and its answer counts against
	// [Config.AnswerMemory].
	Runs bool
	// Waits says that the route answers as long as its client listens. It ends when the
	// server begins to stop.
	Waits bool
}

// Access is who makes a request, and what they may do.
type Access struct {
	Principal string
	May       []Right
	// Login says that a cookie names the principal, so that a page can offer to log out.
	Login bool

	still func() bool
}

// Has reports whether the principal has a right.
func (a Access) Has(r Right) bool { return slices.Contains(a.May, r) }

// InForce reports whether the request would still be let in, with the same rights. An
// answer that goes on for long asks from time to time.
func (a Access) InForce() bool { return a.still == nil || a.still() }

type accessKey struct{}

func withAccess(ctx context.Context, a Access) context.Context {
	return context.WithValue(ctx, accessKey{}, a)
}

// AccessFrom returns who makes the request of ctx. Without the checks of a server it
// is nobody, who may do nothing.
func AccessFrom(ctx context.Context) Access {
	a, _ := ctx.Value(accessKey{}).(Access)
	return a
}

// enter returns the context of a request that the token lets in.
func (s *Server) enter(r *http.Request, e *entry) context.Context {
	may := e.May
	if may == nil {
		may = []Right{RightQuery}
	}
	ctx := audit.WithActor(r.Context(), audit.Actor{
		Principal: e.Principal, Connections: slices.Clone(e.Connections), Upstreams: slices.Clone(e.Upstreams), Client: audit.Client{Transport: "http", Address: r.RemoteAddr},
	})
	login := r.Header.Get("Authorization") == ""
	return withAccess(ctx, Access{Principal: e.Principal, May: slices.Clone(may), Login: login, still: func() bool {
		now := s.entryOf(e.Sum)
		return now != nil && now.Principal == e.Principal && slices.Equal(now.May, e.May) && (!login || s.signedIn(r) != nil)
	}})
}

// needs refuses a principal that has none of the rights.
func (s *Server) needs(rights ...Right) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if a := AccessFrom(r.Context()); len(rights) > 0 && !slices.ContainsFunc(rights, a.Has) {
				names := make([]string, len(rights))
				for i, right := range rights {
					names[i] = string(right)
				}
				s.refuse(w, r, http.StatusForbidden, Problem{
					Code: "forbidden", Message: "the principal " + a.Principal + " may not use this path",
					Hint: "it needs one of these in server.tokens[].may of ktx.yaml: " + strings.Join(names, ", "),
				})
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// route returns the route that answers a request: the one with its path, else the one
// whose path ends with a variable.
func (s *Server) route(r *http.Request) *Route {
	var found *Route
	for i := range s.config.Routes {
		route := &s.config.Routes[i]
		prefix, _, variable := strings.Cut(route.Path, "{")
		switch {
		case route.Method != r.Method:
		case route.Path == r.URL.Path:
			return route
		case variable && strings.HasPrefix(r.URL.Path, prefix):
			found = route
		}
	}
	return found
}

// open reports whether a request needs no token.
func (s *Server) open(r *http.Request) bool {
	if r.URL.Path == LoginPath && len(s.config.Routes) > 0 {
		return true
	}
	route := s.route(r)
	return route != nil && route.Open
}

// wantsLogin reports whether a browser asks for a page.
func (s *Server) wantsLogin(r *http.Request) bool {
	route := s.route(r)
	return r.Method == http.MethodGet && (route != nil && route.Page || len(s.config.Routes) > 0 && !s.known(r)) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// known reports whether there is something at the path of a request.
func (s *Server) known(r *http.Request) bool {
	return s.router.Match(chi.NewRouteContext(), r.Method, r.URL.Path)
}

// Respond answers with JSON.
func Respond(w http.ResponseWriter, status int, v any) { respond(w, status, v) }

// Refuse answers with a problem.
func Refuse(w http.ResponseWriter, status int, p Problem) { refuse(w, status, p) }
