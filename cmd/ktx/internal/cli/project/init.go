package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/scan"
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
			made, err := makeProject(cmd.Context(), a, dir, withDemo)
			if err != nil {
				return err
			}
			if a.JSON {
				doc := console.NewDocument("ktx-init/1").With("projectDir", dir).With("files", made.files)
				if withDemo {
					doc = doc.With("scanned", map[string]int{"tables": made.tables, "columns": made.columns})
				}
				a.PrintJSON(doc)
				return nil
			}
			for _, name := range made.files {
				a.Printf("made %s\n", filepath.Join(dir, filepath.FromSlash(name)))
			}
			if withDemo {
				where := ""
				if dir != "." {
					where = " --project-dir " + dir
				}
				a.Printf("scanned demo: %s, %s\n", console.Count(made.tables, "table"), console.Count(made.columns, "column"))
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

// made is what makeProject made.
type made struct {
	files           []string // relative to the project, with slashes
	tables, columns int      // that the scan of the demo found
}

// makeProject writes a new project. It never overwrites a file. The ktx.yaml, which
// makes a folder a project, comes last: when makeProject does not come to its end,
// the folder is no project, and another call completes it.
func makeProject(ctx context.Context, a *console.App, dir string, withDemo bool) (made, error) {
	var out made
	type file struct {
		name    string
		content []byte
	}
	config := file{project.FileName, []byte(freshConfig)}
	var before []file
	if withDemo {
		config.content = append(config.content, demoConnection...)
		before = []file{
			{"shop.db", demo.Database},
			{"wiki/global/" + demo.PageKey + ".md", demo.Page},
			{"semantic-layer/demo/orders.yaml", demo.Orders},
			{"semantic-layer/demo/order_items.yaml", demo.OrderItems},
		}
	}
	exists := func(f file) error {
		return console.Usage("%s exists already; nothing was changed", filepath.Join(dir, filepath.FromSlash(f.name)))
	}
	if _, err := os.Lstat(filepath.Join(dir, config.name)); err == nil {
		return out, exists(config)
	}
	var missing []file
	for _, f := range before { // before any file is written
		switch same, err := holds(filepath.Join(dir, filepath.FromSlash(f.name)), f.content); {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, f)
		case err != nil:
			return out, fmt.Errorf("make project: %w", err)
		case !same:
			return out, exists(f)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a project is shared through version control
		return out, fmt.Errorf("make project: %w", err)
	}
	if err := wiring.IgnoreState(dir); err != nil {
		return out, err
	}
	write := func(f file) error {
		name := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // a project is shared through version control
			return fmt.Errorf("make project: %w", err)
		}
		err := atomicfile.WriteNew(name, 0o644, f.content)
		if errors.Is(err, fs.ErrExist) {
			return console.Usage("%s exists already", name)
		}
		return err
	}
	for _, f := range missing {
		if err := write(f); err != nil {
			return out, err
		}
	}
	out.files = append(out.files, config.name)
	for _, f := range before {
		out.files = append(out.files, f.name)
	}
	if withDemo {
		var err error
		if out.tables, out.columns, err = scanDemo(ctx, a, dir, config.content); err != nil {
			return out, err
		}
	}
	return out, write(config)
}

// holds reports whether a regular file has exactly this content.
func holds(name string, content []byte) (bool, error) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(content)) {
		return false, err
	}
	text, err := os.ReadFile(name) //nolint:gosec // the user names the project
	return err == nil && bytes.Equal(text, content), err
}

// scanDemo scans the demo shop of a project whose ktx.yaml is not written yet.
func scanDemo(ctx context.Context, a *console.App, dir string, config []byte) (tables, columns int, err error) {
	p := &project.Project{Dir: dir, File: filepath.Join(dir, project.FileName)}
	var problems []project.Problem
	if p.Config, problems = project.Parse(config, nil); len(problems) > 0 {
		return 0, 0, fmt.Errorf("read the demo's configuration: %s", problems[0].Message)
	}
	tables, columns, err = scan.One(ctx, a, p, "demo")
	if err != nil {
		// Not wrapped: an interrupt is reported with the way to continue.
		return 0, 0, console.Failed("the demo shop was not scanned, so there is no %s yet; run the command again to complete it: %s", project.FileName, err.Error())
	}
	return tables, columns, nil
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
