package sql

import (
	"bytes"
	"context"
	"os"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/fix"
	"github.com/ktxhq/ktx/sqlcheck/source"
)

// The values of --fix.
const (
	fixWrite = "write"
	fixDiff  = "diff"
)

// maxFix is the most bytes of a file that --fix rewrites.
const maxFix = 8 << 20

// fixFiles makes the certain rewrites in SQL files, shows them as a diff on
// standard error, and with "write" writes them. Files that cannot be read are
// left to the check, which says why. An interrupt ends it between two files.
func fixFiles(ctx context.Context, a *console.App, mode string, inputs []sqlcheck.Input, guards *wiring.FileGuards) error {
	for _, in := range inputs {
		if err := ctx.Err(); err != nil {
			return console.Failed("the rewrites are not complete: %w", err)
		}
		if in.Stdin || in.Problem != "" || source.Reads(in.Path) {
			continue
		}
		info, err := os.Stat(in.Path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFix {
			continue
		}
		old, err := os.ReadFile(in.Path)
		if err != nil || bytes.Contains(old, []byte("{{")) || bytes.Contains(old, []byte("{%")) { // a template is not what runs
			continue
		}
		guard, problem := guards.Choose(in.Path, string(old), sqlcheck.Known{})
		if problem != nil {
			continue
		}
		edits := fix.Text(guard, string(old))
		if len(edits) == 0 {
			continue
		}
		text := []byte(fix.Apply(string(old), edits))
		a.Errorf("%s", console.EscapeLines(string(diff.Diff(in.Path, old, in.Path+" (fixed)", text))))
		if mode != fixWrite {
			continue
		}
		if info.Mode().Perm()&0o200 == 0 {
			a.Errorf("%s is read-only and stays as it is\n", console.EscapeControls(in.Path))
			continue
		}
		if err := atomicfile.Replace(in.Path, old, text); err != nil { // unless somebody changed it since it was read
			return console.Failed("write the rewritten file: %w", err)
		}
	}
	return nil
}
