// Package setup is the command ktx setup, which asks which MCP clients to set
// up, shows what changes, and reports what was done.
//
// The clients, their files and the edits are in the package setup beside cli.
package setup
