package mcp

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/daemon"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/httpapi"
)

// principalToken is the principal of the single token.
const principalToken = "token"

// serverSettings are the settings of a server from flags, environment and
// ktx.yaml.
type serverSettings struct {
	Host                         string
	Port                         int
	Stateless                    bool
	AllowedHosts, AllowedOrigins []string
	Tokens                       []httpapi.Token
	Abandoned                    time.Duration
	AnswerMemory                 int64
	AllowEmpty                   bool // a reload may remove every connection
}

// settle returns the settings of a server. A flag that is given overrides
// ktx.yaml; tokens, allowed hosts and origins are taken from both.
func settle(a *console.App, cmd *cobra.Command, p *project.Project, o startOptions) (serverSettings, error) {
	c := p.Config.Server
	s := serverSettings{
		Host: o.host, Port: o.port, Stateless: o.stateless || c.Stateless, AllowEmpty: o.allowEmpty,
		AllowedHosts:   slices.Concat(c.AllowedHosts, o.allowedHosts),
		AllowedOrigins: slices.Concat(c.AllowedOrigins, o.allowedOrigins),
		Abandoned:      time.Duration(c.Abandoned), AnswerMemory: int64(c.AnswerMemory),
	}
	if !cmd.Flags().Changed("host") {
		s.Host = cmp.Or(c.Host, daemon.DefaultHost)
	}
	if !cmd.Flags().Changed("port") {
		s.Port = cmp.Or(c.Port, daemon.DefaultPort)
	}
	if cmd.Flags().Changed("stateless") {
		s.Stateless = o.stateless
	}
	if s.Port < 0 || s.Port > 65535 {
		return s, console.Usage("--port %d: expected a number from 0 to 65535", s.Port)
	}
	for _, h := range s.AllowedHosts {
		if _, err := httpapi.ParseHost(h); err != nil {
			return s, console.AsUsage(err)
		}
	}
	for _, origin := range s.AllowedOrigins {
		if _, err := httpapi.ParseOrigin(origin); err != nil {
			return s, console.AsUsage(err)
		}
	}
	token := o.token
	if token == "" {
		value, set := a.Lookup(tokenVariable)
		if set && strings.TrimSpace(value) == "" {
			return s, console.Usage("%s is set but blank; unset it or set it to the token", tokenVariable)
		}
		token = value
	}
	if token != "" {
		if strings.ContainsAny(token, " \t\r\n") {
			return s, console.Usage("the token contains white space, which no client can send")
		}
		s.Tokens = append(s.Tokens, httpapi.Token{Principal: principalToken, Sum: httpapi.Sum(token), May: httpapi.Rights()})
	}
	for _, t := range c.Tokens {
		sum, err := t.Sum(p.Environment(a.Lookup))
		if err != nil {
			return s, console.Usage("%s: server.tokens, %s: %w", console.DisplayPath(p.File), t.Name, err)
		}
		var may []httpapi.Right
		for _, right := range t.May {
			may = append(may, httpapi.Right(right))
		}
		s.Tokens = append(s.Tokens, httpapi.Token{Principal: t.Name, May: may, Sum: sum, Connections: t.Connections, Upstreams: t.UpstreamNames(), Requests: t.Rate.Requests, Per: t.Rate.Per})
	}
	if err := httpapi.CheckTokens(s.Tokens); err != nil {
		return s, console.AsUsage(err)
	}
	return s, nil
}

// digest returns a keyed hash of the settings. Its key is the nonce of the server.
func (s serverSettings) digest(nonce string) string {
	mac := hmac.New(sha256.New, []byte(nonce))
	text, err := json.Marshal(s)
	if err != nil { // no field of it fails
		text = []byte(err.Error())
	}
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil))
}
