package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/httpapi"
)

// Server configures ktx mcp start.
type Server struct {
	Host           string   `yaml:"host" doc:"The address to bind; default 127.0.0.1. One that is not loopback needs a token."`
	Port           int      `yaml:"port" doc:"The port to bind; default 7878." min:"1" max:"65535"`
	Stateless      bool     `yaml:"stateless" doc:"Keep no sessions, for replicas behind a load balancer; default false."`
	AllowedHosts   []string `yaml:"allowedHosts" doc:"More names that the Host header may have, such as that of a reverse proxy."`
	AllowedOrigins []string `yaml:"allowedOrigins" doc:"Origins whose pages may send requests, such as https://app.example.com."`
	Abandoned      Duration `yaml:"abandoned" doc:"Time until a statement ends whose client has dropped its connection and has no other stream in its session; default 2s."`
	AnswerMemory   Bytes    `yaml:"answerMemory" doc:"Maximum memory for answers that are being made or sent, over all calls; default 256MiB."`
	Tokens         []Token  `yaml:"tokens" doc:"The principals that may send requests, each with its bearer token."`
}

// Token is the bearer token of one principal.
type Token struct {
	Name        string   `yaml:"name" doc:"The principal's name in the audit log."`
	Token       Secret   `yaml:"token" doc:"The token: env:NAME, file:/path, or sha256:HEX, the SHA-256 of a token of at least 32 random bytes."`
	Connections []string `yaml:"connections" doc:"Connections that the principal may use; others are unknown to it. Without the key, all."`
	Upstreams   []string `yaml:"upstreams" doc:"Servers of the block upstreams that the principal may use, or [\"*\"] for all; others are unknown to it. Without the key, all, and none if the token has connections."`
	May         []string `yaml:"may" doc:"What the principal may do: query (MCP and checks), audit (see the events of all principals), pages (open the web pages); default [query]."`
	Rate        Rate     `yaml:"rate" doc:"Maximum number of requests per s, m or h, such as 60/m; all of them may come at once."`
}

// UpstreamNames returns the other MCP servers that the principal may use, nil for all. A
// token that is limited to connections reaches no other server unless it says so: such a
// server can read another database.
func (t Token) UpstreamNames() []string {
	switch {
	case slices.Contains(t.Upstreams, "*"), t.Upstreams == nil && t.Connections == nil:
		return nil
	case t.Upstreams == nil:
		return []string{}
	}
	return t.Upstreams
}

// Rate is a number of requests in a second, a minute or an hour, such as 60/m.
type Rate struct {
	Requests int
	Per      time.Duration
}

// UnmarshalText reads a rate.
func (r *Rate) UnmarshalText(text []byte) error {
	count, unit, _ := strings.Cut(string(text), "/")
	n, err := strconv.Atoi(count)
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	if err != nil || n < 1 || n > 1_000_000 || per == 0 || count[0] == '+' {
		return fmt.Errorf("%q is not a rate; expected a number of requests per s, m or h, such as 60/m", text)
	}
	*r = Rate{n, per}
	return nil
}

// hashPrefix begins a value that is the hash of a token.
const hashPrefix = "sha256:"

var hexSum = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

// Sum returns the SHA-256 of the token.
func (t Token) Sum(lookup func(string) (string, bool)) (sum [sha256.Size]byte, err error) {
	text, err := t.Token.Resolve(lookup)
	if err != nil {
		return sum, err
	}
	if digits, ok := strings.CutPrefix(text, hashPrefix); ok && t.Token.Literal() {
		_, err := hex.Decode(sum[:], []byte(digits))
		return sum, err
	}
	return sha256.Sum256([]byte(text)), nil
}

// reserved are the names of principals that have no entry in server.tokens.
var reserved = []string{"local", "stdio", "token", "cli", "scan"}

var principalName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._@-]{0,63}$`)

func (c checker) server(config *Config) {
	at := func(keys ...string) []string { return append([]string{"server"}, keys...) }
	s := config.Server
	for i, h := range s.AllowedHosts {
		if _, err := httpapi.ParseHost(h); err != nil {
			c.fault(at("allowedHosts", index(i)), "%v", err)
		}
	}
	for i, o := range s.AllowedOrigins {
		if _, err := httpapi.ParseOrigin(o); err != nil {
			c.fault(at("allowedOrigins", index(i)), "%v", err)
		}
	}
	names := map[string]bool{}
	for i, t := range s.Tokens {
		entry := at("tokens", index(i))
		under := func(keys ...string) []string { return append(slices.Clone(entry), keys...) }
		switch {
		case t.Name == "":
			c.fault(entry, "name is missing")
		case !principalName.MatchString(t.Name):
			c.fault(under("name"), "a name is up to 64 letters, digits, dots, @, _ and -, and begins with a letter or digit")
		case slices.Contains(reserved, t.Name):
			c.fault(under("name"), "%s is reserved for principals without an entry here", t.Name)
		case names[t.Name]:
			c.fault(under("name"), "the name is given twice")
		}
		names[t.Name] = true
		if err := t.Token.asToken(); err != nil {
			c.fault(under("token"), "%v", err)
		}
		if t.Connections != nil && len(t.Connections) == 0 {
			c.fault(under("connections"), "the list is empty; remove the key to permit all connections")
		}
		if t.May != nil && len(t.May) == 0 {
			c.fault(under("may"), "the list is empty; remove the key for [query], or remove the token")
		}
		for k, may := range t.May {
			if !slices.Contains(httpapi.Rights(), httpapi.Right(may)) {
				c.fault(under("may", index(k)), "%q is not one of query, audit, pages", may)
			}
		}
		for k, name := range t.Upstreams {
			// Names of imported servers are not known yet.
			if _, ok := config.Upstreams.Servers[name]; !ok && name != "*" && len(config.Upstreams.Import) == 0 {
				near := ""
				if n := nearest(name, slices.Sorted(maps.Keys(config.Upstreams.Servers))); n != "" {
					near = ", did you mean " + n + "?"
				}
				c.fault(under("upstreams", index(k)), "no server of upstreams is called %q%s", name, near)
			}
		}
		for k, id := range t.Connections {
			if _, ok := config.Connections[id]; !ok {
				near := ""
				if n := nearest(id, slices.Sorted(maps.Keys(config.Connections))); n != "" {
					near = ", did you mean " + n + "?"
				}
				c.fault(under("connections", index(k)), "no connection has the id %q%s", id, near)
			}
		}
	}
}

// asToken returns an error when a secret cannot be a token.
func (s Secret) asToken() error {
	if !s.Set() {
		return errors.New("it is missing")
	}
	if !s.Literal() {
		return nil
	}
	if digits, ok := strings.CutPrefix(*s.text, hashPrefix); ok && hexSum.MatchString(digits) {
		return nil
	}
	return errors.New("a token must not be in this file: expected env:NAME, file:/path, or sha256: and 64 hexadecimal digits")
}
