// Package execution is the only way for a statement to reach a database.
//
// A [Gateway] holds connections. [Gateway.Query] asks the connection's guard,
// writes the decision to the audit log, runs the statement on the connection's
// [Backend] in a read-only session with limits, and records the outcome. It is
// the only caller of the guard's approval, and a backend takes only approved
// statements:
//
//	g, err := execution.NewGateway(log, connections...)
//	res, err := g.Query(ctx, execution.Request{ConnectionID: "demo", SQL: "SELECT 1"})
//
// A guard judges with what its server says about itself: version, search path
// and, when the connection has them, objects. The gateway asks the server again
// from time to time (see [Refresh]). It then replaces guard and backend in one
// step, and the new guard judges the statements that the old one approved and
// that have not been sent.
//
// The package never parses SQL. It knows neither drivers nor the tool or
// transport that a statement came through.
package execution
