//go:build linux

package faults_test

import (
	"context"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/sqlguard"
)

// mariadbNetwork are the network scenarios of PostgreSQL, with MariaDB. A
// MariaDB server does not check whether the client of a statement is still
// connected. So a statement that cannot be killed runs until its time limit.
var mariadbNetwork = append(
	onMariaDB(without(network, "caller leaves a black hole", "reset before the answer")...),
	onMariaDB(
		scenario{
			name:   "caller leaves a black hole",
			does:   "A caller goes away from a statement with a limit of 3 s, whose answer cannot arrive and whose KILL QUERY cannot either. When the limit comes first, as on a busy machine, it is done again with a longer one.",
			codes:  []sqlguard.Code{sqlguard.CodeCancelled, sqlguard.CodeTimeout},
			passes: "The call ends as `cancelled`; the statement ends at its limit, which the server keeps.",
			full:   true,
			run: func(s *stand) string {
				p := s.behindProxy(settings{})
				s.beforeItsLimit(func(limit time.Duration) sqlguard.Code {
					ctx, leave := context.WithCancel(s.Context())
					defer leave()
					before := s.ended()
					ended := s.asking(ctx, endless(), execution.Limits{Timeout: limit})
					s.begun(before)
					p.blackHole(toClient)
					p.blackHole(toServer)
					leave()
					code := ended()
					s.eventually("the statement has ended", func() bool { return s.running() == 0 })
					p.heal()
					s.recovers()
					return code
				}, sqlguard.CodeCancelled)
				return ""
			},
		},
		scenario{
			name:   "reset before the answer",
			does:   "The connection is reset while a statement with a limit of 3 s runs. When the limit comes first, as on a busy machine, it is done again with a longer one.",
			codes:  []sqlguard.Code{sqlguard.CodeConnectionLost, sqlguard.CodeTimeout},
			passes: "The call ends as `connection_lost`; the statement ends at its limit, which the server keeps.",
			run: func(s *stand) string {
				p := s.behindProxy(settings{})
				p.arm()
				p.cut()
				p.resume()
				s.recovers()
				s.beforeItsLimit(func(limit time.Duration) sqlguard.Code {
					before := s.ended()
					ended := s.asking(s.Context(), endless(), execution.Limits{Timeout: limit})
					s.begun(before)
					p.cut()
					code := ended()
					s.eventually("the statement has ended", func() bool { return s.running() == 0 })
					p.heal()
					s.recovers()
					return code
				}, sqlguard.CodeConnectionLost)
				return ""
			},
		},
	)...,
)

// beforeItsLimit tries something with a statement whose limit is the only end that the
// server knows, with longer limits until the limit does not come first. Then the call
// must end with a code.
func (s *stand) beforeItsLimit(try func(limit time.Duration) sqlguard.Code, want sqlguard.Code) {
	s.Helper()
	executiontest.Scaled(s, func(scale int) bool {
		code := try(time.Duration(scale) * 3 * time.Second)
		if code == sqlguard.CodeTimeout {
			return false
		}
		s.wantCode(code, want)
		return true
	})
}
