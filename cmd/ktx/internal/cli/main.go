package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// The exit codes.
const (
	exitOK       = 0
	exitFindings = 1
	exitUsage    = 2
	exitFailed   = 3
)

// app is one run of the command line.
type app struct {
	in       io.Reader
	out, err io.Writer
	lookup   func(string) (string, bool) // the environment

	projectDir string
	json       bool
	output     string
	color      string
}

// exitError ends the run with a code. A nil err prints nothing more.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage returns an error of wrong usage.
func usage(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// Main runs one command and returns the exit code. The first interrupt ends
// the command in order, the second at once.
func Main(args []string, in io.Reader, out, errw io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal has its default effect
	a := &app{in: in, out: out, err: errw, lookup: os.LookupEnv}
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	return a.report(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ktx",
		Short: "Run agents' SQL safely: judged by the parser, read-only, limited, recorded",
		Long: `ktx judges SQL with the parser of its dialect, refuses whatever is not a pure
read, runs the rest in a read-only session with limits, and records it.

Start with:  ktx demo`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &exitError{code: exitUsage, err: err} })
	flags := root.PersistentFlags()
	flags.StringVar(&a.projectDir, "project-dir", "", "project directory (default: the nearest folder with a ktx.yaml)")
	flags.BoolVar(&a.json, "json", false, "print the result as JSON")
	flags.StringVar(&a.color, "color", "auto", "colour: auto, always or never")
	root.AddCommand(
		a.demoCommand(), a.initCommand(), a.sqlCommand(), a.explainCommand(), a.connectionCommand(), a.doctorCommand(),
		a.statusCommand(), a.auditCommand(), a.configCommand(), a.corpusCommand(), a.mcpCommand(), a.versionCommand(), a.manCommand(),
	)
	return root
}

// group makes a command that only holds others; without one it is wrong usage.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s needs one of: %s", cmd.CommandPath(), strings.Join(childNames(cmd), ", "))
		}
		return usage("unknown command %q for %s%s", args[0], cmd.CommandPath(), suggestion(cmd.SuggestionsFor(args[0])))
	}}
	c.SuggestionsMinimumDistance = 2
	c.AddCommand(children...)
	return c
}

func childNames(c *cobra.Command) []string {
	var names []string
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return names
}

func suggestion(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// report prints err and returns its exit code.
func (a *app) report(err error) int {
	code := exitCode(err)
	if e, ok := errors.AsType[*exitError](err); ok && e.err == nil {
		return code
	}
	if missing, ok := errors.AsType[*project.MissingError](err); ok {
		if a.json {
			a.printJSON(map[string]any{"error": "missing_project", "projectDir": missing.Dir, "message": missing.Error()})
			return code
		}
		a.errorf("ktx: %v\n", missing)
		for _, hint := range missing.Hints() {
			a.errorf("  %s\n", hint)
		}
		return code
	}
	if a.json {
		a.printJSON(errorJSON(err))
		return code
	}
	a.errorf("ktx: %v\n", err)
	if e, ok := errors.AsType[*execution.Error](err); ok {
		for _, hint := range []string{e.ServerHint, e.Hint, sqlguard.HintFor(e.Code)} {
			if hint != "" {
				a.errorf("  hint: %s\n", hint)
				break
			}
		}
	}
	return code
}

func exitCode(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[*project.MissingError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*project.Problems](err); ok {
		return exitUsage
	}
	switch execution.CodeOf(err) {
	case "":
	case sqlguard.CodeUnknownConnection, sqlguard.CodeInvalidArguments, sqlguard.CodeNotConfigured, sqlguard.CodeNoBackend:
		return exitUsage
	default:
		if _, refused := errors.AsType[*sqlguard.RejectedError](err); refused {
			return exitFindings
		}
		return exitFailed
	}
	// What cobra itself finds wrong with the arguments has no type.
	for _, prefix := range []string{"unknown command", "unknown flag", "unknown shorthand", "accepts ", "requires ", "invalid argument", "if any flags in the group", "required flag"} {
		if strings.HasPrefix(err.Error(), prefix) {
			return exitUsage
		}
	}
	return exitFailed
}

// errorJSON is the shape of a failed command under --json.
func errorJSON(err error) map[string]any {
	out := map[string]any{"error": "failed", "message": err.Error()}
	if exitCode(err) == exitUsage {
		out["error"] = "usage"
	}
	if problems, ok := errors.AsType[*project.Problems](err); ok {
		out["error"], out["problems"] = "invalid_config", problems.List
	}
	if e, ok := errors.AsType[*execution.Error](err); ok {
		out["error"], out["message"], out["retryable"] = e.Code, e.Message, e.Retryable
		if e.SQLState != "" {
			out["sqlstate"] = e.SQLState
		}
		if e.Position > 0 {
			out["position"] = e.Position
		}
		if e.ServerHint != "" {
			out["hint"] = e.ServerHint
		}
	}
	if r, ok := errors.AsType[*sqlguard.RejectedError](err); ok {
		out["error"], out["verdict"] = r.Verdict.Code, r.Verdict
	}
	return out
}
