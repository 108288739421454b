package audit

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
)

func indexCommand(a *console.App) *cobra.Command {
	var rebuild bool
	c := &cobra.Command{
		Use:   "index",
		Short: "Make the index that answers questions about a large log at once",
		Long: `Make the index of the project's log, or bring it up to date. It is the file
` + index.DefaultPath + `. ktx audit query, stats and export --no-verify use it when it is
there, and bring it up to date first. Without it they read the log.

The command checks the chain while it reads, and the whole file of the index. A
damaged one is made anew. Events that the index has already are not read again;
--rebuild reads the whole log. The index can be deleted at any time.

Exit codes: 0 done, the chain is whole · 1 done, the chain is broken · 2 wrong
usage · 3 the log could not be read, or the index could not be written.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := wiring.LoadProject(a)
			if err != nil {
				return err
			}
			dir := p.Config.Audit.Dir(p.Dir)
			return makeIndex(cmd.Context(), a, dir, filepath.Join(p.Dir, filepath.FromSlash(index.DefaultPath)), rebuild)
		},
	}
	c.Flags().BoolVar(&rebuild, "rebuild", false, "make it anew from the whole log")
	return c
}

// indexed is the result of ktx audit index under --json.
type indexed struct {
	Schema   string       `json:"schema"`
	File     string       `json:"file"`
	Events   int64        `json:"events"`
	BadLines int64        `json:"badLines"`
	Verified audit.Report `json:"verified"`
}

func makeIndex(ctx context.Context, a *console.App, dir, path string, rebuild bool) (err error) {
	x, err := index.Open(ctx, dir, path)
	if err != nil {
		return notYet(dir, err)
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	update := x.Update
	if rebuild {
		update = x.Rebuild
	}
	p := a.Progress("audit log, MiB", int(index.Size(dir)>>20))
	err = update(ctx, func(done, _ int64) { p.Set(done >> 20) })
	p.Stop()
	if err != nil {
		return notYet(dir, err)
	}
	state, err := x.Check(ctx)
	if err != nil {
		return err
	}
	noteRemade(a, state)
	if a.JSON {
		a.PrintJSON(indexed{"ktx-audit-index/1", path, state.Events, state.BadLines, state.Report})
	} else {
		a.Printf("indexed %s\n", console.Count(int(state.Events), "event"))
		noteChain(a, state)
	}
	if !state.Report.OK {
		return &console.ExitError{Code: console.ExitFindings}
	}
	return nil
}

// noteIndex says what a reader of an answer from the index has to know.
func noteIndex(a *console.App, state index.State) {
	noteRemade(a, state)
	if !state.Report.OK {
		noteChain(a, state)
	}
}

// noteRemade says that the index was damaged.
func noteRemade(a *console.App, state index.State) {
	if state.Remade != nil {
		a.Errorf("note: %s\n", console.EscapeControls(state.Remade.Error()))
	}
}

// noteChain says what the index has found while it checked the chain.
func noteChain(a *console.App, state index.State) {
	r := state.Report
	for _, p := range r.Problems {
		a.Errorf("%s %s\n", a.Paint(a.Err, console.StyleRed, "broken"), console.EscapeControls(p.String()))
	}
	if r.More > 0 {
		a.Errorf("and %d more\n", r.More)
	}
	if r.OK {
		a.Errorf("note: the chain is whole up to event %d, hash %s\n", r.LastSeq, r.LastHash)
	} else {
		a.Errorf("note: the chain is broken; every event before the first of these is as it was written\n")
	}
}

// indexFlag adds --no-index.
func indexFlag(c *cobra.Command) {
	c.Flags().Bool("no-index", false, "read the log itself, not its index ("+index.DefaultPath+")")
}

// maxBehind is how many bytes a command lets the index take before it answers. When
// more are missing, reading the log is often faster.
const maxBehind = 256 << 20

// openIndex opens the index of the project's log, up to date. It returns nil when there is
// none, when --no-index or --dir is given, and when the index cannot be used.
func openIndex(a *console.App, cmd *cobra.Command, dir string) *index.Index {
	if off, err := cmd.Flags().GetBool("no-index"); err != nil || off || cmd.Flags().Changed("dir") {
		return nil
	}
	p, err := wiring.LoadProject(a)
	if err != nil {
		return nil
	}
	path := filepath.Join(p.Dir, filepath.FromSlash(index.DefaultPath))
	if !index.Exists(path) {
		return nil
	}
	ctx := cmd.Context()
	x, err := index.Open(ctx, dir, path)
	if err == nil {
		if err = upToDate(ctx, a, x); err == nil {
			return x
		}
		err = errors.Join(err, x.Close())
	}
	if !errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil {
		a.Errorf("note: %s; the log itself is read\n", console.EscapeControls(err.Error()))
	}
	return nil
}

// upToDate lets the index take what is new in the log.
func upToDate(ctx context.Context, a *console.App, x *index.Index) error {
	behind, err := x.Behind(ctx)
	if err != nil {
		return err
	}
	if behind > maxBehind {
		return errors.New("the index is far behind the log (ktx audit index brings it up to date)")
	}
	p := a.Progress("audit index, MiB", int(behind>>20))
	defer p.Stop()
	start := int64(-1)
	return x.Update(ctx, func(done, _ int64) {
		if start < 0 {
			start = done
		}
		p.Set((done - start) >> 20)
	})
}

// summarize counts the events since a time.
func summarize(a *console.App, cmd *cobra.Command, dir string, since time.Time) (audit.Summary, error) {
	x := openIndex(a, cmd, dir)
	if x == nil {
		return audit.Summarize(cmd.Context(), dir, audit.Filter{Since: since})
	}
	defer func() { _ = x.Close() }() // the answer is there
	sum, state, err := x.Summarize(cmd.Context(), since, time.Time{})
	if err == nil {
		noteIndex(a, state)
	}
	return sum, err
}
