package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/check"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/cmd/ktx/internal/report"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

func (a *app) checkCommand() *cobra.Command {
	var dialect, format, failOn, stdinName string
	c := &cobra.Command{
		Use:   "check [PATH | GLOB | -]...",
		Short: "Judge the statements of SQL files, without a database",
		Long: `Judge every statement of the files by the guard: may it run through the gateway?

The dialect of a file is --dialect, else that of check.overrides in the nearest
ktx.yaml, else a first line "-- ktx: dialect=NAME", else that of the connection
after which a folder of its path is named, else that of its extension (.pgsql,
.psql, .sqlite). It is never guessed.

Exit code: 0 all may run, 1 some may not, 2 wrong usage, 3 some could not be checked.`,
		Example: `  ktx sql check --dialect postgres queries/
  git show HEAD:report.sql | ktx sql check --dialect sqlite -`,
		RunE: func(_ *cobra.Command, args []string) error {
			if a.json {
				format = "json"
			}
			if format != "human" && format != "json" {
				return usage("--format %s: expected human or json", format)
			}
			if failOn != "error" && failOn != "never" {
				return usage("--fail-on %s: expected error or never", failOn)
			}
			if len(args) == 0 {
				return usage("name files, folders or patterns to check, or - for standard input")
			}
			if dialect != "auto" {
				if _, err := lookupDialect(dialect); err != nil {
					return err
				}
			}
			return a.check(args, dialect, format, failOn, stdinName)
		},
	}
	flags := c.Flags()
	flags.StringVar(&dialect, "dialect", "auto", "dialect of all files: "+strings.Join(dialectNames(), ", ")+" or auto")
	flags.StringVar(&format, "format", "human", "human or json")
	flags.StringVar(&failOn, "fail-on", "error", "what makes the exit code 1: error, or never")
	flags.StringVar(&stdinName, "stdin-filename", "stdin", "name of standard input in reports")
	_ = c.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(append(dialectNames(), "auto"), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"human", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func dialectNames() []string {
	var names []string
	for _, d := range dialects.All() {
		names = append(names, d.Name())
	}
	return names
}

func lookupDialect(name string) (sqlguard.Dialect, error) {
	if d, ok := dialects.Lookup(name); ok {
		return d, nil
	}
	near := ""
	if n := execution.Nearest(name, dialectNames()); n != "" {
		near = "; did you mean " + n + "?"
	}
	return nil, usage("no reader for the dialect %q; known: %s%s", name, strings.Join(dialectNames(), ", "), near)
}

func (a *app) check(args []string, dialect, format, failOn, stdinName string) error {
	inputs, err := check.Find(args, stdinName)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	guards, err := a.newGuards(dialect)
	if err != nil {
		return err
	}
	files, texts := check.Run(inputs, a.in, guards.choose)
	summary := report.Summary{Files: len(files)}
	var shown []report.Result
	for i, f := range files {
		if len(f.Findings) > 0 {
			summary.NotChecked++
			shown = append(shown, report.Result{Name: f.Path, Verdict: sqlguard.Verdict{Findings: f.Findings}})
		}
		for _, s := range f.Statements {
			summary.Statements++
			if !s.Allowed {
				summary.Refused++
			}
			shown = append(shown, report.Result{Name: f.Path, Text: texts[i], Verdict: s.Verdict})
		}
	}
	if format == "json" {
		if err := report.JSON(a.out, files, summary); err != nil {
			return err
		}
	} else {
		report.Human(a.out, shown, report.Style{Color: a.colored(a.out)})
		a.errorf("%d files, %d statements: %d refused, %d files not checked\n", summary.Files, summary.Statements, summary.Refused, summary.NotChecked)
	}
	switch {
	case summary.NotChecked > 0:
		return &exitError{code: exitFailed}
	case summary.Refused > 0 && failOn == "error":
		return &exitError{code: exitFindings}
	default:
		return nil
	}
}

// guards makes one guard for each dialect and policy that files need.
type guards struct {
	forced  sqlguard.Dialect // of --dialect
	project *project.Project // nil without one

	mu   sync.Mutex
	made map[string]*sqlguard.Guard
}

func (a *app) newGuards(dialect string) (*guards, error) {
	g := &guards{made: map[string]*sqlguard.Guard{}}
	if dialect != "auto" {
		d, err := lookupDialect(dialect)
		if err != nil {
			return nil, err
		}
		g.forced = d
	}
	dir, err := project.Find(a.projectDir, a.lookup)
	if _, missing := errors.AsType[*project.MissingError](err); missing && a.projectDir == "" {
		return g, nil // files can be checked outside of a project
	}
	if err != nil {
		return nil, asUsage(err)
	}
	if g.project, err = project.Load(dir); err != nil {
		return nil, asUsage(err)
	}
	return g, nil
}

// choose is the check's Chooser.
func (g *guards) choose(path, text string) (*sqlguard.Guard, *sqlguard.Finding) {
	connection := g.connectionOf(path)
	d, err := g.dialectOf(path, text, connection)
	if err != nil {
		return nil, &sqlguard.Finding{Code: sqlguard.CodeDialectUnknown, Message: err.Error(), Hint: "name it with --dialect, check.overrides in ktx.yaml, or a first line -- ktx: dialect=NAME"}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	key := d.Name() + "\x00" + connection
	if guard := g.made[key]; guard != nil {
		return guard, nil
	}
	policy := sqlguard.DefaultPolicy()
	if g.project != nil {
		policy = g.project.Config.Connections[connection].Policy(g.project.Config.GuardOf(connection))
	}
	guard, err := sqlguard.New(d, policy, nil)
	if err != nil {
		return nil, &sqlguard.Finding{Code: sqlguard.CodeNotChecked, Message: err.Error()}
	}
	g.made[key] = guard
	return guard, nil
}

// connectionOf returns the id of the connection after which a folder of the
// path is named, the innermost first, or "".
func (g *guards) connectionOf(path string) string {
	if g.project == nil {
		return ""
	}
	dir := filepath.Dir(path)
	for dir != "." && dir != filepath.Dir(dir) {
		if _, ok := g.project.Config.Connections[filepath.Base(dir)]; ok {
			return filepath.Base(dir)
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

func (g *guards) dialectOf(path, text, connection string) (sqlguard.Dialect, error) {
	if g.forced != nil {
		return g.forced, nil
	}
	name := g.override(path)
	if name == "" {
		name = pragmaLine(text)
	}
	if name == "" && connection != "" {
		e, ok := engineOf(g.project.Config.Connections[connection].Driver)
		if ok {
			return e.dialect, nil
		}
	}
	if name == "" {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".pgsql", ".psql":
			name = "postgres"
		case ".sqlite":
			name = "sqlite"
		}
	}
	if name == "" {
		return nil, errors.New("nothing says which SQL dialect the file is written in")
	}
	d, ok := dialects.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("no reader for the dialect %q; known: %s", name, strings.Join(dialectNames(), ", "))
	}
	return d, nil
}

func (g *guards) override(path string) string {
	if g.project == nil {
		return ""
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(g.project.Dir, abs)
	if err != nil {
		return ""
	}
	for _, o := range g.project.Config.Check.Overrides {
		for _, pattern := range o.Paths {
			if ok, err := doublestar.Match(pattern, filepath.ToSlash(rel)); ok && err == nil {
				return o.Dialect
			}
		}
	}
	return ""
}

// pragmaLine reads "-- ktx: dialect=NAME" on the first line.
func pragmaLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "-- ktx:")
	if !ok {
		return ""
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(rest), "dialect=")
	if !ok {
		return ""
	}
	return strings.TrimSpace(name)
}
