package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/fresh"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/daemon"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
	"github.com/ktxhq/ktx/httpapi"
)

// The environment variables that ktx mcp start reads. The command itself sets the
// second for the process that it starts in the background.
const (
	tokenVariable = setup.TokenVariable // clients that ktx setup configures read it too
	nonceVariable = "KTX_MCP_NONCE"
)

// startOptions are the flags of ktx mcp start.
type startOptions struct {
	host, token                  string
	port                         int
	foreground, stateless        bool
	allowEmpty                   bool
	allowedHosts, allowedOrigins []string
	logFile                      string
	place                        place
	temporary                    bool // the project is a demo, which is removed at the end
}

func startCommand(a *console.App) *cobra.Command {
	var o startOptions
	c := &cobra.Command{
		Use:   "start",
		Short: "Start the MCP server of the project",
		Long: `Start the MCP server of the project in the background, and return once it answers.
One server serves all clients of a project. Flags override the block server of
ktx.yaml.

Give the token in the environment variable ` + tokenVariable + ` instead of --token, because
other users can see flags in the list of processes. An address that is not loopback
needs a token.

On SIGHUP the server reads ktx.yaml again, including the tokens of the block
server. The rest of that block takes effect at the next start.

Without a project, --demo serves a small shop, and --url one database with the
strictest rules.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("token") && strings.TrimSpace(o.token) == "" {
				return console.Usage("--token is blank")
			}
			if cmd.Flags().Changed("host") && strings.TrimSpace(o.host) == "" {
				return console.Usage("--host is blank")
			}
			return startServer(cmd.Context(), a, cmd, o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.host, "host", daemon.DefaultHost, "address to bind")
	flags.IntVar(&o.port, "port", daemon.DefaultPort, "port to bind; 0 takes a free one")
	flags.StringVar(&o.token, "token", "", "token that clients must send; prefer the variable "+tokenVariable)
	flags.BoolVar(&o.foreground, "foreground", false, "stay in the foreground and log to standard error")
	flags.BoolVar(&o.stateless, "stateless", false, "keep no sessions, for replicas behind a load balancer")
	flags.StringArrayVar(&o.allowedHosts, "allowed-host", nil, "further name to accept in the Host header, such as that of a reverse proxy (repeatable)")
	flags.StringArrayVar(&o.allowedOrigins, "allowed-origin", nil, "origin of web pages that may send requests, such as https://app.example.com (repeatable)")
	flags.BoolVar(&o.allowEmpty, "allow-empty", false, allowEmptyUsage)
	flags.StringVar(&o.logFile, "log-file", "", "write the log to this file")
	_ = flags.MarkHidden("log-file") // the command passes it to the process in the background
	flags.BoolVar(&o.temporary, "temporary", false, "remove the demo at the end")
	_ = flags.MarkHidden("temporary") // likewise
	o.place.flags(c)
	for _, name := range []string{"host", "port", "token", "allowed-host", "allowed-origin"} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	return c
}

// serverJSON is what ktx mcp start --json and ktx mcp status --json print.
type serverJSON struct {
	Schema         string `json:"schema"`
	Status         string `json:"status"`
	URL            string `json:"url,omitempty"`
	PID            int    `json:"pid,omitempty"`
	Host           string `json:"host,omitempty"`
	Port           int    `json:"port,omitempty"`
	TokenAuth      bool   `json:"tokenAuth"`
	ProjectDir     string `json:"projectDir"`
	StartedAt      string `json:"startedAt,omitempty"`
	LogPath        string `json:"logPath,omitempty"`
	AlreadyRunning bool   `json:"alreadyRunning,omitempty"`
	Problem        string `json:"problem,omitempty"`
}

func newServerJSON(schema, status string, s *daemon.State) serverJSON {
	return serverJSON{
		Schema: schema, Status: status, URL: s.URL(), PID: s.PID, Host: s.Host, Port: s.Port, TokenAuth: s.TokenAuth,
		ProjectDir: s.ProjectDir, StartedAt: s.StartedAt, LogPath: s.LogPath,
	}
}

func startServer(ctx context.Context, a *console.App, cmd *cobra.Command, o startOptions) (err error) {
	remove, err := o.place.settle(ctx, a, cmd)
	if err != nil {
		return err
	}
	switch {
	case o.temporary:
		remove = func() error { return fresh.RemoveDemo(a.ProjectDir) }
	case o.place.demo && !o.foreground:
		o.temporary = true // the process in the background removes it
	}
	defer func() {
		if err != nil || o.foreground {
			err = errors.Join(err, remove())
		}
	}()
	p, err := wiring.LoadProject(a)
	if err != nil {
		return err
	}
	s, err := settle(a, cmd, p, o)
	if err != nil {
		return err
	}
	if !httpapi.Loopback(s.Host) && len(s.Tokens) == 0 {
		return console.Usage("%s is not loopback, so a token is needed: set %s or server.tokens, or bind %s", s.Host, tokenVariable, daemon.DefaultHost)
	}
	if o.logFile == "" { // otherwise the process that started this one has checked
		running, err := alreadyRunning(ctx, a, p, s)
		if running || err != nil {
			return err
		}
	}
	if o.foreground {
		return serveForeground(ctx, a, p, s, o.logFile, func(p *project.Project) (serverSettings, error) { return settle(a, cmd, p, o) })
	}
	return startBackground(ctx, a, cmd, p, o)
}

// alreadyRunning reports whether the project's server runs with these settings.
// A server with other settings is an error.
func alreadyRunning(ctx context.Context, a *console.App, p *project.Project, s serverSettings) (bool, error) {
	state, err := daemon.Read(p.Dir)
	if err != nil {
		return false, nil //nolint:nilerr // a state file that cannot be read is replaced
	}
	switch answer, _ := state.Probe(ctx); {
	case answer != daemon.Ours:
		return false, nil
	case !hmac.Equal([]byte(state.Settings), []byte(s.digest(state.Nonce))):
		return false, console.Failed("the server of this project runs at %s with other settings; run ktx mcp stop first", state.URL())
	}
	printStarted(a, state, true)
	return true, nil
}

func printStarted(a *console.App, state *daemon.State, already bool) {
	if a.JSON {
		out := newServerJSON("ktx-mcp-start/1", statusRunning, state)
		out.AlreadyRunning = already
		a.PrintJSON(out)
		return
	}
	if already {
		a.Printf("already running: %s (pid %d)\n", state.URL(), state.PID)
		return
	}
	a.Printf("ktx serves MCP at %s (pid %d)\n", state.URL(), state.PID)
	if state.TokenAuth {
		a.Printf("clients send the token in the header Authorization: Bearer …\n")
	}
	where := ""
	if a.ProjectDir != "" {
		where = " --project-dir " + console.EscapeControls(console.DisplayPath(a.ProjectDir))
	}
	a.Printf("next: ktx setup%[1]s writes this address into the settings of MCP clients; ktx mcp status%[1]s shows it again, ktx mcp stop%[1]s ends the server\n", where)
}

// startTime is the time that a server has to answer.
const startTime = 30 * time.Second

// startBackground starts this program once more, as the server, and returns once
// the server answers.
func startBackground(ctx context.Context, a *console.App, cmd *cobra.Command, p *project.Project, o startOptions) error {
	program, err := os.Executable()
	if err != nil {
		return console.Failed("find this program: %w", err)
	}
	args := []string{os.Args[0], "mcp", "start", "--foreground", "--project-dir", p.Dir, "--log-file", daemon.LogPath(p.Dir)}
	for _, f := range []struct{ name, value string }{{"host", o.host}, {"port", strconv.Itoa(o.port)}, {"stateless", strconv.FormatBool(o.stateless)}, {"allow-empty", strconv.FormatBool(o.allowEmpty)}} {
		if cmd.Flags().Changed(f.name) {
			args = append(args, "--"+f.name+"="+f.value)
		}
	}
	if o.temporary {
		args = append(args, "--temporary")
	}
	for _, h := range o.allowedHosts {
		args = append(args, "--allowed-host="+h)
	}
	for _, origin := range o.allowedOrigins {
		args = append(args, "--allowed-origin="+origin)
	}
	if err := wiring.IgnoreState(p.Dir); err != nil {
		return console.Failed("the project's state cannot be written: %w", err)
	}
	nonce := rand.Text()
	child := &exec.Cmd{Path: program, Args: args, Dir: p.Dir, Env: append(os.Environ(), nonceVariable+"="+nonce)}
	if o.token != "" {
		child.Env = append(child.Env, tokenVariable+"="+o.token) // not as a flag, which other users could see
	}
	if address, set := a.Lookup(fresh.URLVariable); set {
		child.Env = append(child.Env, fresh.URLVariable+"="+address)
	}
	log := daemon.LogPath(p.Dir)
	before, err := daemon.Spawn(child, log)
	if err != nil {
		return console.Failed("%w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	late := time.NewTimer(startTime)
	defer late.Stop()
	for {
		if state, err := daemon.Read(p.Dir); err == nil && state.Nonce == nonce {
			if answer, _ := state.Probe(ctx); answer == daemon.Ours {
				printStarted(a, state, false)
				return nil
			}
		}
		select {
		case err := <-ended:
			return notStarted(err, log, before)
		case <-ctx.Done():
			_ = child.Process.Signal(syscall.SIGTERM)
			return ctx.Err()
		case <-late.C:
			_ = child.Process.Kill()
			return console.Failed("the server did not answer within %s; its log is %s", startTime, console.DisplayPath(log))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// notStarted returns an error with what a server that ended at once wrote to its
// log.
func notStarted(err error, log string, before int64) error {
	code := console.ExitFailed
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		code = exit.ExitCode()
	}
	said := strings.TrimSpace(daemon.Since(log, before))
	if said == "" {
		said = "ktx: it ended without a message"
	}
	return &console.ExitError{Code: code, Err: fmt.Errorf("the server did not start: %s", strings.TrimPrefix(said, "ktx: "))}
}
