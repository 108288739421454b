//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// wide asks for n rows of a kilobyte. With many rows that is more than the
// buffers between server and gateway can hold.
func wide(tag string, n int) question {
	q := question{
		sql:     fmt.Sprintf("SELECT i, repeat('%s', 250) || i FROM generate_series(1, %d) AS i ORDER BY i", tag, n),
		mariadb: fmt.Sprintf("SELECT i, CONCAT(REPEAT('%s', 250), i) FROM numbers WHERE i <= %d ORDER BY i", tag, n),
	}
	for i := range n {
		q.rows = append(q.rows, []string{fmt.Sprint(i + 1), fmt.Sprintf("%s%d", repeated(tag, 250), i+1)})
	}
	return q
}

func repeated(tag string, n int) string {
	out := make([]byte, 0, len(tag)*n)
	for range n {
		out = append(out, tag...)
	}
	return string(out)
}

// roomy limits permit large answers.
var roomy = execution.Limits{Rows: 100_000, Bytes: 256 << 20}

// behindProxy gives the scenario a database and a gateway that reaches it
// through a proxy. The gateway has answered once.
func (s *stand) behindProxy(set settings) *proxy {
	s.Helper()
	s.database()
	p := s.proxyTo(s.bench.addr())
	set.through = p.Listen
	s.open(set)
	s.right(one("first"))
	return p
}

// asking sends a question in another goroutine. The function that it returns
// waits for it and returns how it ended.
func (s *stand) asking(ctx context.Context, q question, lim execution.Limits) func() sqlguard.Code {
	ended := make(chan sqlguard.Code, 1)
	go func() { ended <- s.ask(ctx, q, lim) }()
	return func() sqlguard.Code {
		s.Helper()
		select {
		case code := <-ended:
			return code
		case <-time.After(2 * hang):
			s.Fatal("a call hangs")
			return ""
		}
	}
}

