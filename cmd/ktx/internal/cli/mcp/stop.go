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

// stopJSON is what ktx mcp stop --json prints.
type stopJSON struct {
	Schema  string `json:"schema"`
	Was     string `json:"was"` // running, stopped or stale
	Stopped bool   `json:"stopped"`
	PID     int    `json:"pid,omitempty"`
}

func stopCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the MCP server of the project",
		Long: `Stop the MCP server of the project. Running statements get five seconds to end. The
command waits up to ten seconds for the process to end, and then kills it.

The command ends a process only if it answers as the server of this project.
Otherwise it removes the state file and leaves the process alone.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return stopServer(cmd.Context(), a) },
	}
}

func stopServer(ctx context.Context, a *console.App) error {
	dir, err := wiring.FindProject(a)
	if err != nil {
		return err
	}
	state, err := daemon.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		printStopped(a, stopJSON{Was: statusStopped}, "not running")
		return nil
	}
	if err != nil {
		return console.Failed("%w; if no server of this project runs, remove the file", err)
	}
	answer, err := state.Stop(ctx)
	if err != nil {
		return console.Failed("%w", err)
	}
	if answer == daemon.Silent {
		return console.Failed("a process listens at %s but does not answer, so it may not be process %d of this project; end it by hand", state.Address(), state.PID)
	}
	if err := state.Remove(); err != nil {
		return console.Failed("%w", err)
	}
	if answer == daemon.Ours {
		printStopped(a, stopJSON{Was: statusRunning, Stopped: true, PID: state.PID}, "stopped")
		return nil
	}
	printStopped(a, stopJSON{Was: statusStale}, "not running: "+staleness(answer)+"; removed its state file and ended no process")
	return nil
}

func printStopped(a *console.App, out stopJSON, text string) {
	if a.JSON {
		out.Schema = "ktx-mcp-stop/1"
		a.PrintJSON(out)
		return
	}
	a.Printf("%s\n", text)
}
