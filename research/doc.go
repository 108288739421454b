// Package research offers the tools of a data agent, as MCP tools.
//
// Every tool is a method on [Service] with a plain input and output struct.
// Two thin callers stand on it: the MCP handlers of [NewServer], and the
// commands of the command line. Statements reach a database through
// [execution.Gateway] alone.
//
//	s := research.New(gateway, logger)
//	server := s.Server("1.2.3")           // an MCP server; the caller brings the transport
//	out, err := s.SQLExecution(ctx, in)   // or a tool by itself
//
// The package never opens a database and never judges SQL. A handler never
// returns a Go error to the protocol: whatever fails is told to the model
// in-band, with its code and what to do next.
package research
