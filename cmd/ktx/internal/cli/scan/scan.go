package scan

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/collector"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/scan"
	"github.com/ktxhq/ktx/research/scan/relate"
	"github.com/ktxhq/ktx/research/usage"
)

// options are the flags of ktx scan.
type options struct {
	all, noProfile, dryRun bool
	schemas                []string
}

func (o *options) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&o.all, "all", false, "scan every connection that can run statements")
	flags.BoolVar(&o.noProfile, "no-profile", false, "read the structure only, and no rows of tables")
	flags.BoolVar(&o.dryRun, "dry-run", false, "say what changed since the last scan, and write nothing")
	flags.StringSliceVar(&o.schemas, "schemas", nil, "scan only these schemas, for MySQL and MariaDB databases (default: schemas of the connection, else all)")
}

// Command returns the command ktx scan.
func Command(a *console.App) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "scan [CONNECTION]",
		Short: "Read the tables of a connection for search and the dictionary",
		Long: `Read the structure of a database and a sample of its rows, find relationships
between its tables, and write all that into the project: artifacts below
raw-sources, the manifest below semantic-layer, and values for the dictionary
below .ktx.

Every statement goes through the guard and into the audit log, with the principal
scan. Tables that access rules deny are not scanned. Values of columns whose names
say personal data or free text are not kept; see scan.values in ktx.yaml.

A scan that is interrupted or has used up scan.budget goes on where it stopped when
it is run again.

Exit codes: 0 done · 1 refused by the guard · 2 wrong usage or configuration ·
3 it stopped, or the database could not be read.`,
		Example: `  ktx scan warehouse
  ktx scan warehouse --schemas public,analytics
  ktx scan --all --no-profile`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: wiring.CompleteConnection(a),
		RunE:              func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), a, o, args) },
	}
	o.flags(c)
	return c
}

// run scans the connections that were asked for.
func run(ctx context.Context, a *console.App, o options, args []string) error {
	if o.all && (len(args) > 0 || len(o.schemas) > 0) {
		return console.Usage("--all scans every connection as it is configured; it takes no connection and no --schemas")
	}
	if slices.Contains(o.schemas, "") {
		return console.Usage("--schemas has an empty name")
	}
	p, err := wiring.LoadProject(a)
	if err != nil {
		return err
	}
	for key, patterns := range map[string][]string{"include": p.Config.Scan.Values.Include, "exclude": p.Config.Scan.Values.Exclude} {
		if err := scan.Patterns(patterns).Validate(); err != nil {
			return console.Usage("%s: scan.values.%s: %w", p.File, key, err)
		}
	}
	return withScans(ctx, a, p, func(ctx context.Context, open *wiring.OpenProject, root *os.Root) error {
		ids, err := chosen(ctx, open, o, args)
		if err != nil {
			return err
		}
		return scanAll(ctx, a, open, root, o, ids)
	})
}

// One scans a connection of p as ktx scan does without flags. It prints a progress bar
// only, and returns the number of tables and columns.
func One(ctx context.Context, a *console.App, p *project.Project, id string) (tables, columns int, err error) {
	err = withScans(ctx, a, p, func(ctx context.Context, open *wiring.OpenProject, root *os.Root) error {
		found, err := scanOne(ctx, a, open, root, options{}, id)
		if err == nil {
			tables, columns = found.Tables, found.Columns
		}
		return err
	})
	return tables, columns, err
}

// withScans opens p with the limits of scans and its folder, and calls f. What f runs
// has the principal of scans in the audit log.
func withScans(ctx context.Context, a *console.App, p *project.Project, f func(context.Context, *wiring.OpenProject, *os.Root) error) error {
	return wiring.WithConnections(ctx, a, p, connections(a, p), "cli", func(ctx context.Context, open *wiring.OpenProject) error {
		root, err := os.OpenRoot(p.Dir)
		if err != nil {
			return console.Failed("open the project: %w", err)
		}
		defer func() { _ = root.Close() }()
		actor, _ := audit.ActorFrom(ctx)
		actor.Principal = usage.ScanPrincipal
		return f(audit.WithActor(ctx, actor), open, root)
	})
}

// The limits of one statement of a scan.
const (
	defaultRows  = 1_000_000
	defaultBytes = 256 << 20
)

