// Package upstream lets agents find and call the tools of other MCP servers.
//
//	m := upstream.New(upstream.Options{Root: root, Log: log, Judge: judge, Logger: logger})
//	err := m.Configure(config)                  // atomic; a call sees the old or the new one
//	found, err := m.Search(ctx, upstream.Query{Texts: []string{"read a file"}})
//	answer, err := m.Call(ctx, upstream.Request{Server: "files", Tool: "read_file", Arguments: raw})
//	defer m.Close()                             // ends every process that it started
//
// A server is connected to when it is first needed, and closed when nobody has used it
// for a while. Its list of tools is kept in .ktx/upstreams, so that a search works
// before any server runs.
//
// What a server says about its tools is text of a stranger. [Manager] strips control
// characters from it, bounds its length, and pins it: a tool whose definition has
// changed is not called before a person approves it. Rules say which tools are enabled;
// without a rule, those are that their server calls read-only.
//
// Every call is written to the audit log before it is sent, and again when it has
// ended. A call that cannot be recorded is not sent. The log has a keyed hash of the
// arguments, never the arguments.
//
// The package never starts a server that the configuration does not name, never
// judges SQL itself, and never shows a value of env, args or headers.
package upstream