// crowd makes several callers ask numbered questions at the same time and
// counts how they end. Every caller must get its own answers.
func (s *stand) crowd(callers, each int) tally {
	s.Helper()
	var mu sync.Mutex
	var work sync.WaitGroup
	counts := tally{}
	for c := range callers {
		work.Go(func() {
			for i := range each {
				code := s.ask(s.Context(), numbered(fmt.Sprintf("c%d-%d", c, i), 20), execution.Limits{})
				mu.Lock()
				counts[code]++
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return counts
}

// callers makes n callers ask for that many rows without a pause, until stop is
// called. Stop waits until at least one call was answered.
func (s *stand) callers(n, rows int, timeout time.Duration) (stop func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	var work sync.WaitGroup
	var answered atomic.Bool
	for c := range n {
		work.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if s.ask(s.Context(), numbered(fmt.Sprintf("c%d-%d", c, i), rows), execution.Limits{Timeout: timeout}) == "" {
					answered.Store(true)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	return func() {
		s.Helper()
		s.eventually("a call is answered", answered.Load)
		cancel()
		work.Wait()
	}
}

var network = []scenario{
	{
		name:   "latency with jitter",
		does:   "Every packet is 40 ± 30 ms late in both directions, while 4 callers ask 8 questions each.",
		passes: "All answers are right.",
		run: func(s *stand) string {
			p := s.behindProxy(settings{})
			for _, direction := range []string{toServer, toClient} {
				p.poison("latency", direction, map[string]int{"latency": 40, "jitter": 30})
			}
			counts := s.crowd(4, 8)
			return counts.String()
		},
	},
	{
		name:   "slow network, enough time",
		does:   "Answers pass at 512 KB a second; an answer of 200 KB is asked for.",
		passes: "The answer is right.",
		run: func(s *stand) string {
			p := s.behindProxy(settings{limits: roomy})
			p.slow(512)
			s.right(wide("slow", 200))
			return ""
		},
	},
	{
		name:   "slow network, not enough time",
		does:   "Answers pass at 32 KB a second; an answer of 20 MB is asked for, within 0.5 s.",
		codes:  []sqlguard.Code{sqlguard.CodeTimeout},
		passes: "The call ends as `timeout`. The gateway answers when the network is well again.",
		full:   true,
		run: func(s *stand) string {
			p := s.behindProxy(settings{limits: roomy})
			p.slow(32)
			s.wantCode(s.ask(s.Context(), wide("slow", 20_000), execution.Limits{Timeout: 500 * time.Millisecond}), sqlguard.CodeTimeout)
			p.heal()
			s.recovers()
			return ""
		},
	},
	{
		name:   "black hole at connect",
		does:   "A server that accepts connections and never says anything; then a network that is well.",
		codes:  []sqlguard.Code{sqlguard.CodeTimeout, sqlguard.CodeConnectionLost},
		passes: "The call ends as `timeout` at its limit of 0.5 s, and one with a longer limit as `connection_lost` when the time to connect is over.",
		full:   true,
		run: func(s *stand) string {
			s.database()
			p := s.proxyTo(s.bench.addr())
			p.blackHole(toServer)
			p.blackHole(toClient)
			s.open(settings{through: p.Listen})
			s.wantCode(s.ask(s.Context(), one("a"), execution.Limits{Timeout: 500 * time.Millisecond}), sqlguard.CodeTimeout)
			s.wantCode(s.ask(s.Context(), one("b"), execution.Limits{}), sqlguard.CodeConnectionLost)
			p.heal()
			s.recovers()
			return ""
		},
	},
	{
		name:   "black hole on the way to the server",
		does:   "Nothing the gateway sends arrives any more, on connections that are open.",
		codes:  []sqlguard.Code{sqlguard.CodeTimeout},
		passes: "The call ends as `timeout`.",
		full:   true,
		run: func(s *stand) string {
			p := s.behindProxy(settings{})
			p.blackHole(toServer)
			s.wantCode(s.ask(s.Context(), one("a"), execution.Limits{Timeout: 500 * time.Millisecond}), sqlguard.CodeTimeout)
			p.heal()
			s.recovers()
			return ""
		},
	},
	{
		name:   "black hole before the answer",
		does:   "Nothing the server sends arrives any more, while a statement runs.",
		codes:  []sqlguard.Code{sqlguard.CodeTimeout},
		passes: "The call ends as `timeout`, and the statement with it.",
		run: func(s *stand) string {
			p := s.behindProxy(settings{})
			before := s.ended()
			ended := s.asking(s.Context(), endless(), execution.Limits{Timeout: time.Second})
			s.begun(before)
			p.blackHole(toClient)
			s.wantCode(ended(), sqlguard.CodeTimeout)
			s.eventually("the statement has ended", func() bool { return s.running() == 0 })
			p.heal()
			s.recovers()
			return ""
		},
	},
	{
		name:   "black hole in mid-stream",
		does:   "Nothing passes in either direction from the middle of an answer of 20 MB on.",
		codes:  []sqlguard.Code{sqlguard.CodeTimeout},
		passes: "The call ends as `timeout`, without the rows that came.",
		full:   true,
		run: func(s *stand) string {
			p := s.behindProxy(settings{limits: roomy})
			p.slow(256)
			ended := s.asking(s.Context(), wide("hole", 20_000), execution.Limits{Timeout: 2 * time.Second})
			s.eventually("the server waits to send", func() bool { return s.sending() == 1 })
			p.blackHole(toClient)
			p.blackHole(toServer)
			s.wantCode(ended(), sqlguard.CodeTimeout)
			p.heal()
			s.recovers()
			return ""
		},
	},
	{
		name:   "caller leaves a black hole",
		does:   "A caller goes away from a statement with a limit of 60 s whose answer cannot arrive.",
		codes:  []sqlguard.Code{sqlguard.CodeCancelled},
		passes: "The call ends as `cancelled`, and the statement with it, although no cancel request reaches the server.",
		full:   true,
		run: func(s *stand) string {
			s.noticesClients()
			p := s.behindProxy(settings{})
			ctx, leave := context.WithCancel(s.Context())
			defer leave()
			ended := s.asking(ctx, endless(), execution.Limits{Timeout: time.Minute})
			s.eventually("the statement runs", func() bool { return s.running() == 1 })
			p.blackHole(toClient)
			p.blackHole(toServer)
			leave()
			s.wantCode(ended(), sqlguard.CodeCancelled)
			p.heal()
			s.recovers()
			return ""
		},
	},
	{
		name:   "reset at connect",
		does:   "Connections are reset at their first byte.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "Every call ends as `connection_lost`, which may be tried again.",
		run: func(s *stand) string {
			s.database()
			p := s.proxyTo(s.bench.addr())
			p.poison("reset_peer", toClient, map[string]int{"timeout": 0})
			s.open(settings{through: p.Listen})
			for range 5 {
				e, _ := s.asked(s.Context(), one("a"), execution.Limits{})
				if e == nil || e.Code != sqlguard.CodeConnectionLost || !e.Retryable {
					s.Errorf("ended with %v", e)
				}
			}
			p.heal()
			s.recovers()
			return ""
		},
	},
	{
		name:   "reset before the answer",
		does:   "The connection is reset while a statement runs.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "The call ends as `connection_lost`, and the statement with it.",
		run: func(s *stand) string {
			s.noticesClients()
			p := s.behindProxy(settings{})
			p.arm()
			p.cut()
			p.resume()
			s.recovers()
			ended := s.asking(s.Context(), endless(), execution.Limits{})
			s.eventually("the statement runs", func() bool { return s.running() == 1 })
			p.cut()
			s.wantCode(ended(), sqlguard.CodeConnectionLost)
			s.eventually("the statement has ended", func() bool { return s.running() == 0 })
			p.heal()
			s.recovers()
			return ""
		},
	},
	{
		name:   "reset in mid-stream",
		does:   "The connection is reset in the middle of an answer of 20 MB.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "The call ends as `connection_lost`, without the rows that came.",
		run: func(s *stand) string {
			p := s.behindProxy(settings{limits: roomy})
			p.arm()
			p.cut()
			p.resume()
			s.recovers()
			p.slow(256)
			ended := s.asking(s.Context(), wide("rst", 20_000), execution.Limits{})
			s.eventually("the server waits to send", func() bool { return s.sending() == 1 })
			p.cut()
			s.wantCode(ended(), sqlguard.CodeConnectionLost)
			p.heal()
			s.recovers()
			return ""
		},
	},
	{
		name:   "one byte at a time",
		does:   "Every byte is a packet of its own in both directions.",
		passes: "All answers are right.",
		run: func(s *stand) string {
			p := s.behindProxy(settings{})
			for _, direction := range []string{toServer, toClient} {
				p.poison("slicer", direction, map[string]int{"average_size": 1, "size_variation": 0, "delay": 0})
			}
			counts := tally{}
			for i := range 5 {
				counts[s.ask(s.Context(), numbered(fmt.Sprint("slice", i), 40), execution.Limits{})]++
			}
			return counts.String()
		},
	},
	{
		name:   "slow to close",
		does:   "The end of a connection arrives 500 ms late, while statements are cancelled and connections replaced.",
		codes:  []sqlguard.Code{sqlguard.CodeCancelled, sqlguard.CodeConnectionLost},
		passes: "Every answer after a cancel is right, and the cancelled statements end.",
		run: func(s *stand) string {
			p := s.behindProxy(settings{connections: 2})
			for _, direction := range []string{toServer, toClient} {
				p.poison("slow_close", direction, map[string]int{"delay": 500})
			}
			counts := tally{}
			for i := range 5 {
				ctx, cancel := context.WithCancel(s.Context())
				ended := s.asking(ctx, endless(), execution.Limits{})
				s.eventually("the statement runs", func() bool { return s.running() == 1 })
				cancel()
				counts[ended()]++
				s.right(one(fmt.Sprint("after", i)))
			}
			return fmt.Sprintf("%d `cancelled`, 5 right after them", counts[sqlguard.CodeCancelled])
		},
	},
	{
		name:   "nobody listens",
		does:   "The server's port is closed, while 4 callers ask; then it is open again.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "Every call ends as `connection_lost`.",
		run: func(s *stand) string {
			p := s.behindProxy(settings{})
			p.cut()
			if counts := s.crowd(4, 3); counts[sqlguard.CodeConnectionLost] != 12 {
				s.Errorf("ended: %v", counts)
			}
			p.heal()
			s.recovers()
			return ""
		},
	},
	{
		name:   "late cancel",
		does:   "On one connection and a network that is 0 to 120 ms late towards the server, so that a cancel may come after what was sent behind it, a caller leaves a statement and another asks at once, 8 times.",
		codes:  []sqlguard.Code{sqlguard.CodeCancelled},
		passes: "No cancel hits the statement after it: all 8 answers are right.",
		run: func(s *stand) string {
			p := s.behindProxy(settings{connections: 1})
			p.poison("latency", toServer, map[string]int{"latency": 60, "jitter": 60})
			p.poison("latency", toClient, map[string]int{"latency": 10})
			for i := range 8 {
				ctx, leave := context.WithCancel(s.Context())
				ended := s.asking(ctx, endless(), execution.Limits{})
				s.eventually("the statement runs", func() bool { return s.running() == 1 })
				leave()
				s.wantCode(ended(), sqlguard.CodeCancelled)
				s.eventually("the end is known", func() bool { return s.load(connectionID).Held == 0 }) // at once, unless the machine stands still
				s.right(napping(fmt.Sprint("next", i), 0.15))
			}
			return "8 of 8 right"
		},
	},
	{
		name:   "connections that flap",
		does:   "All connections are cut every 150 ms, 10 times, while 8 callers ask without pause.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost, sqlguard.CodeServerRestarted, sqlguard.CodeTimeout},
		passes: "Every caller gets its own right answers between the errors.",
		full:   true,
		run: func(s *stand) string {
			p := s.behindProxy(settings{concurrency: 8, connections: 4})
			stop := s.callers(8, 30, 5*time.Second)
			for range 10 {
				time.Sleep(150 * time.Millisecond)
				p.cut()
				p.resume()
			}
			stop()
			s.recovers()
			return "every answer right or an error of these codes"
		},
	},
	{
		name:   "everything at once",
		does:   "For 20 s the network changes every 300 ms to one of seven faults, chosen by a fixed seed, while 6 callers ask.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost, sqlguard.CodeServerRestarted, sqlguard.CodeTimeout, sqlguard.CodeBusy},
		passes: "Every answer is right; nothing hangs.",
		full:   true,
		run: func(s *stand) string {
			p := s.behindProxy(settings{concurrency: 6, connections: 4})
			stop := s.callers(6, 50, 2*time.Second)
			random := rand.New(rand.NewPCG(1, 2))
			faults := []func(){
				func() {},
				func() { p.poison("latency", toClient, map[string]int{"latency": 50, "jitter": 40}) },
				func() { p.slow(16) },
				func() { p.blackHole(toServer) },
				func() { p.blackHole(toClient) },
				func() { p.poison("limit_data", toClient, map[string]int{"bytes": random.IntN(6000)}) },
				func() {
					p.poison("slicer", toClient, map[string]int{"average_size": 3, "size_variation": 2, "delay": 10})
				},
			}
			for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
				p.heal()
				faults[random.IntN(len(faults))]()
			}
			p.heal()
			stop()
			s.recovers()
			return "every answer right or an error of these codes"
		},
	},
}
