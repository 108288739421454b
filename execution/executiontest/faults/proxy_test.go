//go:build linux

package faults_test

import (
	"encoding/json"
	"strings"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
)

// proxy is a proxy between the gateway and its server, to which toxics can be
// added.
type proxy struct {
	*toxiproxy.Proxy
	s *stand
}

// The directions of a toxic.
const (
	toServer = "upstream"
	toClient = "downstream"
)

// proxyTo starts a proxy to an address. It ends with the scenario.
func (s *stand) proxyTo(address string) *proxy {
	s.Helper()
	p := &proxy{s: s}
	p.start("127.0.0.1:0", address)
	s.Cleanup(func() { p.Stop() })
	return p
}

func (p *proxy) start(listen, address string) {
	p.s.Helper()
	api := &toxiproxy.ApiServer{Collection: toxiproxy.NewProxyCollection(), Metrics: toxiproxy.NewMetricsContainer(nil)}
	api.Logger = zero(api.Logger) // discards everything
	p.Proxy = toxiproxy.NewProxy(api, "server", listen, address)
	if err := p.Start(); err != nil {
		p.s.Fatal(err)
	}
}

// zero returns a zero value of the type that p points at.
func zero[T any](_ *T) *T { return new(T) }

// poison adds a toxic with its attributes. It applies to open connections too.
func (p *proxy) poison(kind, direction string, attributes map[string]int) {
	p.s.Helper()
	p.add(map[string]any{"type": kind, "stream": direction, "attributes": attributes})
}

// arm makes later connections end with a reset instead of an orderly close.
func (p *proxy) arm() {
	p.s.Helper()
	p.add(map[string]any{"type": "reset_peer", "stream": toClient, "toxicity": 0})
}

func (p *proxy) add(toxic map[string]any) {
	p.s.Helper()
	text, err := json.Marshal(toxic)
	if err != nil {
		p.s.Fatal(err)
	}
	if _, err := p.Toxics.AddToxicJson(strings.NewReader(string(text))); err != nil {
		p.s.Fatalf("add %s: %v", text, err)
	}
}

// blackHole discards all data in a direction from now on.
func (p *proxy) blackHole(direction string) {
	p.s.Helper()
	p.poison("timeout", direction, map[string]int{"timeout": 0})
}

// slow limits the answers to rate KB a second.
func (p *proxy) slow(rate int) {
	p.s.Helper()
	p.poison("bandwidth", toClient, map[string]int{"rate": rate})
}

// cut closes every connection and accepts no new ones until heal.
func (p *proxy) cut() { p.Stop() }

// heal closes every connection and accepts connections again, without any
// toxic.
func (p *proxy) heal() {
	p.s.Helper()
	p.Stop()
	p.start(p.Listen, p.Upstream)
}

// resume accepts connections again after a cut, with the same toxics as before.
func (p *proxy) resume() {
	p.s.Helper()
	if err := p.Start(); err != nil {
		p.s.Fatal(err)
	}
}
