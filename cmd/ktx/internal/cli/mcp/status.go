package mcp

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/daemon"
)

// The values of status in ktx mcp status.
const (
	statusRunning = "running"
	statusStopped = "stopped"
	statusStale   = "stale" // there is a state file, but its server does not answer
)

func statusCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show whether the MCP server of the project runs",
		Long: `Show whether the MCP server of the project runs, and its address.

A server is stale when it ended without removing its state file. ktx mcp start
repairs that.

Exit codes: 0 it runs · 3 it is stopped or stale.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return showStatus(cmd.Context(), a) },
	}
}

func showStatus(ctx context.Context, a *console.App) error {
	dir, err := wiring.FindProject(a)
	if err != nil {
		return err
	}
	out, err := lookAt(ctx, dir)
	if err != nil {
		return err
	}
	if a.JSON {
		a.PrintJSON(out)
	} else {
		printServer(a, out)
	}
	if out.Status != statusRunning {
		return &console.ExitError{Code: console.ExitFailed}
	}
	return nil
}

// lookAt returns the state of a project's server.
func lookAt(ctx context.Context, dir string) (serverJSON, error) {
	const schema = "ktx-mcp-status/1"
	state, err := daemon.Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return serverJSON{Schema: schema, Status: statusStopped, ProjectDir: dir}, nil
	case err != nil:
		return serverJSON{Schema: schema, Status: statusStale, ProjectDir: dir, Problem: err.Error()}, nil //nolint:nilerr // the result has the error
	}
	answer, _ := state.Probe(ctx)
	if ctx.Err() != nil {
		return serverJSON{}, ctx.Err()
	}
	if answer == daemon.Ours {
		return newServerJSON(schema, statusRunning, state), nil
	}
	out := newServerJSON(schema, statusStale, state)
	out.URL, out.Problem = "", staleness(answer)
	return out, nil
}

// staleness returns why a state file is stale.
func staleness(answer daemon.Answer) string {
	switch answer {
	case daemon.Stranger:
		return "another program answers at its address"
	case daemon.Silent:
		return "a process listens at its address but does not answer"
	case daemon.Nobody, daemon.Ours:
		return "nothing listens at its address"
	}
	return ""
}

func printServer(a *console.App, s serverJSON) {
	token := map[bool]string{true: "on", false: "off"}[s.TokenAuth]
	switch s.Status {
	case statusRunning:
		a.Printf("running: %s (pid %d)\n", s.URL, s.PID)
	case statusStale:
		a.Printf("stale: %s; the server ended without removing its state file. ktx mcp start repairs that\n", console.EscapeControls(s.Problem))
	default:
		a.Printf("stopped: run ktx mcp start\n")
	}
	a.Printf("project  %s\n", console.EscapeControls(s.ProjectDir))
	if s.PID == 0 {
		return
	}
	a.Printf("bound    %s, port %d, pid %d, token %s\n", console.EscapeControls(s.Host), s.Port, s.PID, token)
	a.Printf("started  %s\n", console.EscapeControls(s.StartedAt))
	if s.LogPath != "" {
		a.Printf("log      %s\n", console.EscapeControls(s.LogPath))
	}
}
