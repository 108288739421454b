package wiring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ktxhq/ktx/research/memory"
)

// gitCommitter commits files of a project with the git of the system.
type gitCommitter struct {
	dir    string // of the project
	author string // name for commits if git has none configured
}

var _ memory.Committer = gitCommitter{}

// gitOptions keep git from running programs that the repository names, from signing,
// and from asking.
var gitOptions = []string{
	"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.editor=true", "-c", "core.quotePath=false",
}

// Commit implements [memory.Committer]. Other files that are staged stay staged.
func (g gitCommitter) Commit(ctx context.Context, message string, paths []string) (string, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return "", nil //nolint:nilerr // without git there is nothing to commit with
	}
	if inside, err := g.run(ctx, "rev-parse", "--is-inside-work-tree"); err != nil || inside != "true" {
		return "", nil //nolint:nilerr // the project is in no repository
	}
	files := append([]string{"--"}, paths...)
	if _, err := g.run(ctx, append([]string{"add"}, files...)...); err != nil {
		return "", err
	}
	changed, err := g.run(ctx, append([]string{"status", "--porcelain", "--untracked-files=no"}, files...)...)
	if err != nil || changed == "" {
		return "", err
	}
	commit := []string{"commit", "--quiet", "--only", "--no-verify", "--no-gpg-sign", "--no-post-rewrite", "--cleanup=verbatim", "--message=" + message}
	if _, err := g.run(ctx, append(append(g.identity(ctx), commit...), files...)...); err != nil {
		return "", err
	}
	return g.run(ctx, "rev-parse", "HEAD")
}

// identity returns the options that name an author, unless git knows one.
func (g gitCommitter) identity(ctx context.Context) []string {
	if _, err := g.run(ctx, "var", "GIT_AUTHOR_IDENT"); err == nil {
		if _, err := g.run(ctx, "var", "GIT_COMMITTER_IDENT"); err == nil {
			return nil
		}
	}
	return []string{"-c", "user.name=" + g.author, "-c", "user.email=ktx@localhost"}
}

// run runs git in the project and returns its output without white space at the end.
func (g gitCommitter) run(ctx context.Context, args ...string) (string, error) {
	name := args[0]
	if name == "-c" && len(args) > 4 {
		name = args[4]
	}
	cmd := exec.CommandContext(ctx, "git", append(append([]string{"-C", g.dir, "--literal-pathspecs"}, gitOptions...), args...)...) //nolint:gosec // paths follow --
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // git then removes its lock
	cmd.WaitDelay = 5 * time.Second
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("git %s took too long", name)
		}
		if text := strings.TrimSpace(problem.String()); text != "" {
			first, _, _ := strings.Cut(text, "\n")
			err = errors.New(first)
		}
		return "", fmt.Errorf("git %s: %w", name, err)
	}
	return strings.TrimRight(out.String(), "\r\n \t"), nil
}
