//go:build linux

package faults_test

import (
	"fmt"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// truncate cuts the connections of a question to the server.
func (s *stand) truncate(direction string, step int) string {
	s.Helper()
	return s.cut(s.behindProxy(settings{connections: 1}), numbered("cut", 40), direction, step)
}

// cut asks a question many times, each time on a new connection. Each connection is cut
// after more bytes in one direction than the one before, until the answer has come several
// times.
func (s *stand) cut(p *proxy, q question, direction string, step int) string {
	s.Helper()
	counts := tally{}
	for bytes := 0; counts[""] < 4; bytes += step {
		p.heal()
		s.free() // the statement of the cut connection is over
		p.poison("limit_data", direction, map[string]int{"bytes": bytes})
		counts[s.ask(s.Context(), q, execution.Limits{})]++
		if s.Failed() {
			s.Fatalf("the connection was cut after %d bytes", bytes)
		}
	}
	if counts[sqlguard.CodeConnectionLost] == 0 {
		s.Error("no answer was cut")
	}
	p.heal()
	s.free()
	s.eventually("the answer is right again", func() bool { return s.ask(s.Context(), q, execution.Limits{}) == "" })
	return fmt.Sprintf("cut every %s from 0 on; right only when all of it had passed", plural(step, "byte"))
}

// free waits until no connection is held by a statement that may still run.
func (s *stand) free() {
	s.Helper()
	s.eventually("no connection is held", func() bool { return s.load(connectionID).Held == 0 })
}

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

var truncation = []scenario{
	{
		name:   "answer cut at offsets",
		does:   "The connection ends after n bytes from the server, for n in steps of 61 from the first byte of the handshake to the end of the answer.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "Right, or `connection_lost`; never a part of the rows.",
		run:    func(s *stand) string { return s.truncate(toClient, 61) },
	},
	{
		name:   "answer cut at every byte",
		does:   "The same for every n.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "Right, or `connection_lost`; never a part of the rows.",
		full:   true,
		run:    func(s *stand) string { return s.truncate(toClient, 1) },
	},
	{
		name:   "request cut at offsets",
		does:   "The connection ends after n bytes from the gateway, for n in steps of 61.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "Right, or `connection_lost`.",
		run:    func(s *stand) string { return s.truncate(toServer, 61) },
	},
	{
		name:   "request cut at every third byte",
		does:   "The same for n in steps of 3.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "Right, or `connection_lost`.",
		full:   true,
		run:    func(s *stand) string { return s.truncate(toServer, 3) },
	},
}
