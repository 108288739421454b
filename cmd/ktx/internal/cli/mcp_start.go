package cli

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/daemon"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
	"github.com/ktxhq/ktx/cmd/ktx/internal/streamable"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/research"
)

// The variables that ktx mcp start reads. The second is set by the command for
// the process that it starts in the background.
const (
	tokenVariable = setup.TokenVariable // which setup has the clients take it from
	nonceVariable = "KTX_MCP_NONCE"
)

// principalToken is the principal of the single token.
const principalToken = "token"

// startOptions are the flags of ktx mcp start.
type startOptions struct {
	host, token                  string
	port                         int
	foreground, stateless        bool
	allowedHosts, allowedOrigins []string
	logFile                      string
}

func (a *app) mcpStart() *cobra.Command {
	var o startOptions
	c := &cobra.Command{
		Use:   "start",
		Short: "Start the MCP server of the project",
		Long: `Start the MCP server of the project in the background and return once it answers.
One server serves all clients of a project. Flags override the block server of
ktx.yaml.

Give the token in the environment variable ` + tokenVariable + ` rather than as a flag: flags
show in the list of processes. An address that is not loopback needs a token.

SIGHUP makes the server read ktx.yaml again, and the tokens of the block server with
it; the rest of that block takes effect at the next start.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("token") && strings.TrimSpace(o.token) == "" {
				return usage("--token is blank")
			}
			if cmd.Flags().Changed("host") && strings.TrimSpace(o.host) == "" {
				return usage("--host is blank")
			}
			return a.start(cmd.Context(), cmd, o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.host, "host", daemon.DefaultHost, "address to bind")
	flags.IntVar(&o.port, "port", daemon.DefaultPort, "port to bind; 0 takes a free one")
	flags.StringVar(&o.token, "token", "", "token that clients must send; better set "+tokenVariable)
	flags.BoolVar(&o.foreground, "foreground", false, "stay in the foreground and log to standard error")
	flags.BoolVar(&o.stateless, "stateless", false, "keep no sessions, for replicas behind a load balancer")
	flags.StringArrayVar(&o.allowedHosts, "allowed-host", nil, "further name in the Host header, such as that of a reverse proxy (repeatable)")
	flags.StringArrayVar(&o.allowedOrigins, "allowed-origin", nil, "origin whose pages may ask, such as https://app.example.com (repeatable)")
	flags.StringVar(&o.logFile, "log-file", "", "write the log to this file")
	_ = flags.MarkHidden("log-file") // for the process in the background
	for _, name := range []string{"host", "port", "token", "allowed-host", "allowed-origin"} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	return c
}

// serverSettings are those of a server, from flags, environment and ktx.yaml.
type serverSettings struct {
	Host                         string
	Port                         int
	Stateless                    bool
	AllowedHosts, AllowedOrigins []string
	Tokens                       []httpapi.Token
}

// serverSettings settles what a server is started with.
func (a *app) serverSettings(cmd *cobra.Command, p *project.Project, o startOptions) (serverSettings, error) {
	c := p.Config.Server
	s := serverSettings{
		Host: o.host, Port: o.port, Stateless: o.stateless || c.Stateless,
		AllowedHosts:   slices.Concat(c.AllowedHosts, o.allowedHosts),
		AllowedOrigins: slices.Concat(c.AllowedOrigins, o.allowedOrigins),
	}
	if !cmd.Flags().Changed("host") {
		s.Host = cmp.Or(c.Host, daemon.DefaultHost)
	}
	if !cmd.Flags().Changed("port") {
		s.Port = cmp.Or(c.Port, daemon.DefaultPort)
	}
	if cmd.Flags().Changed("stateless") {
		s.Stateless = o.stateless
	}
	if s.Port < 0 || s.Port > 65535 {
		return s, usage("--port %d: expected a number from 0 to 65535", s.Port)
	}
	for _, h := range s.AllowedHosts {
		if _, err := httpapi.ParseHost(h); err != nil {
			return s, asUsage(err)
		}
	}
	for _, origin := range s.AllowedOrigins {
		if _, err := httpapi.ParseOrigin(origin); err != nil {
			return s, asUsage(err)
		}
	}
	token := o.token
	if token == "" {
		value, set := a.lookup(tokenVariable)
		if set && strings.TrimSpace(value) == "" {
			return s, usage("%s is set but blank; unset it, or set it to the token", tokenVariable)
		}
		token = value
	}
	if token != "" {
		if strings.ContainsAny(token, " \t\r\n") {
			return s, usage("the token has a blank in it, which no client can send")
		}
		s.Tokens = append(s.Tokens, httpapi.Token{Principal: principalToken, Sum: httpapi.Sum(token)})
	}
	for _, t := range c.Tokens {
		sum, err := t.Sum(a.lookup)
		if err != nil {
			return s, usage("%s: server.tokens, %s: %w", display(p.File), t.Name, err)
		}
		s.Tokens = append(s.Tokens, httpapi.Token{Principal: t.Name, Sum: sum, Connections: t.Connections, Requests: t.Rate.Requests, Per: t.Rate.Per})
	}
	if err := httpapi.CheckTokens(s.Tokens); err != nil {
		return s, asUsage(err)
	}
	return s, nil
}

// digest tells settings apart, under a key.
func (s serverSettings) digest(nonce string) string {
	mac := hmac.New(sha256.New, []byte(nonce))
	text, err := json.Marshal(s)
	if err != nil { // no field of it fails
		text = []byte(err.Error())
	}
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil))
}

// mcpServerJSON is the shape of ktx mcp start --json and, with a status, of
// ktx mcp status --json.
type mcpServerJSON struct {
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

func serverJSON(schema, status string, s *daemon.State) mcpServerJSON {
	return mcpServerJSON{
		Schema: schema, Status: status, URL: s.URL(), PID: s.PID, Host: s.Host, Port: s.Port, TokenAuth: s.TokenAuth,
		ProjectDir: s.ProjectDir, StartedAt: s.StartedAt, LogPath: s.LogPath,
	}
}

func (a *app) start(ctx context.Context, cmd *cobra.Command, o startOptions) error {
	p, err := a.project()
	if err != nil {
		return err
	}
	s, err := a.serverSettings(cmd, p, o)
	if err != nil {
		return err
	}
	if !httpapi.Loopback(s.Host) && len(s.Tokens) == 0 {
		return usage("%s is not loopback, so a token is needed: set %s or server.tokens, or bind %s", s.Host, tokenVariable, daemon.DefaultHost)
	}
	if o.logFile == "" { // otherwise the process that started this one has looked
		running, err := a.alreadyRunning(ctx, p, s)
		if running || err != nil {
			return err
		}
	}
	if o.foreground {
		return a.serveForeground(ctx, p, s, o.logFile, func(p *project.Project) (serverSettings, error) { return a.serverSettings(cmd, p, o) })
	}
	return a.startBackground(ctx, cmd, p, o)
}

// alreadyRunning reports whether the project's server runs with these settings.
// With others it is an error.
func (a *app) alreadyRunning(ctx context.Context, p *project.Project, s serverSettings) (bool, error) {
	state, err := daemon.Read(p.Dir)
	if err != nil {
		return false, nil //nolint:nilerr // what cannot be read is written anew
	}
	switch answer, _ := state.Probe(ctx); {
	case answer != daemon.Ours:
		return false, nil
	case !hmac.Equal([]byte(state.Settings), []byte(s.digest(state.Nonce))):
		return false, failed("the server of this project runs at %s with other settings; run ktx mcp stop first", state.URL())
	}
	a.printStarted(state, true)
	return true, nil
}

func (a *app) printStarted(state *daemon.State, already bool) {
	if a.json {
		out := serverJSON("ktx-mcp-start/1", statusRunning, state)
		out.AlreadyRunning = already
		a.printJSON(out)
		return
	}
	if already {
		a.printf("already running: %s (pid %d)\n", state.URL(), state.PID)
		return
	}
	a.printf("ktx serves MCP at %s (pid %d)\n", state.URL(), state.PID)
	if state.TokenAuth {
		a.printf("clients send the token in the header Authorization: Bearer …\n")
	}
	a.printf("next: ktx setup writes this address into the settings of MCP clients; ktx mcp status shows it again, ktx mcp stop ends the server\n")
}

// startTime is how long a server may take to answer.
const startTime = 30 * time.Second

// startBackground starts this program anew as the server, and returns once it
// answers.
func (a *app) startBackground(ctx context.Context, cmd *cobra.Command, p *project.Project, o startOptions) error {
	program, err := os.Executable()
	if err != nil {
		return failed("find this program: %w", err)
	}
	args := []string{os.Args[0], "mcp", "start", "--foreground", "--project-dir", p.Dir, "--log-file", daemon.LogPath(p.Dir)}
	for _, f := range []struct{ name, value string }{{"host", o.host}, {"port", strconv.Itoa(o.port)}, {"stateless", strconv.FormatBool(o.stateless)}} {
		if cmd.Flags().Changed(f.name) {
			args = append(args, "--"+f.name+"="+f.value)
		}
	}
	for _, h := range o.allowedHosts {
		args = append(args, "--allowed-host="+h)
	}
	for _, origin := range o.allowedOrigins {
		args = append(args, "--allowed-origin="+origin)
	}
	if err := ignoreState(p.Dir); err != nil {
		return failed("the project's state cannot be written: %w", err)
	}
	nonce := rand.Text()
	child := &exec.Cmd{Path: program, Args: args, Dir: p.Dir, Env: append(os.Environ(), nonceVariable+"="+nonce)}
	if o.token != "" {
		child.Env = append(child.Env, tokenVariable+"="+o.token) // not a flag, which others could see
	}
	log := daemon.LogPath(p.Dir)
	before, err := daemon.Spawn(child, log)
	if err != nil {
		return failed("%w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	late := time.NewTimer(startTime)
	defer late.Stop()
	for {
		if state, err := daemon.Read(p.Dir); err == nil && state.Nonce == nonce {
			if answer, _ := state.Probe(ctx); answer == daemon.Ours {
				a.printStarted(state, false)
				return nil
			}
		}
		select {
		case err := <-ended:
			return a.notStarted(err, log, before)
		case <-ctx.Done():
			_ = child.Process.Signal(syscall.SIGTERM)
			return ctx.Err()
		case <-late.C:
			_ = child.Process.Kill()
			return failed("the server did not answer within %s; its log is %s", startTime, display(log))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// notStarted tells what a server that ended at once has said.
func (a *app) notStarted(err error, log string, before int64) error {
	code := exitFailed
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		code = exit.ExitCode()
	}
	said := strings.TrimSpace(daemon.Since(log, before))
	if said == "" {
		said = "ktx: it ended without a word"
	}
	return &exitError{code: code, err: fmt.Errorf("the server did not start: %s", strings.TrimPrefix(said, "ktx: "))}
}

// serveForeground serves until ctx ends. settings makes those of another
// configuration.
func (a *app) serveForeground(ctx context.Context, p *project.Project, s serverSettings, logFile string, settings func(*project.Project) (serverSettings, error)) error {
	if logFile != "" {
		log, err := daemon.OpenLog(logFile, daemon.LogBytes)
		if err != nil {
			return failed("%w", err)
		}
		a.err = newStream(log) // it stays open: how the command ends is told there too
	}
	signals, stop := hangups()
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(strings.Trim(s.Host, "[]"), strconv.Itoa(s.Port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return failed("port %d of %s is in use; choose another with --port or server.port in ktx.yaml", s.Port, s.Host)
	}
	if err != nil {
		return failed("bind %s: %w", s.Host, err)
	}
	defer func() { _ = listener.Close() }()
	return a.withProject(ctx, p, "http", func(ctx context.Context, d *door) error {
		state, err := a.newState(p, s, listener, logFile)
		if err != nil {
			return err
		}
		server, err := a.newServer(d, s, state)
		if err != nil {
			return err
		}
		if err := atomicfile.Write(daemon.Path(p.Dir), 0o600, state.Encode); err != nil {
			return failed("%w", err)
		}
		defer func() {
			if err := state.Remove(); err != nil {
				a.errorf("ktx: %s\n", escapeControls(err.Error()))
			}
		}()
		defer a.reloadOn(ctx, signals, d, func(p *project.Project) (func(), error) {
			now, err := settings(p)
			return func() { a.renew(server, state, &s, now) }, err
		})()
		log := a.serverLog()
		log.InfoContext(ctx, "serving", "url", state.URL(), "pid", state.PID, "token", state.TokenAuth, "version", a.version)
		notify := func(state string) {
			socket, _ := a.lookup(daemon.NotifyVariable)
			if err := daemon.Notify(socket, state); err != nil {
				log.WarnContext(ctx, "the service manager could not be told", "error", err)
			}
		}
		if logFile == "" {
			a.printStarted(state, false)
			notify(daemon.StateReady) // requests that come now wait in the listener
			defer context.AfterFunc(ctx, func() { notify(daemon.StateStopping) })()
		}
		err = server.Serve(ctx, listener)
		log.InfoContext(ctx, "stopped")
		return err
	})
}

// renew puts the tokens of other settings in force. The rest of these waits.
func (a *app) renew(server *httpapi.Server, state *daemon.State, s *serverSettings, now serverSettings) {
	switch err := server.SetTokens(now.Tokens); {
	case errors.Is(err, httpapi.ErrOpenness):
		a.errorf("ktx: server.tokens: whether a token is wanted changes at the next start only\n")
	case err != nil:
		a.errorf("ktx: server.tokens: %s: the tokens in force stay\n", escapeControls(err.Error()))
	default:
		s.Tokens = now.Tokens
		state.Settings = s.digest(state.Nonce)
		if err := atomicfile.Write(daemon.Path(state.ProjectDir), 0o600, state.Encode); err != nil {
			a.errorf("ktx: %s\n", escapeControls(err.Error()))
		}
	}
	now.Tokens = s.Tokens
	if !reflect.DeepEqual(*s, now) {
		a.errorf("ktx: the block server changed, which but for its tokens takes effect at the next start\n")
	}
}

// serverLog is the log of a server.
func (a *app) serverLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

func (a *app) newState(p *project.Project, s serverSettings, listener net.Listener, logFile string) (*daemon.State, error) {
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return nil, failed("bind %s: not a TCP address", s.Host)
	}
	nonce, _ := a.lookup(nonceVariable)
	nonce = cmp.Or(nonce, rand.Text())
	return &daemon.State{
		SchemaVersion: daemon.StateVersion, PID: os.Getpid(), Host: s.Host, Port: addr.Port, TokenAuth: len(s.Tokens) > 0,
		ProjectDir: p.Dir, StartedAt: time.Now().UTC().Format(time.RFC3339), LogPath: logFile, Nonce: nonce, Settings: s.digest(nonce),
	}, nil
}

// newServer joins the tools, the gateway and the metrics to the front desk.
func (a *app) newServer(d *door, s serverSettings, state *daemon.State) (*httpapi.Server, error) {
	tools, err := research.New(d.gateway, a.logger()).Server(a.version)
	if err != nil {
		return nil, err
	}
	metrics := httpapi.NewMetrics(func() []httpapi.Queue {
		var out []httpapi.Queue
		for _, l := range d.gateway.Loads() {
			out = append(out, httpapi.Queue(l))
		}
		return out
	}, d.log.Health)
	d.gateway.Observe(metrics)
	handlers := streamable.New(tools, a.logger())
	started, err := time.Parse(time.RFC3339, state.StartedAt)
	if err != nil {
		return nil, failed("the state of the server: %w", err)
	}
	config := httpapi.Config{
		Host: s.Host, AllowedHosts: s.AllowedHosts, AllowedOrigins: s.AllowedOrigins, Tokens: s.Tokens,
		Sessions: handlers.Sessions, Stateless: handlers.Stateless, Checker: &checker{door: d},
		Log: d.log, Logger: a.logger(), Metrics: metrics, Grace: drainTime,
		About: httpapi.About{Version: a.version, ProjectDir: state.ProjectDir, Nonce: state.Nonce, PID: state.PID, StartedAt: started},
	}
	if s.Stateless {
		config.Sessions = nil
	}
	server, err := httpapi.New(config)
	if err != nil {
		return nil, asUsage(err)
	}
	return server, nil
}

var (
	_ execution.Observer = (*httpapi.Metrics)(nil)
	_ audit.Log          = (*audit.Writer)(nil)
)
