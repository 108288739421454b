package audit

import (
	"context"
	"unicode/utf8"
)

// Actor is the principal and client that made a request. The context of the
// request carries it.
type Actor struct {
	// Principal is the name of the token, or one of local, stdio, cli and scan.
	Principal string
	Client    Client
	// Session is the log's id of the client session; see [Event.Session].
	Session string
	// Connections are the ids that the principal may use, nil for all. The
	// gateway enforces them. They are not written to the log.
	Connections []string
	// Upstreams are the names of the other MCP servers that the principal may use, nil
	// for all. Package upstream enforces them. They are not written to the log.
	Upstreams []string
}

// maxActorText bounds what a client may say about itself, in bytes.
const maxActorText = 256

type actorKey struct{}

// WithActor returns a context that carries a. Strings that the client chooses
// are cut to 256 bytes.
func WithActor(ctx context.Context, a Actor) context.Context {
	for _, s := range []*string{
		&a.Principal, &a.Session,
		&a.Client.Name, &a.Client.Version, &a.Client.Transport, &a.Client.Address, &a.Client.User,
	} {
		*s = clip(*s, maxActorText)
	}
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorFrom returns the actor of ctx and whether there is one.
func ActorFrom(ctx context.Context) (Actor, bool) {
	a, ok := ctx.Value(actorKey{}).(Actor)
	return a, ok
}

// Attribute returns e with principal, client and session of the context's
// actor, unless e names a principal or a client of its own. [Writer.Append]
// does this for every event.
func Attribute(ctx context.Context, e Event) Event {
	a, ok := ActorFrom(ctx)
	if !ok || e.Principal != "" || e.Client != (Client{}) {
		return e
	}
	e.Principal, e.Client = a.Principal, a.Client
	if e.Session == "" {
		e.Session = a.Session
	}
	return e
}

// clip cuts s to at most n bytes, at the start of a rune.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
