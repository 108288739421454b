package mcp

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/daemon"
)

// logsJSON is what ktx mcp logs --json prints.
type logsJSON struct {
	Schema string   `json:"schema"`
	File   string   `json:"file"`
	Lines  []string `json:"lines"`
}

func logsCommand(a *console.App) *cobra.Command {
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
				return console.Usage("--lines %d: expected at least 1", n)
			}
			if follow && a.JSON {
				return console.Usage("--json and --follow contradict each other")
			}
			return printLogs(cmd.Context(), a, n, follow)
		},
	}
	c.Flags().IntVarP(&n, "lines", "n", 50, "number of lines")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "wait for further lines")
	return c
}

func printLogs(ctx context.Context, a *console.App, n int, follow bool) error {
	dir, err := wiring.FindProject(a)
	if err != nil {
		return err
	}
	path := daemon.LogPath(dir)
	out := &logPrinter{app: a}
	if err := daemon.Tail(ctx, path, n, follow, out); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return console.Failed("there is no log in %s; ktx mcp start makes it", path)
		}
		return console.Failed("%w", err)
	}
	if a.JSON {
		a.PrintJSON(logsJSON{"ktx-mcp-logs/1", path, append([]string{}, out.lines()...)})
	}
	return nil
}

// logPrinter prints lines of a log with their control characters escaped. Under
// --json it keeps them instead.
type logPrinter struct {
	app  *console.App
	text strings.Builder
}

// Write implements io.Writer.
func (p *logPrinter) Write(text []byte) (int, error) {
	if p.app.JSON {
		return p.text.Write(text)
	}
	p.app.Printf("%s", console.EscapeLines(string(text)))
	if err := p.app.Out.Failure(); err != nil {
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
