package setup

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/daemon"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
	"github.com/ktxhq/ktx/httpapi"
)

// options are the flags of ktx setup.
type options struct {
	targets             []string
	scope, transport    string
	yes, dryRun, remove bool
}

// Command returns the command ktx setup.
func Command(a *console.App) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:     "setup",
		Aliases: []string{"setup-agents"},
		Short:   "Write the entry of ktx into MCP clients' settings, and the skill for their agents",
		Long: `Write the entry of ktx into the settings of MCP clients, and the file of the skill
` + setup.SkillName + ` if the client reads such files. On a terminal the command asks for
clients and scope unless flags name them. Elsewhere it needs --target and --yes.

With --transport stdio the client starts ktx itself; with http it connects to the server
that ktx mcp start starts, which all clients share. Without the flag, the entries lead to
the server if it runs, and start ktx if it does not.

Other entries, comments and formatting stay as they are. If ktx cannot edit a file
that way, it refuses the file. It never writes the token, only the client's own
reference to the variable ` + setup.TokenVariable + `. It lists what it writes in .ktx/agents.
--remove undoes exactly that, and leaves out what someone has edited since.

Exit codes: 0 done · 2 wrong usage or configuration · 3 ktx refused a file, and
wrote nothing for that client.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return setUp(cmd.Context(), a, console.NewPrompt(a), o) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&o.targets, "target", nil, "client (repeatable, or a list with commas): "+strings.Join(targetNames(), ", "))
	flags.StringVar(&o.scope, "scope", "", "project, user or local (default: project where the client has it, else user)")
	flags.StringVar(&o.transport, "transport", "", "stdio (the client starts ktx) or http (it connects to ktx mcp start); default: http if the server runs")
	flags.BoolVar(&o.yes, "yes", false, "ask nothing")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print what would change as a unified diff, and change nothing")
	flags.BoolVar(&o.remove, "remove", false, "undo what was written for all clients, or for those of --target and --scope")
	_ = c.RegisterFlagCompletionFunc("target", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var out []string
		for _, t := range setup.Targets() {
			out = append(out, cobra.CompletionWithDesc(t.Name, t.Title))
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	})
	_ = c.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(scopeNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("transport", cobra.FixedCompletions(transports, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// transports are the values of --transport.
var transports = []string{"stdio", "http"}

func targetNames() []string {
	var names []string
	for _, t := range setup.Targets() {
		names = append(names, t.Name)
	}
	return names
}

func scopeNames() []string {
	var names []string
	for _, s := range setup.Scopes {
		names = append(names, string(s))
	}
	return names
}

// Ask asks for the MCP clients whose settings get an entry, and writes them, as ktx setup
// does without flags on a terminal.
func Ask(ctx context.Context, a *console.App, prompt *console.Prompt) error {
	return setUp(ctx, a, prompt, options{})
}

func setUp(ctx context.Context, a *console.App, prompt *console.Prompt, o options) error {
	chosen, err := o.chosen()
	if err != nil {
		return err
	}
	asks := !o.yes && !o.dryRun && !a.JSON && a.Interactive()
	switch {
	case o.yes && o.dryRun:
		return console.Usage("--yes and --dry-run contradict each other")
	case !asks && !o.yes && !o.dryRun:
		return console.Usage("there is no terminal to ask on: give --yes to write, or --dry-run to see what would change")
	case !asks && !o.remove && len(chosen) == 0:
		return console.Usage("--target is missing: name one or more of %s", strings.Join(targetNames(), ", "))
	}
	p, err := wiring.LoadProject(a)
	if err != nil {
		return err
	}
	machine, err := thisMachine(a, p.Dir)
	if err != nil {
		return err
	}
	s := &run{app: a, options: o, project: p, machine: machine, asks: asks, prompt: prompt, scopes: map[string]setup.Scope{}}
	if o.remove {
		s.plan, err = setup.Uninstall(machine, func(target string, scope setup.Scope) bool {
			return (len(o.targets) == 0 || slices.Contains(o.targets, target)) && (o.scope == "" || o.scope == string(scope))
		})
		if err != nil {
			return console.Failed("%w", err)
		}
		return s.finish(ctx)
	}
	s.endpoint(ctx)
	if asks {
		if chosen, err = s.askWhat(chosen); err != nil {
			return err
		}
	}
	var selected []setup.Selection
	for _, t := range chosen {
		selected = append(selected, setup.Selection{Target: t, Scope: cmp.Or(s.scopes[t.Name], setup.Scope(o.scope), t.Places[0].Scope)})
	}
	if selected, err = s.askToken(selected); err != nil {
		return err
	}
	if len(selected) == 0 {
		a.Errorf("nothing was changed\n")
		return nil
	}
	if s.plan, err = setup.Install(machine, s.server, selected); err != nil {
		return console.Failed("%w", err)
	}
	s.note(selected)
	return s.finish(ctx)
}

// chosen are the clients that the flags name.
func (o options) chosen() ([]*setup.Target, error) {
	if o.scope != "" && !slices.Contains(scopeNames(), o.scope) {
		return nil, console.Usage("unknown scope %q%s", o.scope, console.DidYouMean(o.scope, scopeNames()))
	}
	if o.transport != "" && !slices.Contains(transports, o.transport) {
		return nil, console.Usage("unknown transport %q%s", o.transport, console.DidYouMean(o.transport, transports))
	}
	if o.transport != "" && o.remove {
		return nil, console.Usage("--remove removes the entry of either transport: leave --transport out")
	}
	var out []*setup.Target
	all := setup.Targets()
	for _, name := range o.targets {
		i := slices.IndexFunc(all, func(t *setup.Target) bool { return t.Name == name })
		if i < 0 {
			return nil, console.Usage("unknown target %q%s", name, console.DidYouMean(name, targetNames()))
		}
		t := all[i]
		if _, ok := t.Place(setup.Scope(o.scope)); o.scope != "" && !ok {
			return nil, console.Usage("%s has no scope %s; it has: %s", name, o.scope, strings.Join(scopesOf(t), ", "))
		}
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out, nil
}

func scopesOf(t *setup.Target) []string {
	var out []string
	for _, place := range t.Places {
		out = append(out, string(place.Scope))
	}
	return out
}

func thisMachine(a *console.App, dir string) (setup.Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return setup.Machine{}, console.Failed("find your home directory: %w", err)
	}
	if !filepath.IsAbs(home) {
		return setup.Machine{}, console.Usage("your home directory %q is not an absolute path", home)
	}
	return setup.Machine{OS: runtime.GOOS, Home: filepath.Clean(home), Project: dir, Lookup: a.Lookup}, nil
}

// run is one run of ktx setup.
type run struct {
	app     *console.App
	options options
	project *project.Project
	machine setup.Machine
	asks    bool

	server          setup.Endpoint
	running         bool
	scopes          map[string]setup.Scope // the user's answers, by client
	plan            *setup.Plan
	warnings, notes []string
	started         bool          // every client starts ktx itself
	byHand          *setup.Target // a client that the user sets up by hand, or nil

	prompt *console.Prompt
}

// endpoint sets what the entries lead to. It takes the address from the state file of
// the server. When there is none, it takes the host from ktx.yaml and the port of the
// server that ran last, to which the entries lead so far. What is missing comes from the
// other of the two.
func (s *run) endpoint(ctx context.Context) {
	c := s.project.Config.Server
	state, err := daemon.Read(s.project.Dir)
	if err == nil {
		answer, _ := state.Probe(ctx)
		s.running = answer == daemon.Ours
	} else {
		token, _ := s.app.Lookup(setup.TokenVariable)
		last, _ := daemon.ReadLast(s.project.Dir)
		if c.Port != 0 && last.Port != 0 && c.Port != last.Port && s.options.transport == "http" {
			s.notes = append(s.notes, fmt.Sprintf("the server that ran last had port %d, and ktx.yaml has %d: the entries keep %d. After the next ktx mcp start, run ktx setup again", last.Port, c.Port, last.Port))
		}
		state = &daemon.State{
			Host: cmp.Or(c.Host, last.Host, daemon.DefaultHost), Port: cmp.Or(last.Port, c.Port, daemon.DefaultPort),
			TokenAuth: strings.TrimSpace(token) != "" || len(c.Tokens) > 0,
		}
	}
	s.server = setup.Endpoint{
		URL: state.URL(), Token: state.TokenAuth,
		Stdio: s.options.transport == "stdio" || s.options.transport == "" && !s.running, Variables: s.project.Variables(),
	}
	s.server.Command, s.server.Shared = program()
	if host, _, err := net.SplitHostPort(state.Address()); err == nil && !s.server.Stdio && !httpapi.Loopback(host) {
		s.warnings = append(s.warnings, "the entries lead to "+host+", not to this machine's loopback address; the connection is not encrypted")
	}
}

// program returns how clients start this program, and how they do on other machines, or
// nil if that is not known. npx keeps the program in a folder that it may remove, so
// clients start it with npx too.
func program() (own, shared []string) {
	path := executable()
	if strings.Contains(filepath.ToSlash(path), "/_npx/") {
		own = []string{"npx", "-y", "@ktxhq/ktx"}
		if runtime.GOOS == "windows" { // where npx is a script
			return append([]string{"cmd", "/c"}, own...), nil
		}
		return own, own
	}
	own = []string{path}
	if found, err := exec.LookPath("ktx"); err == nil && sameFile(found, path) {
		shared = []string{"ktx"}
	}
	return own, shared
}

// executable returns the path of this program. If the user called it through a link,
// that is the path of the link, because it stays the same after an upgrade.
func executable() string {
	real, err := os.Executable()
	called, lookErr := exec.LookPath(os.Args[0])
	if lookErr == nil {
		called, lookErr = filepath.Abs(called)
	}
	if err != nil && lookErr == nil || sameFile(real, called) {
		return called
	}
	return real
}

func sameFile(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b) //nolint:gosec // how this program was called
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// note collects notes and warnings for the user about the chosen clients.
func (s *run) note(selected []setup.Selection) {
	s.started = true
	var without, withheld, bound []string
	for _, sel := range selected {
		t := sel.Target
		starts := t.Starts(s.server)
		s.started = s.started && starts
		if note := t.Note(sel.Scope); note != "" {
			s.notes = append(s.notes, t.Name+": "+note)
		}
		if !t.HasSkill(sel.Scope) {
			without = append(without, t.Name)
		}
		if starts && t.Withholds() && len(s.server.Variables) > 0 {
			withheld = append(withheld, t.Name)
		}
		if t.Shared(sel.Scope) && !t.Portable(s.server, sel.Scope) {
			bound = append(bound, t.Name)
		}
		if t.ByHand() {
			s.byHand = t
		}
	}
	if s.server.Stdio && s.options.transport == "" {
		s.notes = append(s.notes, "no server of this project runs, so the clients start ktx; with --transport http they connect to the server of ktx mcp start instead")
	}
	if len(bound) > 0 {
		s.warnings = append(s.warnings, "the entry of "+strings.Join(bound, ", ")+" holds paths of this machine, so it does not work for others who get its file; keep the file out of version control, or use --transport http")
	}
	if len(without) > 0 {
		s.notes = append(s.notes, "no skill file for "+strings.Join(without, ", ")+": their agents get the workflow from the server's instructions")
	}
	if len(withheld) > 0 {
		s.notes = append(s.notes, "ktx may not get the variable "+strings.Join(s.server.Variables, ", ")+" from "+strings.Join(withheld, ", ")+": put it into the file that the key env of ktx.yaml names")
	}
	if s.server.Token && !s.started {
		s.notes = append(s.notes, "clients read the token from the variable "+setup.TokenVariable+"; set it in the environment that starts them")
	}
}

// header returns the header that a client sends when the user sets it up by hand,
// with a shell variable for the token. It returns "" when there is none.
func (s *run) header() string {
	if s.byHand == nil || !s.server.Token || s.server.Stdio {
		return ""
	}
	return "Authorization: " + s.byHand.Reference
}

// finish shows the plan, and carries it out unless this is a dry run or the user
// says no.
func (s *run) finish(ctx context.Context) error {
	a := s.app
	files := s.plan.Files()
	if s.asks {
		s.printSteps(a.Err)
		s.printDiff(a.Err, files)
	}
	if s.asks && len(files) > 0 {
		question := "Write this?"
		if s.options.remove {
			question = "Remove this?"
		}
		ok, err := s.prompt.Yes(question, false)
		if err != nil {
			return err
		}
		if !ok {
			a.Errorf("nothing was changed\n")
			return nil
		}
	}
	if !s.options.dryRun {
		if err := s.write(ctx, len(files) > 0); err != nil {
			return err
		}
	}
	switch {
	case a.JSON:
		a.PrintJSON(s.json(files))
	case s.options.dryRun:
		s.printDiff(a.Out, files)
		s.printSteps(a.Err)
		s.printNotes(a.Err)
	case s.asks:
		s.printNotes(a.Err)
		s.printNext()
	default:
		s.printSteps(a.Out)
		s.printNotes(a.Err)
		s.printNext()
	}
	if s.plan.Refused() {
		return &console.ExitError{Code: console.ExitFailed}
	}
	return nil
}

// write carries out the plan. An interrupt has no effect after it has begun.
func (s *run) write(ctx context.Context, files bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if files {
		if err := wiring.IgnoreState(s.project.Dir); err != nil {
			return console.Failed("the project's state cannot be written: %w", err)
		}
	}
	if err := s.plan.Apply(); err != nil {
		return console.Failed("%w; ktx setup --remove undoes what was written", err)
	}
	return nil
}
