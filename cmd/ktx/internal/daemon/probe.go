package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/httpapi"
)

// Answer is what [State.Probe] found at the address of a server.
type Answer string

// The answers.
const (
	// Ours: the server of the state answered with its nonce.
	Ours Answer = "ours"
	// Stranger: something else answered.
	Stranger Answer = "stranger"
	// Nobody: nothing listens there.
	Nobody Answer = "nobody"
	// Silent: something listens there and does not answer.
	Silent Answer = "silent"
)

// probeTime is the time limit for an answer.
const probeTime = 3 * time.Second

// Probe asks which program answers at the address of s. The health is valid when
// the answer is Ours.
func (s State) Probe(ctx context.Context) (Answer, httpapi.Health) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var h httpapi.Health
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Address()+"/health", http.NoBody)
	if err != nil { // the host is no host
		return Nobody, h
	}
	// The request uses no proxy, which would see the nonce.
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			return Silent, h
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			return Nobody, h
		}
		if _, dialing := errors.AsType[*net.OpError](err); dialing {
			return Nobody, h
		}
		return Stranger, h
	}
	defer func() { _ = res.Body.Close() }()
	if json.NewDecoder(io.LimitReader(res.Body, maxState)).Decode(&h) != nil || h.Nonce != s.Nonce || h.PID != s.PID {
		return Stranger, httpapi.Health{}
	}
	return Ours, h
}
