package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/daemon"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/cmd/ktx/internal/streamable"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/httpapi"
)

// serveForeground serves until ctx ends. After a reload, settings returns the
// settings for the new configuration.
func serveForeground(ctx context.Context, a *console.App, p *project.Project, s serverSettings, logFile string, settings func(*project.Project) (serverSettings, error)) error {
	if logFile != "" {
		log, err := daemon.OpenLog(logFile, daemon.LogBytes)
		if err != nil {
			return console.Failed("%w", err)
		}
		a.Err = console.NewStream(log) // it stays open, because the error of the command is written there too
	}
	tuneCollector(a.Lookup)
	signals, stop := hangups()
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(strings.Trim(s.Host, "[]"), strconv.Itoa(s.Port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return console.Failed("port %d of %s is in use; choose another with --port or server.port in ktx.yaml", s.Port, s.Host)
	}
	if err != nil {
		return console.Failed("bind %s: %w", s.Host, err)
	}
	defer func() { _ = listener.Close() }()
	return wiring.WithProject(ctx, a, p, "http", func(ctx context.Context, open *wiring.OpenProject) error {
		state, err := newState(a, p, s, listener, logFile)
		if err != nil {
			return err
		}
		server, stopPages, err := newServer(ctx, a, open, s, state)
		if err != nil {
			return err
		}
		defer func() {
			if err := stopPages(); err != nil {
				a.Errorf("ktx: %s\n", console.EscapeControls(err.Error()))
			}
		}()
		if err := atomicfile.Write(daemon.Path(p.Dir), 0o600, state.Encode); err != nil {
			return console.Failed("%w", err)
		}
		last := daemon.Last{Host: state.Host, Port: state.Port}
		if err := atomicfile.Write(daemon.LastPath(p.Dir), 0o600, last.Encode); err != nil {
			return console.Failed("%w", err)
		}
		defer func() {
			if err := state.Remove(); err != nil {
				a.Errorf("ktx: %s\n", console.EscapeControls(err.Error()))
			}
		}()
		defer reloadOn(ctx, a, signals, open, s.AllowEmpty, func(p *project.Project) (func(), error) {
			now, err := settings(p)
			return func() { renew(a, server, state, &s, now) }, err
		})()
		log := serverLog(a)
		log.InfoContext(ctx, "serving", "url", state.URL(), "pid", state.PID, "token", state.TokenAuth, "version", a.Version)
		notify := func(state string) {
			socket, _ := a.Lookup(daemon.NotifyVariable)
			if err := daemon.Notify(socket, state); err != nil {
				log.WarnContext(ctx, "the service manager could not be notified", "error", err)
			}
		}
		if logFile == "" {
			printStarted(a, state, false)
			notify(daemon.StateReady) // from now on the listener keeps requests until the server serves them
			defer context.AfterFunc(ctx, func() { notify(daemon.StateStopping) })()
		}
		defer context.AfterFunc(ctx, open.Service.Drain)()
		err = server.Serve(ctx, listener)
		log.InfoContext(ctx, "stopped")
		return err
	})
}

// renew applies the tokens of new settings. It tells the user when other settings
// changed too, because they take effect at the next start.
func renew(a *console.App, server *httpapi.Server, state *daemon.State, s *serverSettings, now serverSettings) {
	switch err := server.SetTokens(now.Tokens); {
	case errors.Is(err, httpapi.ErrOpenness):
		a.Errorf("ktx: server.tokens: whether requests need a token cannot change while the server runs; restart it\n")
	case err != nil:
		a.Errorf("ktx: server.tokens: %s; the present tokens stay in force\n", console.EscapeControls(err.Error()))
	default:
		s.Tokens = now.Tokens
		state.Settings = s.digest(state.Nonce)
		if err := atomicfile.Write(daemon.Path(state.ProjectDir), 0o600, state.Encode); err != nil {
			a.Errorf("ktx: %s\n", console.EscapeControls(err.Error()))
		}
	}
	now.Tokens = s.Tokens
	if !reflect.DeepEqual(*s, now) {
		a.Errorf("ktx: the block server changed; except for its tokens, this takes effect at the next start\n")
	}
}

// serverLog returns the logger of a server.
func serverLog(a *console.App) *slog.Logger {
	return slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

func newState(a *console.App, p *project.Project, s serverSettings, listener net.Listener, logFile string) (*daemon.State, error) {
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return nil, console.Failed("bind %s: not a TCP address", s.Host)
	}
	nonce, _ := a.Lookup(nonceVariable)
	nonce = cmp.Or(nonce, rand.Text())
	return &daemon.State{
		SchemaVersion: daemon.StateVersion, PID: os.Getpid(), Host: s.Host, Port: addr.Port, TokenAuth: len(s.Tokens) > 0,
		ProjectDir: p.Dir, StartedAt: time.Now().UTC().Format(time.RFC3339), LogPath: logFile, Nonce: nonce, Settings: s.digest(nonce),
	}, nil
}

// newServer returns the HTTP server with the tools, the gateway and the metrics.
// The function that it returns ends what the pages need.
func newServer(ctx context.Context, a *console.App, open *wiring.OpenProject, s serverSettings, state *daemon.State) (*httpapi.Server, func() error, error) {
	metrics := httpapi.NewMetrics(func() []httpapi.Queue {
		var out []httpapi.Queue
		for _, l := range open.Gateway.Loads() {
			out = append(out, httpapi.Queue(l))
		}
		return out
	}, open.Log.Health)
	open.Gateway.Observe(metrics)
	if err := open.StartUpstreams(a, true, metrics.UpstreamCalled); err != nil {
		return nil, nil, err
	}
	tools, err := open.Service.Server(a.Version)
	if err != nil {
		return nil, nil, err
	}
	direct, err := open.Service.Direct()
	if err != nil {
		return nil, nil, err
	}
	handlers := streamable.New(tools, a.Logger(), direct)
	started, err := time.Parse(time.RFC3339, state.StartedAt)
	if err != nil {
		return nil, nil, console.Failed("the state of the server: %w", err)
	}
	config := httpapi.Config{
		Host: s.Host, AllowedHosts: s.AllowedHosts, AllowedOrigins: s.AllowedOrigins, Tokens: s.Tokens,
		Sessions: handlers.Sessions, Stateless: handlers.Stateless, Checker: &checker{door: open},
		Log: open.Log, Logger: a.Logger(), Metrics: metrics, Grace: wiring.DrainTime,
		Abandoned: s.Abandoned, AnswerMemory: s.AnswerMemory,
		About: httpapi.About{Version: a.Version, ProjectDir: state.ProjectDir, Nonce: state.Nonce, PID: state.PID, StartedAt: started},
	}
	if s.Stateless {
		config.Sessions = nil
	}
	stop, err := addPages(ctx, a, open, &config)
	if err != nil {
		return nil, nil, err
	}
	server, err := httpapi.New(config)
	if err != nil {
		return nil, nil, errors.Join(console.AsUsage(err), stop())
	}
	return server, stop, nil
}

var (
	_ execution.Observer = (*httpapi.Metrics)(nil)
	_ audit.Log          = (*audit.Writer)(nil)
)