// connections returns the project's connections with the limits of scans.
func connections(a *console.App, p *project.Project) []execution.Connection {
	settings := p.Config.Scan
	all := wiring.Connections(a, p)
	for i := range all {
		all[i].Limits.Rows, all[i].Limits.Bytes = defaultRows, defaultBytes
		if settings.Limits.Rows > 0 {
			all[i].Limits.Rows = settings.Limits.Rows
		}
		if settings.Limits.Bytes > 0 {
			all[i].Limits.Bytes = int64(settings.Limits.Bytes)
		}
		all[i].Concurrency = max(1, min(all[i].Concurrency, max(1, settings.Concurrency)))
	}
	return all
}

// chosen returns the ids of the connections to scan.
func chosen(ctx context.Context, open *wiring.OpenProject, o options, args []string) ([]string, error) {
	if len(args) == 1 {
		c, err := open.Gateway.Connection(ctx, args[0])
		return []string{c.ID}, err
	}
	var ids, runnable []string
	for _, c := range open.Gateway.Connections(ctx) {
		ids = append(ids, c.ID)
		if c.Runs {
			runnable = append(runnable, c.ID)
		}
	}
	switch {
	case len(ids) == 0:
		return nil, console.Usage("no connection is configured in %s", open.Project.File)
	case o.all && len(runnable) == 0:
		return nil, console.Usage("no connection in %s can run statements", open.Project.File)
	case o.all:
		return runnable, nil
	case len(ids) == 1:
		return ids, nil
	default:
		return nil, console.Usage("name a connection, or scan all with --all: %s", strings.Join(ids, ", "))
	}
}

// failure is a connection whose scan did not come to its end.
type failure struct {
	ConnectionID string `json:"connectionId"`
	Message      string `json:"message"`
}

// scanAll scans connections one after the other. With --all, one that fails does not
// keep the others from being scanned.
func scanAll(ctx context.Context, a *console.App, open *wiring.OpenProject, root *os.Root, o options, ids []string) error {
	results, failures := []result{}, []failure{}
	for _, id := range ids {
		found, err := scanOne(ctx, a, open, root, o, id)
		if err == nil {
			results = append(results, resultOf(found))
			if !a.JSON {
				found.print(a)
			}
			continue
		}
		if stopped, ok := errors.AsType[*scan.StoppedError](err); ok {
			// Not wrapped: an interrupt is reported with the way to continue.
			err = console.Failed("%s", stopped.Error())
		}
		if !o.all || ctx.Err() != nil {
			return err
		}
		failures = append(failures, failure{ConnectionID: id, Message: err.Error()})
		a.Errorf("ktx: %s\n", console.EscapeLines(err.Error()))
	}
	if a.JSON {
		a.PrintJSON(console.NewDocument("ktx-scan/1").With("scans", results).With("failed", failures))
	}
	if len(failures) > 0 {
		return &console.ExitError{Code: console.ExitFailed}
	}
	return nil
}

// scanOne scans one connection.
func scanOne(ctx context.Context, a *console.App, open *wiring.OpenProject, root *os.Root, o options, id string) (*outcome, error) {
	c, err := open.Gateway.Connection(ctx, id)
	if err != nil {
		return nil, err
	}
	readable, err := open.Gateway.Readable(ctx, id)
	if err != nil {
		return nil, err
	}
	run := make([]byte, 4)
	_, _ = rand.Read(run) // it never fails
	settings, configured := open.Project.Config.Scan, open.Project.Config.Connections[id]
	bar := newProgress(a, id, time.Now)
	defer bar.stop()
	options := scan.Options{
		Gateway: open.Gateway, Connection: c, Driver: configured.Driver, Root: root, Readable: readable,
		Now: time.Now(), RunID: hex.EncodeToString(run), Schemas: o.schemas, NoProfile: o.noProfile, DryRun: o.dryRun,
		Budget: time.Duration(settings.Budget), Concurrency: settings.Concurrency, SampleRows: settings.SampleRows,
		ValuesPerColumn: settings.Values.PerColumn, Include: settings.Values.Include, Exclude: settings.Values.Exclude,
		OpenValues: func(sync string) (scan.Values, error) {
			w, err := dictionary.NewWriter(root, id, sync)
			if err != nil {
				return nil, err
			}
			w.Limit(settings.Values.PerColumn)
			return w, nil
		},
		MaxBytes: int(open.Project.Config.GuardOf(id).MaxBytes), OnProgress: bar.set,
	}
	switch {
	case len(o.schemas) > 0:
	case c.Dialect == "postgres":
		options.Schemas = configured.Schemas
	default:
		options.Databases = configured.Schemas
	}
	if open.Project.Config.Search.Usage {
		options.Joins = usedJoins(a, root, id)
	}
	defer collector.Often()() // a scan waits for the server most of the time, and has a lot of garbage
	out, err := scan.Run(ctx, options)
	if err != nil {
		return nil, err
	}
	return &outcome{Result: out, dryRun: o.dryRun}, nil
}

