package project_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

func TestServerKeys(t *testing.T) {
	t.Parallel()
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("the token")))
	text := `connections: {shop: {driver: sqlite, path: a.db}}
server:
  host: 0.0.0.0
  port: 80
  stateless: true
  allowedHosts: [ktx.example.com]
  allowedOrigins: ["https://app.example.com"]
  tokens:
    - {name: a, token: "env:A", connections: [shop], rate: 60/m}
    - {name: b.c@d, token: "sha256:` + sum + `", rate: 5/s}
`
	config, problems := project.Parse([]byte(text), func(string) bool { return true })
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s := config.Server
	if s.Host != "0.0.0.0" || s.Port != 80 || !s.Stateless || s.Tokens[0].Rate != (project.Rate{Requests: 60, Per: time.Minute}) || s.Tokens[1].Rate.Per != time.Second {
		t.Errorf("%+v", s)
	}
	if s.Tokens[1].Connections != nil {
		t.Error("a token without the key connections is limited to some connections")
	}
	lookup := func(name string) (string, bool) { return "the token", name == "A" }
	for _, token := range s.Tokens {
		got, err := token.Sum(lookup)
		if err != nil || got != sha256.Sum256([]byte("the token")) {
			t.Errorf("%s: %x %v", token.Name, got, err)
		}
	}
	if _, err := s.Tokens[0].Sum(func(string) (string, bool) { return "", false }); err == nil {
		t.Error("Sum accepts a variable that is not set")
	}
	// A variable holds a token. Sum must not read its value as a hash, even if it
	// looks like one.
	literal, err := s.Tokens[0].Sum(func(string) (string, bool) { return "sha256:" + sum, true })
	if err != nil || literal == sha256.Sum256([]byte("the token")) {
		t.Errorf("Sum read the value of a variable as a hash: %v", err)
	}
}

func TestServerFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"server: {prot: 1}", "server.prot: unknown key, did you mean port?"},
		{"server: {port: 0}", "server.port: \"0\" is not an integer from 1 to 65535"},
		{"server: {allowedHosts: ['*']}", "server.allowedHosts[0]: allowed host"},
		{"server: {allowedOrigins: ['*']}", "server.allowedOrigins[0]: allowed origin"},
		{"server: {allowedOrigins: ['https://a.example/']}", "server.allowedOrigins[0]: allowed origin"},
		{"server: {tokens: [{token: 'env:A'}]}", "server.tokens[0]: name is missing"},
		{"server: {tokens: [{name: 'a b', token: 'env:A'}]}", "server.tokens[0].name: a name is"},
		{"server: {tokens: [{name: local, token: 'env:A'}]}", "server.tokens[0].name: local is reserved for principals"},
		{"server: {tokens: [{name: a, token: 'env:A'}, {name: a, token: 'env:B'}]}", "server.tokens[1].name: the name is given twice"},
		{"server: {tokens: [{name: a}]}", "server.tokens[0].token: it is missing"},
		{"server: {tokens: [{name: a, token: hunter2}]}", "server.tokens[0].token: a token must not be in this file"},
		{"server: {tokens: [{name: a, token: 'sha256:12'}]}", "server.tokens[0].token: a token must not be in this file"},
		{"server: {tokens: [{name: a, token: 'env:A', connections: []}]}", "server.tokens[0].connections: the list is empty"},
		{"connections: {shop: {driver: sqlite, path: a.db}}\nserver: {tokens: [{name: a, token: 'env:A', connections: [shpo]}]}", "server.tokens[0].connections[0]: no connection has the id \"shpo\", did you mean shop?"},
		{"server: {tokens: [{name: a, token: 'env:A', rate: 60}]}", "server.tokens[0].rate: \"60\" is not a rate"},
		{"server: {tokens: [{name: a, token: 'env:A', rate: 0/m}]}", "server.tokens[0].rate: \"0/m\" is not a rate"},
		{"server: {tokens: [{name: a, token: 'env:A', rate: 6/d}]}", "server.tokens[0].rate: \"6/d\" is not a rate"},
	} {
		_, problems := project.Parse([]byte(test.text), func(string) bool { return true })
		found := false
		for _, p := range problems {
			found = found || !p.Warning && strings.Contains(p.In("ktx.yaml"), test.want)
			if strings.Contains(p.Message, "hunter2") {
				t.Errorf("a token is printed: %v", p)
			}
		}
		if !found {
			t.Errorf("%s: %v, want %s", test.text, problems, test.want)
		}
	}
}
