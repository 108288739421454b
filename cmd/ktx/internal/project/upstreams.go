package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/upstream"
)

// Upstreams are other MCP servers, whose tools agents find and call through ktx.
type Upstreams struct {
	Servers map[string]Upstream `yaml:"servers" doc:"The servers, by name."`
	Import  []string            `yaml:"import" doc:"Files of MCP clients whose mcpServers are added, relative to the project or beginning with ~/. A server of the key servers replaces one of the same name. An entry of ktx itself is left out."`
	Rules   []UpstreamRule      `yaml:"rules" doc:"What may be called, in order: the first rule that matches a tool and says enabled decides. Without one, tools are enabled that their server annotates as read-only, unless a rule for the server says enabled true."`
	Cache   UpstreamCache       `yaml:"cache" doc:"Lists of tools that are kept in .ktx/upstreams."`
	Trust   UpstreamTrust       `yaml:"trust" doc:"What is believed of servers."`
	Limits  UpstreamLimits      `yaml:"limits" doc:"Limits of calls."`
}

// Upstream is one MCP server: a command, or a URL.
type Upstream struct {
	Command     string            `yaml:"command" doc:"The program to start. It speaks MCP over standard input and output."`
	Args        []Secret          `yaml:"args" doc:"Arguments of the program; env:NAME and file:/path are replaced."`
	Env         map[string]Secret `yaml:"env" doc:"Variables of the program, beside PATH, HOME and LANG; env:NAME and file:/path are replaced."`
	Cwd         string            `yaml:"cwd" doc:"Folder in which the program runs, relative to the project; default the project."`
	URL         Secret            `yaml:"url" doc:"Address of the server, instead of command: env:NAME, file:/path, or the URL itself."`
	Headers     map[string]Secret `yaml:"headers" doc:"Headers of each request, such as Authorization; env:NAME and file:/path are replaced."`
	OAuth       UpstreamOAuth     `yaml:"oauth" doc:"How ktx upstream login introduces ktx, for a server whose authorization server does not register clients by itself."`
	Transport   string            `yaml:"transport" doc:"How the url is spoken to: http is Streamable HTTP, sse the transport of protocol version 2024-11-05; default: find out." enum:"http,sse"`
	Description string            `yaml:"description" doc:"What the server is for; agents see it, and search reads it."`
	Keywords    []string          `yaml:"keywords" doc:"More words by which its tools are found."`
	Timeout     Duration          `yaml:"timeout" doc:"Maximum time of a call, and of connecting; default 60s."`
	Idle        Duration          `yaml:"idle" doc:"Time without calls after which the connection is closed; default 5m."`
	Start       string            `yaml:"start" doc:"lazy (default) connects at the first use, eager when ktx starts." enum:"lazy,eager"`
	Enabled     *bool             `yaml:"enabled" doc:"false leaves the server out; default true."`
}

// UpstreamOAuth says how ktx introduces itself where a person logs in to a server.
type UpstreamOAuth struct {
	ClientID     string   `yaml:"clientId" doc:"The name by which the authorization server knows ktx; default: ktx registers itself."`
	ClientSecret Secret   `yaml:"clientSecret" doc:"The secret of that client, if it has one: env:NAME or file:/path."`
	Scopes       []string `yaml:"scopes" doc:"What to ask permission for; default: what the server names."`
	RedirectPort int      `yaml:"redirectPort" doc:"Port of http://127.0.0.1:PORT/callback, to which the browser returns; default a free one." min:"1" max:"65535"`
}

// set reports whether the block says something.
func (o *UpstreamOAuth) set() bool {
	return o.ClientID != "" || o.ClientSecret.Set() || len(o.Scopes) > 0 || o.RedirectPort != 0
}

// UpstreamRule says something about the tools that match it.
type UpstreamRule struct {
	Match   []string     `yaml:"match" doc:"Names of tools: globs with * ? [], /regex/ism, or either after ! to exclude. A glob with a colon is compared with server:tool. Case does not count."`
	Server  string       `yaml:"server" doc:"The server, as one such pattern; default every server."`
	Enabled *bool        `yaml:"enabled" doc:"true: the tools may be called, and others of the server only by a rule. false: they may not."`
	Tags    []string     `yaml:"tags" doc:"Words that tool_search can ask for."`
	SQL     *UpstreamSQL `yaml:"sql" doc:"The argument that is SQL. The guard judges it before each call, and only pure reads are sent, so the tool counts as read-only."`
}

// UpstreamSQL names an argument that is SQL, and who judges it.
type UpstreamSQL struct {
	Argument   string `yaml:"argument" doc:"The name of the argument."`
	Dialect    string `yaml:"dialect" doc:"The dialect; the block guard of ktx.yaml applies." enum:"postgres,mysql,mariadb,sqlserver,clickhouse,bigquery,sqlite,duckdb"`
	Connection string `yaml:"connection" doc:"The connection whose guard judges, instead of dialect."`
}