// usedJoins returns the pairs of columns that enough statements joined, by the
// artifact of ktx usage build. An artifact that cannot be read is a warning.
func usedJoins(a *console.App, root *os.Root, id string) []relate.Pair {
	f, err := usage.Read(root, id)
	if err != nil {
		if !usage.Missing(err) {
			a.Errorf("warning: connection %s: %s\n", id, console.EscapeControls(err.Error()))
		}
		return nil
	}
	var pairs []relate.Pair
	for _, j := range f.Joins {
		if j.Statements >= usage.JoinEvidence {
			pairs = append(pairs, relate.Pair{
				From:       catalog.EndPoint{Table: j.From.Table, Columns: []string{j.From.Column}},
				To:         catalog.EndPoint{Table: j.To.Table, Columns: []string{j.To.Column}},
				Statements: j.Statements,
			})
		}
	}
	return pairs
}

// outcome is a scan that came to its end.
type outcome struct {
	*scan.Result
	dryRun bool
}

// result is a scan as --json prints it: its report, and what was done.
type result struct {
	catalog.Report
	Tables  int   `json:"tables"`
	Columns int   `json:"columns"`
	Rows    int64 `json:"rows"`
	Resumed int   `json:"resumedTables"`
	// Changes are the tables that are not as in the scan before.
	Changes []scan.Change `json:"changes,omitempty"`
}

func resultOf(o *outcome) result {
	return result{Report: o.Report, Tables: o.Tables, Columns: o.Columns, Rows: o.Rows, Resumed: o.Resumed, Changes: o.Changes}
}

// How many warnings and changed tables are printed, and how many columns of a table.
const (
	maxWarnings = 20
	maxChanges  = 20
	maxColumns  = 10
)

// print writes what a person wants to know.
func (o *outcome) print(a *console.App) {
	r, d := o.Report, o.Report.DiffSummary
	what := fmt.Sprintf("%s, %s", console.Count(o.Tables, "table"), console.Count(o.Columns, "column"))
	if o.Rows > 0 {
		what += fmt.Sprintf(", %s read", console.Count(int(o.Rows), "row"))
	}
	if o.Resumed > 0 {
		what += fmt.Sprintf(" (%s of the run before)", console.Count(o.Resumed, "table"))
	}
	a.Printf("%s: %s\n", r.ConnectionID, what)
	a.Printf("  tables: %d added, %d modified, %d deleted, %d unchanged\n", d.TablesAdded, d.TablesModified, d.TablesDeleted, d.TablesUnchanged)
	for _, c := range o.Changes[:min(len(o.Changes), maxChanges)] {
		a.Printf("    %s %s%s\n", c.Change, console.EscapeControls(c.Table), console.EscapeControls(columnsOf(c)))
	}
	if more := len(o.Changes) - maxChanges; more > 0 {
		a.Printf("    and %d more, with --json\n", more)
	}
	if !o.dryRun {
		a.Printf("  relationships: %d accepted, %d to review\n", r.Relationships.Accepted, r.Relationships.Review)
		a.Printf("  %s\n", r.ArtifactPaths["rawSourcesDir"])
	}
	for _, w := range r.Warnings[:min(len(r.Warnings), maxWarnings)] {
		text := w.Message
		if w.Table != "" {
			text = w.Table + ": " + text
		}
		a.Errorf("warning: connection %s: %s\n", r.ConnectionID, console.EscapeControls(text))
	}
	if more := len(r.Warnings) - maxWarnings; more > 0 {
		a.Errorf("warning: connection %s: and %d more, in warnings.json\n", r.ConnectionID, more)
	}
}

// columnsOf names the columns of a table that are new, changed or gone.
func columnsOf(c scan.Change) string {
	var names []string
	for _, part := range []struct {
		sign    string
		columns []string
	}{{"+", c.Added}, {"~", c.Modified}, {"-", c.Deleted}} {
		for _, name := range part.columns {
			names = append(names, part.sign+name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	out := ": " + strings.Join(names[:min(len(names), maxColumns)], ", ")
	if more := len(names) - maxColumns; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}
