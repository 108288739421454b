// Package httpapi is the HTTP server: it decides whether a request may come in,
// and passes it to a handler.
//
//	s, err := httpapi.New(httpapi.Config{Host: "127.0.0.1", Sessions: …, Stateless: …, Log: log})
//	err = s.Serve(ctx, listener) // until ctx ends and every request has ended
//
// Every request passes the same checks in the same order, at the top of
// router.go: the Host header against DNS rebinding, the Origin header against
// foreign pages, the bearer token, the size of the body, the number of requests
// that are being handled, and only then the route. The principal goes into the
// context as the actor of the audit log.
//
// The package keeps the sessions of the older protocol versions: which
// principal began one, how many there are, and when one ends. Their content is
// left to the handlers. The package reads headers, knows no tools, and never
// reads a statement.
package httpapi
