package audit

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
	"github.com/ktxhq/ktx/sqlcheck/report"
)

// The formats of ktx audit export.
const (
	formatJSONL = "jsonl"
	formatOCSF  = "ocsf"
)

var exportFormats = []string{formatJSONL, formatOCSF}

// exportOptions are the flags of ktx audit export.
type exportOptions struct {
	conditions
	format, out, anchor string
	redact              []string
	noVerify            bool

	index    *index.Index // nil for the log itself
	withheld []audit.Class
	anchors  []audit.Anchor
}

func exportCommand(a *console.App) *cobra.Command {
	var o exportOptions
	c := &cobra.Command{
		Use:   "export",
		Short: "Write events as JSON Lines, or as OCSF Datastore Activity",
		Long: `Write the log, oldest first, one JSON object a line, to standard output or to a
file (--out). The file has mode 0600 and is written whole or not at all.

jsonl: the events, byte for byte as in the log, so that their hashes can be
checked. The conditions apply to each event by itself.
ocsf:  one event of OCSF class 6005 for each statement, with its decision and its
outcome. Events that are not about a statement are left out, and so is the raw
text of every statement. docs/evidence/audit-fields.md has the mapping.

With --no-verify, ocsf takes the statements from the index when ktx audit index has
made one. Otherwise the log itself is read.

--redact leaves out the fields of a class: identifier (names of people, clients,
connections, tables and functions, and the statements) or sensitive (the raw text
of statements, which the log has only with audit.sql: full). A redacted event keeps
the hash of the original event, so that it no longer matches its own hash.

The command checks the chain of the whole log while it reads it, and prints the
result at the end.

Exit codes: 0 written, the chain is whole · 1 written, the chain is broken ·
2 wrong usage · 3 not written.`,
		Example: `  ktx audit export --since 1d --format ocsf --out yesterday.jsonl
  ktx audit export --connection warehouse --redact sensitive`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := logDir(a, cmd)
			if err != nil {
				return err
			}
			if err := o.check(cmd, dir); err != nil {
				return err
			}
			if o.noVerify && o.format == formatOCSF {
				if o.index = openIndex(a, cmd, dir); o.index != nil {
					defer func() { _ = o.index.Close() }() // it was only read
				}
			}
			return export(cmd.Context(), a, dir, o)
		},
	}
	o.addAll(a, c)
	flags := c.Flags()
	flags.StringVar(&o.format, "format", formatJSONL, "jsonl or ocsf")
	flags.StringVarP(&o.out, "out", "o", "", "write to this file")
	flags.StringSliceVar(&o.redact, "redact", nil, "leave out fields of these classes: identifier, sensitive")
	flags.BoolVar(&o.noVerify, "no-verify", false, "do not check the chain")
	flags.StringVar(&o.anchor, "anchor", "", "check the chain up to an anchor.json that was copied elsewhere, too")
	indexFlag(c)
	complete(c, "format", exportFormats)
	complete(c, "redact", redactable)
	return c
}

var redactable = names([]audit.Class{audit.ClassIdentifier, audit.ClassSensitive})

// check checks the values of the flags.
func (o *exportOptions) check(cmd *cobra.Command, dir string) error {
	if err := oneOfKnown("--format", o.format, exportFormats); err != nil {
		return err
	}
	for _, class := range o.redact {
		if err := oneOfKnown("--redact", class, redactable); err != nil {
			return err
		}
		o.withheld = append(o.withheld, audit.Class(class))
	}
	if o.noVerify && o.anchor != "" {
		return console.Usage("--anchor and --no-verify contradict each other")
	}
	if cmd.Flags().Changed("out") {
		if o.out == "" {
			return console.Usage("--out is blank")
		}
		if into, err := os.Stat(filepath.Dir(o.out)); err == nil {
			if log, err := os.Stat(dir); err == nil && os.SameFile(into, log) {
				return console.Usage("--out %s: choose a file outside of the folder of the log", o.out)
			}
		}
	}
	if o.anchor != "" {
		anchor, err := audit.LoadAnchor(o.anchor)
		if err != nil {
			return err
		}
		o.anchors = append(o.anchors, anchor)
	}
	return o.resolve(cmd, time.Now())
}

// exported is the result of an export under --json.
type exported struct {
	Schema   string        `json:"schema"`
	File     string        `json:"file,omitempty"`
	Format   string        `json:"format"`
	Exported int64         `json:"exported"`
	Skipped  int64         `json:"notOfThisClass,omitempty"`
	BadLines int64         `json:"badLines"`
	Verified *audit.Report `json:"verified,omitempty"`
}

func export(ctx context.Context, a *console.App, dir string, o exportOptions) error {
	x := exporter{app: a, options: o, done: exported{Schema: "ktx-audit-export/1", File: o.out, Format: o.format}}
	if _, err := os.Stat(dir); err != nil {
		return notYet(dir, err)
	}
	var err error
	if o.out == "" {
		err = x.write(ctx, dir, a.Out)
	} else {
		err = atomicfile.Write(o.out, 0o600, func(w io.Writer) error { return x.write(ctx, dir, w) })
	}
	if err != nil {
		return err
	}
	x.report()
	if r := x.done.Verified; r != nil && !r.OK {
		return &console.ExitError{Code: console.ExitFindings}
	}
	return nil
}

