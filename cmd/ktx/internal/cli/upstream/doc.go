// Package upstream has the command ktx upstream, which lists, searches, checks, calls
// and approves the tools of other MCP servers.
package upstream
