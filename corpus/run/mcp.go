package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// proveProgram is the program that puts cases to an MCP server. It starts a
// database server, which ktx never does.
const proveProgram = "ktx-prove"

// ErrNoProve means that ktx-prove was not found.
var ErrNoProve = errors.New(proveProgram + " is neither beside this program nor on PATH; it starts the throw-away PostgreSQL that an MCP server is tried on. " +
	"Build it with: go install github.com/ktxhq/ktx/cmd/" + proveProgram + "@latest")

// The limits of an MCP server as a guard.
const (
	mcpStarting = 3 * time.Minute // to start a database and the server
	mcpJudging  = 3 * time.Minute // to look at what a case did, and to restore the database
)

// NewMCP returns an MCP server as a guard. ktx-prove gives it a throw-away
// database. The command line is that of the server. Words before it that begin
// with - are flags of ktx-prove guard. limit is the time that the server has
// for one answer.
func NewMCP(command string, limit time.Duration) (*Exec, error) {
	words, err := SplitWords(command)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		return nil, errors.New("the time limit of a case must be more than 0")
	}
	program, err := findProve()
	if err != nil {
		return nil, err
	}
	return &Exec{
		kind: "mcp", command: proveProgram, starting: mcpStarting, limit: limit + mcpJudging,
		words: append([]string{program, "guard", "--timeout", limit.String()}, words...),
	}, nil
}

// findProve returns the path of ktx-prove: the one beside this program, or the
// first on PATH.
func findProve() (string, error) {
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), proveProgram)); err == nil {
				return path, nil
			}
		}
	}
	path, err := exec.LookPath(proveProgram)
	if errors.Is(err, exec.ErrNotFound) {
		return "", ErrNoProve
	}
	if err != nil {
		return "", fmt.Errorf("find %s: %w", proveProgram, err)
	}
	return filepath.Abs(path)
}
