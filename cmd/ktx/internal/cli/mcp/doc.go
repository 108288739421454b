// Package mcp is the commands of ktx mcp: serve the tools over standard input
// and output or over HTTP, and start, stop and inspect the server of a project.
//
// The tools are in research, HTTP is in httpapi, and the state of a server in
// the background is in the package daemon.
package mcp
