package cli

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
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlcheck/report"
)

// The formats of ktx audit export.
const (
	exportJSONL = "jsonl"
	exportOCSF  = "ocsf"
)

var exportFormats = []string{exportJSONL, exportOCSF}

// auditExportOptions are the flags of ktx audit export.
type auditExportOptions struct {
	auditFilter
	format, out, anchor string
	redact              []string
	noVerify            bool

	withheld []audit.Class
	anchors  []audit.Anchor
}

func (a *app) auditExport() *cobra.Command {
	var o auditExportOptions
	c := &cobra.Command{
		Use:   "export",
		Short: "Write events as JSON Lines, or as OCSF Datastore Activity",
		Long: `Write what the log holds, oldest first, one JSON object a line, to standard output
or to a file (--out, mode 0600, whole or not at all).

jsonl: the events, byte for byte as they stand in the log, so that their hashes
can be checked; each event is held against the conditions by itself.
ocsf:  one event of OCSF class 6005 for each statement, decision and outcome
together. Other events are not of this class and are left out.
docs/evidence/audit-fields.md has the mapping. The raw text of a statement is never in it.

--redact leaves out the fields of a class: identifier (names of people, clients,
connections, tables and functions, and the text of statements) or sensitive (the
raw text, which is there only under audit.sql: full). A redacted event keeps the
hash of the original, which it no longer has itself.

The chain of the whole log is checked while it is read, and what was found is
said at the end. Exit codes: 0 written, the chain is whole · 1 written, the chain
is broken · 2 wrong usage · 3 not written.`,
		Example: `  ktx audit export --since 1d --format ocsf --out yesterday.jsonl
  ktx audit export --connection warehouse --redact sensitive`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.auditDir(cmd)
			if err != nil {
				return err
			}
			if err := o.check(cmd, dir); err != nil {
				return err
			}
			return a.export(cmd.Context(), dir, o)
		},
	}
	o.addAll(a, c)
	flags := c.Flags()
	flags.StringVar(&o.format, "format", exportJSONL, "jsonl or ocsf")
	flags.StringVarP(&o.out, "out", "o", "", "write to this file")
	flags.StringSliceVar(&o.redact, "redact", nil, "leave out fields of these classes: identifier, sensitive")
	flags.BoolVar(&o.noVerify, "no-verify", false, "do not check the chain")
	flags.StringVar(&o.anchor, "anchor", "", "check up to an anchor.json that was copied elsewhere, too")
	complete(c, "format", exportFormats)
	complete(c, "redact", redactable)
	return c
}

var redactable = names([]audit.Class{audit.ClassIdentifier, audit.ClassSensitive})

// check checks the values of the flags.
func (o *auditExportOptions) check(cmd *cobra.Command, dir string) error {
	if err := known("--format", o.format, exportFormats); err != nil {
		return err
	}
	for _, class := range o.redact {
		if err := known("--redact", class, redactable); err != nil {
			return err
		}
		o.withheld = append(o.withheld, audit.Class(class))
	}
	if o.noVerify && o.anchor != "" {
		return usage("--anchor and --no-verify contradict each other")
	}
	if cmd.Flags().Changed("out") {
		if o.out == "" {
			return usage("--out is blank")
		}
		if into, err := os.Stat(filepath.Dir(o.out)); err == nil {
			if log, err := os.Stat(dir); err == nil && os.SameFile(into, log) {
				return usage("--out %s: the folder of the log itself is no place for an export", o.out)
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

// exported is what an export did.
type exported struct {
	Schema   string        `json:"schema"`
	File     string        `json:"file,omitempty"`
	Format   string        `json:"format"`
	Exported int64         `json:"exported"`
	Skipped  int64         `json:"notOfThisClass,omitempty"`
	BadLines int64         `json:"badLines"`
	Verified *audit.Report `json:"verified,omitempty"`
}

func (a *app) export(ctx context.Context, dir string, o auditExportOptions) error {
	x := exporter{app: a, options: o, done: exported{Schema: "ktx-audit-export/1", File: o.out, Format: o.format}}
	if _, err := os.Stat(dir); err != nil {
		return notYet(dir, err)
	}
	var err error
	if o.out == "" {
		err = x.write(ctx, dir, a.out)
	} else {
		err = atomicfile.Write(o.out, 0o600, func(w io.Writer) error { return x.write(ctx, dir, w) })
	}
	if err != nil {
		return err
	}
	x.report()
	if r := x.done.Verified; r != nil && !r.OK {
		return &exitError{code: exitFindings}
	}
	return nil
}

// exporter writes one export.
type exporter struct {
	app     *app
	options auditExportOptions
	done    exported
	w       *bufio.Writer
}

func (x *exporter) write(ctx context.Context, dir string, w io.Writer) error {
	x.w = bufio.NewWriterSize(w, 64<<10)
	events, closeLog, err := x.events(ctx, dir)
	if err != nil {
		return err
	}
	p := x.app.progress("audit log, MiB", int(logSize(dir)>>20))
	err = notYet(dir, x.all(counted(events, p)))
	p.stop()
	return errors.Join(err, closeLog(), x.w.Flush())
}

// events reads the log, checking it unless that is not wanted.
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

// logSize is the length of all segments.
func logSize(dir string) (n int64) {
	paths, _ := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			n += info.Size()
		}
	}
	return n
}

// counted passes events on and shows how far they are.
func counted(events iter.Seq2[audit.Record, error], p *progress) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		read := int64(0)
		for rec, err := range events {
			read += int64(len(rec.Raw)) + 1
			p.done.Store(read >> 20)
			if !yield(rec, err) {
				return
			}
		}
	}
}

func (x *exporter) all(events iter.Seq2[audit.Record, error]) error {
	if x.options.format == exportOCSF {
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

// statementTypes are the events that make a statement.
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
		line, err := audit.OCSF(s, productVersion(), x.options.withheld...)
		if err != nil {
			return err
		}
		if err := x.line(line); err != nil {
			return err
		}
	}
	return nil
}

// badLine counts a line that is no event and returns every other error.
func (x *exporter) badLine(err error) error {
	if _, bad := errors.AsType[*audit.LineError](err); bad {
		x.done.BadLines++
	}
	return x.app.noteBadLine(err)
}

func (x *exporter) line(line []byte) error {
	if x.options.out == "" && x.app.out.terminal {
		line = report.EscapeJSON(line)
	}
	if _, err := x.w.Write(line); err != nil {
		return err
	}
	x.done.Exported++
	return x.w.WriteByte('\n')
}

// report says what was written and how far the chain was found whole.
func (x *exporter) report() {
	a, d := x.app, x.done
	if a.json && d.File != "" {
		a.printJSON(d)
		return
	}
	what := "event"
	if d.Format == exportOCSF {
		what = "statement"
	}
	a.errorf("note: exported %s\n", count(int(d.Exported), what))
	if d.Skipped > 0 {
		a.errorf("note: %s that are no statements were left out\n", count(int(d.Skipped), "event"))
	}
	r := d.Verified
	if r == nil {
		a.errorf("note: the chain was not checked\n")
		return
	}
	for _, p := range r.Problems {
		a.errorf("%s %s\n", a.paint(a.err, styleRed, "broken"), escapeControls(p.String()))
	}
	if r.More > 0 {
		a.errorf("and %d more\n", r.More)
	}
	if r.OK {
		a.errorf("note: the chain is whole up to event %d, hash %s\n", r.LastSeq, r.LastHash)
	} else {
		a.errorf("note: the chain is not whole; what comes before the first of these is as it was written\n")
	}
}
