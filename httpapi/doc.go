// Package httpapi is the front desk: it lets HTTP requests in or not, and
// hands them to handlers.
//
//	s, err := httpapi.New(httpapi.Config{Host: "127.0.0.1", Sessions: …, Stateless: …, Log: log})
//	err = s.Serve(ctx, listener) // until ctx ends and what runs has ended
//
// Every request passes the same checks in the same order, which router.go
// begins with: the Host header against DNS rebinding, the Origin header against
// foreign pages, the bearer token, the size of the body, how many requests are
// at work, and only then the route. Who asks goes into the context as the actor
// of the audit log.
//
// The package keeps the sessions of the older protocol versions (who began
// one, how many there are, when one ends) and leaves what they say to the
// handlers. It knows headers, never tools, and never reads a statement.
package httpapi
