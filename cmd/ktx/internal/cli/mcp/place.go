package mcp

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/fresh"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

// place says what a server serves: the user's project, or one that ktx makes because
// the user has none.
type place struct {
	demo    bool
	address fresh.Address
}

// flags adds the flags of a start without a project.
func (p *place) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&p.demo, "demo", false, "serve the demo shop from a temporary folder instead of a project")
	f.StringVar(&p.address.URL, "url", "", "serve the database at this address instead of a project; prefer the variable "+fresh.URLVariable+", because other users can see flags")
	f.StringVar(&p.address.Driver, "driver", "", "with --url: postgres, mysql, mariadb, sqlserver, clickhouse, bigquery or sqlite (default: by the address)")
	f.StringSliceVar(&p.address.Schemas, "schemas", nil, "with --url: schemas in which names are looked up; for engines but PostgreSQL, further databases")
	f.StringVar(&p.address.Role, "role", "", "with --url: refuse (default) or warn when the role can do more than read")
	_ = c.RegisterFlagCompletionFunc("url", cobra.NoFileCompletions)
	_ = c.RegisterFlagCompletionFunc("schemas", cobra.NoFileCompletions)
	_ = c.RegisterFlagCompletionFunc("driver", cobra.FixedCompletions(fresh.Drivers, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions([]string{"refuse", "warn"}, cobra.ShellCompDirectiveNoFileComp))
}

// settle makes the project that the flags ask for, and sets it as the one of a. Without
// these flags the user's project is used; when there is none, the variable
// [fresh.URLVariable] names a database. Remove removes what is temporary.
func (p *place) settle(ctx context.Context, a *console.App, cmd *cobra.Command) (remove func() error, err error) {
	keep := func() error { return nil }
	changed := cmd.Flags().Changed
	given := changed("url")
	switch {
	case p.demo && given:
		return nil, console.Usage("give --demo or --url, not both")
	case (p.demo || given) && changed("project-dir"):
		return nil, console.Usage("--project-dir names a project, and --demo and --url are starts without one: give one of them")
	case p.demo:
		dir, remove, err := fresh.Demo(ctx, a, false)
		if err != nil {
			return nil, err
		}
		a.ProjectDir = dir
		a.Errorf("ktx: no project: the demo shop is served from %s, which is removed at the end\n", dir)
		return remove, nil
	}
	variable, set := a.Lookup(fresh.URLVariable)
	if set && !given && strings.TrimSpace(variable) == "" {
		set = false // a client's empty setting
	}
	if dir, named := a.Lookup("KTX_PROJECT_DIR"); named && set && strings.TrimSpace(dir) == "" {
		lookup := a.Lookup // an empty setting too
		a.Lookup = func(name string) (string, bool) {
			if name == "KTX_PROJECT_DIR" {
				return "", false
			}
			return lookup(name)
		}
	}
	if !given && set {
		// The rules in a ktx.yaml count for more than a variable.
		_, err := project.Find(a.ProjectDir, a.Lookup)
		if _, missing := errors.AsType[*project.MissingError](err); !missing || changed("project-dir") {
			set = false
		} else if dir, named := a.Lookup("KTX_PROJECT_DIR"); named && dir != "" {
			set = false
		}
		p.address.URL = variable
	}
	if !given && !set {
		for _, name := range []string{"driver", "schemas", "role"} {
			if changed(name) {
				return nil, console.Usage("--%s belongs to --url or the variable %s; a project has it in ktx.yaml", name, fresh.URLVariable)
			}
		}
		return keep, nil
	}
	one, err := fresh.ForAddress(a, p.address)
	if err != nil {
		return nil, err
	}
	a.ProjectDir = one.Dir
	if one.URL != "" {
		lookup, address := a.Lookup, one.URL
		a.Lookup = func(name string) (string, bool) {
			if name == fresh.URLVariable {
				return address, true
			}
			return lookup(name)
		}
	}
	role := "a role that can do more than read is refused (--role warn permits it)"
	if p.address.Role == "warn" {
		role = "a role that can do more than read is served with a warning"
	}
	a.Errorf("ktx: no project: one connection %s (%s); %s\n", one.ID, one.Driver, role)
	a.Errorf("ktx: the audit log is in %s; rules on tables and columns need a project: ktx init\n", console.EscapeControls(one.Dir))
	return keep, nil
}
