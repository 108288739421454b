package audit

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution/audit"
)

// Command returns the command ktx audit.
func Command(a *console.App) *cobra.Command {
	c := console.Group("audit", "Read and verify the audit log",
		tailCommand(a), queryCommand(a), showCommand(a), verifyCommand(a), exportCommand(a), statsCommand(a), indexCommand(a), rejudgeCommand(a), archiveCommand(a))
	for _, sub := range c.Commands() {
		if sub.Name() != "archive" && sub.Name() != "index" {
			sub.Flags().String("dir", "", "read the log in this folder, such as an archive, instead of the project's")
			_ = sub.MarkFlagDirname("dir")
		}
	}
	return c
}

// logDir returns the directory of the log that a command reads: that of --dir,
// else the project's.
func logDir(a *console.App, cmd *cobra.Command) (string, error) {
	if dir, err := cmd.Flags().GetString("dir"); err == nil && cmd.Flags().Changed("dir") {
		if dir == "" {
			return "", console.Usage("--dir is blank")
		}
		return dir, nil
	}
	p, err := wiring.LoadProject(a)
	if err != nil {
		return "", err
	}
	if f := cmd.Flags().Lookup("connection"); f != nil && f.Changed {
		noteConnection(a, p, f.Value.String())
	}
	return p.Config.Audit.Dir(p.Dir), nil
}

// noteConnection prints a note when ktx.yaml does not have a connection that the
// user asks for. It is no error, because the log may still have events of it.
func noteConnection(a *console.App, p *project.Project, id string) {
	if _, ok := p.Config.Connections[id]; !ok {
		near := console.DidYouMean(id, slices.Sorted(maps.Keys(p.Config.Connections)))
		a.Errorf("note: %s has no connection %s%s\n", project.FileName, console.EscapeControls(id), near)
	}
}

// openLog opens the log for reading.
func openLog(dir string) (*audit.Reader, error) {
	r, err := audit.OpenReader(dir)
	return r, notYet(dir, err)
}

// notYet explains the error of a log that does not exist, and returns every
// other error as it is.
func notYet(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return console.Failed("there is no audit log in %s; the first statement makes it", dir)
	}
	return err
}
