package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/demo"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

const freshConfig = `# What ktx may reach, and under which rules. ktx config schema describes every key.
connections:
  # warehouse:
  #   driver: postgres               # or mysql, mariadb, sqlserver, sqlite
  #   url: env:WAREHOUSE_URL          # postgres://reader:…@host:5432/db, kept out of this file
  #   schemas: [public]               # PostgreSQL: where names without a schema lie; others: further databases
  #   limits: {rows: 10000, timeout: 30s}
  #   access:
  #     tables: {deny: [public.api_keys]}
`

const demoConnection = `  demo:
    driver: sqlite
    path: shop.db
    name: Demo shop
    description: Customers, products and orders of a shop that does not exist.
`

// InitCommand returns the command ktx init.
func InitCommand(a *console.App) *cobra.Command {
	var withDemo bool
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a project: a ktx.yaml, and a .gitignore for its local state",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			switch {
			case len(args) == 1 && a.ProjectDir != "":
				return console.Usage("name the folder once: %s or --project-dir %s", args[0], a.ProjectDir)
			case len(args) == 1:
				dir = args[0]
			case a.ProjectDir != "":
				dir = a.ProjectDir
			}
			made, err := makeProject(dir, withDemo)
			if err != nil {
				return err
			}
			if a.JSON {
				a.PrintJSON(console.NewDocument("ktx-init/1").With("projectDir", dir).With("files", made))
				return nil
			}
			for _, name := range made {
				a.Printf("made %s\n", filepath.Join(dir, name))
			}
			if withDemo {
				where := ""
				if dir != "." {
					where = " --project-dir " + dir
				}
				a.Printf("try: ktx sql%s -c demo \"SELECT status, count(*) FROM orders GROUP BY status\"\n", where)
			} else {
				a.Printf("next: configure a connection in %s, then run ktx doctor\n", filepath.Join(dir, project.FileName))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&withDemo, "demo", false, "add the demo shop as a connection")
	return c
}

// makeProject writes a new project and returns the files that it made. It never
// overwrites a file.
func makeProject(dir string, withDemo bool) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a project is shared through version control
		return nil, fmt.Errorf("make project: %w", err)
	}
	type file struct {
		name    string
		content []byte
	}
	files := []file{{project.FileName, []byte(freshConfig)}}
	if withDemo {
		files[0].content = append(files[0].content, demoConnection...)
		files = append(files, file{"shop.db", demo.Database})
	}
	for _, f := range files { // before any file is written
		if _, err := os.Lstat(filepath.Join(dir, f.name)); err == nil {
			return nil, console.Usage("%s exists already; nothing was changed", filepath.Join(dir, f.name))
		}
	}
	var made []string
	for _, f := range files {
		err := atomicfile.WriteNew(filepath.Join(dir, f.name), 0o644, f.content)
		if errors.Is(err, fs.ErrExist) {
			return made, console.Usage("%s exists already", filepath.Join(dir, f.name))
		}
		if err != nil {
			return made, err
		}
		made = append(made, f.name)
	}
	if err := wiring.IgnoreState(dir); err != nil {
		return made, err
	}
	return made, nil
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
