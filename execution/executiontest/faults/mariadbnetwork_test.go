//go:build linux

package faults_test

import (
	"context"
	"time"

	"github.com/ktxhq/ktx/execution"
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
			does:   "A caller goes away from a statement with a limit of 3 s, whose answer cannot arrive and whose KILL QUERY cannot either.",
			codes:  []sqlguard.Code{sqlguard.CodeCancelled},
			passes: "The call ends as `cancelled`; the statement ends at its limit, which the server keeps.",
			full:   true,
			run: func(s *stand) string {
				p := s.behindProxy(settings{})
				ctx, leave := context.WithCancel(s.Context())
				defer leave()
				before := s.ended()
				ended := s.asking(ctx, endless(), execution.Limits{Timeout: 3 * time.Second})
				s.begun(before)
				p.blackHole(toClient)
				p.blackHole(toServer)
				leave()
				s.wantCode(ended(), sqlguard.CodeCancelled)
				s.eventually("the statement has ended", func() bool { return s.running() == 0 })
				p.heal()
				s.recovers()
				return ""
			},
		},
		scenario{
			name:   "reset before the answer",
			does:   "The connection is reset while a statement with a limit of 3 s runs.",
			codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
			passes: "The call ends as `connection_lost`; the statement ends at its limit, which the server keeps.",
			run: func(s *stand) string {
				p := s.behindProxy(settings{})
				p.arm()
				p.cut()
				p.resume()
				s.recovers()
				before := s.ended()
				ended := s.asking(s.Context(), endless(), execution.Limits{Timeout: 3 * time.Second})
				s.begun(before)
				p.cut()
				s.wantCode(ended(), sqlguard.CodeConnectionLost)
				s.eventually("the statement has ended", func() bool { return s.running() == 0 })
				p.heal()
				s.recovers()
				return ""
			},
		},
	)...,
)
