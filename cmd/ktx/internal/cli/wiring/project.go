package wiring

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

// FindProject returns the directory of the project: that of --project-dir, else
// of the environment, else the nearest folder with a ktx.yaml.
func FindProject(a *console.App) (string, error) {
	dir, err := project.Find(a.ProjectDir, a.Lookup)
	if err != nil {
		return "", console.AsUsage(err)
	}
	return dir, nil
}

// LoadProject finds and loads the project, and prints its warnings.
func LoadProject(a *console.App) (*project.Project, error) {
	dir, err := FindProject(a)
	if err != nil {
		return nil, err
	}
	return LoadProjectIn(a, dir)
}

// ReadProject reads the project of a directory, and prints nothing.
func ReadProject(dir string) (*project.Project, error) {
	return project.Load(dir, doublestar.ValidatePattern)
}

// LoadProjectIn reads the project of a directory, and prints its warnings.
func LoadProjectIn(a *console.App, dir string) (*project.Project, error) {
	p, err := ReadProject(dir)
	if problems, ok := errors.AsType[*project.InvalidError](err); ok {
		problems.File = console.DisplayPath(problems.File)
	}
	if err != nil {
		return nil, console.AsUsage(err)
	}
	p.File = console.DisplayPath(p.File)
	for _, w := range p.Warnings {
		a.Errorf("%s\n", console.EscapeControls(w.In(p.File)))
	}
	return p, nil
}

// IgnoreState makes the project's state folder, .ktx, with a .gitignore that keeps
// it out of version control.
func IgnoreState(dir string) error {
	state := filepath.Join(dir, ".ktx")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", state, err)
	}
	err := atomicfile.WriteNew(filepath.Join(state, ".gitignore"), 0o600, []byte("*\n"))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// CompleteConnections returns a completion of connection ids, described by their
// names. It completes any number of them.
func CompleteConnections(a *console.App) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		dir, err := FindProject(a)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		p, err := ReadProject(dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, id := range slices.Sorted(maps.Keys(p.Config.Connections)) {
			c := p.Config.Connections[id]
			about := c.Driver
			if name := cmp.Or(c.Name, c.Description); name != "" {
				about = name + " (" + c.Driver + ")"
			}
			out = append(out, cobra.CompletionWithDesc(id, console.EscapeControls(about)))
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteConnection returns a completion of one connection id, for a command
// that takes no further argument.
func CompleteConnection(a *console.App) cobra.CompletionFunc {
	all := CompleteConnections(a)
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return all(cmd, args, word)
	}
}
