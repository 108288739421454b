package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// app is one run of the command line.
type app struct {
	stdin    io.Reader
	in       io.Reader // stdin, of which a read ends with the command's context
	out, err *stream
	lookup   func(string) (string, bool) // the environment
	args     []string
	version  string // of the product

	started bool // the arguments were understood and the command runs

	projectDir string
	json       bool
	color      string
}

// Main runs one command and returns the exit code. The first interrupt ends
// the command in order, the second at once.
func Main(args []string, in io.Reader, out, errw io.Writer) int {
	// A closed pipe is a failed write, after which connections and the audit
	// log are closed in order; its signal would end the process on the spot.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal has its default effect
	a := &app{stdin: in, out: newStream(out), err: newStream(errw), lookup: os.LookupEnv, args: args, version: productVersion()}
	return a.run(ctx)
}

func (a *app) run(ctx context.Context) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.out.onFailure = cancel // nobody reads what would come
	a.in = newInput(ctx, a.stdin)
	root := a.root()
	root.SetArgs(a.args)
	err := root.ExecuteContext(ctx)
	code := exitOK
	if err != nil {
		code = a.report(err)
	}
	return a.afterWriting(code)
}

// afterWriting returns the exit code that holds when standard output could not
// be written. A reader that has gone away is no fault; a full disk is.
func (a *app) afterWriting(code int) int {
	switch err := a.out.failure(); {
	case err == nil:
		return code
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe):
		if code == exitFailed {
			return exitOK // it was cancelled because nobody reads on
		}
		return code
	default:
		a.errorf("ktx: the result could not be written: %v\n", err)
		return exitFailed
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ktx",
		Short: "Run agents' SQL safely: judged by the parser, read-only, limited, recorded",
		Long: `ktx judges SQL with the parser of its dialect, refuses whatever is not a pure
read, runs the rest in a read-only session with limits, and records it.

Start with:  ktx demo

Exit codes: 0 done · 1 findings, or refused by policy · 2 wrong usage or
configuration · 3 it could not be done.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		Annotations:   map[string]string{annotationGroup: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.started = true
			return a.checkGlobalFlags(cmd)
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(a.flagError)
	root.SetUsageTemplate(usageTemplate(root))
	flags := root.PersistentFlags()
	flags.StringVar(&a.projectDir, "project-dir", "", "project directory (default: the nearest folder with a ktx.yaml)")
	flags.BoolVar(&a.json, "json", false, "print the result as JSON")
	flags.StringVar(&a.color, "color", "auto", "colour: auto, always or never")
	_ = root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
	_ = root.MarkPersistentFlagDirname("project-dir")
	root.AddCommand(
		a.demoCommand(), a.initCommand(), a.sqlCommand(), a.explainCommand(), a.connectionCommand(), a.doctorCommand(),
		a.statusCommand(), a.auditCommand(), a.configCommand(), a.corpusCommand(), a.mcpCommand(), a.setupCommand(), a.versionCommand(), a.manCommand(),
	)
	root.SetHelpCommand(helpCommand())
	completionGroup(root)
	countArgs(root)
	return root
}

// checkGlobalFlags checks the flags that every command has.
func (a *app) checkGlobalFlags(cmd *cobra.Command) error {
	switch a.color {
	case "auto", "always", "never":
	default:
		err := usage("--color %s: expected auto, always or never", a.color)
		a.color = "never"
		return err
	}
	if cmd.Flags().Changed("project-dir") && strings.TrimSpace(a.projectDir) == "" {
		return usage("--project-dir is blank")
	}
	return nil
}
