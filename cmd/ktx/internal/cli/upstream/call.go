package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/upstream"
)

// maxArguments bounds the arguments of a call from standard input, in bytes.
const maxArguments = 4 << 20

func callCommand(a *console.App) *cobra.Command {
	var write bool
	c := &cobra.Command{
		Use:   "call SERVER TOOL [ARGUMENTS]",
		Short: "Call a tool",
		Long: `Call a tool of another server. ARGUMENTS is a JSON object, or - to read it from
standard input. The same rules, limits and audit events apply as for agents.

The texts of the answer are printed; --json prints the whole result as the server
sent it.

Exit codes: 0 done · 1 the tool reported an error, or is not permitted · 2 wrong
usage or arguments · 3 the server could not do it.`,
		Example: `  ktx upstream call files read_text_file '{"path": "/srv/notes.txt"}'
  ktx upstream call --write files write_file - < arguments.json`,
		Args:              cobra.RangeArgs(2, 3),
		ValidArgsFunction: complete(a, true),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := research.ToolCallInput{Server: args[0], Tool: args[1]}
			if len(args) == 3 {
				in.Arguments = json.RawMessage(args[2])
				if args[2] == "-" {
					text, err := io.ReadAll(io.LimitReader(a.In, maxArguments+1))
					if err != nil {
						return console.Failed("read the arguments: %w", err)
					}
					in.Arguments = bytes.TrimSpace(text)
				}
				var object map[string]json.RawMessage
				if json.Unmarshal(in.Arguments, &object) != nil {
					return console.Usage("the arguments are not a JSON object")
				}
			}
			return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject) error {
				call := open.Service.ToolCall
				if write {
					call = open.Service.ToolCallWrite
				}
				answer, err := call(ctx, in, nil)
				if err != nil {
					return err
				}
				if a.JSON {
					a.PrintJSON(console.NewDocument("ktx-upstream-call/1").With("server", answer.Server).With("tool", answer.Tool).With("result", answer.Result))
				} else {
					printResult(a, answer)
				}
				if answer.Failed {
					return &console.ExitError{Code: console.ExitFindings}
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&write, "write", false, "permit a tool that is not read-only")
	return c
}

// printResult prints the texts of a result. Other kinds of content are named.
func printResult(a *console.App, answer upstream.Answer) {
	var r struct {
		Content []struct {
			Type, Text, MimeType string
			Data                 string
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	_ = json.Unmarshal(answer.Result, &r) // it was read before
	for _, part := range r.Content {
		if part.Type == "text" {
			a.Printf("%s\n", console.EscapeLines(part.Text))
			continue
		}
		a.Errorf("note: the answer has a part of type %s %s, which --json shows\n", console.EscapeControls(part.Type), console.EscapeControls(part.MimeType))
	}
	if len(r.Content) == 0 && len(r.Structured) > 0 {
		a.PrintRawJSON(append(r.Structured, '\n'))
	}
}
