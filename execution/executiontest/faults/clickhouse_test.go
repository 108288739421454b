//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/clickhousedb"
	"github.com/ktxhq/ktx/execution/executiontest/chserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// clickHouseRows is the statement of the scenarios, which the stand-in for ClickHouse
// answers.
const clickHouseRows = "SELECT number, toString(number) AS name FROM system.numbers LIMIT 400"

// clickHouse starts a stand-in for ClickHouse that knows the statement.
func (s *stand) clickHouse() *chserver.Server {
	s.Helper()
	server := chserver.Start(s, chserver.Config{})
	server.On(clickHouseRows, func(r *chserver.Reply) {
		r.Columns("number", "UInt64", "name", "String")
		for i := range 400 {
			n := chserver.Text(strconv.Itoa(i))
			if !r.Row(n, n) {
				return
			}
			if i%50 == 0 {
				r.Flush()
			}
		}
	})
	return server
}

// openClickHouse opens the scenario's gateway on an address.
func (s *stand) openClickHouse(address string, set settings) {
	s.Helper()
	s.openConnection(execution.Connection{
		ID: connectionID, Engine: "CLICKHOUSE", Dialect: clickhouse.Dialect{}, Policy: sqlguard.DefaultPolicy(), Concurrency: set.connections,
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return clickhousedb.Open(ctx, clickhousedb.Config{URL: execution.NewSecret(address), MaxConnections: set.connections}, guard)
		},
	}, set)
}

// rowsOfClickHouse is the question that clickHouseRows asks.
func rowsOfClickHouse() question {
	q := question{sql: clickHouseRows}
	for i := range 400 {
		q.rows = append(q.rows, []string{strconv.Itoa(i), strconv.Itoa(i)})
	}
	return q
}

// truncateClickHouse cuts the connections of a question to ClickHouse's stand-in.
func (s *stand) truncateClickHouse(direction string, step int) string {
	s.Helper()
	u, err := url.Parse(s.clickHouse().URL())
	if err != nil {
		s.Fatal(err)
	}
	p := s.proxyTo(u.Host)
	u.Host = p.Listen
	s.openClickHouse(u.String(), settings{connections: 1})
	s.right(rowsOfClickHouse())
	return s.cut(p, rowsOfClickHouse(), direction, step)
}

// onClickHouse are the scenarios of ClickHouse's HTTP interface, on the stand-in.
var onClickHouse = []scenario{
	{
		name:   "answer cut at offsets (ClickHouse's stand-in)",
		does:   "The connection ends after n bytes from the server, for n in steps of 97, within the status, the headers, a chunk and the rows.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "Right, or `connection_lost`; never a part of the rows.",
		run:    func(s *stand) string { return s.truncateClickHouse(toClient, 97) },
	},
	{
		name:   "request cut at offsets (ClickHouse's stand-in)",
		does:   "The connection ends after n bytes from the gateway, for n in steps of 61.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "Right, or `connection_lost`.",
		run:    func(s *stand) string { return s.truncateClickHouse(toServer, 61) },
	},
	{
		name:   "error behind rows (ClickHouse's stand-in)",
		does:   "The server fails after 1 to 200 rows that it has already sent, as new servers and as old ones write it.",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError},
		passes: "Every call ends with the server's error and has no rows.",
		run: func(s *stand) string {
			failed := 0
			for _, old := range []bool{false, true} {
				server := chserver.Start(s, chserver.Config{Old: old})
				var sent atomic.Int64
				server.On(clickHouseRows, func(r *chserver.Reply) {
					r.Columns("number", "UInt64", "name", "String")
					for i := range sent.Load() {
						n := chserver.Text(strconv.FormatInt(i, 10))
						r.Row(n, n)
						r.Flush()
					}
					r.Fail("153", "Division by zero: while executing. (ILLEGAL_DIVISION)")
				})
				c := &stand{T: s.T, scenario: s.scenario}
				c.openClickHouse(server.URL(), settings{connections: 1})
				for n := int64(1); n <= 200; n += 17 {
					sent.Store(n)
					c.wantCode(c.ask(c.Context(), rowsOfClickHouse(), execution.Limits{}), sqlguard.CodeDatabaseError)
					failed++
				}
				c.close()
			}
			return fmt.Sprintf("%d errors, no rows", failed)
		},
	},
}

// deafClickHouse is a statement that the stand-in for ClickHouse does not end before its time.
const deafClickHouse = "SELECT uniqExact(number) AS n FROM system.numbers WHERE number < 100"

// unendingOnClickHouse is the scenario of ClickHouse.
var unendingOnClickHouse = []scenario{{
	name:   "statements that the server does not end (ClickHouse's stand-in)",
	does:   "The same on the stand-in for ClickHouse, which answers for 5 seconds that it still knows a query that was to be ended, and does not notice that its client has left.",
	codes:  []sqlguard.Code{sqlguard.CodeTimeout, sqlguard.CodeBusy},
	passes: "The same as for PostgreSQL.",
	full:   true,
	run: func(s *stand) string {
		server := chserver.Start(s, chserver.Config{})
		server.On(deafClickHouse, func(r *chserver.Reply) {
			time.Sleep(5 * time.Second)
			r.Abort()
		})
		server.On(besideIt, func(r *chserver.Reply) { r.One("n", "UInt8", "7") })
		s.openConnection(execution.Connection{
			ID: connectionID, Engine: "CLICKHOUSE", Dialect: clickhouse.Dialect{}, Policy: sqlguard.DefaultPolicy(), Concurrency: 2,
			Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
				return clickhousedb.Open(ctx, clickhousedb.Config{URL: execution.NewSecret(server.URL()), MaxConnections: 2}, guard)
			},
		}, settings{beside: true})
		return s.unending(deafClickHouse, 2, func() int { return max(server.Connections()-2, 0) })
	},
}}
