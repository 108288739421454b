package research

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/memory"
)

// MemoryCommand returns the command ktx memory.
func MemoryCommand(a *console.App) *cobra.Command {
	var o IngestText
	ingest := &cobra.Command{
		Use:   "ingest [-]",
		Short: "Remember a text as a page of the wiki",
		Long: `Remember a text as a page of the wiki. Give the text with --text, in a file (--file),
or on standard input (-). It has at most 64 KiB. A text that looks like a credential is
refused. A text that the wiki has already changes nothing.

Exit codes: 0 done · 2 the text is refused · 3 the run failed.`,
		Example: `  ktx memory ingest --text "Net revenue means gross minus refunds, in cents."
  ktx memory ingest --file notes.md -c warehouse`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.StandardInput = len(args) == 1 && args[0] == "-"
			if len(args) == 1 && args[0] != "-" {
				return console.Usage("unexpected argument %q: give a text with --text, or a file with --file", args[0])
			}
			return RunIngestText(cmd, a, o)
		},
	}
	o.Flags(ingest)
	ingest.Flags().StringVarP(&o.Connection, "connection", "c", "", "the connection that the text is about (default: all)")
	_ = ingest.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	status := &cobra.Command{
		Use:   "status RUN",
		Short: "Show what became of a text",
		Long: `Show what became of a text that was given to ktx memory ingest, or by an agent to
memory_ingest. The last 1000 runs are kept.

Exit codes: 0 done or running · 2 no such run · 3 the run failed.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				return showRun(ctx, a, open, args[0])
			})
		},
	}
	return console.Group("memory", "Remember texts, and see what became of them", ingest, status)
}

// IngestText are the flags of a command that remembers a text.
type IngestText struct {
	Text, File    string
	StandardInput bool // the argument is -
	Connection    string
}

// Flags adds --text and --file to a command.
func (o *IngestText) Flags(c *cobra.Command) {
	c.Flags().StringVar(&o.Text, "text", "", "the text to remember")
	c.Flags().StringVar(&o.File, "file", "", "read the text to remember from a file; - is standard input")
}

// Given reports whether the command is to remember a text.
func (o *IngestText) Given(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("text") || cmd.Flags().Changed("file") || o.StandardInput
}

// RunIngestText remembers a text, and prints what became of it.
func RunIngestText(cmd *cobra.Command, a *console.App, o IngestText) error {
	text, err := o.read(cmd, a)
	if err != nil {
		return err
	}
	return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
		out, err := open.Service.MemoryIngest(ctx, research.MemoryIngestInput{Content: text, ConnectionID: o.Connection})
		if err != nil {
			return err
		}
		return showRun(ctx, a, open, out.RunID)
	})
}

// read returns the text from the flags, a file or standard input.
func (o *IngestText) read(cmd *cobra.Command, a *console.App) (string, error) {
	ways := 0
	for _, given := range []bool{cmd.Flags().Changed("text"), cmd.Flags().Changed("file"), o.StandardInput} {
		if given {
			ways++
		}
	}
	var r io.Reader
	switch {
	case ways > 1:
		return "", console.Usage("give the text in one way: --text, --file or -")
	case cmd.Flags().Changed("text"):
		return o.Text, nil
	case o.StandardInput || o.File == "-":
		r = a.In
	case o.File != "":
		f, err := os.Open(o.File)
		if err != nil {
			return "", console.Failed("read the text: %w", err)
		}
		defer func() { _ = f.Close() }()
		r = f
	default:
		return "", console.Usage("no text: give it with --text, with --file, or - for standard input")
	}
	text, err := io.ReadAll(io.LimitReader(r, memory.MaxContent+1)) // one more, so that it is refused as too large
	if err != nil {
		return "", console.Failed("read the text: %w", err)
	}
	return string(text), nil
}

// showRun prints a run. The error of a run that failed is an exit code.
func showRun(ctx context.Context, a *console.App, open *wiring.OpenProject, id string) error {
	run, err := open.Service.MemoryIngestStatus(ctx, research.MemoryIngestStatusInput{RunID: id})
	if err != nil {
		return err
	}
	if a.JSON {
		a.PrintJSON(struct {
			Schema string `json:"schema"`
			research.MemoryIngestStatus
		}{"ktx-memory-run/1", run})
	} else {
		printRun(a, run)
	}
	if run.Status == memory.StatusError {
		return &console.ExitError{Code: console.ExitFailed}
	}
	return nil
}

func printRun(a *console.App, run research.MemoryIngestStatus) {
	a.Printf("run       %s\nstatus    %s\n", run.RunID, run.Status)
	if run.Error != nil {
		a.Printf("error     %s (at the stage %s)\n", console.EscapeControls(*run.Error), run.Stage)
	}
	captured := "nothing new"
	if len(run.Captured.Wiki) > 0 {
		captured = strings.Join(run.Captured.Wiki, ", ")
	}
	a.Printf("captured  %s\n", console.EscapeControls(captured))
	if len(run.Captured.Xrefs) > 0 {
		a.Printf("linked    %s\n", console.EscapeControls(strings.Join(run.Captured.Xrefs, ", ")))
	}
	if run.CommitHash != nil {
		a.Printf("commit    %s\n", console.EscapeControls(*run.CommitHash))
	}
	for _, reason := range run.Signals.Reasons {
		a.Printf("          %s\n", console.EscapeControls(reason))
	}
}
