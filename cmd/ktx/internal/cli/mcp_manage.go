package cli

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/daemon"
)

// What ktx mcp status says of a server.
const (
	statusRunning = "running"
	statusStopped = "stopped"
	statusStale   = "stale" // there is a state file, and no server of it answers
)

func (a *app) mcpStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show whether the MCP server of the project runs",
		Long: `Show whether the MCP server of the project runs, and where.

Exit codes: 0 it runs · 3 it does not: stopped, or stale, when the state file is of
a server that ended without removing it, which ktx mcp start puts right.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.mcpServerStatus(cmd.Context()) },
	}
}

func (a *app) mcpServerStatus(ctx context.Context) error {
	dir, err := a.findProject()
	if err != nil {
		return err
	}
	out, err := lookAt(ctx, dir)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(out)
	} else {
		a.printServer(out)
	}
	if out.Status != statusRunning {
		return &exitError{code: exitFailed}
	}
	return nil
}

// lookAt finds out what became of a project's server.
func lookAt(ctx context.Context, dir string) (mcpServerJSON, error) {
	const schema = "ktx-mcp-status/1"
	state, err := daemon.Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return mcpServerJSON{Schema: schema, Status: statusStopped, ProjectDir: dir}, nil
	case err != nil:
		return mcpServerJSON{Schema: schema, Status: statusStale, ProjectDir: dir, Problem: err.Error()}, nil //nolint:nilerr // it is what is told
	}
	answer, _ := state.Probe(ctx)
	if ctx.Err() != nil {
		return mcpServerJSON{}, ctx.Err()
	}
	if answer == daemon.Ours {
		return serverJSON(schema, statusRunning, state), nil
	}
	out := serverJSON(schema, statusStale, state)
	out.URL, out.Problem = "", staleness(answer)
	return out, nil
}

// staleness says why a state file is stale.
func staleness(answer daemon.Answer) string {
	switch answer {
	case daemon.Stranger:
		return "something else answers at its address"
	case daemon.Silent:
		return "what listens at its address does not answer"
	case daemon.Nobody, daemon.Ours:
		return "nothing listens at its address"
	}
	return ""
}

func (a *app) printServer(s mcpServerJSON) {
	token := map[bool]string{true: "on", false: "off"}[s.TokenAuth]
	switch s.Status {
	case statusRunning:
		a.printf("running: %s (pid %d)\n", s.URL, s.PID)
	case statusStale:
		a.printf("stale: %s; the server did not end in order. ktx mcp start puts that right\n", escapeControls(s.Problem))
	default:
		a.printf("stopped: run ktx mcp start\n")
	}
	a.printf("project  %s\n", escapeControls(s.ProjectDir))
	if s.PID == 0 {
		return
	}
	a.printf("bound    %s, port %d, pid %d, token %s\n", escapeControls(s.Host), s.Port, s.PID, token)
	a.printf("started  %s\n", escapeControls(s.StartedAt))
	if s.LogPath != "" {
		a.printf("log      %s\n", escapeControls(s.LogPath))
	}
}

// mcpStopJSON is the shape of ktx mcp stop --json.
type mcpStopJSON struct {
	Schema  string `json:"schema"`
	Was     string `json:"was"` // running, stopped or stale
	Stopped bool   `json:"stopped"`
	PID     int    `json:"pid,omitempty"`
}

func (a *app) mcpStop() *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the MCP server of the project",
		Long: `Stop the MCP server of the project. Statements that run get five seconds to end;
the command waits for the end of the process, up to ten seconds, and then kills it.

A process is touched only when it answers as the server that was started here. A
state file of one that does not is removed, and the process left alone.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stop(cmd.Context()) },
	}
}

func (a *app) stop(ctx context.Context) error {
	dir, err := a.findProject()
	if err != nil {
		return err
	}
	state, err := daemon.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		a.printStopped(mcpStopJSON{Was: statusStopped}, "not running")
		return nil
	}
	if err != nil {
		return failed("%w; remove the file if no server of this project runs", err)
	}
	answer, err := state.Stop(ctx)
	if err != nil {
		return failed("%w", err)
	}
	if answer == daemon.Silent {
		return failed("what listens at %s does not answer, so that it is not known to be process %d of this project; end it with its own means", state.Address(), state.PID)
	}
	if err := state.Remove(); err != nil {
		return failed("%w", err)
	}
	if answer == daemon.Ours {
		a.printStopped(mcpStopJSON{Was: statusRunning, Stopped: true, PID: state.PID}, "stopped")
		return nil
	}
	a.printStopped(mcpStopJSON{Was: statusStale}, "not running: "+staleness(answer)+"; removed its state file, and touched no process")
	return nil
}

func (a *app) printStopped(out mcpStopJSON, text string) {
	if a.json {
		out.Schema = "ktx-mcp-stop/1"
		a.printJSON(out)
		return
	}
	a.printf("%s\n", text)
}

// mcpLogsJSON is the shape of ktx mcp logs --json.
type mcpLogsJSON struct {
	Schema string   `json:"schema"`
	File   string   `json:"file"`
	Lines  []string `json:"lines"`
}

func (a *app) mcpLogs() *cobra.Command {
	var (
		n      int
		follow bool
	)
	c := &cobra.Command{
		Use:   "logs",
		Short: "Print the last lines of the MCP server's log",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 1 {
				return usage("--lines %d: expected at least 1", n)
			}
			if follow && a.json {
				return usage("--json and --follow contradict each other")
			}
			return a.logs(cmd.Context(), n, follow)
		},
	}
	c.Flags().IntVarP(&n, "lines", "n", 50, "number of lines")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "wait for further lines")
	return c
}

func (a *app) logs(ctx context.Context, n int, follow bool) error {
	dir, err := a.findProject()
	if err != nil {
		return err
	}
	path := daemon.LogPath(dir)
	out := &logPrinter{app: a}
	if err := daemon.Tail(ctx, path, n, follow, out); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return failed("there is no log in %s; ktx mcp start makes it", path)
		}
		return failed("%w", err)
	}
	if a.json {
		a.printJSON(mcpLogsJSON{"ktx-mcp-logs/1", path, append([]string{}, out.lines()...)})
	}
	return nil
}

// logPrinter prints lines of a log so that a terminal acts on nothing in them,
// or keeps them where JSON is asked for.
type logPrinter struct {
	app  *app
	text strings.Builder
}

// Write implements io.Writer.
func (p *logPrinter) Write(text []byte) (int, error) {
	if p.app.json {
		return p.text.Write(text)
	}
	p.app.printf("%s", escapeLines(string(text)))
	if err := p.app.out.failure(); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (p *logPrinter) lines() []string {
	text := strings.TrimSuffix(p.text.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
