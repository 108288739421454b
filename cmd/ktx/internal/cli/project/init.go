package project

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/fresh"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

// InitCommand returns the command ktx init.
func InitCommand(a *console.App) *cobra.Command {
	var withDemo bool
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a project: a ktx.yaml, and a .gitignore for its local state",
		Args:  cobra.MaximumNArgs(1),
		Long: `Make a project: a ktx.yaml, and a .gitignore for its local state.

With --demo the project has a small shop as the connection demo, a scan of it, a wiki
page and measures. When init was interrupted, run it again.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			switch {
			case len(args) == 1 && a.ProjectDir != "":
				return console.Usage("name the folder once: %s or --project-dir %s", args[0], a.ProjectDir)
			case len(args) == 1:
				dir = args[0]
			case a.ProjectDir != "":
				dir = a.ProjectDir
			}
			made, err := fresh.Make(cmd.Context(), a, dir, withDemo)
			if err != nil {
				return err
			}
			if a.JSON {
				doc := console.NewDocument("ktx-init/1").With("projectDir", dir).With("files", made.Files)
				if withDemo {
					doc = doc.With("scanned", map[string]int{"tables": made.Tables, "columns": made.Columns})
				}
				a.PrintJSON(doc)
				return nil
			}
			for _, name := range made.Files {
				a.Printf("made %s\n", filepath.Join(dir, filepath.FromSlash(name)))
			}
			if withDemo {
				where := ""
				if dir != "." {
					where = " --project-dir " + dir
				}
				a.Printf("scanned demo: %s, %s\n", console.Count(made.Tables, "table"), console.Count(made.Columns, "column"))
				a.Printf("try: ktx sql%s -c demo \"SELECT status, count(*) FROM orders GROUP BY status\"\n", where)
			} else {
				a.Printf("next: configure a connection in %s, then run ktx doctor\n", filepath.Join(dir, project.FileName))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&withDemo, "demo", false, "add the demo shop as a connection, with its scan, a wiki page and measures")
	return c
}

// clientSnippet returns the entry for the configuration of an MCP client.
func clientSnippet(projectDir string) (string, error) {
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	text, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]server{
		"ktx": {Command: "ktx", Args: []string{"mcp", "stdio", "--project-dir", projectDir}},
	}}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write the client's configuration: %w", err)
	}
	return string(text), nil
}