// UpstreamCache says how long lists of tools hold.
type UpstreamCache struct {
	Enabled *bool    `yaml:"enabled" doc:"Keep the lists on disk, so that a search works before a server runs; default true."`
	TTL     Duration `yaml:"ttl" doc:"Time after which a list is read again; default 1h."`
}

// UpstreamTrust says what is believed of servers.
type UpstreamTrust struct {
	Pin *bool `yaml:"pin" doc:"A tool whose definition has changed since it was first seen is not called before ktx upstream approve; default true."`
}

// UpstreamLimits bound calls.
type UpstreamLimits struct {
	ResultBytes    Bytes `yaml:"resultBytes" doc:"Maximum size of one result; default 256KiB."`
	CallsPerMinute int   `yaml:"callsPerMinute" doc:"Maximum number of calls to one server within a minute; default no limit." min:"1" max:"100000"`
}

// Set reports whether there is a block upstreams that names a server.
func (u *Upstreams) Set() bool { return len(u.Servers) > 0 || len(u.Import) > 0 }

// Identity changes when another server may be meant. It is a hash of what the file says
// of where the server is, in which a secret counts as it is written.
func (u Upstream) Identity() string {
	sum := sha256.New()
	add := func(parts ...string) {
		for _, p := range parts {
			_, _ = fmt.Fprintf(sum, "%d:%s", len(p), p)
		}
	}
	text := func(s Secret) string {
		if !s.Set() {
			return ""
		}
		return *s.text
	}
	add("command", u.Command, u.Cwd, text(u.URL), u.Transport)
	for _, a := range u.Args {
		add("arg", text(a))
	}
	for _, m := range []map[string]Secret{u.Env, u.Headers} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			add("value", name, text(m[name]))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// upstreams checks the block upstreams.
func (c checker) upstreams(config *Config) {
	at := func(keys ...string) []string { return append([]string{"upstreams"}, keys...) }
	for _, name := range slices.Sorted(maps.Keys(config.Upstreams.Servers)) {
		s := config.Upstreams.Servers[name]
		if !upstream.ValidName(name) {
			c.fault(at("servers", name), "a name is up to 64 letters, digits, dots, _ and -, and begins with a letter or digit")
		}
		if problem := s.problem(); problem != "" {
			c.fault(at("servers", name), "%s", problem)
		}
	}
	for i, r := range config.Upstreams.Rules {
		entry := at("rules", index(i))
		under := func(keys ...string) []string { return append(slices.Clone(entry), keys...) }
		if len(r.Match) == 0 {
			c.fault(entry, "match is missing; [\"*\"] matches every tool")
		}
		if _, err := upstream.ParsePatterns(r.Match); err != nil {
			at := 0
			if p, ok := errors.AsType[*upstream.PatternError](err); ok {
				at = p.Index
			}
			c.fault(under("match", index(at)), "%v", err)
		}
		if r.Server != "" {
			if _, err := upstream.ParsePatterns([]string{r.Server}); err != nil {
				c.fault(under("server"), "%v", err)
			}
		}
		if r.Enabled == nil && len(r.Tags) == 0 && r.SQL == nil {
			c.fault(entry, "the rule says nothing; give enabled, tags or sql")
		}
		c.upstreamSQL(config, under("sql"), r.SQL)
	}
}

func (c checker) upstreamSQL(config *Config, at []string, sql *UpstreamSQL) {
	if sql == nil {
		return
	}
	if sql.Argument == "" {
		c.fault(at, "argument is missing")
	}
	if (sql.Dialect == "") == (sql.Connection == "") {
		c.fault(at, "give either dialect or connection")
	}
	if _, ok := config.Connections[sql.Connection]; sql.Connection != "" && !ok {
		near := ""
		if n := nearest(sql.Connection, slices.Sorted(maps.Keys(config.Connections))); n != "" {
			near = ", did you mean " + n + "?"
		}
		c.fault(append(slices.Clone(at), "connection"), "no connection has the id %q%s", sql.Connection, near)
	}
}

// problem returns what is wrong with the address of a server, or "".
func (u Upstream) problem() string {
	switch {
	case u.Command == "" && !u.URL.Set():
		return "give command or url"
	case u.Command != "" && u.URL.Set():
		return "give only one of command and url"
	case u.Command != "" && (len(u.Headers) > 0 || u.Transport != "" || u.OAuth.set()):
		return "headers, oauth and transport need url"
	case u.OAuth.ClientSecret.Set() && u.OAuth.ClientID == "":
		return "oauth.clientSecret needs oauth.clientId"
	case u.URL.Set() && (len(u.Args) > 0 || len(u.Env) > 0 || u.Cwd != ""):
		return "args, env and cwd need command"
	case u.URL.Literal() && !strings.HasPrefix(*u.URL.text, "http://") && !strings.HasPrefix(*u.URL.text, "https://"):
		return "url begins with http:// or https://"
	}
	for _, list := range []map[string]Secret{u.Env, u.Headers} {
		for name := range list {
			if name == "" || strings.ContainsAny(name, "=\x00\r\n: ") {
				return fmt.Sprintf("%q cannot be the name of a variable or header", name)
			}
		}
	}
	return ""
}
