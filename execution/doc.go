// Package execution is the one door through which every SQL text of the
// product reaches a database.
//
// A [Gateway] holds connections. [Gateway.Query] asks the connection's guard,
// writes the decision to the audit log, runs the statement on the connection's
// [Backend] in a read-only session with limits, and records the outcome. It is
// the only caller of the guard's approval, and a backend takes nothing but an
// approved text:
//
//	g, err := execution.NewGateway(log, connections...)
//	res, err := g.Query(ctx, execution.Request{ConnectionID: "demo", SQL: "SELECT 1"})
//
// What a server tells of itself makes the guard that judges for it. It is asked
// again from time to time, see [Refresh]; guard and backend change together, and
// a statement that the old guard approved is judged by the new one.
//
// The package never parses SQL, never knows a driver, and never knows which
// tool or transport asks.
package execution
