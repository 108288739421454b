package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

func approveCommand(a *console.App) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "approve SERVER [TOOL...]",
		Short: "Trust tools whose definitions have changed",
		Long: `Connect to a server, print how the definitions of its tools differ from those that
were trusted, and trust them as they are now. Without TOOL, all that have changed
are approved.

A definition is text of a stranger that agents read: look for instructions in it.`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: complete(a, true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject) error {
				changes, err := open.Upstream.Changes(ctx, args[0], args[1:]...)
				if err != nil {
					return err
				}
				if !dry {
					if err := open.Upstream.Approve(changes...); err != nil {
						return console.Failed("approve: %w", err)
					}
				}
				if a.JSON {
					a.PrintJSON(console.NewDocument("ktx-upstream-approve/1").With("approved", !dry).With("changes", changes))
					return nil
				}
				for _, c := range changes {
					name := c.Server + ":" + c.Tool
					a.Printf("%s", console.EscapeLines(string(diff.Diff(name+" trusted", indented(c.Before), name+" now", indented(c.After)))))
				}
				switch {
				case len(changes) == 0:
					a.Printf("nothing has changed\n")
				case dry:
					a.Printf("%s changed; approve without --dry-run\n", console.Count(len(changes), "tool"))
				default:
					a.Printf("approved %s\n", console.Count(len(changes), "tool"))
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "only print the differences")
	return c
}

// indented returns a definition with a line for each value, its keys sorted.
func indented(raw json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return append(raw, '\n')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(v) != nil {
		return append(raw, '\n')
	}
	return b.Bytes()
}

func importCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Show which servers of an MCP client's file ktx can take over",
		Long: `Read the servers of a file of an MCP client, such as .mcp.json, and print what to
write into ktx.yaml so that ktx takes them over. No file is changed, and no value of
args, env or headers is printed.`,
		Example: `  ktx upstream import ~/.cursor/mcp.json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			servers, left, err := project.ReadClientServers(args[0])
			if err != nil {
				return console.Usage("%s: %w", args[0], err)
			}
			type entry struct {
				Name    string `json:"name"`
				Command string `json:"command,omitempty"`
				HTTP    bool   `json:"http,omitempty"`
			}
			list := []entry{}
			for _, name := range slices.Sorted(maps.Keys(servers)) {
				list = append(list, entry{name, servers[name].Command, servers[name].URL.Set()})
			}
			if a.JSON {
				a.PrintJSON(console.NewDocument("ktx-upstream-import/1").With("file", args[0]).With("servers", list).With("leftOut", left))
				return nil
			}
			for _, e := range list {
				how := "by HTTP"
				if e.Command != "" {
					how = "runs " + e.Command
				}
				a.Printf("# %s: %s\n", e.Name, console.EscapeControls(how))
			}
			for _, name := range slices.Sorted(maps.Keys(left)) {
				a.Printf("# left out: %s: %s\n", console.EscapeControls(name), console.EscapeControls(left[name]))
			}
			text, _ := json.Marshal(strings.TrimSpace(args[0])) //nolint:errchkjson // a string
			a.Printf("upstreams:\n  import: [%s]\n", console.EscapeControls(string(text)))
			return nil
		},
	}
}
