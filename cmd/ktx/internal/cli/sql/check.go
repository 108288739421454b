package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/collector"
	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// checkOptions are the flags of ktx sql check.
type checkOptions struct {
	dialect, format, failOn, stdinName string
	profile, fix                       string
	since                              string // --diff
	staged                             bool
	baseline                           string
	updateBaseline                     bool
	showSuppressed                     bool
	noCache                            bool
	noIgnore, strict                   bool
	jobs                               int
	max                                int
	statistics                         bool
	outputs                            []string // FORMAT=FILE
	listRules                          bool
}

// whole reports whether a report needs the complete verdicts.
func (o checkOptions) whole() bool {
	return o.format == report.FormatJSON && !o.statistics || slices.ContainsFunc(o.outputs, func(output string) bool { return strings.HasPrefix(output, report.FormatJSON+"=") })
}

// partly reports whether only changed statements are judged.
func (o checkOptions) partly() bool { return o.since != "" || o.staged }

// screenful is the most groups of equal findings that a terminal gets.
const screenful = 50

// The values of --fail-on. The exit code is 3 for a file that could not be checked,
// whatever the value.
var severities = []string{"error", "warning", "note", "never"}

func checkCommand(a *console.App) *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check [PATH | GLOB | -]...",
		Short: "Judge the statements of SQL files, without a database",
		Long: `Judge every statement in the files with the guard: may it run through the gateway?

A folder stands for the .sql, .pgsql, .psql and .sqlite files in it, and for its
source files in Go, Python, JavaScript and TypeScript. In a source file, the
statements that it passes to a database are judged. A link to a file in the folder
is followed. A link that leads out of the folder, or to a folder, is not.

The dialect of a file is, in this order: --dialect; check.overrides in the nearest
ktx.yaml; a first line "-- ktx: dialect=NAME"; the dialect of the connection that
has the name of a folder on the path; the name of the file (.pgsql, .psql, .sqlite),
or the drivers that it imports; the adapter of the dbt project; the nearest
configuration of another tool, such as sqlc.yaml, .sqlfluff, schema.prisma or the
drivers in go.mod. It is never guessed.
A file for an engine that ktx has no reader for, such as snowflake, is skipped. The
policy is that of the connection, or of the block guard in the nearest ktx.yaml.

Exit codes: 0 all may run · 1 some may not · 2 wrong usage or configuration ·
3 some could not be checked.`,
		Example: `  ktx sql check --dialect postgres queries/
  git show HEAD:report.sql | ktx sql check --dialect sqlite -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.JSON {
				if cmd.Flags().Changed("format") && o.format != report.FormatJSON {
					return console.Usage("--json and --format %s contradict each other", console.EscapeControls(o.format))
				}
				o.format = report.FormatJSON
			}
			a.JSON = o.format == report.FormatJSON
			if o.listRules {
				return listRules(a)
			}
			if cmd.Flags().Changed("diff") && o.since == "" {
				return console.Usage("--diff: name a revision, such as HEAD or origin/main")
			}
			if !cmd.Flags().Changed("max") && o.format == report.FormatHuman && a.Out.Terminal {
				o.max = screenful
			}
			if err := o.validate(args); err != nil {
				return err
			}
			if len(args) == 0 && o.partly() {
				args = []string{"."}
			}
			if len(args) == 0 {
				return console.Usage("name files, folders or patterns to check, or - for standard input")
			}
			return check(cmd.Context(), a, args, o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.dialect, "dialect", wiring.DialectAuto, "dialect of all files: "+strings.Join(wiring.DialectNames(), ", ")+" or auto")
	flags.StringVar(&o.profile, "profile", wiring.ProfileAuto, "read-only: may each statement run through the gateway; migration: what does it do to a system in use; auto: as check.migrations in ktx.yaml says")
	flags.StringVar(&o.fix, "fix", "", "first rewrite what has one certain meaning, such as LIMIT 5, 10 for PostgreSQL: write, or diff to show it only")
	flags.Lookup("fix").NoOptDefVal = fixWrite
	flags.StringVar(&o.format, "format", report.FormatHuman, strings.Join(report.Formats(), ", "))
	flags.StringVar(&o.failOn, "fail-on", "error", "the least severity that makes the exit code 1: error, warning, note, or never")
	flags.StringVar(&o.stdinName, "stdin-filename", "stdin", "name of standard input in reports; its extension can settle the dialect")
	flags.StringVar(&o.since, "diff", "", "judge only the statements that changed since `REV`, a git revision")
	flags.BoolVar(&o.staged, "staged", false, "judge only the statements that the next commit changes, as they are in the git index")
	flags.StringVar(&o.baseline, "baseline", "", "`FILE` of known findings, which do not count")
	flags.BoolVar(&o.updateBaseline, "update-baseline", false, "write all present findings to the baseline")
	flags.BoolVar(&o.showSuppressed, "show-suppressed", false, "also show the findings that a comment permits or the baseline has")
	flags.IntVar(&o.max, "max", 0, "the most findings that human, compact, github and markdown show; 0 shows all. On a terminal human shows 50 unless you set it")
	flags.BoolVar(&o.statistics, "statistics", false, "print only how many findings each code and each folder has; with --format human or json")
	flags.BoolVar(&o.noCache, "no-cache", false, "judge every file, even if it did not change since the last check")
	flags.BoolVar(&o.noIgnore, "no-ignore", false, "also check the files that git ignores")
	flags.BoolVar(&o.strict, "strict", false, "a file in a dialect that ktx has no reader for is an error, not skipped")
	flags.StringArrayVar(&o.outputs, "output", nil, "also write a report to a file, as `FORMAT=FILE` (repeatable)")
	flags.BoolVar(&o.listRules, "list-rules", false, "list the codes that a check can find, and exit")
	flags.IntVar(&o.jobs, "jobs", 0, "number of files to judge at a time; 0 means one for each processor")
	_ = c.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(append(wiring.DialectNames(), wiring.DialectAuto), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("fix", cobra.FixedCompletions([]string{fixWrite, fixDiff}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(wiring.Profiles(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(report.Formats(), cobra.ShellCompDirectiveNoFileComp))
	outputs := make([]string, 0, len(report.Formats()))
	for _, format := range report.Formats() {
		outputs = append(outputs, format+"=")
	}
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoSpace))
	_ = c.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(severities, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (o checkOptions) validate(args []string) error {
	switch {
	case o.since != "" && o.staged:
		return console.Usage("--diff and --staged contradict each other")
	case o.updateBaseline && o.baseline == "":
		return console.Usage("--update-baseline: name the file with --baseline FILE")
	case o.updateBaseline && o.partly():
		return console.Usage("--update-baseline needs all statements; remove --diff and --staged")
	case o.staged && slices.Contains(args, "-"):
		return console.Usage("--staged: standard input is not in the git index")
	case o.max < 0:
		return console.Usage("--max %d: expected a number from 0", o.max)
	case o.statistics && o.format != report.FormatHuman && o.format != report.FormatJSON:
		return console.Usage("--statistics prints human or json, not %s", console.EscapeControls(o.format))
	case o.jobs < 0 || o.jobs > 1024:
		return console.Usage("--jobs %d: expected 0 to 1024", o.jobs)
	}
	if err := console.OneOf("--format", o.format, report.Formats()); err != nil {
		return err
	}
	if o.fix != "" {
		if err := console.OneOf("--fix", o.fix, []string{fixWrite, fixDiff}); err != nil {
			return err
		}
		if o.partly() {
			return console.Usage("--fix rewrites files as they are; remove --diff and --staged")
		}
	}
	if err := console.OneOf("--profile", o.profile, wiring.Profiles()); err != nil {
		return err
	}
	if err := console.OneOf("--fail-on", o.failOn, severities); err != nil {
		return err
	}
	for _, output := range o.outputs {
		format, name, ok := strings.Cut(output, "=")
		if !ok || name == "" {
			return console.Usage("--output %s: expected FORMAT=FILE", console.EscapeControls(output))
		}
		if err := console.OneOf("--output", format, report.Formats()); err != nil {
			return err
		}
		if name == "-" {
			return console.Usage("--output %s: standard output has the report of --format", console.EscapeControls(output))
		}
	}
	if o.dialect == wiring.DialectAuto {
		return nil
	}
	_, err := wiring.LookupDialect(o.dialect)
	return err
}

func check(ctx context.Context, a *console.App, args []string, o checkOptions) error {
	defer collector.Within(softMemory)()
	baseline, err := o.readBaseline()
	if err != nil {
		return console.AsUsage(err)
	}
	opened := make(chan *sqlcheck.Cache, 1)
	go func() { opened <- openCache(a, o) }() // it takes as long as the search for files
	inputs, err := o.inputs(ctx, args)
	if err != nil {
		return console.AsUsage(err)
	}
	guards, err := wiring.NewFileGuards(a, o.dialect, inputs)
	if err != nil {
		return err
	}
	inputs = guards.Wanted(inputs)
	ignored := sqlcheck.NewIgnored(ctx, ".")
	if !o.noIgnore && !o.partly() {
		inputs = ignored.Without(inputs)
	}
	if o.fix != "" {
		if slices.ContainsFunc(inputs, func(in sqlcheck.Input) bool { return in.Stdin }) {
			return console.Usage("--fix rewrites files, and standard input is none; name the file")
		}
		if err := fixFiles(ctx, a, o.fix, inputs, guards); err != nil {
			return err
		}
	}
	cache := <-opened
	progress := a.Progress("checked", len(inputs))
	spool := &report.Spool{Temp: temporary}
	defer spool.Close()
	checker := sqlcheck.Checker{Stdin: a.In, Spool: spool, Choose: guards.Choose, Says: wiring.Says, Sources: guards.Sources, Parameters: guards.Parameters, Severities: guards.Severities, Migrations: guards.Migrations(o.profile, guards.Mentions(ignored, o.profile)), Whole: o.whole(), Strict: o.strict, Today: time.Now(), Jobs: o.jobs, Cache: cache, OnFile: progress.Step}
	files, err := checker.Run(ctx, inputs)
	progress.Stop()
	if err != nil {
		return console.Failed("%w", err)
	}
	if cache != nil {
		if err := cache.Save(); err != nil {
			a.Errorf("warning: %s; the next check judges every file again\n", console.EscapeControls(err.Error()))
		}
	}
	if err := applyBaseline(a, baseline, files, o); err != nil {
		return err
	}
	summary := report.Summarize(files)
	whole := &report.Check{Files: files, Summary: summary, Version: a.Version, All: o.showSuppressed, Max: o.max, Spool: spool}
	if err := writeReports(a, whole, o); err != nil {
		return err
	}
	switch {
	case summary.NotChecked > 0:
		return &console.ExitError{Code: console.ExitFailed}
	case fails(summary, o.failOn):
		return &console.ExitError{Code: console.ExitFindings}
	default:
		return nil
	}
}

// softMemory is the size in bytes within which a check keeps its memory where it can. The
// pages of the program itself come on top.
const softMemory = 86 << 20

// unnamed is a temporary file. Where an open file can be removed, nothing else
// can read it.
type unnamed struct{ *os.File }

func temporary() (report.Disk, error) {
	f, err := os.CreateTemp("", "ktx-check-")
	if err != nil {
		return nil, err //nolint:wrapcheck // the verdicts then stay in memory
	}
	_ = os.Remove(f.Name())
	return unnamed{f}, nil
}

// Close removes the file, where that had to wait.
func (u unnamed) Close() error {
	err := u.File.Close()
	_ = os.Remove(u.Name())
	return err //nolint:wrapcheck // as above
}

// fails reports whether a finding that counts has at least the severity failOn.
func fails(s report.Summary, failOn string) bool {
	switch failOn {
	case "never":
		return false
	case string(report.SeverityError):
		return s.Errors > 0
	case string(report.SeverityWarning):
		return s.Errors+s.Warnings > 0
	default:
		return s.Errors+s.Warnings+s.Notes > 0
	}
}

// maxBaseline bounds a baseline, in bytes, because a device file has no end.
const maxBaseline = 64 << 20

// readBaseline returns the baseline, or nil without --baseline. With
// --update-baseline the file need not exist yet; the baseline is then empty.
func (o checkOptions) readBaseline() (*sqlcheck.Baseline, error) {
	if o.baseline == "" {
		return nil, nil //nolint:nilnil // a check without a baseline
	}
	file, err := os.Open(o.baseline)
	if errors.Is(err, fs.ErrNotExist) && o.updateBaseline {
		return sqlcheck.NewBaseline(o.baseline) //nolint:wrapcheck // it says what it did
	}
	if err != nil {
		return nil, fmt.Errorf("read the baseline: %w (--update-baseline makes one)", err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxBaseline+1))
	if err != nil {
		return nil, fmt.Errorf("read the baseline: %w", err)
	}
	if len(content) > maxBaseline {
		return nil, fmt.Errorf("read the baseline: %s is larger than %d MiB", o.baseline, maxBaseline>>20)
	}
	return sqlcheck.ReadBaseline(o.baseline, content) //nolint:wrapcheck // it names the file
}

// inputs returns the files to judge.
func (o checkOptions) inputs(ctx context.Context, args []string) ([]sqlcheck.Input, error) {
	if o.staged {
		return sqlcheck.Staged(ctx, ".", args) //nolint:wrapcheck // it says what it did
	}
	inputs, err := sqlcheck.Find(args, o.stdinName)
	if err != nil || o.since == "" {
		return inputs, err //nolint:wrapcheck // it names the argument
	}
	return sqlcheck.Since(ctx, ".", o.since, args, inputs) //nolint:wrapcheck // it says what it did
}

// openCache returns the cache for the current folder, or nil when there is none.
func openCache(a *console.App, o checkOptions) *sqlcheck.Cache {
	dir, err := os.UserCacheDir()
	if o.noCache || err != nil {
		return nil
	}
	current, err := os.Getwd()
	if err != nil {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	info, err := os.Stat(program)
	if err != nil {
		return nil
	}
	build := fmt.Sprintf("%s %d %d", a.Version, info.Size(), info.ModTime().UnixNano())
	return sqlcheck.OpenCache(filepath.Join(dir, "ktx"), current, build, time.Now())
}

// applyBaseline marks the findings that the baseline has, or, with
// --update-baseline, writes the baseline.
func applyBaseline(a *console.App, baseline *sqlcheck.Baseline, files []report.File, o checkOptions) error {
	if baseline == nil {
		return nil
	}
	if !o.updateBaseline {
		if gone := baseline.Apply(files, o.partly()); gone > 0 {
			a.Errorf("%s of the baseline %s no more; --update-baseline removes them\n", console.Count(gone, "finding"), map[bool]string{true: "is", false: "are"}[gone == 1])
		}
		return nil
	}
	baseline.Update(files)
	text, err := baseline.JSON()
	if err != nil {
		return console.Failed("%w", err)
	}
	err = atomicfile.Write(o.baseline, 0o644, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return console.Failed("%w", err)
	}
	return nil
}

// writeReports writes the report to standard output and to the files of --output.
// It writes all of them even if one fails.
func writeReports(a *console.App, c *report.Check, o checkOptions) error {
	var problems []error
	for _, output := range o.outputs {
		format, name, _ := strings.Cut(output, "=")
		if err := atomicfile.Write(name, 0o644, func(w io.Writer) error { return report.Write(w, format, c) }); err != nil {
			problems = append(problems, err)
		}
	}
	shown := *c
	shown.Color = a.Colored(a.Out)
	if o.statistics {
		if err := writeStatistics(a, &shown); err != nil {
			problems = append(problems, err)
		}
	} else if err := report.Write(a.Out, o.format, &shown); err != nil {
		problems = append(problems, err)
	} else if o.format == report.FormatHuman || o.format == report.FormatCompact {
		a.Errorf("%s\n", report.SummaryLine(c.Summary))
		if o.format == report.FormatHuman && o.profile == wiring.ProfileAuto && looksLikeMigrations(c) {
			a.Errorf("These look like migrations of a schema: --profile migration, or check.migrations in ktx.yaml, judges what they do to a system in use.\n")
		}
	}
	if err := errors.Join(problems...); err != nil {
		return console.Failed("%w", err)
	}
	return nil
}

// looksLikeMigrations reports whether most findings are about DDL in folders such as
// db/migrations.
func looksLikeMigrations(c *report.Check) bool {
	all, changes := 0, 0
	for i := range c.Files {
		folder := strings.Contains(strings.ToLower(filepath.ToSlash(filepath.Dir(c.Files[i].Path))), "migrat")
		for j := range c.Files[i].Findings {
			f := &c.Files[i].Findings[j]
			if !f.Counts() {
				continue
			}
			if all++; folder && f.Code == sqlguard.CodeDDLStatement {
				changes++
			}
		}
	}
	return changes > all/2
}

// writeStatistics prints how many findings each code and each folder has.
func writeStatistics(a *console.App, c *report.Check) error {
	counts := report.Count(c)
	if !a.JSON {
		a.Errorf("%s\n", report.SummaryLine(c.Summary))
		return report.WriteStatistics(a.Out, counts) //nolint:wrapcheck // standard output
	}
	a.PrintJSON(struct {
		Schema  string         `json:"schema"`
		Summary report.Summary `json:"summary"`
		report.Statistics
	}{"ktx-check-statistics/1", c.Summary, counts})
	return nil
}

// listRules prints the codes that a check can find.
func listRules(a *console.App) error {
	type rule struct {
		Code     sqlguard.Code   `json:"code"`
		Severity report.Severity `json:"severity"`
		Title    string          `json:"title"`
		Summary  string          `json:"summary"`
	}
	var rules []rule
	for _, c := range report.Rules() {
		rules = append(rules, rule{c.Code, report.DefaultSeverity(c.Code), c.Title, c.Summary})
	}
	if a.JSON {
		a.PrintJSON(struct {
			Schema string `json:"schema"`
			Rules  []rule `json:"rules"`
		}{"ktx-rules/1", rules})
		return nil
	}
	for _, r := range rules {
		a.Printf("%-24s %-8s %s\n", r.Code, r.Severity, r.Summary)
	}
	return nil
}
