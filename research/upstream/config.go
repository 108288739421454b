package upstream

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// The defaults of a [Config] and a [Server].
const (
	DefaultTimeout     = 60 * time.Second
	DefaultIdle        = 5 * time.Minute
	DefaultTTL         = time.Hour
	DefaultResultBytes = 256 << 10
)

// A Value is a text of the configuration that may be a secret. It is read when it is
// needed, and never printed.
type Value func() (string, error)

// Config says which servers there are, and what of them may be used.
type Config struct {
	Servers []Server // sorted by name
	Rules   []Rule
	// NoCache keeps the lists of tools in memory only.
	NoCache bool
	TTL     time.Duration // of a list of tools; 0 is [DefaultTTL]
	// TrustChanges uses tools whose definition has changed. Otherwise they wait for
	// [Manager.Approve].
	TrustChanges bool
	ResultBytes  int64 // of one result; 0 is [DefaultResultBytes]
	// CallsPerMinute bounds the calls to one server; 0 is no limit.
	CallsPerMinute int
}

// The ways to reach a server by HTTP.
const (
	TransportStreamable = "http" // Streamable HTTP
	TransportSSE        = "sse"  // HTTP with server-sent events, of protocol version 2024-11-05
)

// Server is one MCP server. It has a command or a URL.
type Server struct {
	Name        string
	Description string
	Keywords    []string

	Command string
	Args    []Value
	Env     map[string]Value
	Dir     string // where the command runs; "" is the folder of ktx

	URL       Value
	Headers   map[string]Value
	OAuth     OAuth
	Transport string // TransportStreamable, TransportSSE, or "" to find out

	// Identity changes when another server may be meant. It is a hash of what the
	// configuration says, without its secrets.
	Identity string

	Timeout  time.Duration // of a call; 0 is [DefaultTimeout]
	Idle     time.Duration // until an unused connection is closed; 0 is [DefaultIdle]
	Eager    bool          // connect at once
	Disabled bool
}

// Rule says something about the tools that match it.
type Rule struct {
	Match   []string // patterns; see [Patterns]
	Server  string   // a pattern; "" is every server
	Enabled *bool
	Tags    []string
	SQL     *SQLRule
}

// SQLRule names an argument that is SQL. One of Dialect and Connection is set.
type SQLRule struct {
	Argument   string
	Dialect    string
	Connection string
}

var serverName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$`)

// ValidName reports whether a text may be the name of a server.
func ValidName(name string) bool { return serverName.MatchString(name) }

// Validate reports what is wrong with the configuration. It does not read secrets.
func (c *Config) Validate() error {
	var errs []error
	seen := map[string]bool{}
	for _, s := range c.Servers {
		if !ValidName(s.Name) {
			errs = append(errs, fmt.Errorf("server %q: a name is up to 64 letters, digits, dots, _ and -, and begins with a letter or digit", s.Name))
		}
		if seen[s.Name] {
			errs = append(errs, fmt.Errorf("server %s: the name is given twice", s.Name))
		}
		seen[s.Name] = true
		if (s.Command == "") == (s.URL == nil) {
			errs = append(errs, fmt.Errorf("server %s: give either command or url", s.Name))
		}
	}
	if !slices.IsSortedFunc(c.Servers, func(a, b Server) int { return compareNames(a.Name, b.Name) }) {
		errs = append(errs, errors.New("the servers are not sorted by name"))
	}
	if _, err := compileRules(c.Rules); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