// exporter writes one export.
type exporter struct {
	app     *console.App
	options exportOptions
	done    exported
	w       *bufio.Writer
}

func (x *exporter) write(ctx context.Context, dir string, w io.Writer) error {
	x.w = bufio.NewWriterSize(w, 64<<10)
	if x.options.index != nil {
		return errors.Join(x.indexed(ctx), x.w.Flush())
	}
	events, closeLog, err := x.events(ctx, dir)
	if err != nil {
		return err
	}
	p := x.app.Progress("audit log, MiB", int(logSize(dir)>>20))
	err = notYet(dir, x.all(counted(events, p)))
	p.Stop()
	return errors.Join(err, closeLog(), x.w.Flush())
}

// events returns the events of the log, and a function that closes it. It checks
// the chain on the way unless --no-verify is given.
func (x *exporter) events(ctx context.Context, dir string) (iter.Seq2[audit.Record, error], func() error, error) {
	if !x.options.noVerify {
		x.done.Verified = new(audit.Report)
		return audit.Checked(ctx, dir, x.done.Verified, x.options.anchors...), func() error { return nil }, nil
	}
	r, err := openLog(dir)
	if err != nil {
		return nil, nil, err
	}
	return r.All(ctx), r.Close, nil
}

// logSize returns the length of all segments, in bytes.
func logSize(dir string) (n int64) {
	paths, _ := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			n += info.Size()
		}
	}
	return n
}

// counted passes events on and shows the progress in MiB.
func counted(events iter.Seq2[audit.Record, error], p *console.Progress) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		read := int64(0)
		for rec, err := range events {
			read += int64(len(rec.Raw)) + 1
			p.Set(read >> 20)
			if !yield(rec, err) {
				return
			}
		}
	}
}

func (x *exporter) all(events iter.Seq2[audit.Record, error]) error {
	if x.options.format == formatOCSF {
		return x.statements(events)
	}
	for rec, err := range events {
		if err := x.badLine(err); err != nil {
			return err
		}
		if err != nil || !x.options.Match(rec.Event) {
			continue
		}
		line := []byte(rec.Raw)
		if len(x.options.withheld) > 0 {
			line = audit.Redacted(rec.Event, x.options.withheld...)
		}
		if err := x.line(line); err != nil {
			return err
		}
	}
	return nil
}

// statementTypes are the types of the events of a statement.
var statementTypes = []audit.Type{audit.QueryDecision, audit.QueryFinished, audit.QueryCancelled}

func (x *exporter) statements(events iter.Seq2[audit.Record, error]) error {
	counted := func(yield func(audit.Record, error) bool) {
		for rec, err := range events {
			if err == nil && !slices.Contains(statementTypes, rec.Event.Type) {
				x.done.Skipped++
			}
			if !yield(rec, err) {
				return
			}
		}
	}
	for s, err := range audit.Statements(counted) {
		if err := x.badLine(err); err != nil {
			return err
		}
		if err != nil || !x.options.MatchStatement(s) {
			continue
		}
		if err := x.statement(s); err != nil {
			return err
		}
	}
	return nil
}

// indexed writes the statements that the index finds.
func (x *exporter) indexed(ctx context.Context) error {
	state, err := x.options.index.State(ctx)
	if err != nil {
		return err
	}
	x.done.BadLines = state.BadLines
	for s, err := range x.options.index.All(ctx, x.options.Filter, true) {
		if err != nil {
			return err
		}
		if err := x.statement(s); err != nil {
			return err
		}
	}
	noteIndex(x.app, state)
	return nil
}

func (x *exporter) statement(s audit.Statement) error {
	line, err := audit.OCSF(s, x.app.Version, x.options.withheld...)
	if err != nil {
		return err
	}
	return x.line(line)
}

// badLine counts a line of the log that is no event, and returns every other
// error.
func (x *exporter) badLine(err error) error {
	if _, bad := errors.AsType[*audit.LineError](err); bad {
		x.done.BadLines++
	}
	return noteBadLine(x.app, err)
}

func (x *exporter) line(line []byte) error {
	if x.options.out == "" && x.app.Out.Terminal {
		line = report.EscapeJSON(line)
	}
	if _, err := x.w.Write(line); err != nil {
		return err
	}
	x.done.Exported++
	return x.w.WriteByte('\n')
}

// report prints what was written, and how far the chain is whole.
func (x *exporter) report() {
	a, d := x.app, x.done
	if a.JSON && d.File != "" {
		a.PrintJSON(d)
		return
	}
	what := "event"
	if d.Format == formatOCSF {
		what = "statement"
	}
	a.Errorf("note: exported %s\n", console.Count(int(d.Exported), what))
	if d.Skipped > 0 {
		a.Errorf("note: %s that are not about a statement were left out\n", console.Count(int(d.Skipped), "event"))
	}
	r := d.Verified
	if r == nil {
		a.Errorf("note: the chain was not checked\n")
		return
	}
	noteChain(a, index.State{Report: *r})
}
