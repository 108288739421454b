// Package setup is the command ktx setup. It asks which MCP clients to set up,
// shows the changes, and reports what it wrote.
//
// The package cmd/ktx/internal/setup has the clients, their files and the edits.
package setup
