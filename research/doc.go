// Package research offers the tools of a data agent, as MCP tools.
//
//	s := research.New(gateway, logger, stores)
//	server, err := s.Server("1.2.3")      // an MCP server; the caller brings the transport
//	out, err := s.SQLExecution(ctx, in)   // or one tool, without MCP
//
// Every tool is a method on [Service] with an input and an output struct. It
// has two callers: a handler of the MCP server, and a command of ktx. ADDING.md
// says how to add a tool.
//
// The package never opens a database and never judges SQL. It runs statements
// through [execution.Gateway] only. A handler never returns a Go error to the
// protocol: the model gets every failure in-band, with its code and with what
// to do next.
package research
