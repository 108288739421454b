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

// stopJSON is the shape of ktx mcp stop --json.
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
		Long: `Stop the MCP server of the project. Statements that run get five seconds to end;
the command waits for the end of the process, up to ten seconds, and then kills it.

A process is touched only when it answers as the server that was started here. A
state file of one that does not is removed, and the process left alone.`,
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
		return console.Failed("%w; remove the file if no server of this project runs", err)
	}
	answer, err := state.Stop(ctx)
	if err != nil {
		return console.Failed("%w", err)
	}
	if answer == daemon.Silent {
		return console.Failed("what listens at %s does not answer, so that it is not known to be process %d of this project; end it with its own means", state.Address(), state.PID)
	}
	if err := state.Remove(); err != nil {
		return console.Failed("%w", err)
	}
	if answer == daemon.Ours {
		printStopped(a, stopJSON{Was: statusRunning, Stopped: true, PID: state.PID}, "stopped")
		return nil
	}
	printStopped(a, stopJSON{Was: statusStale}, "not running: "+staleness(answer)+"; removed its state file, and touched no process")
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
