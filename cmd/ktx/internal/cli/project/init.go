package project

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/fresh"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/scan"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/setup"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

// initOptions are the flags of ktx init.
type initOptions struct {
	demo, yes, noTest, noScan bool
	id, roleScript            string
	address                   fresh.Address
}

// InitCommand returns the command ktx init.
func InitCommand(a *console.App) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a project: a ktx.yaml, and a .gitignore for its local state",
		Args:  cobra.MaximumNArgs(1),
		Long: `Make a project: a ktx.yaml, and a .gitignore for its local state.

On a terminal the command asks which database to read, tries the connection, offers
the SQL for a role that can only read, scans the database, and offers to set up MCP
clients. Every question has a flag, and --yes takes the defaults. Elsewhere, and
without --url, it writes a ktx.yaml without connections.

A URL with a password goes into .ktx/env, which only you can read and which version
control ignores. ktx.yaml names its variable.

With --demo the project has a small shop as the connection demo, a scan of it, a wiki
page and measures. When init was interrupted, run it again.`,
		Example: `  ktx init
  ktx init --yes --driver postgres --url env:WAREHOUSE_URL --schemas public,sales
  ktx init --yes --url sqlite:shop.db`,
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
			if _, err := os.Lstat(filepath.Join(dir, project.FileName)); err == nil {
				return console.Usage("%s exists already; nothing was changed", filepath.Join(dir, project.FileName))
			}
			return initProject(cmd.Context(), a, cmd, dir, o)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&o.demo, "demo", false, "add the demo shop as a connection, with its scan, a wiki page and measures")
	flags.BoolVarP(&o.yes, "yes", "y", false, "ask nothing, and take the default for what no flag says")
	flags.StringVar(&o.address.URL, "url", "", "address of the database: env:NAME, file:/path, a URL, or sqlite:FILE")
	flags.StringVar(&o.address.Driver, "driver", "", "engine: "+strings.Join(fresh.Drivers, ", ")+" (default: by the address)")
	flags.StringVar(&o.id, "id", "", "name of the connection (default: that of the database)")
	flags.StringSliceVar(&o.address.Schemas, "schemas", nil, "schemas in which names are looked up; for engines but PostgreSQL, further databases")
	flags.StringVar(&o.roleScript, "role-script", "", "write the SQL for a role that can only read to this file, if the present role can do more")
	flags.BoolVar(&o.noTest, "no-test", false, "do not try the connection")
	flags.BoolVar(&o.noScan, "no-scan", false, "do not scan the database")
	for _, name := range []string{"url", "id", "schemas"} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	_ = c.RegisterFlagCompletionFunc("driver", cobra.FixedCompletions(fresh.Drivers, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// initProject makes a project in dir, and asks for what the flags do not say.
func initProject(ctx context.Context, a *console.App, cmd *cobra.Command, dir string, o initOptions) error {
	given := cmd.Flags().Changed("url")
	if o.demo && given {
		return console.Usage("give --demo or --url, not both")
	}
	if !given {
		for _, name := range []string{"driver", "id", "schemas", "role-script", "no-test"} {
			if cmd.Flags().Changed(name) {
				return console.Usage("--%s needs --url", name)
			}
		}
	}
	i := &interview{app: a, dir: dir, options: o}
	if !o.demo && !o.yes && !a.JSON && a.Interactive() {
		i.prompt = console.NewPrompt(a)
	}
	if i.prompt != nil && !given {
		if err := i.askEngine(); err != nil {
			return err
		}
	}
	content := fresh.Content{Demo: i.options.demo}
	if given || i.asked {
		connection, err := i.connection(ctx)
		if err != nil {
			return err
		}
		content.Connection = connection
	}
	made, err := fresh.Make(ctx, a, dir, content)
	if err != nil {
		return err
	}
	i.report(made)
	if content.Connection != nil && !o.noScan {
		if err := i.scan(ctx, content.Connection.ID); err != nil {
			return err
		}
	}
	if i.prompt != nil && (content.Demo || content.Connection != nil) {
		ok, err := i.prompt.Yes("Write ktx into the settings of MCP clients?", true)
		if err != nil {
			return err
		}
		if ok {
			a.ProjectDir = dir
			if err := setup.Ask(ctx, a, i.prompt); err != nil {
				return err
			}
		}
	}
	return i.finish(made, content)
}

// report says which files were made. Under --json, finish does.
func (i *interview) report(made fresh.Made) {
	if i.app.JSON {
		return
	}
	for _, name := range made.Files {
		i.app.Printf("made %s\n", filepath.Join(i.dir, filepath.FromSlash(name)))
	}
	if i.options.demo {
		i.app.Printf("scanned demo: %s, %s\n", console.Count(made.Tables, "table"), console.Count(made.Columns, "column"))
	}
}

// finish prints what to do next, or the result as JSON.
func (i *interview) finish(made fresh.Made, content fresh.Content) error {
	a := i.app
	scanned := content.Demo
	if content.Connection != nil && i.scanned {
		scanned, made.Tables, made.Columns = true, i.tables, i.columns
	}
	if a.JSON {
		doc := console.NewDocument("ktx-init/1").With("projectDir", i.dir).With("files", made.Files)
		if content.Connection != nil {
			doc = doc.With("connection", content.Connection.ID)
		}
		if i.probe != nil {
			doc = doc.With("probe", i.probe)
		}
		if scanned {
			doc = doc.With("scanned", map[string]int{"tables": made.Tables, "columns": made.Columns})
		}
		a.PrintJSON(doc)
		return nil
	}
	where := ""
	if i.dir != "." {
		where = " --project-dir " + i.dir
	}
	switch {
	case content.Demo:
		a.Printf("try: ktx sql%s -c demo \"SELECT status, count(*) FROM orders GROUP BY status\"\n", where)
	case content.Connection == nil:
		a.Printf("next: configure a connection in %s, then run ktx doctor\n", filepath.Join(i.dir, project.FileName))
	case scanned:
		a.Printf("try: ktx discover%s \"a question\", ktx sql%s \"SELECT …\"; ktx doctor%s looks at all of it\n", where, where, where)
	default:
		a.Printf("next: ktx doctor%s, ktx scan%s\n", where, where)
	}
	return nil
}

// scan scans the connection of the new project.
func (i *interview) scan(ctx context.Context, id string) error {
	if i.prompt != nil {
		ok, err := i.prompt.Yes("Scan the database, so that agents find its tables?", true)
		if err != nil || !ok {
			return err
		}
	}
	p, err := wiring.LoadProjectIn(i.app, i.dir)
	if err != nil {
		return err
	}
	if i.tables, i.columns, err = scan.One(ctx, i.app, p, id); err != nil {
		return fmt.Errorf("the project is made, and its database is not scanned; ktx scan %s does it: %w", id, err)
	}
	i.scanned = true
	if !i.app.JSON {
		i.app.Printf("scanned %s: %s, %s\n", id, console.Count(i.tables, "table"), console.Count(i.columns, "column"))
	}
	return nil
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
